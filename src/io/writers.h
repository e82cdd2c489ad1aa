#pragma once

namespace baton {

/// Whether anybody has a file open for writing.
enum class Writers {
  none,
  some,
  unknown,  ///< it is another user's, or its file system cannot tell
};
/// Of a regular file that is open for reading only.
Writers writers(int fd);

}  // namespace baton
