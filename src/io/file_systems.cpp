#include "io/file_systems.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <sys/vfs.h>

namespace baton {
namespace {

struct Remote {
  std::uint32_t type;
  std::string_view name;
};

// statfs(2), linux/magic.h
constexpr std::array kRemote = {
    Remote{0x00006969, "nfs"},    Remote{0x0000517b, "smb"},    Remote{0xff534d42, "cifs"},
    Remote{0xfe534d42, "smb2"},   Remote{0x65735546, "fuse"},   Remote{0x5346414f, "afs"},
    Remote{0x6b414653, "kafs"},   Remote{0x73757245, "coda"},   Remote{0x01021997, "9p"},
    Remote{0x00c36400, "ceph"},   Remote{0x0bd00bd0, "lustre"}, Remote{0x47504653, "gpfs"},
    Remote{0x0000564c, "ncp"},    Remote{0x7461636f, "ocfs2"},  Remote{0x01161970, "gfs2"},
    Remote{0x786f4256, "vboxsf"}, Remote{0xaad7aaea, "panfs"},
};

}  // namespace

std::optional<std::string_view> remote_file_system(std::uint32_t type) {
  for (const Remote& row : kRemote) {
    if (row.type == type)
      return row.name;
  }
  return std::nullopt;
}

Result<std::optional<std::string_view>> remote_file_system_of(const std::string& path) {
  struct statfs facts {};
  if (statfs(path.c_str(), &facts) == 0)
    return remote_file_system(static_cast<std::uint32_t>(facts.f_type));
  const int error = errno;
  const Errc code = error == ENOENT ? Errc::not_found : (error == EACCES ? Errc::denied : Errc::io);
  return fail(code, std::generic_category().message(error), path);
}

}  // namespace baton
