#include "io/files/flock.h"

#include <fstream>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace baton {

namespace {

// The inode number at the end of the sixth word, e.g. `1: FLOCK ADVISORY WRITE 4711 fe:00:5123 0
// EOF`.
bool is_flock_of(std::istringstream& words, const std::string& file, std::int64_t& pid) {
  std::string number;
  std::string kind;
  std::string advisory;
  std::string mode;
  std::string which;
  return words >> number >> kind >> advisory >> mode >> pid >> which && kind == "FLOCK" &&
         which == file;
}

}  // namespace

std::int64_t flock_holder(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return 0;
  std::ostringstream file;
  file << std::hex;
  file.fill('0');
  file.width(2);
  file << major(info.st_dev) << ':';
  file.width(2);
  file << minor(info.st_dev) << ':' << std::dec << info.st_ino;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::int64_t pid = 0;
    if (is_flock_of(words, file.str(), pid))
      return pid;
  }
  return 0;
}

}  // namespace baton
