// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notices that another process of this user (an agent, with `prlimit`) has lowered the limit of
// open files of this process, and raises it again where the system allows. A daemon that can open
// nothing is deaf: it starts nothing, answers nobody, and would take good files for bad ones.

#include <string>

#include <sys/resource.h>

namespace baton {

class DescriptorLimit {
 public:
  DescriptorLimit();

  /// What another process did to the limit since the last call, for people; "" if nothing. `lost`:
  /// the limit cannot be raised, and not even a few files can be opened.
  struct Found {
    std::string what;
    bool lost = false;
  };
  Found look();

 private:
  rlimit begin_{};
  rlimit last_{};
};

}  // namespace baton
