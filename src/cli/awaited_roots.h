#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/service.h"

namespace baton {

/// The roots of the configuration that were not there when the daemon began, or are not to be had
/// yet: made or mounted later, they are taken up then.
class AwaitedRoots {
 public:
  /// Errc::not_found: one that was not waited for so far, which is rather a slip of who wrote it.
  Result<void> check(const std::vector<AwaitedRoot>& loaded) const;
  void replace(std::vector<AwaitedRoot> roots) { roots_ = std::move(roots); }

  /// Hands over what is there by now and forgets what was taken; the rest is told once.
  void look(const std::function<Result<void>(const ServedRoot&)>& take);
  bool none() const { return roots_.empty(); }
  /// `; ROOT is waited for`, of each.
  std::string describe() const;

 private:
  std::vector<AwaitedRoot> roots_;
  std::map<std::string, std::string> told_;  ///< by path
};

}  // namespace baton
