// SPDX-License-Identifier: Apache-2.0

// What one document costs inside the process: the engine that `baton validate` and the daemon
// share, step by step, and RapidJSON's own validator over the same documents as the lower bound (it
// knows no formats, no drafts but 4, and is not safe). Rounds in turns, medians. With --bound it is
// that validator as a program, to be measured beside others. usage: validate_engine [--bound]
// SCHEMA FILE...

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/schema.h>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/json/parse.h"
#include "base/schema/schema.h"

namespace baton {

namespace {

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Row {
  std::string_view name;
  std::function<bool(const std::string&)> judge;  ///< of one text; true: it is valid
  std::vector<double> rounds;                     ///< µs per document
};

double measured(const Row& row, const std::vector<std::string>& texts) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& text : texts) {
    if (!row.judge(text)) {
      std::fprintf(stderr, "%s: a document is not valid\n", std::string(row.name).c_str());
      std::exit(1);
    }
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(texts.size());
}

/// What RapidJSON has by itself.
bool bound_judges(const rapidjson::SchemaDocument& schema, const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  rapidjson::SchemaValidator validator(schema);
  return !document.HasParseError() && document.Accept(validator);
}

/// The least that any program with this library could do. Exit code 1: a document is not valid.
int bound_alone(std::span<char*> arguments) {
  rapidjson::Document schema;
  const std::string text = read(arguments[0]);
  schema.Parse(text.data(), text.size());
  if (schema.HasParseError())
    return 1;
  const rapidjson::SchemaDocument compiled(schema);
  return std::all_of(arguments.begin() + 1, arguments.end(),
                     [&](const char* path) { return bound_judges(compiled, read(path)); })
             ? 0
             : 1;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The whole comparison; returns the exit code.
int compare(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: validate_engine [--bound] SCHEMA FILE...\n", stderr);
    return 2;
  }
  if (std::string_view(arguments[1]) == "--bound")
    return bound_alone(std::span(arguments, static_cast<std::size_t>(count)).subspan(2));
  const std::string schema_text = read(arguments[1]);
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  for (int i = 2; i < count; ++i) {
    texts.push_back(read(arguments[i]));
    bytes += texts.back().size();
  }
  const SchemaFetch none = [](std::string_view) { return fail(Errc::not_found, "none"); };
  const auto schema = compile_schema(schema_text, "schema.json", none);
  const auto schema_value = parse_json(schema_text);
  if (!schema || !schema_value)
    return 1;
  const rapidjson::SchemaDocument bound(**schema_value);
  std::vector<std::shared_ptr<const Document>> loaded;
  for (const std::string& text : texts)
    if (auto document = load_document(text, Format::json))
      loaded.push_back(*document);
  if (loaded.size() != texts.size())
    return 1;

  std::size_t next = 0;
  std::vector<Row> rows = {
      {"load and check",
       [&](const std::string& text) {
         const auto document = load_document(text, Format::json);
         return document && (*schema)->check(**document).empty();
       },
       {}},
      {"load",
       [](const std::string& text) { return load_document(text, Format::json).has_value(); },
       {}},
      {"check",
       [&](const std::string&) {
         return (*schema)->check(*loaded[next++ % loaded.size()]).empty();
       },
       {}},
      {"RapidJSON alone", [&](const std::string& text) { return bound_judges(bound, text); }, {}},
      {"compile the schema",
       [&](const std::string&) {
         return compile_schema(schema_text, "schema.json", none).has_value();
       },
       {}},
  };
  constexpr int kRounds = 15;
  for (int round = 0; round < kRounds; ++round)
    for (Row& row : rows)
      row.rounds.push_back(measured(row, texts));
  std::printf("%zu documents of %zu bytes on average, medians of %d rounds\n", texts.size(),
              bytes / texts.size(), kRounds);
  for (const Row& row : rows)
    std::printf("%-20s %9.1f us   least %9.1f us\n", std::string(row.name).c_str(),
                median(row.rounds), *std::min_element(row.rounds.begin(), row.rounds.end()));
  return 0;
}

}  // namespace

}  // namespace baton

int main(int count, char** arguments) {
  return baton::compare(count, arguments);
}
