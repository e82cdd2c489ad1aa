#include "daemon/awaited_roots.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "daemon/daemon_log.h"

namespace baton {

Result<void> AwaitedRoots::check(const std::vector<AwaitedRoot>& loaded) const {
  for (const AwaitedRoot& each : loaded)
    if (std::none_of(roots_.begin(), roots_.end(),
                     [&](const AwaitedRoot& known) { return known.path == each.path; }))
      return fail(Errc::not_found, "there is no such folder", each.path);
  return {};
}

void AwaitedRoots::keep(ServiceConfig& loaded) const {
  const auto known = [&](const ServedRoot& root) {
    return std::any_of(roots_.begin(), roots_.end(),
                       [&](const AwaitedRoot& each) { return each.path == root.root; });
  };
  if (std::all_of(loaded.roots.begin(), loaded.roots.end(), known))
    return;
  for (const ServedRoot& root : loaded.roots)
    if (known(root))
      loaded.awaited.push_back({root.root, [root] { return root; }});
  std::erase_if(loaded.roots, known);
}

void AwaitedRoots::look(const std::function<Result<void>(const ServedRoot&)>& take) {
  std::erase_if(roots_, [&](const AwaitedRoot& root) {
    auto served = root.look();
    const auto taken = served ? take(*served) : Result<void>(pass_on(served));
    if (taken)
      return true;
    const std::string why = baton::describe(taken.error());
    if (std::exchange(told_[root.path], why) != why)
      daemon_log::warn(printable(why) + "; the root is waited for");
    return false;
  });
}

std::string AwaitedRoots::describe() const {
  std::string text;
  for (const AwaitedRoot& root : roots_)
    text += "; " + root.path + " is waited for";
  return text;
}

}  // namespace baton
