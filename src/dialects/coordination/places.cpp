#include "dialects/coordination/places.h"

#include <algorithm>

namespace baton::coordination {
namespace {

std::string shared_file(const Group& a, const Group& b) {
  for (const std::string& file : a.files)
    if (std::find(b.files.begin(), b.files.end(), file) != b.files.end())
      return file;
  return {};
}

}  // namespace

Places::Places(const Scene& scene) : scene_(scene) {
  for (const Run& run : scene.view.runs) {
    if (!run.live())
      continue;
    in_hand_.insert(run.key.subject);
    if (run.key.role == kDeveloper)
      developing_.insert(run.key.subject);
  }
}

std::vector<Claim> Places::claims(const Group& group) const {
  const std::uint32_t most = scene_.plan.simple ? 1 : scene_.options.max_developers;
  std::vector<Claim> claims = {Claim{"developers " + text(scene_.view.flow), most}};
  const std::set<std::string> files(group.files.begin(), group.files.end());
  for (const std::string& file : files)
    claims.push_back(Claim{"file " + file, 1});
  return claims;
}

std::size_t Places::room(const Group& group) const {
  std::size_t most = scene_.plan.simple ? 1 : scene_.options.max_developers;
  if (const auto count = scene_.plan.parallel_counts.find(group.phase);
      count != scene_.plan.parallel_counts.end())
    most = std::min(most, static_cast<std::size_t>(count->second));
  return most;
}

std::pair<Word, std::string> Places::obstacle(const Group& group) const {
  if (std::string why = scene_.plan.waits_for(group); !why.empty())
    return {why.starts_with("it depends") ? "depends_on" : "phase", std::move(why)};
  if (developing_.size() >= room(group))
    return {"no_slot", std::to_string(developing_.size()) + " of " + std::to_string(room(group)) +
                           " developers are at work"};
  for (const std::string& id : in_hand_) {
    const Group* const other = scene_.plan.find(id);
    if (other == nullptr || id == group.id)
      continue;
    if (const std::string file = shared_file(group, *other); !file.empty())
      return {"file_claimed", file + " belongs to " + id + " as well, which is being worked on"};
  }
  for (const std::string& id : developing_) {
    const Group* const other = scene_.plan.find(id);
    if (!group.can_parallel || (other != nullptr && !other->can_parallel))
      return {"not_parallel", (group.can_parallel ? id : group.id) +
                                  " must not run beside another developer, and " + id +
                                  " is being worked on"};
  }
  return {};
}

void Places::take(const Group& group, std::string_view role) {
  in_hand_.insert(group.id);
  if (role == kDeveloper)
    developing_.insert(group.id);
}

}  // namespace baton::coordination
