// Loaded before the C library (LD_PRELOAD): every open file seems to lie on NFS. No machine that
// runs tests has a server for it, and the kernel tells a network file system by nothing else.
#define _GNU_SOURCE
#include <linux/magic.h>
#include <sys/vfs.h>

#include <dlfcn.h>
#include <stddef.h>

int fstatfs(int file, struct statfs* facts) {
  int (*real)(int, struct statfs*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "fstatfs");
  const int done = real(file, facts);
  facts->f_type = NFS_SUPER_MAGIC;
  return done;
}
