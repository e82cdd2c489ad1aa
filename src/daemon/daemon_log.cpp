#include "daemon/daemon_log.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include <unistd.h>

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "io/system/stderr_lines.h"

namespace baton::daemon_log {
namespace {

class ErrorSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    lines_.write({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  StderrLines lines_{STDERR_FILENO};
};

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::critical:
      break;
  }
  return spdlog::level::critical;
}

}  // namespace

void begin() {
  auto logger = std::make_shared<spdlog::logger>("baton", std::make_shared<ErrorSink>());
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
                      spdlog::pattern_time_type::utc);
}

void say(Level level, const std::string& line) {
  spdlog::log(level_of(level), "{}", line);
}

}  // namespace baton::daemon_log
