// SPDX-License-Identifier: Apache-2.0
#include "workspace/config_warnings.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/text.h"
#include "dialects/rules/layout.h"
#include "io/files/path_trust.h"
#include "workspace/agent_spec.h"
#include "workspace/environment.h"
#include "workspace/prompt_files.h"
#include "workspace/rule_prompts.h"

namespace baton {

Result<std::string> notify_program(const Context& context) {
  return find_program(context.config().notify.front(), variable("PATH"), context.folder());
}

std::vector<std::string> config_warnings(const Context& context, const Setup& setup) {
  std::vector<std::string> all;
  const auto add = [&](std::vector<std::string> some) {
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  };
  for (const auto& [role, spec] : setup.agents)
    if (spec.problem)
      all.push_back(spec.problem->why);
  add(unplayed(context.config(), setup.dialects));
  for (const auto& [place, fault] : prompt_faults(setup.dialects))
    all.push_back(fault);
  add(unknown_prompt_files(context.config(), context.folder()));
  add(never_seen(Catalog::of(setup.dialects)));
  if (!context.config().notify.empty())
    if (const auto program = notify_program(context); !program)
      all.push_back("notify cannot be used: " + describe(program.error()));
  return all;
}

std::string without_stages(const std::vector<std::pair<const Dialect*, Json>>& dialects) {
  std::vector<std::string> names;
  for (const auto& [dialect, options] : dialects)
    if (dialect->name == "rules")
      for (const rules::Rule& rule : rules::rules_in(options))
        if (!rule.react.empty() && rule.done.empty() && rule.stages.empty())
          names.push_back(rule.name);
  if (names.empty())
    return {};
  const bool one = names.size() == 1;
  return (one ? "the rule " : "the rules ") + join(names, ", ") + (one ? " has" : " have") +
         " neither `done:` nor `stages:`, so no flow is ever done, and a mistyped stage looks as "
         "if "
         "nothing were due";
}

std::string configured_patterns(const Context& context, const Catalog& catalog) {
  std::vector<std::string> patterns;
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (std::find(patterns.begin(), patterns.end(), kind.pattern) == patterns.end())
        patterns.push_back(kind.pattern);
  const bool broken = !context.broken_configuration().empty() && !context.follows_daemon();
  if (patterns.empty() && (broken || !context.config().dialects.empty()))
    return "no files are looked for, since the configuration cannot be used";
  if (patterns.empty())
    return "no files are looked for, since the configuration names none";
  constexpr std::size_t kMost = 12;
  const std::size_t shown = std::min(patterns.size(), kMost);
  return "files are looked for as " + printable(join(std::span(patterns).first(shown), ", ")) +
         (patterns.size() > shown ? " and " + std::to_string(patterns.size() - shown) + " more"
                                  : "");
}

std::vector<std::string> never_seen(const Catalog& catalog) {
  std::vector<std::string> all;
  const Catalog::Entry* const rules = catalog.entry("rules");
  if (rules == nullptr)
    return all;
  for (const FileKind& kind : rules->kinds) {
    const auto match = catalog.match(kind.pattern);
    if (match && match->entry != rules)
      all.push_back("rule " + kind.flow + ": " + printable(kind.pattern) +
                    " is a file of the dialect " + std::string(match->entry->dialect->name) +
                    ", which comes first, so nothing of the rule happens");
  }
  return all;
}

}  // namespace baton
