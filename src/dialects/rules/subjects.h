// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the subjects of a document: the members of an object, or the elements of a list. baton
// knows an element by its key, which is one of its members, and never by its index. So the elements
// may change their order.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "core/dialect.h"
#include "dialects/findings.h"

namespace baton::rules {

/// A pointer with `{subject}` as one of its steps, in two parts.
struct SubjectPath {
  std::string front;  ///< leads to the object or list with the subjects
  std::string rest;   ///< leads from the subject to the member; may be empty
};
/// Empty if no step of the pointer is `{subject}`.
std::optional<SubjectPath> subject_path(std::string_view pointer);

/// The member that is the key of the elements: `wanted`, else the first of `id`, `key` and `name`
/// that one of the elements has, else `id`.
std::string key_member(const Value& list, const std::string& wanted);

/// The stage of each subject in one document. If the pointer has `{subject}`, the members of the
/// object before it, or the elements of the list, are the subjects. Those without a stage, such as
/// comments, are not. Without `{subject}` the document has one subject, called `otherwise`.
/// `subject_key` is the rule's (Rule::subject_key).
Stages stages_in(const Value& root, const std::string& pointer, const Subject& otherwise,
                 const std::string& subject_key = "");

/// Reports elements of the list at `front` without a usable key, and keys that are there twice. No
/// findings if there is no list.
void check_keys(const Value& root, const std::string& front, const std::string& subject_key,
                FindingList& findings);

/// Fills subjects into pointers. Keeps the keys of each list that it has seen, so the documents
/// must outlive it.
class SubjectPlaces {
 public:
  explicit SubjectPlaces(std::string subject_key) : subject_key_(std::move(subject_key)) {}

  /// The pointer to the member of one subject: in a list, with the index of its element. Empty if
  /// the list has no such element.
  std::optional<std::string> pointer(const Value& root, const std::string& pointer,
                                     const Subject& subject) const;

 private:
  using Indices = std::map<Subject, std::size_t>;
  const Indices& indices_of(const Value& list) const;

  std::string subject_key_;
  mutable std::map<const Value*, Indices> lists_;
};

}  // namespace baton::rules
