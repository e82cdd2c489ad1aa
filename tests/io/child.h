// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace baton::test {

/// Runs `work` in a child that ends without destructors, as one that is killed; what it returned.
inline int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0)
    _exit(work());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace baton::test
