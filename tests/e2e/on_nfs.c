// SPDX-License-Identifier: Apache-2.0

// Loaded before the C library (LD_PRELOAD): every open file seems to lie on NFS, and with
// ON_NFS=all every path, too. No machine that runs tests has a server for it, and the kernel tells
// a network file system by nothing else.
#define _GNU_SOURCE
#include <linux/magic.h>
#include <sys/vfs.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

int fstatfs(int file, struct statfs* facts) {
  int (*real)(int, struct statfs*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "fstatfs");
  const int done = real(file, facts);
  facts->f_type = NFS_SUPER_MAGIC;
  return done;
}

int statfs(const char* path, struct statfs* facts) {
  int (*real)(const char*, struct statfs*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "statfs");
  const int done = real(path, facts);
  if (getenv("ON_NFS") != NULL)
    facts->f_type = NFS_SUPER_MAGIC;
  return done;
}
