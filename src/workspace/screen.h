// SPDX-License-Identifier: Apache-2.0
#pragma once

// A whole terminal for a command that shows something again and again. It uses the alternate
// screen, so the lines from before are there again afterwards, also after a signal.

#include <chrono>
#include <memory>
#include <string>

#include "base/pinned.h"
#include "core/exit_code.h"

namespace baton {

class Screen : private Pinned {
 public:
  /// Takes the terminal of stdout. nullptr: stdout is no terminal.
  static std::unique_ptr<Screen> open();
  virtual ~Screen() = default;

  /// Replaces what is shown. Lines below the last line of the terminal are left out.
  virtual void show(const std::string& text) = 0;

  enum class Event {
    timeout,
    resized,      ///< the text has to be made anew
    quit,         ///< the user pressed `q`
    interrupted,  ///< Ctrl-C, or a signal that ends programs
  };
  /// Waits for an event, at most that long.
  virtual Event wait(std::chrono::milliseconds most) = 0;
};

}  // namespace baton
