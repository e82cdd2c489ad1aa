// SPDX-License-Identifier: Apache-2.0
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

namespace baton {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    all.push_back(at->path());
  return all;
}

Result<std::string> read_override(const std::string& path, std::string_view dialect) {
  if (auto trusted = trusted_file(path); !trusted)
    return pass_on(trusted);
  return read_template(path, dialect);
}

}  // namespace

Result<std::string> read_template(const std::string& path, std::string_view dialect) {
  auto text = read_prompt(path);
  if (!text)
    return text;
  const auto known = prompt_placeholders(dialect);
  const auto lines = split(*text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (auto filled = fill(lines[i], known); !filled)
      return fail(Errc::config, filled.error().message, path + ":" + std::to_string(i + 1));
  return text;
}

Result<std::string> read_prompt(const std::string& path) {
  constexpr std::size_t kMaxBytes = 1U << 20U;
  auto text = read_file(path, kMaxBytes);
  if (!text)
    return text;
  if (text->find('\0') != std::string::npos)
    return fail(Errc::config, "it has a NUL in it", path);
  if (trimmed(*text).empty())
    return fail(Errc::config, "it is empty", path);
  if (const auto at = bad_utf8(*text))
    return fail(Errc::config, "it is not UTF-8 (at byte " + std::to_string(*at + 1) + ")", path);
  return text;
}

Result<std::map<std::string, std::string>> prompt_files(const Config& config,
                                                        const std::string& folder,
                                                        std::string_view role) {
  std::map<std::string, std::string> texts;
  std::error_code error;
  for (const auto& [dialect, options] : config.dialects)
    for (const std::string& name : prompt_template_names(dialect)) {
      const std::string key = dialect + "/" + name;
      const std::string path = folder + "/prompts/" + key + ".md";
      if (name.substr(0, name.find('.')) != role ||
          fs::symlink_status(path, error).type() == fs::file_type::not_found)
        continue;
      auto text = read_override(path, dialect);
      if (!text)  // the error may be about the target of a link, so name the link too
        return fail(
            Errc::config,
            printable((text.error().where.starts_with(path) ? "" : path + ": ") +
                      describe(text.error())) +
                (text.error().code == Errc::denied ? "; make it yours and run `chmod go-w` on it"
                                                   : "; correct the file") +
                ", or remove it to use the built-in prompt",
            path);
      texts.emplace(key, *std::move(text));
    }
  return texts;
}

std::vector<std::string> unknown_prompt_files(const Config& config, const std::string& folder) {
  std::set<std::string> known;
  for (const auto& [role, agent] : config.agents)
    known.insert(absolute(agent.prompt, folder));
  std::vector<std::string> dialects;
  for (const auto& [dialect, options] : config.dialects)
    dialects.push_back(dialect);
  std::vector<std::string> all;
  const auto unused = [&](const fs::path& path, const std::string& why,
                          const std::vector<std::string>& names) {
    const auto near = nearest(path.filename().string(), names);
    all.push_back(printable(path.string(), 200) + " is not used: " + why +
                  (near ? "; did you mean " + *near + "?" : ""));
  };
  for (const fs::path& own : entries(fs::path(folder) / "prompts")) {
    const std::string dialect = own.filename().string();
    const bool configured = std::find(dialects.begin(), dialects.end(), dialect) != dialects.end();
    if (!configured && nearest(dialect, dialects))
      unused(own, "no dialect in the configuration has this name", dialects);
    std::vector<std::string> names = prompt_template_names(dialect);
    if (!configured || names.empty())
      continue;
    for (std::string& name : names)
      name += ".md";
    for (const fs::path& file : entries(own))
      if (const std::string name = file.filename().string();
          !name.starts_with('.') && !known.contains(file.string()) &&
          std::find(names.begin(), names.end(), name) == names.end())
        unused(file, "the dialect has no prompt of this name", names);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace baton
