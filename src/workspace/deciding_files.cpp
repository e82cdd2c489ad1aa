// SPDX-License-Identifier: Apache-2.0
#include "workspace/deciding_files.h"

#include <filesystem>
#include <set>
#include <utility>

#include <sys/stat.h>

#include "base/schema/uri.h"
#include "base/text.h"
#include "core/dialect.h"
#include "dialects/rules/layout.h"
#include "engine/intake/document_check.h"
#include "io/files/path_trust.h"
#include "io/system/acting_as.h"
#include "workspace/configuration_file.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  struct stat info {};
  return path.find('\0') == std::string::npos && stat(path.c_str(), &info) == 0 &&
         S_ISREG(info.st_mode);
}

/// Collects files, each once.
class FileList {
 public:
  void add(const std::string& what, const std::string& path) {
    if (is_file(path) && paths_.insert(path).second)
      all_.push_back({what, path});
  }
  std::vector<DecidingFile> take() { return std::move(all_); }

 private:
  std::set<std::string> paths_;
  std::vector<DecidingFile> all_;
};

/// Adds the arguments that are files: `script.py`, and the file of `--mcp-config=servers.json`.
void add_arguments(const std::string& of, const std::vector<std::string>& argv,
                   const std::string& folder, FileList& files) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word.find("${") != std::string::npos)
      continue;
    files.add("an argument " + of, absolute(word, folder));
    if (const auto equals = word.find('='); word.starts_with('-') && equals != std::string::npos)
      files.add("an argument " + of, absolute(word.substr(equals + 1), folder));
  }
}

void add_agents(const Context& context, const Setup& setup, FileList& files) {
  for (const auto& [role, agent] : context.config().agents) {
    const std::string of = "of the agent `" + printable(role, 80) + "`";
    if (!agent.prompt.empty())
      files.add("the prompt " + of, absolute(agent.prompt, context.folder()));
    if (agent.adapter.find('/') != std::string::npos)
      files.add("the adapter " + of, absolute(agent.adapter, context.folder()));
  }
  for (const auto& [role, spec] : setup.agents) {
    const bool known = !spec.cwd.empty() && spec.cwd.find("${") == std::string::npos;
    const std::string folder = known ? spec.cwd : context.root();
    const std::string of = "of the agent `" + printable(role, 80) + "`";
    add_arguments(of, spec.argv, folder, files);
    add_arguments(of, spec.before, folder, files);
  }
  add_arguments("of `notify:`", context.config().notify, context.root(), files);
}

void add_reactions(const Context& context, const Setup& setup, FileList& files) {
  for (const auto& [dialect, options] : setup.dialects)
    if (dialect->name == "rules")
      for (const rules::Rule& rule : rules::rules_in(options))
        for (const rules::Reaction& reaction : rule.react)
          if (!reaction.prompt_file.empty())
            files.add("a prompt of the rule `" + printable(rule.name, 80) + "`",
                      absolute(reaction.prompt_file, context.folder()));
}

/// Adds the schemas that the dialects use, and those that these refer to.
void add_schemas(const Context& context, const Setup& setup, FileList& files) {
  Schemas schemas([&](std::string_view uri) {
    auto text = setup.schemas(uri);
    // The same two names as in `schema_file`.
    if (text && uri.find(':') == std::string_view::npos)
      for (const std::string& name : {std::string(uri), percent_decoded(uri)})
        files.add("a schema", absolute(name, context.folder()));
    return text;
  });
  const Catalog catalog = Catalog::of(setup.dialects);
  for (const Catalog::Entry& entry : catalog.entries())
    for (const FileKind& kind : entry.kinds)
      if (!kind.schema.empty() && !is_embedded(kind.schema))
        (void)schemas.get(kind.schema);  // the engine says what is wrong with it
}

}  // namespace

std::vector<DecidingFile> deciding_files(const Context& context, const Setup& setup) {
  FileList files;
  add_agents(context, setup, files);
  add_reactions(context, setup, files);
  add_schemas(context, setup, files);
  return files.take();
}

std::vector<ForeignFile> foreign_files(const Context& context, const Setup& setup,
                                       const std::string& shim, const std::string& state) {
  std::vector<ForeignFile> all;
  const auto judge = [&](const std::string& what, const std::string& path,
                         const Result<void>& trusted) {
    if (trusted || trusted.error().code != Errc::denied)
      return;
    const Error& error = trusted.error();
    const bool itself = error.where.empty() || error.where == path;
    all.push_back({path, what + " is not to be trusted: " + (itself ? "" : error.where + " ") +
                             error.message + advice_on_owner(error.where)});
  };
  for (const DecidingFile& file : deciding_files(context, setup))
    judge(file.what, file.path, trusted_file(file.path));
  for (const std::string& folder : setup.libraries)
    judge("the library", folder, trusted_folder(folder));
  if (!shim.empty())
    judge("the program that baton starts agents with", shim, trusted_file(shim));
  if (!state.empty()) {
    const std::string parent = fs::path(state).parent_path().string();
    judge("the folder of the state folders", parent, trusted_folder(parent));
  }
  return all;
}

Result<void> check_files(const Context& context, const Setup& setup, const std::string& shim,
                         const std::string& state) {
  const auto all = foreign_files(context, setup, shim, state);
  if (all.empty())
    return {};
  std::string message = all.front().why;
  for (std::size_t i = 1; i < all.size(); ++i)
    message += "; " + all[i].path + ": " + all[i].why;
  return fail(Errc::config, message, all.front().path);
}

}  // namespace baton
