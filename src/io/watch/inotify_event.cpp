#include "io/watch/inotify_event.h"

namespace baton {

Seen meaning(std::uint32_t mask) {
  const auto has = [mask](std::uint32_t bits) { return (mask & bits) != 0; };
  if (has(IN_Q_OVERFLOW))
    return Seen::overflow;
  if (has(IN_IGNORED))
    return Seen::watch_ended;
  if (has(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
    return Seen::self;
  if (has(IN_ISDIR)) {
    if (has(IN_MOVED_FROM))
      return Seen::folder_away;
    return has(IN_CREATE | IN_MOVED_TO | IN_DELETE) ? Seen::folder : Seen::nothing;
  }
  if (has(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE))
    return Seen::file;
  return has(IN_CREATE) ? Seen::file_made : Seen::nothing;
}

}  // namespace baton
