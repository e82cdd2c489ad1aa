// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "base/text.h"
#include "cli/who_asks.h"
#include "io/files/disk.h"
#include "io/system/git.h"
#include "workspace/acting_user.h"
#include "workspace/command.h"
#include "workspace/configuration_file.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

/// A hook that baton made has five lines and begins with these two.
constexpr std::string_view kHookHead = "#!/bin/sh\n# This hook was made by `baton hook install`.\n";
constexpr std::int64_t kHookLines = 5;
constexpr std::string_view kHookCall = "validate --staged";

/// The hook of a repository that git runs before each commit.
struct HookFile {
  std::string path;
  bool exists = false;
  bool runnable = false;  ///< a regular file that git may execute
  std::string text;       ///< empty for anything but a regular file

  bool is_ours() const {
    return text.starts_with(kHookHead) && std::count(text.begin(), text.end(), '\n') == kHookLines;
  }
};

Result<HookFile> read_git_hook(const GitRepository& repository) {
  constexpr std::size_t kMaxHookBytes = 1U << 20U;
  constexpr unsigned kExecutable = 0100;
  auto folder = repository.hooks_folder();
  if (!folder)
    return pass_on(folder);
  HookFile hook;
  hook.path = (fs::path(*folder) / "pre-commit").lexically_normal().string();
  struct stat info {};
  hook.exists = lstat(hook.path.c_str(), &info) == 0;
  if (!hook.exists || !S_ISREG(info.st_mode))
    return hook;
  auto text = read_file(hook.path, kMaxHookBytes);
  if (!text)
    return fail(text.error().code, text.error().message, hook.path);
  hook.text = *std::move(text);
  hook.runnable = (info.st_mode & kExecutable) != 0;
  return hook;
}

Result<void> write_git_hook(const HookFile& hook, const std::string& text) {
  constexpr unsigned kMode = 0755;
  std::error_code error;
  const fs::path folder = fs::path(hook.path).parent_path();
  fs::create_directories(folder, error);
  if (error)
    return fail(Errc::io, "cannot be made: " + error.message(), folder.string());
  return write_file_durably(hook.path, text, kMode);
}

/// ` --root DIR`, with DIR relative to the top of the work tree. "" if the root is the top, or if
/// there is no --root and no configuration of this root alone.
Result<std::string> root_option(const Places& places, const GitRepository& repository) {
  const auto context = Context::open_anyway(places);
  if (!context)
    return tl::unexpected(context.error());
  std::error_code error;
  const bool chosen = !places.root.empty() || fs::exists(context->root() + "/baton.yaml", error) ||
                      fs::exists(instance_configuration(context->root()), error);
  if (!chosen || context->root() == repository.top())
    return std::string();
  const auto relative = below(repository.top(), context->root());
  if (!relative)
    return fail(Errc::usage, "the root " + printable(context->root()) +
                                 " does not lie in the repository " + printable(repository.top()));
  return " --root " + shell_quoted(*relative);
}

/// The hook calls this binary, or the one in PATH if this one is gone.
std::string hook_text(const std::string& root) {
  return std::string(kHookHead) + "baton=" + shell_quoted(own_path()) +
         "\n[ -x \"$baton\" ] || baton=baton\nexec \"$baton\" " + std::string(kHookCall) + root +
         "\n";
}

ExitCode install_hook(const HookFile& hook, const Places& places, const GitRepository& repository) {
  const auto root = root_option(places, repository);
  if (!root)
    return complain(root.error());
  if (hook.exists && !hook.is_ours()) {
    complain(
        printable(hook.path) +
        " is another hook, so it was left as it is. Add this line at its beginning (a hook that "
        "is no shell script runs the command in its own way): baton " +
        std::string(kHookCall) + printable(*root, 8192) + " || exit 1");
    return ExitCode::failed;
  }
  const std::string text = hook_text(*root);
  if (text == hook.text && hook.runnable) {
    print(printable(hook.path) + " is there already\n");
    return finish();
  }
  if (const auto written = write_git_hook(hook, text); !written)
    return complain(written.error());
  print("made " + printable(hook.path) + ": each commit is checked by `baton validate --staged`\n");
  return finish();
}

ExitCode uninstall_hook(const HookFile& hook) {
  if (hook.is_ours()) {
    std::error_code error;
    if (!fs::remove(hook.path, error) && error)
      return complain({Errc::io, "cannot be removed: " + error.message(), hook.path});
    print("removed " + printable(hook.path) + "\n");
    return finish();
  }
  if (hook.text.find(kHookCall) == std::string::npos) {
    print("there is nothing of baton in " + printable(hook.path) + "\n");
    return finish();
  }
  complain(printable(hook.path) +
           " was not made by baton alone, so it was left as it is. Remove "
           "the line that calls `baton validate --staged` from it");
  return ExitCode::failed;
}

}  // namespace

ExitCode hook_command(Words words) {
  std::string action;
  Places places;
  Options options(
      "hook",
      "Makes git check what each commit of this repository holds: `install` writes a\n"
      "pre-commit hook that calls `baton validate --staged`, and `uninstall` removes\n"
      "it. Another hook is left as it is; then `install` prints the line to add to it.",
      {{ExitCode::fine, "done, or nothing had to be done"},
       {ExitCode::failed, "another hook is there, or an agent asks that may not"},
       {ExitCode::usage, "wrong usage or configuration"},
       {ExitCode::unreachable, "no repository, or the hook could not be read or written"}});
  options.word("ACTION", action, "install or uninstall");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  if (action != "install" && action != "uninstall") {
    complain("hook takes install or uninstall, not " + printable(action, 80));
    return ExitCode::usage;
  }
  if (const auto code = refused_to_agent_anywhere(places, "hook"))
    return *code;
  if (const auto acting = act_as_owner_of_work_tree(); !acting)
    return complain(acting.error());
  const auto repository = GitRepository::here();
  if (!repository)
    return complain(repository.error());
  const auto hook = read_git_hook(*repository);
  if (!hook)
    return complain(hook.error());
  return action == "install" ? install_hook(*hook, places, *repository) : uninstall_hook(*hook);
}

}  // namespace baton
