// SPDX-License-Identifier: Apache-2.0
#include "config/schema_stages.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "dialects/kinds.h"
#include "dialects/rules/rule_check.h"

namespace baton {
namespace {

/// The text of a schema: a file below the configuration, or one of baton's own by its name.
Result<std::string> schema_text(const std::string& name, const SchemaFetch& fetch) {
  if (name.empty())
    return fail(Errc::not_found, "there is no schema");
  const std::string own = "schemas/" + name + ".schema.json";
  for (const std::string& path : {name, own})
    if (const auto* const bytes = embedded_file(path))
      return std::string(*bytes);
  return fetch(name);
}

/// The stages that all documents with the stage allow. Empty if one of them allows any word.
std::vector<Word> stages_by_schema(const rules::Rule& rule, const SchemaFetch& fetch) {
  std::vector<Word> stages;
  for (const rules::Kind& kind : rule.kinds) {
    if (!rule.stage.document.empty() && kind.name != rule.stage.document)
      continue;
    std::vector<Word> words;
    if (const auto text = schema_text(kind.schema, fetch))
      if (const auto schema = parse_json(*text))
        words = rules::words_at(**schema, rule.stage.pointer);
    if (words.empty())
      return {};
    for (const Word& word : words)
      if (std::find(stages.begin(), stages.end(), word) == stages.end())
        stages.push_back(word);
  }
  return stages;
}

}  // namespace

Json with_schema_stages(const Json& options, const SchemaFetch& fetch) {
  const Value* const list = json::child(*options, "rules");
  if (list == nullptr || !list->IsArray())
    return options;
  Json rules = Json::array();
  for (const Value& value : list->GetArray()) {
    Json all(value);
    const rules::Rule rule = rules::read_rule(value);
    if (rule.stages.empty()) {
      Json stages = Json::array();
      for (const Word& stage : stages_by_schema(rule, fetch))
        stages.push(Json(stage));
      if (!stages->Empty())
        all.set("stages", stages);
    }
    rules.push(all);
  }
  return Json(options).set("rules", rules);
}

}  // namespace baton
