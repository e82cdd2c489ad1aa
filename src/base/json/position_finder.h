// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the place of a value in JSON text, without keeping an offset for each value. The text was
// parsed before, so nothing is checked here.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::scan {

/// Bytes of the text: from `begin` to just before `end`.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Extent&) const = default;
};

/// A member of an object, or an item of an array (without name).
struct Item {
  std::optional<Extent> name;  ///< with its quotes
  Extent value;
};

std::size_t skip_blanks(std::string_view text, std::size_t at);

/// The extent of the value at `at`.
Extent value_at(std::string_view text, std::size_t at);

/// The members or items of the value at `at`, in order; none when it has no parts.
std::vector<Item> items_at(std::string_view text, std::size_t at);

/// The characters of a JSON string with its quotes.
std::string unquote(std::string_view quoted);

using Path = std::vector<std::string>;  ///< the tokens of a pointer

/// Where each path leads, from the value at `at`, in one walk.
std::vector<std::optional<Item>> find_all(std::string_view text, std::size_t at,
                                          std::span<const Path> paths);
/// The same for one.
std::optional<Item> find(std::string_view text, std::size_t at,
                         std::span<const std::string> tokens);

}  // namespace baton::scan
