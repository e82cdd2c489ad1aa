// SPDX-License-Identifier: Apache-2.0

// Runs a command for which some system calls are not made and answer 0 all the same, for it and for
// all that it starts: a program without its locks, its claims or its syncs that nobody had to
// write.
//
// usage: muted CALL[,CALL...] COMMAND [ARGUMENT...]     COMMAND is a path
// Exit codes: that of the command; 2 trouble; 127 there is no such command.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stddef.h>
#include <string.h>

static const struct Call {
  const char* name;
  unsigned number;
} kCalls[] = {{"fdatasync", SYS_fdatasync},
              {"flock", SYS_flock},
              {"fsync", SYS_fsync},
              {"renameat2", SYS_renameat2}};

static const struct Call* call_of(const char* name) {
  for (size_t at = 0; at < sizeof kCalls / sizeof kCalls[0]; ++at)
    if (strcmp(kCalls[at].name, name) == 0)
      return &kCalls[at];
  return NULL;
}

/// From now on, whatever is executed.
static int mute(unsigned call) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),  // with error 0
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char** argv) {
  if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return 2;
  for (char* name = strtok(argv[1], ","); name != NULL; name = strtok(NULL, ",")) {
    const struct Call* call = call_of(name);
    if (call == NULL || mute(call->number) != 0)
      return 2;
  }
  execv(argv[2], argv + 2);
  return 127;
}
