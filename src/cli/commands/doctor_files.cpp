// SPDX-License-Identifier: Apache-2.0

// What `baton doctor` finds out about rules, their prompts, and the files of a root.

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/text.h"
#include "cli/commands/doctor.h"
#include "dialects/rules/rule_check.h"
#include "engine/decide/status.h"
#include "io/files/disk.h"
#include "io/files/root.h"
#include "workspace/config_warnings.h"
#include "workspace/daemon_status.h"
#include "workspace/folders.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using Level = Diagnosis::Level;

/// Warns of pointers that lead nowhere and stages that cannot occur, by the schemas of the
/// documents.
void examine_schema_places(const rules::Rule& rule, const SchemaFetch& fetch, Diagnoses& all) {
  std::map<std::string, std::optional<Json>> known;
  const auto schema_of = [&](const rules::Kind& kind) -> const Value* {
    if (kind.schema.empty())
      return nullptr;
    auto [found, fresh] = known.try_emplace(kind.schema);
    if (fresh) {
      auto text = fetch(kind.schema);
      if (!text)
        text = fetch("schemas/" + kind.schema + ".schema.json");
      auto parsed = text ? parse_json(*text) : Result<Json>(pass_on(text));
      if (parsed)
        found->second = *std::move(parsed);
    }
    return found->second ? &**found->second : nullptr;
  };
  for (const std::string& fault : rules::place_faults(rule, schema_of))
    diagnose(all, Level::warning, "rules", fault, "fix baton.yaml or the schema");
}

/// Whether the journal or the folder has a file of this rule.
bool has_files(const rules::Rule& rule, const FlowRecords& records) {
  return std::any_of(records.begin(), records.end(), [&](const auto& row) {
    const auto& [flow, record] = row;
    return flow.dialect == "rules" && flow.name.substr(0, flow.name.find('/')) == rule.name &&
           !(record.accepted.empty() && record.rejected.empty());
  });
}

/// Checks that baton can read the folders of the root and write into those with accepted files.
void examine_folders(const Context& context, const FlowRecords& records, Diagnoses& all) {
  std::set<std::string> folders;
  for (const auto& [flow, record] : records) {
    for (const auto& [path, row] : record.rejected)
      if (flow == FlowId{})
        diagnose(all, Level::error, "root",
                 (fs::path(context.root()) / path).string() + ": " + first_message(row),
                 "let this user read it, or run baton as its owner");
    for (const auto& [path, row] : record.accepted)
      if (row.present)
        folders.insert((fs::path(context.root()) / path).parent_path().string());
  }
  std::vector<std::string> closed;
  for (const std::string& folder : folders)
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      closed.push_back(folder);
  if (!closed.empty())
    diagnose(
        all, Level::warning, "root", join(closed, ", ") + " cannot be written",
        "watching works; what baton itself writes there will fail, such as `set:`, fields of a "
        "dialect and repairs of stale overwrites");
}

bool is_of_dialect(const Catalog& catalog, const std::string& pattern) {
  const auto match = catalog.match(pattern);
  return match && match->entry->dialect->name != "rules";
}

/// Reports patterns without files, because a mistake in `files:` looks like having nothing to do.
void examine_kind(const std::string& root, const rules::Rule& rule, const rules::Kind& kind,
                  Diagnoses& all) {
  std::error_code error;
  const std::string folder = pattern_folder(kind.pattern).folder;
  if (!folder.empty() && !fs::is_directory(fs::path(root) / folder, error))
    diagnose(all, Level::warning, "rules",
             "rule " + rule.name + ": the folder " + folder + " below " + root +
                 " does not exist, but baton looks there for " + kind.pattern,
             "create it, or fix `files:` of the rule");
  else
    diagnose(all, Level::fine, "rules",
             "rule " + rule.name + ": no file below " + root + " matches " + kind.pattern + " yet");
}

void examine_files(const Context& context, const Rehearsal& seen, Diagnoses& all) {
  for (const std::string& each : never_seen(seen.catalog()))
    diagnose(all, Level::warning, "rules", each, "remove the rule or the dialect");
  for (const auto& [name, options] : context.config().dialects)
    for (const rules::Rule& rule :
         name == "rules" ? rules::rules_in(options) : std::vector<rules::Rule>())
      for (const rules::Kind& kind : rule.kinds)
        if (!kind.optional && !is_of_dialect(seen.catalog(), kind.pattern) &&
            !has_files(rule, seen.records()))
          examine_kind(context.root(), rule, kind, all);
}

/// Some names, and how many more there are.
std::string some_names(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < kMost)
      shown.push_back(printable(name, 200));
  return join(shown, ", ") +
         (names.size() > kMost ? " and " + std::to_string(names.size() - kMost) + " more" : "");
}

/// Reports files that were accepted once and that baton does not look at any more: their folder is
/// gone, or no pattern fits them. Nothing else would say so, because nothing is due then.
void examine_lost(const Context& context, const Rehearsal& seen, Diagnoses& all) {
  std::set<std::string> folders;
  std::set<std::string> unfit;
  std::error_code error;
  for (const auto& [flow, record] : seen.records())
    for (const auto& [path, row] : record.accepted) {
      const fs::path folder = fs::path(path).parent_path();
      if (!seen.catalog().match(path))
        unfit.insert(path);
      else if (!fs::exists(fs::path(context.root()) / folder, error))
        folders.insert(folder.string());
    }
  if (!folders.empty())
    diagnose(all, Level::warning, "files",
             "baton accepted files in folders that are gone: " + some_names(folders),
             "put the folder back, or tell baton to forget its flows: `baton forget FLOW`");
  if (!unfit.empty())
    diagnose(
        all, Level::warning, "files",
        "baton accepted files that no rule and no dialect knows any more: " + some_names(unfit),
        "correct `files:` of the rule or `path:` of the dialect in " + context.configuration() +
            ", or move the files");
}

/// Names the files that lie among state files and are ignored for their names.
void examine_ignored(const Context& context, const Rehearsal& seen, Diagnoses& all) {
  const auto root = RootFolder::open(context.root());
  if (!root)
    return;
  constexpr std::size_t kMost = 5;
  std::vector<std::string> shown;
  std::size_t count = 0;
  const auto disk = real_disk(*root);
  for (const PatternFolder& folder : seen.catalog().folders()) {
    const auto files = disk->list(folder.folder, folder.depth);
    for (const FileEntry& file : files ? *files : std::vector<FileEntry>()) {
      const std::string why = seen.ignored(file.path);
      if (why.empty() || ++count > kMost)
        continue;
      shown.push_back(printable(file.path, 200) + " is " + why);
    }
  }
  if (count == 0)
    return;
  diagnose(all, Level::warning, "files",
           "ignored for their names: " + join(shown, "; ") +
               (count > kMost ? "; and " + std::to_string(count - kMost) + " more" : ""),
           "remove them, give them other names, or see `ignore:` in docs/rules.md");
}

}  // namespace

void examine_rules(const Context& context, const SchemaFetch& fetch, Diagnoses& all) {
  for (const auto& [name, options] : context.config().dialects) {
    if (name != "rules")
      continue;
    for (const rules::Rule& rule : rules::rules_in(options)) {
      examine_schema_places(rule, fetch, all);
      const auto cycles = rules::run_cycles(rule);
      const bool ends =
          std::all_of(rule.react.begin(), rule.react.end(), [](const rules::Reaction& reaction) {
            return reaction.run.empty() ||
                   (reaction.max_entries.count > 0 && reaction.max_entries.per == Millis(0));
          });
      for (const std::string& cycle : cycles)
        diagnose(all, Level::warning, "rules",
                 "rule " + rule.name + ": agents may start each other in a cycle: " + cycle,
                 std::string("no problem if you want this: ") +
                     (ends ? "`max_entries` and `spawns_per_hour` end it"
                           : "`spawns_per_hour` ends it; `max_entries` of this rule does not, as a "
                             "plain number would") +
                     ". Otherwise say with `next` which stage an agent sets");
      if (cycles.empty())
        diagnose(all, Level::fine, "rules", "rule " + rule.name + ": no cycle of agents");
    }
  }
}

void examine_prompts(const Context& context, const PromptFaults& faults, Diagnoses& all) {
  const auto state = context.state_folder();
  const auto status = state ? daemon_status(*state) : std::optional<DaemonStatus>();
  const bool knows = status && status->prompt_faults &&
                     status->configuration_digest == context.configuration_digest();
  const PromptFaults& known = knows ? *status->prompt_faults : faults;
  for (const auto& [place, fault] : faults)
    diagnose(all, Level::error, "rules", fault,
             known.contains(place)
                 ? "fix the file or `prompt:` of the reaction, then run `baton "
                   "reload`; until then baton does not start the agent"
                 : "fix it before the next `baton reload` or restart; until then the "
                   "daemon uses the prompt it read before");
  for (const auto& [place, fault] : known)
    if (!faults.contains(place))
      diagnose(all, Level::warning, "rules",
               fault + "; the daemon has read it like this, and the file is correct now",
               "`baton reload`");
}

void examine_known(const Context& context, const Rehearsal& seen, Diagnoses& all) {
  examine_lost(context, seen, all);
  examine_ignored(context, seen, all);
  examine_files(context, seen, all);
  examine_folders(context, seen.records(), all);
  examine_open_files(context, seen.records(), all);
}

}  // namespace baton
