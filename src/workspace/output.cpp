// SPDX-License-Identifier: Apache-2.0
#include "workspace/output.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "findings/report.h"
#include "workspace/environment.h"

namespace baton {
namespace {

bool in_github_job() {
  return variable("GITHUB_ACTIONS") == "true";
}

}  // namespace

void print(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_text(const std::string& text) {
  print(in_github_job() ? without_workflow_commands(text) : text);
}

std::string for_terminal(std::string_view bytes) {
  constexpr std::size_t kLongest = 4;  // the longest form of one byte
  std::vector<std::string> lines = split(bytes, '\n');
  for (std::string& line : lines) {
    std::vector<std::string> columns = split(line, '\t');
    for (std::string& each : columns)
      each = printable(each, kLongest * each.size());
    line = join(columns, "\t");
  }
  return join(lines, "\n");
}

void print_line(const Json& value) {
  print(value.dump() + "\n");
}

void complain(std::string_view message) {
  std::string line = "baton: " + std::string(message) + "\n";
  if (in_github_job())
    line = without_workflow_commands(line);
  (void)std::fflush(stdout);
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain_once(const std::string& message) {
  static std::set<std::string> notified;
  if (notified.insert(message).second)
    complain(message);
}

void warn_once(const std::string& message) {
  complain_once("warning: " + message);
}

ExitCode complain(const Error& error) {
  complain(printable(describe(error), 4096) +
           (error.code == Errc::no_space ? "; free some room and try again" : ""));
  return exit_code_of(error.code);
}

ExitCode finish(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return code;
  complain("the output could not be written");
  return graver(code, ExitCode::unreachable);
}

void flush() {
  (void)std::fflush(stdout);
}

bool wait_while_read(std::chrono::milliseconds time) {
  // poll reports POLLERR even if `events` is 0, once no process has the other end of a pipe open.
  pollfd reader{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  const int got = poll(&reader, 1, static_cast<int>(time.count()));
  return got <= 0 || (reader.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

bool on_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

bool is_plain_word(std::string_view text) {
  static constexpr std::string_view kMore = "._/-@:+,=%";
  const auto plain = [](char c) {
    return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           kMore.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), plain) &&
         printable(text, text.size()) == text;
}

void print_fitted(const std::string& text) {
  print_text(wrapped(text, terminal_columns()));
}

std::string finding_text(const std::string& path, const Finding& finding) {
  const bool error = finding.severity == Severity::error;
  const std::string word(severity_word(finding));
  return finding_line(path, finding, paint(error ? Colour::red : Colour::yellow, word)) + "\n";
}

std::string span_text(Time then, Time now) {
  const auto seconds = std::max(std::chrono::duration_cast<std::chrono::seconds>(now - then), {});
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t count = seconds.count();
  if (count < kMinute)
    return std::to_string(count) + "s";
  if (count < kHour)
    return std::to_string(count / kMinute) + "m";
  if (count < 2 * kDay)
    return std::to_string(count / kHour) + "h";
  return std::to_string(count / kDay) + "d";
}

std::string ago(Time then, Time now) {
  return then == Time{} ? "" : span_text(then, now) + " ago";
}

}  // namespace baton
