#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/coordination/scene.h"

namespace baton::coordination {

/// Room for developers: how many at a time, which groups may run beside each other.
class Places {
 public:
  explicit Places(const Scene& scene);

  /// What a developer of the group holds while it works.
  std::vector<Claim> claims(const Group& group) const;
  /// Why a pending group may not begin now (row 4): a reason word and a sentence; two empty texts
  /// when it may.
  std::pair<Word, std::string> obstacle(const Group& group) const;
  /// Somebody is going to work on the group.
  void take(const Group& group, std::string_view role);

 private:
  std::size_t room(const Group& group) const;

  const Scene& scene_;
  std::set<std::string> developing_;  ///< groups with a developer, running or wanted
  std::set<std::string> in_hand_;     ///< groups with any agent, running or wanted
};

}  // namespace baton::coordination
