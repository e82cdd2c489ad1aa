// SPDX-License-Identifier: Apache-2.0
#include "workspace/rule_prompts.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/placeholders.h"
#include "base/text.h"
#include "dialects/rules/layout.h"
#include "engine/perform/start_command.h"
#include "workspace/prompt_files.h"

namespace baton {
namespace {

/// The message about an unknown placeholder in the template; empty if there is none.
std::string template_fault(const std::string& text, const Value& rule) {
  std::vector<std::string> known = placeholder_names();
  known.insert(known.end(), std::begin(rules::kPlaceholders), std::end(rules::kPlaceholders));
  for (const auto& [name, place] : rules::read_rule(rule).values)
    known.push_back(name);
  for (const std::string& name : placeholders_in(text)) {
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    if (std::string fault = filter_fault(name); !fault.empty())
      return fault;
    const auto near = nearest(name, known);
    return "unknown placeholder `${" + printable(name, 80) + "}`" +
           (near ? "; did you mean `${" + *near + "}`?" : "; `values:` of the rule may name it");
  }
  return {};
}

/// The reaction with the path and the text of its template, or with `prompt_fault` if the template
/// cannot be used.
Json complete(const Value& reaction, const Value& rule, std::size_t index,
              const std::string& folder) {
  Json all(reaction);
  const auto named = json::text(reaction, "prompt");
  if (!named)
    return all;
  const std::string path(*named);
  all.set("prompt_file", Json(path));
  const auto text = read_prompt((std::filesystem::path(folder) / path).lexically_normal().string());
  const std::string fault = text ? template_fault(*text, rule) : describe(text.error());
  if (fault.empty())
    return all.set("prompt", Json(*text));
  all.erase("prompt");
  return all.set("prompt_fault",
                 Json("the prompt " + printable(path, 200) + " of the rule `" +
                      printable(json::text(rule, "name").value_or(""), 100) + "`, react " +
                      std::to_string(index) + ", cannot be used: " + fault));
}

std::string place_in(std::string_view rule, std::size_t index) {
  return std::string(rule) + "/" + std::to_string(index);
}

/// Returns the reaction that replaces the given one. The first reaction of a rule has index 1.
using Change = std::function<Json(const Value& reaction, const Value& rule, std::size_t index)>;

Json changed(const Json& options, const Change& change) {
  const Value* const list = json::child(*options, "rules");
  if (list == nullptr || !list->IsArray())
    return options;
  Json rules = Json::array();
  for (const Value& value : list->GetArray()) {
    const Value* const react = json::child(value, "react");
    Json reactions = Json::array();
    std::size_t index = 0;
    if (react != nullptr && react->IsArray())
      for (const Value& each : react->GetArray())
        reactions.push(change(each, value, ++index));
    rules.push(Json(value).set("react", reactions));
  }
  return Json(options).set("rules", rules);
}

}  // namespace

Json with_prompts(const Json& options, const std::string& folder) {
  return changed(options, [&](const Value& reaction, const Value& rule, std::size_t index) {
    return complete(reaction, rule, index, folder);
  });
}

PromptFaults prompt_faults(const std::vector<std::pair<const Dialect*, Json>>& dialects) {
  PromptFaults faults;
  for (const auto& [dialect, options] : dialects)
    if (dialect->name == "rules")
      for (const rules::Rule& rule : rules::rules_in(options))
        for (std::size_t i = 0; i < rule.react.size(); ++i)
          if (!rule.react[i].prompt_fault.empty())
            faults.emplace(place_in(rule.name, i + 1), rule.react[i].prompt_fault);
  return faults;
}

Json with_prompt_faults(const Json& options, const PromptFaults& faults) {
  return changed(options, [&](const Value& reaction, const Value& rule, std::size_t index) {
    Json all(reaction);
    all.erase("prompt_fault");
    const auto fault = faults.find(place_in(json::text(rule, "name").value_or(""), index));
    return fault == faults.end() ? all : all.set("prompt_fault", Json(fault->second));
  });
}

std::vector<std::string> value_names(const Config& config) {
  std::vector<std::string> names;
  for (const auto& [name, options] : config.dialects)
    if (name == "rules")
      for (const rules::Rule& rule : rules::rules_in(options))
        for (const auto& [value, place] : rule.values)
          names.push_back(value);
  return names;
}

}  // namespace baton
