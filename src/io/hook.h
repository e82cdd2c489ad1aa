#pragma once

#include <memory>
#include <string>
#include <vector>

namespace baton {

/// Runs the `notify:` command, one JSON object on its stdin each time. It never blocks and its
/// result alters nothing: one runs at a time, others wait (the oldest are dropped when too many
/// do), and one that does not end within 30 seconds is killed.
class Hook {
 public:
  virtual ~Hook() = default;
  Hook() = default;
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;
  Hook(Hook&&) = delete;
  Hook& operator=(Hook&&) = delete;

  virtual void tell(const std::string& json) = 0;
  /// Takes in the one that has ended and starts the next one. To be called about every second while
  /// `busy`.
  virtual void tend() = 0;
  virtual bool busy() const = 0;
};

/// `argv[0]` is absolute; nothing is started when `argv` is empty.
std::unique_ptr<Hook> command_hook(std::vector<std::string> argv, std::vector<std::string> env);

}  // namespace baton
