// SPDX-License-Identifier: Apache-2.0
#pragma once

// File kinds and readers of documents that several dialects share. The documents have passed their
// schema, so a missing member just gets a default.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/schema/schema.h"
#include "core/catalog.h"
#include "core/dialect.h"

namespace baton {

/// A kind with the schema `schemas/DIALECT/NAME.schema.json`. Its files belong to the flow
/// `{flow}`.
FileKind file_kind(std::string_view dialect, std::string name, std::string pattern,
                   Format format = Format::json);

/// Matches the path with the patterns of a kind. Empty if no pattern fits.
std::optional<PatternMatch> match_kind(const std::vector<FileKind>& kinds, std::string_view kind,
                                       std::string_view path);

/// A schema that is compiled into baton: `schemas/DIALECT/NAME.schema.json`.
std::shared_ptr<const Schema> embedded_schema(std::string_view path);

/// The place and text of the first error in the findings of a rejected file: `x.json:4:7: ...`.
std::string first_error(const std::string& path, const std::string& findings);

/// Removes `.`, `..` and empty parts from a path. It looks only at the text and does not follow
/// links. `..` at the front of a relative path stays.
std::string normalized(std::string_view path);

/// A member, or null.
const Value& member(const Value& object, std::string_view name);
/// The value at a JSON pointer, or null.
const Value& value_at(const Value& root, std::string_view pointer);
/// A text member; empty if it is missing.
std::string text_of(const Value& object, std::string_view name);
/// An integer member; 0 if it is missing.
std::int64_t count_of(const Value& object, std::string_view name);
/// A boolean member; false if it is missing.
bool flag_of(const Value& object, std::string_view name);
/// The items of a list, or of a member that is a list. Empty for any other value.
Value::ConstArray items_in(const Value* list);
Value::ConstArray items_in(const Value& object, std::string_view name);
/// The members of a member that is an object. Empty for any other value.
Value::ConstObject members_in(const Value& object, std::string_view name);
/// The texts of a list, or a single text as a list of one. Leaves out other items.
std::vector<std::string> texts_of(const Value* value);
std::vector<std::string> texts_of(const Value& object, std::string_view name);

// Lines of text for prompts.

/// The files whose newest version was rejected, with the findings.
std::string rejected_lines(const View& view);
/// The value as indented JSON. Empty for nullptr and for null.
std::string pretty_text(const Value* value);
/// One line `- item` for each item.
std::string list_lines(const std::vector<std::string>& items);

}  // namespace baton
