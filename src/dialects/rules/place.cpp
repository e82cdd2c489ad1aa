#include "dialects/rules/place.h"

#include "base/json/json.h"

namespace baton::rules {

std::optional<Place> parse_place(std::string_view text) {
  const auto slash = text.find('/');
  const auto colon = text.substr(0, slash).find(':');
  Place place;
  if (colon != std::string_view::npos)
    place.document = text.substr(0, colon);
  place.pointer = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto tokens = json::pointer_tokens(place.pointer);
  const bool named = colon == std::string_view::npos || !place.document.empty();
  if (!named || !tokens || tokens->empty())
    return std::nullopt;
  return place;
}

std::string text(const Place& place) {
  return place.document.empty() ? place.pointer : place.document + ":" + place.pointer;
}

std::string pointer_for(const Place& place, const Subject& subject) {
  const std::string token = json::pointer_token(subject);
  std::string pointer = place.pointer;
  const auto at = pointer.find(kSubject);
  return at == std::string::npos ? pointer : pointer.replace(at, kSubject.size(), token);
}

}  // namespace baton::rules
