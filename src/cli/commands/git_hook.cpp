#include <filesystem>
#include <string>

#include <sys/stat.h>

#include "base/text.h"
#include "cli/commands/git_hook_text.h"
#include "io/files/disk.h"
#include "io/system/git.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPermissions = 07777;

/// The hook of a repository that runs before each commit.
struct HookFile {
  std::string path;
  std::string text;  ///< empty: there is none
  unsigned mode = 0755;
};

Result<HookFile> read_hook(const GitRepository& repository) {
  constexpr std::size_t kMaxHookBytes = 1U << 20U;
  auto folder = repository.hooks_folder();
  if (!folder)
    return pass_on(folder);
  HookFile hook;
  hook.path = (fs::path(*folder) / "pre-commit").lexically_normal().string();
  struct stat info {};
  if (lstat(hook.path.c_str(), &info) != 0)
    return hook;
  if (!S_ISREG(info.st_mode))
    return fail(Errc::not_regular,
                "is a link or no file, so nothing is added; let what it leads to call `baton "
                "validate --staged`",
                hook.path);
  auto text = read_file(hook.path, kMaxHookBytes);
  if (!text)
    return fail(text.error().code, text.error().message, hook.path);
  hook.text = *std::move(text);
  hook.mode = info.st_mode & kPermissions;
  return hook;
}

Result<void> write_hook(const HookFile& hook, const std::string& text) {
  std::error_code error;
  if (text.empty()) {
    fs::remove(hook.path, error);
    return error ? Result<void>(fail(Errc::io, "cannot be removed: " + error.message(), hook.path))
                 : Result<void>();
  }
  const fs::path folder = fs::path(hook.path).parent_path();
  fs::create_directories(folder, error);
  if (error)
    return fail(Errc::io, "cannot be made: " + error.message(), folder.string());
  return write_file_durably(hook.path, text, hook.mode);
}

/// ` --root DIR` when the root is not the top of the work tree, as seen from there; else nothing.
Result<std::string> root_option(const Places& places, const GitRepository& repository) {
  const auto context = Context::open_anyway(places);
  if (!context)
    return tl::unexpected(context.error());
  std::error_code error;
  const bool chosen = !places.root.empty() || fs::exists(context->root() + "/baton.yaml", error);
  if (!chosen || context->root() == repository.top())
    return std::string();
  const auto relative = below(repository.top(), context->root());
  if (!relative)
    return fail(Errc::usage, "the root " + printable(context->root()) +
                                 " does not lie in the repository " + printable(repository.top()));
  return " --root " + shell_quoted(*relative);
}

/// The line of the hook. It names this binary, and falls back on PATH when that is gone.
std::string line_with(const std::string& root) {
  return "( baton=" + shell_quoted(own_path()) +
         "; [ -x \"$baton\" ] || baton=baton; exec \"$baton\" validate --staged" + root + " )";
}

/// What to do about a hook to which no line of shell can be added.
std::string advice(const HookFile& hook, const std::string& root) {
  const std::string other = hook.path + ".main";
  return "; it was left as it is. Either let it run `baton validate --staged" + root +
         "` and end with 1 when that fails; or rename it, install again and have the new hook call "
         "it: mv " +
         shell_quoted(hook.path) + " " + shell_quoted(other) +
         " && baton hook install && echo 'exec \"$0.main\" \"$@\"' >>" + shell_quoted(hook.path);
}

ExitCode install(const HookFile& hook, const Places& places, const GitRepository& repository) {
  constexpr unsigned kExecutable = 0100;
  if (!hook.text.empty() && (hook.mode & kExecutable) == 0) {
    complain(printable(hook.path) +
             " is not executable, so git does not run it; make it so or remove it");
    return ExitCode::failed;
  }
  const auto root = root_option(places, repository);
  if (!root)
    return complain(root.error());
  const auto other = hook.text.empty() ? std::nullopt : no_shell(hook.text);
  if (other) {
    complain(printable(hook.path) + " " + *other + printable(advice(hook, *root), 8192));
    return ExitCode::usage;
  }
  const auto text = with_part(hook.text, line_with(*root));
  if (!text)
    return complain({text.error().code, text.error().message, hook.path});
  if (*text == hook.text) {
    print(printable(hook.path) + " has it already\n");
    return finish();
  }
  if (const auto written = write_hook(hook, *text); !written)
    return complain(written.error());
  print((hook.text.empty() ? "made " : "added to ") + printable(hook.path) +
        ": each commit is checked by `baton validate --staged`\n");
  return finish();
}

ExitCode uninstall(const HookFile& hook) {
  const auto text = without_part(hook.text);
  if (!text)
    return complain({text.error().code, text.error().message, hook.path});
  if (!has_part(hook.text)) {
    print("there is nothing of baton in " + printable(hook.path) + "\n");
    return finish();
  }
  if (const auto written = write_hook(hook, *text); !written)
    return complain(written.error());
  print((text->empty() ? "removed " : "taken out of ") + printable(hook.path) + "\n");
  return finish();
}

}  // namespace

ExitCode hook_command(Words words) {
  std::string action;
  Places places;
  Options options("hook",
                  "Has git check what is committed in this repository: `install` adds a call of\n"
                  "`baton validate --staged` to its pre-commit hook, or makes one; `uninstall`\n"
                  "takes out just that. An existing hook is kept, and runs after it.",
                  "  0  done, or nothing was to be done\n"
                  "  1  the hook that is there is not executable\n"
                  "  2  wrong usage, or a hook that is no shell script\n"
                  "  3  no repository, or the hook could not be read or written");
  options.word("ACTION", action, "install or uninstall");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  if (action != "install" && action != "uninstall") {
    complain("hook takes install or uninstall, not " + printable(action, 80));
    return ExitCode::usage;
  }
  const auto repository = GitRepository::here();
  if (!repository)
    return complain(repository.error());
  const auto hook = read_hook(*repository);
  if (!hook)
    return complain(hook.error());
  return action == "install" ? install(*hook, places, *repository) : uninstall(*hook);
}

}  // namespace baton
