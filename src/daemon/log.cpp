// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "findings/report.h"
#include "io/files/fd.h"
#include "io/system/stderr_lines.h"
#include "workspace/environment.h"

namespace baton {
namespace {

constexpr std::string_view kJournalSocket = "/run/systemd/journal/socket";

/// Whether stderr is the stream to the journal that systemd has made: systemd.exec(5),
/// $JOURNAL_STREAM. The variable alone says nothing: a child of a service may have it, too.
bool stderr_is_journal() {
  struct stat facts {};
  return fstat(STDERR_FILENO, &facts) == 0 &&
         variable("JOURNAL_STREAM") ==
             std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
}

/// As syslog(3) numbers them.
int priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return 2;
    case spdlog::level::err:
      return 3;
    case spdlog::level::warn:
      return 4;
    case spdlog::level::info:
      return 6;
    case spdlog::level::trace:
    case spdlog::level::debug:
    case spdlog::level::off:
    case spdlog::level::n_levels:
      break;
  }
  return 7;
}

/// A value with a line feed is sent with its length.
void add_field(std::string& entry, std::string_view name, std::string_view value) {
  entry += name;
  if (value.find('\n') == std::string_view::npos) {
    entry += '=';
  } else {
    entry += '\n';
    for (unsigned byte = 0; byte < sizeof(std::uint64_t); ++byte)
      entry += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> (8 * byte) & 0xffU);
  }
  entry += value;
  entry += '\n';
}

/// The datagram for one line.
std::string journal_entry(int priority, std::string_view line, const LogFields& fields) {
  std::string entry;
  add_field(entry, "MESSAGE", line);
  add_field(entry, "PRIORITY", std::to_string(priority));
  add_field(entry, "SYSLOG_IDENTIFIER", "baton");
  for (const auto& [name, value] : fields)
    if (!value.empty())
      add_field(entry, name, value);
  return entry;
}

class LogSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LogSink(bool journal)
      : journal_(journal ? Fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) : Fd()) {}

  /// For the next line.
  void set_fields(LogFields fields) { fields_ = std::move(fields); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const LogFields fields = std::exchange(fields_, {});
    const std::string_view said(message.payload.data(), message.payload.size());
    if (journal_ && sent(journal_entry(priority_of(message.level), said, fields)))
      return;
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const std::string_view text(line.data(), line.size());
    lines_.write(in_github_job_ ? without_workflow_commands(std::string(text)) : text);
  }
  void flush_() override {}

 private:
  bool sent(const std::string& entry) const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, kJournalSocket.data(), kJournalSocket.size());
    const auto length =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kJournalSocket.size());
    return sendto(journal_.get(), entry.data(), entry.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                  reinterpret_cast<const sockaddr*>(&address),
                  length) == static_cast<ssize_t>(entry.size());
  }

  Fd journal_;
  LogFields fields_;
  StderrLines lines_{STDERR_FILENO};
  bool in_github_job_ = variable("GITHUB_ACTIONS") == "true";
};

}  // namespace

void begin_log() {
  const bool journal = stderr_is_journal();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("baton", std::make_shared<LogSink>(journal)));
  spdlog::set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
                      spdlog::pattern_time_type::utc);
}

void log_with_fields(spdlog::level::level_enum level, const std::string& line, LogFields fields) {
  const auto& sinks = spdlog::default_logger()->sinks();
  if (!sinks.empty())
    if (auto* const sink = dynamic_cast<LogSink*>(sinks.front().get()))
      sink->set_fields(std::move(fields));
  spdlog::log(level, line);
}

}  // namespace baton
