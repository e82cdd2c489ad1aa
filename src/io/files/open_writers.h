#pragma once

namespace baton {

/// Whether anybody has a file open for writing.
enum class OpenWriters {
  none,
  some,
  unknown,  ///< it is another user's, or its file system cannot tell
};
/// Of a regular file that is open for reading only.
OpenWriters open_writers(int fd);

}  // namespace baton
