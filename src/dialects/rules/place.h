#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/flow.h"

namespace baton::rules {

/// A member of one document of a flow. Written `NAME:/pointer`; without a name it is the document
/// that says where the subject stands. One token of the pointer may be `{subject}`.
struct Place {
  std::string document;
  std::string pointer;
  bool operator==(const Place&) const = default;
};

inline constexpr std::string_view kSubject = "{subject}";

/// Nothing when it is no place: neither a pointer nor a name and a pointer.
std::optional<Place> parse_place(std::string_view text);
std::string text(const Place& place);
/// The pointer with the subject's name put in.
std::string pointer_for(const Place& place, const Subject& subject);

}  // namespace baton::rules
