// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/subjects.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "dialects/rules/condition.h"
#include "dialects/rules/snapshot.h"

namespace baton::rules {
namespace {

constexpr std::array<std::string_view, 3> kKeys = {"id", "key", "name"};

/// The key of an element: a text that is not empty, or a number as its text.
std::optional<Subject> key_of(const Value& element, const std::string& member) {
  const Value* const key = json::child(element, member);
  return key == nullptr || key->IsBool() ? std::nullopt : rules::word_of(key);
}

/// `a text`, for a message.
std::string with_article(const Value& value) {
  const std::string type(json::type_name(value));
  if (value.IsNull())
    return type;
  return (type.find_first_of("aeio") == 0 ? "an " : "a ") + type;
}

class KeyCheck {
 public:
  KeyCheck(const Value& list, const std::string& front, const std::string& subject_key,
           FindingList& findings)
      : front_(front), member_(key_member(list, subject_key)), findings_(findings) {
    expected_ = "a member `" + printable(member_, 60) + "` with a text or a number";
    if (subject_key.empty() && !has_key(list))
      expected_ +=
          "; `key` and `name` will do as well, and `subject_key` of the rule names another";
  }

  void take(const Value& element, std::size_t index) {
    const std::string pointer = item_pointer(front_, index);
    if (!element.IsObject())
      return error(
          pointer,
          "each element of the list is a subject, but this one is " + with_article(element),
          element);
    const Value* const key = json::child(element, member_);
    const std::string name = "`" + printable(member_, 60) + "`";
    if (key == nullptr)
      return error(pointer, "the element has no " + name + ", by which baton knows it", element);
    const std::string place = member_pointer(pointer, member_);
    const auto subject = key_of(element, member_);
    if (!subject)
      return error(place,
                   name + " is the key of the element, but it is " +
                       (key->IsString() ? "an empty text" : with_article(*key)),
                   *key);
    const auto [known, fresh] = known_.emplace(*subject, index);
    if (!fresh)
      findings_.error("subject", place,
                      "`" + printable(*subject, 80) + "` is the " + name + " of " +
                          item_pointer(front_, known->second) + " too",
                      key, "a " + name + " of its own in each element");
  }

  static bool has_key(const Value& list) {
    return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view name) {
      return std::any_of(list.Begin(), list.End(), [&](const Value& element) {
        return json::child(element, name) != nullptr;
      });
    });
  }

 private:
  void error(const std::string& pointer, const std::string& message, const Value& found) {
    findings_.error("subject", pointer, message, &found, expected_);
  }

  const std::string& front_;
  std::string member_;
  std::string expected_;
  FindingList& findings_;
  std::map<Subject, std::size_t> known_;
};

}  // namespace

std::optional<SubjectPath> subject_path(std::string_view pointer) {
  const auto at = pointer.find(kSubject);
  if (at == std::string_view::npos || at == 0 || pointer[at - 1] != '/')
    return std::nullopt;
  const std::string_view rest = pointer.substr(at + kSubject.size());
  if (!rest.empty() && rest.front() != '/')
    return std::nullopt;
  return SubjectPath{std::string(pointer.substr(0, at - 1)), std::string(rest)};
}

std::string key_member(const Value& list, const std::string& wanted) {
  if (!wanted.empty())
    return wanted;
  for (const std::string_view name : kKeys)
    if (std::any_of(list.Begin(), list.End(),
                    [&](const Value& element) { return json::child(element, name) != nullptr; }))
      return std::string(name);
  return std::string(kKeys.front());
}

Stages stages_in(const Value& root, const std::string& pointer, const Subject& otherwise,
                 const std::string& subject_key) {
  Stages stages;
  const auto path = subject_path(pointer);
  if (!path) {
    if (auto word = word_of(json::at(root, pointer)))
      stages[otherwise] = std::move(*word);
    return stages;
  }
  const Value* const all = json::at(root, path->front);
  if (all != nullptr && all->IsArray()) {
    const std::string member = key_member(*all, subject_key);
    for (const Value& element : all->GetArray())
      if (const auto subject = key_of(element, member))
        if (auto word = word_of(json::at(element, path->rest)))
          stages.emplace(*subject, std::move(*word));
  } else if (all != nullptr && all->IsObject()) {
    for (const auto& member : all->GetObject())
      if (auto word = word_of(json::at(member.value, path->rest)))
        stages[std::string(json::name(member.name))] = std::move(*word);
  }
  return stages;
}

void check_keys(const Value& root, const std::string& front, const std::string& subject_key,
                FindingList& findings) {
  const Value* const list = json::at(root, front);
  if (list == nullptr || !list->IsArray())
    return;
  KeyCheck check(*list, front, subject_key, findings);
  for (rapidjson::SizeType i = 0; i < list->Size(); ++i)
    check.take((*list)[i], i);
}

const SubjectPlaces::Indices& SubjectPlaces::indices_of(const Value& list) const {
  const auto [found, fresh] = lists_.try_emplace(&list);
  if (!fresh)
    return found->second;
  const std::string member = key_member(list, subject_key_);
  for (rapidjson::SizeType i = 0; i < list.Size(); ++i)
    if (auto key = key_of(list[i], member))
      found->second.emplace(*std::move(key), i);
  return found->second;
}

std::optional<std::string> SubjectPlaces::pointer(const Value& root, const std::string& pointer,
                                                  const Subject& subject) const {
  const auto path = subject_path(pointer);
  const Value* const all = path ? json::at(root, path->front) : nullptr;
  if (all == nullptr || !all->IsArray())
    return pointer_for(Place{"", pointer}, subject);
  const Indices& indices = indices_of(*all);
  const auto found = indices.find(subject);
  if (found == indices.end())
    return std::nullopt;
  return item_pointer(path->front, found->second) + path->rest;
}

}  // namespace baton::rules
