#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

namespace baton::testing {

/// A folder of its own that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "baton-test-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr)
      path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(Scratch&&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Runs `work` in a child that ends without destructors, as one that is killed; what it returned.
inline int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0)
    _exit(work());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace baton::testing
