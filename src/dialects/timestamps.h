#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "dialects/findings.h"

namespace baton {

/// A moment as writers of state files spell it: RFC 3339, but the zone may be missing (then it is
/// UTC) or stand without its colon (`+0800`).
struct Moment {
  Time time{};
  bool zoned = true;
};
std::optional<Moment> parse_moment(std::string_view text);
/// The moment in a member; nothing when there is none.
std::optional<Time> moment(const Value& object, std::string_view name);

/// Looks at the moments of one document and tells once about those without a zone.
class Moments {
 public:
  /// Looks at members of the object at `pointer`. An error (rule `day_id`) for one that does
  /// not exist, such as the 30th of February.
  void look(const Value& object, const std::string& pointer,
            std::initializer_list<std::string_view> names, std::string_view day_id,
            FindingList& findings);
  /// A warning (rule `id`) at the first one without a zone.
  void report(std::string_view id, FindingList& findings) const;

 private:
  std::size_t zoneless_ = 0;
  std::string first_;
  std::string text_;
};

}  // namespace baton
