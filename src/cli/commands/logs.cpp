// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "io/agents/run_directory.h"
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

/// Which output the user wants to see.
enum class Streams { both, out, err };

struct LogsArguments {
  Places places;
  std::string run;
  bool follow = false;
  bool only_stdout = false;
  bool only_stderr = false;
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

/// The bytes of one stream that were not printed yet.
class StreamLog {
 public:
  explicit StreamLog(std::string name) : name_(std::move(name)) {}

  /// Opens the log when it exists. A run whose folder is gone has none.
  Result<void> open(const Run& run, bool live) {
    if (fd_)
      return {};
    auto fd = open_in_run(run, name_ + ".log");
    const bool none = !fd && fd.error().code == Errc::not_found;
    if (none && (live || access(run.directory.c_str(), F_OK) == 0))
      return {};
    if (!fd)
      return pass_on(fd);
    fd_ = *std::move(fd);
    path_ = run.directory + "/" + name_ + ".log";
    return {};
  }

  /// Prints up to this place of the log, as far as it goes.
  Result<void> print_to(std::uint64_t end) {
    std::string piece(kPiece, '\0');
    while (fd_ && printed_ < end) {
      const auto most = std::min<std::uint64_t>(piece.size(), end - printed_);
      const ssize_t got = pread(fd_.get(), piece.data(), static_cast<std::size_t>(most),
                                static_cast<off_t>(printed_));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return system_error(errno, "cannot be read", path_);
      if (got == 0)
        return {};
      print_piece(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
      printed_ += static_cast<std::uint64_t>(got);
    }
    return {};
  }
  Result<void> print_all() { return print_to(std::numeric_limits<std::uint64_t>::max()); }

  /// Prints what of a character was never completed.
  void print_rest() { print(for_terminal(std::exchange(begun_, ""))); }

  /// After the cap, the tail has the last output.
  Result<void> print_tail(const Run& run) {
    StreamLog tail(name_ + ".tail");
    auto fd = open_in_run(run, tail.name_);
    if (!fd && fd.error().code != Errc::not_found)
      return pass_on(fd);
    if (!fd)
      return {};
    tail.fd_ = *std::move(fd);
    tail.path_ = run.directory + "/" + tail.name_;
    auto done = tail.print_all();
    tail.print_rest();
    return done;
  }

 private:
  /// Prints the bytes unchanged. On a terminal, control characters are escaped.
  void print_piece(std::string_view bytes) {
    if (!on_terminal())
      return print(bytes);
    std::string text = std::exchange(begun_, "") + std::string(bytes);
    constexpr std::size_t kLongest = 4;  // bytes of a character
    for (std::size_t at = text.size() - std::min(text.size(), kLongest - 1); at < text.size(); ++at)
      if (utf8_length(text, at) == 0 && utf8_cut(text, at)) {
        begun_ = text.substr(at);
        text.resize(at);
      }
    print(for_terminal(text));
  }

  std::string name_;
  std::string path_;
  Fd fd_;
  std::uint64_t printed_ = 0;
  std::string begun_;  ///< on a terminal: the beginning of a character that is not complete yet
};

/// The output of a run: one stream, or both in the order in which they were written.
class RunOutput {
 public:
  RunOutput(Run run, Streams streams) : run_(std::move(run)), streams_(streams) {}

  /// Prints what is new.
  Result<void> print_new(bool live) {
    for (StreamLog* const each : chosen())
      if (auto opened = each->open(run_, live); !opened)
        return opened;
    if (streams_ == Streams::both)
      if (auto done = print_ordered(); !done)
        return done;
    for (StreamLog* const each : chosen())
      if (auto done = each->print_all(); !done)
        return done;
    return {};
  }

  /// Prints what is left when the run has ended.
  Result<void> print_end(bool live) {
    for (StreamLog* const each : chosen()) {
      each->print_rest();
      if (live)
        continue;
      if (auto done = each->print_tail(run_); !done)
        return done;
    }
    return {};
  }

 private:
  std::vector<StreamLog*> chosen() {
    if (streams_ == Streams::out)
      return {&out_};
    if (streams_ == Streams::err)
      return {&err_};
    return {&out_, &err_};
  }

  /// Prints what the shim has noted the order of (shim/protocol.h).
  Result<void> print_ordered() {
    if (!order_) {
      auto fd = open_in_run(run_, kOrderOfLogs);
      if (!fd)
        return {};
      order_ = *std::move(fd);
    }
    // An agent can write this file. Without a sensible order the logs come one after the other.
    constexpr std::size_t kLongestLine = 32;
    std::array<char, 4096> piece{};
    while (order_lines_ < kMostOrderLines) {
      const ssize_t got = ::read(order_.get(), piece.data(), piece.size());
      if (got <= 0)
        return {};
      lines_.append(piece.data(), static_cast<std::size_t>(got));
      for (std::size_t end = lines_.find('\n'); end != std::string::npos; end = lines_.find('\n')) {
        const std::string line = lines_.substr(0, end);
        lines_.erase(0, end + 1);
        ++order_lines_;
        std::uint64_t bytes = 0;
        if (line.size() < 3 ||
            std::from_chars(line.data() + 2, line.data() + line.size(), bytes).ec != std::errc())
          continue;
        const bool out = line.front() == 'o';
        std::uint64_t& place = out ? out_place_ : err_place_;
        place += bytes;
        if (auto done = (out ? out_ : err_).print_to(place); !done)
          return done;
      }
      if (lines_.size() > kLongestLine)
        order_lines_ = kMostOrderLines;
    }
    return {};
  }

  Run run_;
  Streams streams_;
  StreamLog out_{"stdout"};
  StreamLog err_{"stderr"};
  Fd order_;
  std::string lines_;  ///< of the order; the last one may not be complete
  std::uint32_t order_lines_ = 0;
  std::uint64_t out_place_ = 0;  ///< up to where the order has come
  std::uint64_t err_place_ = 0;
};

ExitCode show(const LogsArguments& arguments, const Context& context, const Run& run) {
  RunOutput output(run, arguments.only_stdout   ? Streams::out
                        : arguments.only_stderr ? Streams::err
                                                : Streams::both);
  bool live = run.live();
  for (;;) {
    if (auto done = output.print_new(live); !done)
      return complain(done.error());
    const bool last = !arguments.follow || !live;
    if (last)
      if (auto done = output.print_end(live); !done)
        return complain(done.error());
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
      "Prints what an agent has written to stdout and stderr, unchanged and in order of time.\n"
      "On a terminal, control characters are escaped. If there is more than `log_cap`, this is\n"
      "the beginning and, after the run has ended, also the last 256 KiB of the rest.",
      {{ExitCode::fine, "printed"},
       {ExitCode::usage, "wrong usage or configuration; no such run"},
       {ExitCode::unreachable, "the log cannot be read, for example because it was pruned"}});
  options.word("RUN", arguments.run, "The id of a run, or a unique beginning of it");
  options.flag("-f,--follow", arguments.follow, "Keep printing until the run has ended");
  options.flag("--stdout", arguments.only_stdout, "Only stdout");
  options.flag("--stderr", arguments.only_stderr, "Only stderr");
  options.exclude("--stdout", {"--stderr"});
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
