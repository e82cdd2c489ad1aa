#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialects/fsm_loop/scene.h"

namespace baton::fsm_loop {

/// The scope of a loop while it runs. It is claimed with its first action, which waits until no
/// other loop of this root has a part of it; from then on the loop itself holds it, and its lock
/// file says so to other programs. When the loop has ended, the file goes into the history.
void claim(Scene& scene, Decision& decision);

/// What the lock of another program that lives claims: baton's own loops keep clear of it.
std::vector<Claim> claims_of_another(const Scene& scene);

/// A path of a scope as an absolute one, `.` and `..` worked out; "" is the root itself.
std::string absolute_scope(std::string_view root, std::string_view path);

}  // namespace baton::fsm_loop
