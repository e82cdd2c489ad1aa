#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "io/files/fd.h"
#include "io/files/root.h"
#include "io/files/safe_open.h"
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

/// A log that is printed piece by piece.
struct OpenLog {
  Fd fd;
  std::string begun;  ///< on a terminal: the beginning of a character that is not complete yet
};

/// Prints the bytes unchanged. On a terminal, control characters are escaped.
void print_piece(OpenLog& log, std::string_view bytes) {
  if (!on_terminal())
    return print(bytes);
  std::string text = std::exchange(log.begun, "") + std::string(bytes);
  constexpr std::size_t kLongest = 4;  // bytes of a character
  for (std::size_t at = text.size() - std::min(text.size(), kLongest - 1); at < text.size(); ++at)
    if (utf8_length(text, at) == 0 && utf8_cut(text, at)) {
      log.begun = text.substr(at);
      text.resize(at);
    }
  print(for_terminal(text));
}

/// Prints what of a character was never completed.
void print_rest(OpenLog& log) {
  print(for_terminal(std::exchange(log.begun, "")));
}

/// Copies the file from the current offset on.
Result<void> copy(OpenLog& log, const std::string& path) {
  std::string piece(kPiece, '\0');
  for (;;) {
    const ssize_t got = ::read(log.fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return system_error(errno, "cannot be read", path);
    if (got == 0)
      return {};
    print_piece(log, std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
}

struct LogsArguments {
  Places places;
  std::string run;
  bool follow = false;
  bool from_stderr = false;
};

/// Opens a file in the folder of a run. Agents may write there: baton follows no link, does not
/// wait for a FIFO, and reads no file that has another name elsewhere. Errc::not_found: there is
/// none.
Result<Fd> open_in_run(const Run& run, const std::string& name) {
  const std::string path = run.directory + "/" + name;
  auto folder = open_folder_without_links(run.directory);
  if (!folder)
    return pass_on(folder);
  auto fd = open_regular(folder->get(), name, O_RDONLY);
  struct stat info {};
  if (fd && fstat(fd->get(), &info) == 0 && info.st_nlink > 1)
    return fail(Errc::denied,
                "is a hard link: the file has another name, too, and may be another's", path);
  if (!fd)
    fd.error().where = path;
  return fd;
}

/// Prints new output; opens the log when it exists.
Result<void> print_new(const Run& run, bool live, const std::string& name, OpenLog& log) {
  if (!log.fd) {
    auto fd = open_in_run(run, name);
    const bool none = !fd && fd.error().code == Errc::not_found;
    if (none && (live || access(run.directory.c_str(), F_OK) == 0))
      return {};
    if (!fd)
      return pass_on(fd);
    log.fd = *std::move(fd);
  }
  return copy(log, run.directory + "/" + name);
}

ExitCode show(const LogsArguments& arguments, const Context& context, const Run& run) {
  const std::string name = arguments.from_stderr ? "stderr" : "stdout";
  OpenLog log;
  bool live = run.live();
  for (;;) {
    if (auto done = print_new(run, live, name + ".log", log); !done)
      return complain(done.error());
    const bool last = !arguments.follow || !live;
    if (last)
      print_rest(log);
    // After the cap, the tail has the last output.
    OpenLog tail;
    if (!live)
      if (auto done = print_new(run, live, name + ".tail", tail); !done)
        return complain(done.error());
    print_rest(tail);
    if (finish() != ExitCode::fine)
      return ExitCode::unreachable;
    if (last)
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
      "Prints the output of an agent, unchanged. On a terminal, control characters are\n"
      "escaped. If there is more than `log_cap`, this is\n"
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
  auto file = open_in_run(*run, "prompt");
  const auto text = file ? read_all(file->get(), kMaxBytes, run->directory + "/prompt")
                         : Result<std::string>(pass_on(file));
  if (text)
    print(on_terminal() ? for_terminal(*text) : *text);
  else if (text.error().code != Errc::not_found || access(run->directory.c_str(), F_OK) != 0)
    return complain(text.error());
  return finish();
}

}  // namespace baton
