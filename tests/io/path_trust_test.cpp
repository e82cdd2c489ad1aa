// SPDX-License-Identifier: Apache-2.0
#include "io/files/path_trust.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <grp.h>
#include <pwd.h>

#include "io/print.h"
#include "io/temp_folder.h"

namespace baton {

using test::TempFolder;
namespace fs = std::filesystem;

namespace {

template <class T>
Errc code_of(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().code;
}

void set_mode(const std::string& path, mode_t mode) {
  REQUIRE(chmod(path.c_str(), mode) == 0);
}

/// Whether the group has other members than root, by /etc/passwd and /etc/group.
bool crowded(gid_t gid) {
  bool others = false;
  setpwent();
  while (const passwd* const user = getpwent())
    others = others || (user->pw_uid != 0 && user->pw_gid == gid);
  endpwent();
  const group* const found = getgrgid(gid);
  return others || (found != nullptr && *found->gr_mem != nullptr);
}

/// A group of this machine with other members than root.
std::optional<gid_t> crowded_group() {
  std::optional<gid_t> found;
  setpwent();
  while (const passwd* const user = getpwent())
    if (user->pw_uid != 0 && user->pw_gid != 0)
      found = user->pw_gid;
  endpwent();
  return found;
}

/// One entry of an access list, as the kernel has it.
std::string entry(std::uint16_t tag, std::uint16_t rights, std::int32_t id) {
  std::string bytes(8, '\0');
  memcpy(bytes.data(), &tag, 2);
  memcpy(bytes.data() + 2, &rights, 2);
  memcpy(bytes.data() + 4, &id, 4);
  return bytes;
}

std::string program(const std::string& path, mode_t mode = 0755) {
  test::write(path, "#!/bin/sh\n");
  set_mode(path, mode);
  return path;
}

}  // namespace

TEST_CASE("A38 what group, others or a foreign user can write is not trusted") {
  // In /tmp, which everybody can write; root's sticky bit makes it fine.
  const TempFolder folder;
  const std::string file = folder / "a/baton.yaml";
  test::write(file, "");
  set_mode(file, 0644);
  set_mode(folder / "a", 0755);
  CHECK(trusted_file(file));
  SUBCASE("file, group that nobody knows") {
    set_mode(file, 0664);
    if (geteuid() == 0 && chown(file.c_str(), 0, 54'321) == 0)
      CHECK(code_of(trusted_file(file)) == Errc::denied);
    else
      MESSAGE("skipped: giving a file to another group needs root");
  }
  SUBCASE("file, group with other members") {
    const auto group = crowded_group();
    set_mode(file, 0664);
    if (geteuid() == 0 && group && chown(file.c_str(), 0, *group) == 0) {
      CHECK(code_of(trusted_file(file)) == Errc::denied);
      CHECK(trusted_file(file).error().message.find("`chmod go-w ") != std::string::npos);
    } else {
      MESSAGE("skipped: needs root, and a group with members");
    }
  }
  SUBCASE("file, group without other members") {
    set_mode(file, 0664);
    set_mode(folder / "a", 0775);
    if (geteuid() == 0 && chown(file.c_str(), 0, 0) == 0 && !crowded(0)) {
      CHECK(trusted_file(file));
      // An access list may give anybody the rights that the group seems to have.
      const std::string list = std::string("\2\0\0\0", 4) + entry(1, 6, -1) + entry(2, 6, 12'345) +
                               entry(4, 4, -1) + entry(16, 6, -1) + entry(32, 4, -1);
      if (setxattr(file.c_str(), "system.posix_acl_access", list.data(), list.size(), 0) == 0)
        CHECK(code_of(trusted_file(file)) == Errc::denied);
      else
        MESSAGE("skipped: no access lists here: ", strerror(errno));
    } else {
      MESSAGE("skipped: needs root, and root's group without other members");
    }
  }
  SUBCASE("file, others") {
    set_mode(file, 0646);
    CHECK(code_of(trusted_file(file)) == Errc::denied);
  }
  SUBCASE("parent") {
    set_mode(folder.path(), 0777);
    CHECK(code_of(trusted_file(file)) == Errc::denied);
  }
  SUBCASE("parent with sticky bit of root") {
    set_mode(folder.path(), 01777);
    CHECK(trusted_file(file).has_value() == (geteuid() == 0));
  }
  SUBCASE("foreign owner") {
    if (geteuid() == 0 && chown(file.c_str(), 12345, 0) == 0)
      CHECK(code_of(trusted_file(file)) == Errc::denied);
    else
      MESSAGE("skipped: giving a file away needs root");
  }
  SUBCASE("foreign owner of a parent") {
    if (geteuid() == 0 && chown((folder / "a").c_str(), 12345, 0) == 0)
      CHECK(code_of(trusted_file(file)) == Errc::denied);
    else
      MESSAGE("skipped: giving a folder away needs root");
  }
  SUBCASE("the folder a link leads through") {
    fs::create_directory(folder / "open");
    test::write(folder / "open/baton.yaml", "");
    set_mode(folder / "open/baton.yaml", 0644);
    set_mode(folder / "open", 0777);
    fs::create_symlink("../open/baton.yaml", folder / "a/link");
    CHECK(code_of(trusted_file(folder / "a/link")) == Errc::denied);
    fs::create_symlink(file, folder / "open/link");
    CHECK(code_of(trusted_file(folder / "open/link")) == Errc::denied);
    fs::create_symlink("./../a/baton.yaml", folder / "a/fine");
    CHECK(trusted_file(folder / "a/fine"));
  }
  SUBCASE("neither a folder nor a loop of links") {
    CHECK(code_of(trusted_file(folder.path())) == Errc::denied);
    CHECK(code_of(trusted_file(folder / "gone")) == Errc::not_found);
    fs::create_symlink("loop", folder / "loop");
    CHECK(code_of(trusted_file(folder / "loop")) == Errc::denied);
  }
}

TEST_CASE("A47 programs must be regular, executable and without setuid") {
  const TempFolder folder;
  CHECK(find_program(program(folder / "fine"), "", "/").value() == folder / "fine");
  CHECK(find_program("./fine", "", folder.path()).value() == folder / "fine");
  CHECK(
      find_program("../" + fs::path(folder.path()).filename().string() + "/fine", "", folder.path())
          .value() == folder / "fine");
  struct Row {
    const char* name;
    mode_t mode;
  };
  for (const Row& row :
       {Row{"open", 0757}, Row{"suid", 04755}, Row{"sgid", 02755}, Row{"plain", 0644}}) {
    CAPTURE(row.name);
    program(folder / row.name, row.mode);
    CHECK(code_of(find_program(folder / row.name, "", "/")) == Errc::denied);
  }
  fs::create_directory(folder / "folder");
  CHECK(code_of(find_program(folder / "folder", "", "/")) == Errc::denied);
  CHECK(code_of(find_program(folder / "gone", "", "/")) == Errc::not_found);
  CHECK(code_of(find_program("", "/bin", "/")) == Errc::config);
}

TEST_CASE("A48 a bare name is looked for in a PATH that can be trusted") {
  const TempFolder folder;
  program(folder / "bin/agent");
  program(folder / "second/agent");
  program(folder / "second/other");
  const std::string first = folder / "bin";
  const std::string second = folder / "second";
  CHECK(find_program("agent", first + ":" + second, "/").value() == first + "/agent");
  CHECK(find_program("other", first + ":/gone:" + second, "/").value() == second + "/other");
  CHECK(code_of(find_program("none", first, "/")) == Errc::not_found);
  for (const std::string& path : {std::string(), first + ":", ":" + first, first + "::" + second,
                                  first + ":.", first + ":bin"}) {
    CAPTURE(path);
    CHECK(code_of(find_program("agent", path, folder.path())) == Errc::config);
  }
  set_mode(second, 0777);
  CHECK(code_of(find_program("agent", first + ":" + second, "/")) == Errc::config);
}

}  // namespace baton
