#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/files/disk.h"
#include "io/files/fd.h"
#include "workspace/command.h"
#include "workspace/history.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr std::chrono::milliseconds kLogsEvery{200};
constexpr std::size_t kPiece = 65536;

Result<Run> run_named(const Context& context, const std::string& id) {
  auto histories = histories_of(context);
  if (!histories)
    return pass_on(histories);
  if (histories->empty())
    return fail(Errc::not_found, "no daemon has served this root yet", context.root());
  std::optional<Run> found;
  for (const History& each : *histories) {
    auto run = each.run(id);
    if (!run && run.error().code == Errc::not_found)
      continue;
    if (!run)
      return run;
    if (found)
      return fail(Errc::usage, "several runs match " + printable(id, 60) +
                                   "; `baton agents --names` lists the full ids");
    found = *std::move(run);
  }
  if (!found)
    return fail(Errc::usage,
                "there is no run " + printable(id, 60) + "; `baton agents` lists them");
  return *std::move(found);
}

/// Copies the file from the current offset on.
Result<void> copy(int fd, const std::string& path) {
  std::string piece(kPiece, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return system_error(errno, "cannot be read", path);
    if (got == 0)
      return {};
    print(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
}

struct LogsArguments {
  Places places;
  std::string run;
  bool follow = false;
  bool from_stderr = false;
};

/// Prints new output; opens the log when it exists.
Result<void> print_new(const Run& run, bool live, const std::string& path, Fd& fd) {
  // Agents may write in the folder of their run. If one puts a FIFO there, do not wait for it.
  if (!fd)
    fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (fd && (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)))
    return fail(Errc::not_regular, "is not a regular file, and baton reads no others", path);
  if (!fd && (errno != ENOENT || (!live && access(run.directory.c_str(), F_OK) != 0)))
    return system_error(errno, "cannot be opened", path);
  return fd ? copy(fd.get(), path) : Result<void>();
}

ExitCode show(const LogsArguments& arguments, const Context& context, const Run& run) {
  const std::string name = run.directory + (arguments.from_stderr ? "/stderr" : "/stdout");
  const std::string path = name + ".log";
  Fd fd;
  bool live = run.live();
  for (;;) {
    if (auto done = print_new(run, live, path, fd); !done)
      return complain(done.error());
    // After the cap, the tail has the last output.
    if (Fd tail; !live && access((name + ".tail").c_str(), F_OK) == 0)
      if (auto done = print_new(run, live, name + ".tail", tail); !done)
        return complain(done.error());
    if (finish() != ExitCode::fine)
      return ExitCode::unreachable;
    if (!arguments.follow || !live)
      return ExitCode::fine;
    if (!wait_while_read(kLogsEvery))
      return ExitCode::fine;
    // Look once more after the end, for the last output.
    const auto again = run_named(context, run.id);
    live = again && again->live();
  }
}

}  // namespace

ExitCode logs_command(Words words) {
  LogsArguments arguments;
  Options options(
      "logs",
      "Prints the output of an agent, unchanged. If there is more than `log_cap`, this is\n"
      "the beginning and, after the run has ended, also the last 256 KiB of the rest.",
      {{ExitCode::fine, "printed"},
       {ExitCode::usage, "wrong usage or configuration; no such run"},
       {ExitCode::unreachable, "the log cannot be read, for example because it was pruned"}});
  options.word("RUN", arguments.run, "The id of a run, or a unique beginning of it");
  options.flag("-f,--follow", arguments.follow, "Keep printing until the run has ended");
  options.flag("--stderr", arguments.from_stderr, "Print stderr instead of stdout");
  options.places(arguments.places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_anyway(arguments.places);
  if (!context)
    return complain(context.error());
  const auto run = run_named(*context, arguments.run);
  if (!run)
    return complain(run.error());
  return show(arguments, *context, *run);
}

ExitCode prompt_command(Words words) {
  Places places;
  std::string id;
  Options options(
      "prompt", "Prints the prompt that an agent got on its stdin; prints nothing if it got none.",
      {{ExitCode::fine, "printed"},
       {ExitCode::usage, "wrong usage or configuration; no such run"},
       {ExitCode::unreachable, "it cannot be read"}});
  options.word("RUN", id, "The id of a run, or a unique beginning of it");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_anyway(places);
  if (!context)
    return complain(context.error());
  const auto run = run_named(*context, id);
  if (!run)
    return complain(run.error());
  constexpr std::size_t kMaxBytes = 64U << 20U;
  const auto text = read_file(run->directory + "/prompt", kMaxBytes);
  if (text)
    print(*text);
  else if (text.error().code != Errc::not_found || access(run->directory.c_str(), F_OK) != 0)
    return complain(text.error());
  return finish();
}

}  // namespace baton
