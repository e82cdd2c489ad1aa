#pragma once

#include <cstdint>

#include <sys/inotify.h>

namespace baton {

/// What the kernel is asked for, per folder. No IN_MODIFY: one event per write, and half-written
/// files would be read. No event that our own reading causes. IN_CREATE only for folders and for
/// link(2), symlink(2) and mknod(2) into place, which cause no other.
constexpr std::uint32_t kFolderMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE |
                                      IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                                      IN_EXCL_UNLINK;
/// For the folder in which a missing or replaced root will appear. Added to whatever mask it may
/// already have: one folder has one watch, whoever asks.
constexpr std::uint32_t kGuardMask = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM |
                                     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD;

/// What an inotify event means to us.
enum class Seen {
  nothing,      ///< of no interest
  file,         ///< a file was written, renamed here, renamed away or removed
  file_made,    ///< a name appeared; a close will follow, but for links, pipes, sockets and devices
  folder,       ///< a folder came or went under this name: look which
  folder_away,  ///< the same, and the files in it may have gone without a word
  self,         ///< the watched folder itself was removed, renamed or unmounted
  watch_ended,  ///< the kernel has dropped the watch; its number is free
  overflow,     ///< events were lost
};
Seen meaning(std::uint32_t mask);

}  // namespace baton
