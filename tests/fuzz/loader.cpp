// SPDX-License-Identifier: Apache-2.0

// The loader: JSON and JSON Lines. What was loaded is written and loaded again, and every place
// lies in the text.

#include <string>

#include "base/json/document.h"
#include "base/json/json.h"
#include "fuzz/target.h"

namespace baton {

namespace {

void look_at(const Document& document, const Value& value, const std::string& pointer, int depth) {
  const Span span = document.locate(pointer, depth % 2 == 1);
  fuzz::demand(span.begin.offset <= span.end.offset);
  fuzz::demand(span.end.offset <= document.text().size());
  fuzz::demand(json::at(document.root(), pointer) == &value);
  constexpr int kDeep = 6;
  constexpr rapidjson::SizeType kFew = 4;
  if (depth == kDeep)
    return;
  if (value.IsArray())
    for (rapidjson::SizeType i = 0; i < std::min(value.Size(), kFew); ++i)
      look_at(document, value[i], pointer + "/" + std::to_string(i), depth + 1);
  if (value.IsObject() && value.MemberCount() > 0) {
    const auto& first = *value.MemberBegin();
    const std::string_view name(first.name.GetString(), first.name.GetStringLength());
    look_at(document, first.value, pointer + "/" + json::pointer_token(name), depth + 1);
  }
}

void load(std::string_view text, Format format) {
  const auto document = load_document(std::string(text), format);
  if (!document) {
    fuzz::demand(!document.error().findings.empty());
    for (const Finding& finding : document.error().findings)
      fuzz::demand(finding.span.begin.offset <= text.size() && !finding.message.empty());
    return;
  }
  look_at(**document, (*document)->root(), "", 0);
  const auto again = load_document(json::dump((*document)->root()), Format::json);
  fuzz::demand(again.has_value());
  fuzz::demand(json::equal((*again)->root(), (*document)->root()));
}

}  // namespace

void fuzz::fuzz_loader(std::string_view bytes) {
  load(bytes, Format::json);
  load(bytes, Format::jsonl);
}

}  // namespace baton
