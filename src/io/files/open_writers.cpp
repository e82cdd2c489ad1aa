#include "io/files/open_writers.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>

namespace baton {

// The kernel refuses a read lease while anybody has the file open for writing; it grants none to
// whom the file does not belong, and some file systems have none. Should a writer open it in the
// moment we hold the lease, the kernel tells us by SIGURG, which is ignored, and not by its usual
// signal, which kills.
OpenWriters open_writers(int fd) {
  if (fcntl(fd, F_SETSIG, SIGURG) != 0)
    return OpenWriters::unknown;
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
    return errno == EAGAIN ? OpenWriters::some : OpenWriters::unknown;
  fcntl(fd, F_SETLEASE, F_UNLCK);
  return OpenWriters::none;
}

}  // namespace baton
