#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/service.h"

namespace baton {

/// The roots of the configuration that were not there when the daemon began, or could not be had:
/// made, mounted or mended later, they are taken up then.
class AwaitedRoots {
 public:
  /// Errc::not_found: one that was not waited for so far, which is rather a slip of who wrote it.
  Result<void> check(const std::vector<AwaitedRoot>& loaded) const;
  void replace(std::vector<AwaitedRoot> roots) { roots_ = std::move(roots); }
  void add(AwaitedRoot root) { roots_.push_back(std::move(root)); }
  /// Has that configuration wait for the same roots, as it has them, unless it names no other.
  void keep(ServiceConfig& loaded) const;

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
