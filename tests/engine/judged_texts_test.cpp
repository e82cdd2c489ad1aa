// SPDX-License-Identifier: Apache-2.0
#include "engine/intake/judged_texts.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

namespace baton {
namespace {

/// Refuses every document, and counts how often it is asked.
class CountingSchema : public Schema {
 public:
  Findings check(const Document& document, const SchemaLimits& /*limits*/) const override {
    ++asked;
    Finding finding;
    finding.rule = "schema/enum";
    finding.message = document.text();
    return {finding};
  }
  const Findings& lint() const override { return none_; }
  mutable int asked = 0;

 private:
  Findings none_;
};

struct Court {
  std::shared_ptr<CountingSchema> schema = std::make_shared<CountingSchema>();
  JudgedTexts texts{100};
  DocumentCheck judge(const std::string& text) { return judge(text, digest_of(text)); }
  DocumentCheck judge(const std::string& text, const Digest& digest) {
    return texts.check(text, digest, Format::json, std::shared_ptr<const Schema>(schema), {});
  }
};

TEST_CASE("a text that stands in many files is judged once, and its document is shared") {
  Court court;
  const DocumentCheck first = court.judge(R"({"a":1})");
  for (int i = 0; i < 250; ++i) {
    const DocumentCheck again = court.judge(R"({"a":1})");
    CHECK(again.document == first.document);
    CHECK(again.findings == first.findings);
  }
  CHECK(court.schema->asked == 1);
}

TEST_CASE("another text, another schema and a forged digest are judged by themselves") {
  Court court;
  (void)court.judge("[1]");
  (void)court.judge("[2]");
  CHECK(court.schema->asked == 2);
  for (int i = 0; i < 2; ++i)
    CHECK(court.judge("[3]", digest_of("[1]")).findings.front().message == "[3]");
  CHECK(court.schema->asked == 4);
  CHECK(court.judge("[1]").findings.front().message == "[1]");
  CHECK(court.schema->asked == 4);
  const auto first = std::exchange(court.schema, std::make_shared<CountingSchema>());
  (void)court.judge("[1]");
  CHECK(court.schema->asked == 1);
  CHECK(first->asked == 4);
}

TEST_CASE("a text that does not parse is known again, with what is wrong with it") {
  Court court;
  const DocumentCheck first = court.judge("{");
  CHECK(first.document == nullptr);
  CHECK(court.judge("{").findings == first.findings);
  CHECK(court.judge("[").findings != first.findings);
}

TEST_CASE("the texts used last stay, within the bytes allowed") {
  Court court;
  const std::string large = "[\"" + std::string(60, 'a') + "\"]";
  const std::string other = "[\"" + std::string(60, 'b') + "\"]";
  (void)court.judge(large);
  (void)court.judge("[1]");
  (void)court.judge(large);
  CHECK(court.schema->asked == 2);
  (void)court.judge(other);  // There is room for one of the two only.
  (void)court.judge(other);
  CHECK(court.schema->asked == 3);
  (void)court.judge(large);
  CHECK(court.schema->asked == 4);
  court.texts.clear();
  (void)court.judge(large);
  CHECK(court.schema->asked == 5);
}

}  // namespace
}  // namespace baton
