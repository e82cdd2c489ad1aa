// SPDX-License-Identifier: Apache-2.0
#include "io/files/git_index.h"

#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "io/files/fd.h"

namespace baton {
namespace {

using namespace std::string_literals;

Fd file_of(const std::string& bytes) {
  Fd fd(memfd_create("index", MFD_CLOEXEC));
  CHECK(write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::string number(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
  return text;
}

std::string head(std::uint32_t version, std::uint32_t count) {
  return "DIRC" + number(version) + number(count);
}

/// As git writes it, up to the name.
std::string facts(std::uint32_t seconds, std::uint32_t inode, std::uint32_t flags = 0) {
  return number(1) + number(2) + number(seconds) + number(77) + number(3) + number(inode) +
         number(0100644) + number(0) + number(0) + number(5) + std::string(20, 'h') +
         number(flags, 2);
}

std::string padded(std::string entry) {
  entry += '\0';
  while (entry.size() % 8 != 0)
    entry += '\0';
  return entry;
}

std::optional<GitEntry> entry_in(const std::string& index, const std::string& path) {
  const Fd fd = file_of(index);
  return git_entry(fd.get(), path);
}

}  // namespace

TEST_CASE("an entry of git's index is found in each version") {
  const GitEntry expected{20, 77, 200, std::string(20, 'h')};
  for (const std::uint32_t version : {2U, 3U}) {
    const std::string index = head(version, 3) + padded(facts(10, 100) + "a/b.json") +
                              padded(facts(20, 200) + "a/c.json") + padded(facts(30, 300) + "d");
    CHECK(entry_in(index, "a/c.json") == expected);
    CHECK_FALSE(entry_in(index, "a/bb.json").has_value());
    CHECK_FALSE(entry_in(index, "e").has_value());
  }
  // Version 4 drops as many bytes of the name before as the number says.
  const std::string four =
      head(4, 2) + facts(10, 100) + "\0a/b.json\0"s + facts(20, 200) + "\6c.json\0"s;
  CHECK(entry_in(four, "a/c.json") == expected);
  // An extended entry has two bytes of flags more.
  const std::string extended =
      head(3, 1) + padded(facts(20, 200, 0x4000) + number(0x2000, 2) + "a/c.json");
  CHECK(entry_in(extended, "a/c.json") == expected);
}

TEST_CASE("what is no index, or says nothing for sure, has no entry") {
  const std::string good = head(2, 1) + padded(facts(20, 200) + "a");
  REQUIRE(entry_in(good, "a").has_value());
  for (std::size_t length = 0; length < good.size() - 7; ++length) {
    CAPTURE(length);
    CHECK_FALSE(entry_in(good.substr(0, length), "a").has_value());
  }
  CHECK_FALSE(entry_in(head(5, 1) + padded(facts(20, 200) + "a"), "a").has_value());
  CHECK_FALSE(entry_in("CRID" + good.substr(4), "a").has_value());
  // A conflict of a merge.
  CHECK_FALSE(entry_in(head(2, 1) + padded(facts(20, 200, 0x1000) + "a"), "a").has_value());
  // A name that drops more than there is, and one without an end.
  CHECK_FALSE(entry_in(head(4, 1) + facts(20, 200) + "\x7F" + "a\0"s, "a").has_value());
  CHECK_FALSE(entry_in(head(4, 1) + facts(20, 200) + std::string(30, '\xFF'), "a").has_value());
  CHECK_FALSE(entry_in(head(2, 1) + facts(20, 200) + std::string(10'000, 'a'), "a").has_value());
}

TEST_CASE("bytes have the name that git gives them") {
  // `git hash-object` says so.
  const auto in_hex = [](const std::string& name) {
    std::string text;
    for (const char byte : name) {
      constexpr const char* kDigits = "0123456789abcdef";
      text += kDigits[static_cast<unsigned char>(byte) >> 4U];
      text += kDigits[static_cast<unsigned char>(byte) & 0xFU];
    }
    return text;
  };
  CHECK(in_hex(git_object_of("")) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  CHECK(in_hex(git_object_of("foo\n")) == "257cc5642cb1a054f08cc83f2d943e56fd3ebe99");
}

}  // namespace baton
