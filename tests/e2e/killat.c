// SPDX-License-Identifier: Apache-2.0

// Runs a command under ptrace and ends it with SIGKILL at its K-th system call stop. Entry and exit
// of a call are two stops, so every state between two calls is reached, and every call that was
// never answered. Its children run free. With -c the power is cut there first: the file system of
// the folder is shut down, and what was not synced is lost.
//
// usage: killat [-c FOLDER | -e] K COMMAND [ARGUMENT...]     COMMAND is a path
// Exit codes: 0 killed there; 1 it ended before, the number of its stops is printed; 2 trouble.
// With -e it ends as the command did, for somebody who waits for that.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// ext4 and others; 2: without writing the log out first.
#define SHUT_DOWN _IOR('X', 125, uint32_t)

static void begin(char** command) {
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGSTOP);
  execv(command[0], command);
  _exit(127);
}

/// Lets the child go on to its next stop. Returns its wait status, or -1.
static int next_stop(pid_t child, int signal_number) {
  int status = 0;
  if (ptrace(PTRACE_SYSCALL, child, 0, signal_number) != 0)
    return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}

int main(int argc, char** argv) {
  int folder = -1;
  int ends_alike = 0;
  if (argc > 2 && strcmp(argv[1], "-e") == 0) {
    ends_alike = 1;
    --argc;
    ++argv;
  }
  if (argc > 3 && strcmp(argv[1], "-c") == 0) {
    folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
      return 2;
    argc -= 2;
    argv += 2;
  }
  if (argc < 3)
    return 2;
  const long target = strtol(argv[1], NULL, 10);
  const pid_t child = fork();
  if (child < 0)
    return 2;
  if (child == 0)
    begin(argv + 2);

  int status = 0;
  if (waitpid(child, &status, 0) < 0 ||
      ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0)
    return 2;
  int deliver = 0;
  for (long stops = 0;;) {
    status = next_stop(child, deliver);
    if (status == -1)
      return 2;
    if (!WIFSTOPPED(status)) {
      printf("%ld\n", stops);
      return ends_alike && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    deliver = 0;
    const int why = WSTOPSIG(status);
    if (why != (SIGTRAP | 0x80)) {
      deliver = why == SIGTRAP ? 0 : why;
      continue;
    }
    if (++stops == target) {
      uint32_t without_log = 2;
      if (folder >= 0 && ioctl(folder, SHUT_DOWN, &without_log) != 0)
        return 2;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      if (ends_alike)
        raise(SIGKILL);
      return 0;
    }
  }
}
