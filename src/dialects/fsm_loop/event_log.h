#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "dialects/fsm_loop/scene.h"

namespace baton::fsm_loop {

inline constexpr std::size_t kPreview = 2000;   ///< bytes of output in an event, the last ones
inline constexpr std::size_t kMostLines = 500;  ///< of an action, each an event, the last ones

/// The lines that are to be added to the event file in one write.
class EventLog {
 public:
  explicit EventLog(Scene& scene) : scene_(scene) {}

  /// One line: `event` and `ts`, the payload, and a running number that no other line of this run
  /// has. Of a loop inside another `depth` says how deep it is.
  void add(std::string_view event, const Json& payload);
  void add(std::string_view event, const Json& payload, std::size_t depth);
  const std::string& lines() const { return lines_; }

 private:
  Scene& scene_;
  std::string lines_;
};

}  // namespace baton::fsm_loop
