#pragma once

#include <string>

namespace baton::daemon_log {

enum class Level { info, warning, error, critical };

/// To standard error, which may be read by nobody (io/system/stderr_lines.h); a time before each
/// line, but under systemd, which stamps them itself. To be called once, before anything is said.
void begin();

/// One line, printable already (base/text.h).
void say(Level level, const std::string& line);

inline void info(const std::string& line) {
  say(Level::info, line);
}
inline void warn(const std::string& line) {
  say(Level::warning, line);
}
inline void error(const std::string& line) {
  say(Level::error, line);
}

}  // namespace baton::daemon_log
