// SPDX-License-Identifier: Apache-2.0
#include "shim/launch.h"

#include <cstddef>
#include <string_view>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/protocol.h"
#include "shim/text.h"

namespace baton::shim {
namespace {

constexpr std::size_t kMaxBytes = 64U << 20U;
/// The system takes it for "no change"; it is the id of nobody.
constexpr std::uint64_t kNoId = 0xFFFFFFFF;

/// Memory of zeros from the kernel, or nullptr. Not from the heap: the agent's process shares it
/// with the shim, and one that is killed inside the allocator leaves it locked or torn for the next
/// one.
void* zeros(std::size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

char** no_words(std::size_t most) {
  return static_cast<char**>(zeros((most + 1) * sizeof(char*)));
}

/// The whole file with a NUL at the end, or nullptr.
char* whole_file(int file, std::size_t& size) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
      static_cast<std::size_t>(status.st_size) > kMaxBytes)
    return nullptr;
  size = static_cast<std::size_t>(status.st_size);
  auto* bytes = static_cast<char*>(zeros(size + 1));
  if (bytes == nullptr)
    return nullptr;
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = pread(file, bytes + have, size - have, static_cast<off_t>(have));
    if (got <= 0)
      break;
    have += static_cast<std::size_t>(got);
  }
  return have == size ? bytes : nullptr;
}

/// Reads the next record; false at the end.
bool next_record(char*& at, const char* end, std::string_view& word, char*& value) {
  if (at >= end)
    return false;
  const std::string_view record(at);
  const std::size_t blank = record.find(' ');
  if (blank == std::string_view::npos)
    return false;
  word = std::string_view(at, blank);
  value = at + blank + 1;
  at += record.size() + 1;
  return true;
}

struct Number {
  std::string_view word;
  std::uint64_t Launch::*member;
};
constexpr Number kNumbers[] = {{"timeout_ms", &Launch::timeout_ms},
                               {"idle_timeout_ms", &Launch::idle_timeout_ms},
                               {"kill_grace_ms", &Launch::kill_grace_ms},
                               {"log_cap_bytes", &Launch::log_cap_bytes},
                               {"uid", &Launch::uid},
                               {"gid", &Launch::gid},
                               {"memory_max_bytes", &Launch::memory_max_bytes},
                               {"tasks_max", &Launch::tasks_max},
                               {"before_ms", &Launch::before_ms}};

class Reader {
 public:
  Reader(Launch& launch, const char* run_id) : launch_(launch), run_id_(run_id) {}

  bool read(char* bytes, std::size_t size) {
    // There are no more records than separators, so every list is large enough.
    std::size_t separators = 1;
    for (std::size_t i = 0; i < size; ++i)
      separators += bytes[i] == '\0' ? 1U : 0U;
    launch_.argv = no_words(separators);
    launch_.env = no_words(separators);
    launch_.before = no_words(separators);
    launch_.watch = no_words(separators);
    launch_.groups = static_cast<gid_t*>(zeros(separators * sizeof(gid_t)));
    if (launch_.groups == nullptr)
      return false;
    for (char* const* const list : {launch_.argv, launch_.env, launch_.before, launch_.watch})
      if (list == nullptr)
        return false;
    char* at = bytes;
    std::string_view word;
    char* value = nullptr;
    while (next_record(at, bytes + size, word, value)) {
      if (word == "end")
        return at == bytes + size && complete();
      if (!take(word, value))
        return false;
    }
    return false;
  }

 private:
  bool take(std::string_view word, char* value) {
    if (word == "arg") {
      launch_.argv[arguments_++] = value;
      return true;
    }
    if (word == "before") {
      launch_.before[preparations_++] = value;
      return true;
    }
    if (word == "watch") {
      launch_.watch[watched_++] = value;
      return true;
    }
    if (word == "env") {
      launch_.env[variables_++] = value;
      return true;
    }
    if (word == "group") {
      std::uint64_t group = 0;
      if (!parse_number(value, group) || group >= kNoId)
        return false;
      launch_.groups[launch_.group_count++] = static_cast<gid_t>(group);
      return true;
    }
    for (const Number& number : kNumbers) {
      if (number.word == word)
        return parse_number(value, launch_.*number.member);
    }
    return take_word(word, value);
  }

  bool take_word(std::string_view word, char* value) {
    const std::string_view text(value);
    if (word == "launch")
      versioned_ = text == kCallVersion;
    else if (word == "run")
      named_ = text == run_id_;
    else if (word == "cwd")
      launch_.cwd = launch_.watch[0] = value;
    else if (word == "before_cwd")
      launch_.before_cwd = value;
    else if (word == "cgroup")
      launch_.cgroup = value;
    else if (word == "log")
      launch_.log = value;
    else if (word == "stdin")
      launch_.prompt = text == "prompt";
    else
      return false;
    return true;
  }

  bool complete() const {
    return versioned_ && named_ && launch_.uid < kNoId && launch_.gid < kNoId &&
           (launch_.uid == 0 || launch_.cgroup != nullptr) && arguments_ > 0 &&
           launch_.cwd != nullptr && (preparations_ == 0 || launch_.before_cwd != nullptr);
  }

  Launch& launch_;
  std::string_view run_id_;
  std::size_t arguments_ = 0;
  std::size_t variables_ = 0;
  std::size_t watched_ = 1;  // the first one is `cwd`
  std::size_t preparations_ = 0;
  bool versioned_ = false;
  bool named_ = false;
};

}  // namespace

bool read_launch(int file, const char* run_id, Launch& launch) {
  std::size_t size = 0;
  char* bytes = whole_file(file, size);
  return bytes != nullptr && Reader(launch, run_id).read(bytes, size);
}

}  // namespace baton::shim
