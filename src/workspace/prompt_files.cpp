#include "workspace/prompt_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/placeholders.h"
#include "base/text.h"
#include "engine/perform/start_command.h"
#include "io/files/disk.h"
#include "io/files/path_trust.h"
#include "workspace/configuration_file.h"
#include "workspace/rule_prompts.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 1U << 20U;

/// The first line with a placeholder that is none, as `:LINE: why`; "" when all are known.
std::string placeholder_fault(const std::string& text, std::string_view dialect) {
  std::map<std::string, std::string> known;
  for (const std::string& name : prompt_placeholders(dialect))
    known[name];
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (auto filled = fill(lines[i], known); !filled)
      return ":" + std::to_string(i + 1) + ": " + filled.error().message;
  return {};
}

void read_one(const fs::path& path, std::string_view dialect, const std::string& name,
              PromptFiles& all) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found)
    return;
  const std::string shown = printable(path.string(), 200);
  auto trusted = trusted_file(path.string());
  auto text = trusted ? read_file(path.string(), kMaxBytes) : Result<std::string>(pass_on(trusted));
  std::string fault;
  if (!text)  // of a link it may be about what that leads to
    fault = (text.error().where == path.string() ? "" : shown + ": ") + describe(text.error());
  else if (const std::string why = prompt_fault(*text); !why.empty())
    fault = shown + ": " + why;
  else if (const std::string where = placeholder_fault(*text, dialect); !where.empty())
    fault = shown + where;
  const std::string key = std::string(dialect) + "/" + name;
  if (fault.empty())
    all.texts.emplace(key, *std::move(text));
  else
    all.faults.emplace(key, fault + "; correct the file, or remove it to use the built-in prompt");
}

/// Files below the folder of a dialect that are no template and no agent's `prompt:`.
void look_for_unknown(const fs::path& folder, const std::vector<std::string>& names,
                      const std::set<std::string>& of_agents, PromptFiles& all) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path().filename().string());
  std::sort(found.begin(), found.end());
  for (const std::string& name : found) {
    if (name.starts_with('.') || of_agents.contains((folder / name).string()) ||
        std::find(names.begin(), names.end(), name) != names.end())
      continue;
    const auto near = nearest(name, names);
    all.unknown.push_back(printable((folder / name).string(), 200) +
                          " is not used: the dialect has no prompt of this name" +
                          (near ? "; did you mean " + *near + "?" : ""));
  }
}

}  // namespace

PromptFiles prompt_files(const Config& config, const std::string& folder) {
  PromptFiles all;
  std::set<std::string> of_agents;
  for (const auto& [role, agent] : config.agents)
    of_agents.insert(absolute(agent.prompt, folder));
  for (const auto& [dialect, options] : config.dialects) {
    const fs::path own = fs::path(folder) / "prompts" / dialect;
    std::vector<std::string> names = prompt_template_names(dialect);
    for (std::string& name : names) {
      read_one(own / (name + ".md"), dialect, name, all);
      name += ".md";
    }
    if (!names.empty())
      look_for_unknown(own, names, of_agents, all);
  }
  return all;
}

std::string fault_for(const PromptFiles& files, std::string_view role) {
  for (const auto& [key, fault] : files.faults) {
    const std::string_view name = std::string_view(key).substr(key.find('/') + 1);
    if (name.substr(0, name.find('.')) == role)
      return fault;
  }
  return {};
}

}  // namespace baton
