// SPDX-License-Identifier: Apache-2.0
#include "dialects/rules/snapshot.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/catalog.h"

namespace baton::rules {
std::optional<Word> word_of(const Value* value) {
  if (value == nullptr)
    return std::nullopt;
  if (const auto text = json::text(*value))
    return text->empty() ? std::nullopt : std::optional<Word>(Word(*text));
  if (value->IsNumber() || value->IsBool())
    return spelled(*value);
  return std::nullopt;
}

std::string spelled(const Value& value) {
  std::string text = json::dump(value);
  if (value.IsDouble() && text.ends_with(".0"))
    text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

const Value* record_of(const Document& document) {
  const Value& root = document.root();
  if (document.format() != Format::jsonl)
    return &root;
  return root.IsArray() && !root.Empty() ? root.End() - 1 : nullptr;
}

std::string document_name(const std::string& kind) {
  const auto slash = kind.find('/');
  return slash == std::string::npos ? "" : kind.substr(slash + 1);
}

Snapshot::Snapshot(const FlowId& flow, const FlowState& docs, const Rule& rule)
    : flow_(flow), docs_(docs), rule_(rule), places_(rule.subject_key) {
  collect();
}

const Kind* Snapshot::kind(const std::string& name) const {
  const auto found = std::find_if(rule_.kinds.begin(), rule_.kinds.end(),
                                  [&](const Kind& each) { return each.name == name; });
  return found == rule_.kinds.end() ? nullptr : &*found;
}

void Snapshot::collect() {
  for (const auto& [path, accepted] : docs_) {
    const std::string name = document_name(accepted.kind);
    const Kind* const kind = this->kind(name);
    const bool asked = rule_.stage.document.empty() || rule_.stage.document == name;
    // An optional document that is gone has no stages any more.
    if (kind == nullptr || !asked || (kind->optional && !accepted.present))
      continue;
    const Subject otherwise = kind->per_subject ? accepted.part : "main";
    const Value* const record = record_of(*accepted.document);
    if (record == nullptr)
      continue;
    for (auto& [subject, stage] :
         stages_in(*record, rule_.stage.pointer, otherwise, rule_.subject_key)) {
      const auto [holder, fresh] = holders_.emplace(subject, path);
      if (!fresh)
        disputed_.emplace(subject, std::pair(holder->second, path));
      stages_[subject] = std::move(stage);
    }
  }
}

std::string Snapshot::holder(const Subject& subject) const {
  const auto found = holders_.find(subject);
  if (found != holders_.end())
    return found->second;
  return is_join(subject) ? shared_holder() : "";
}

std::string Snapshot::path(const Place& place, const Subject& subject) const {
  if (place.document.empty())
    return holder(subject);
  const Kind* const named = kind(place.document);
  if (named == nullptr || (named->per_subject && (!file_name(subject) || is_join(subject))))
    return {};
  const auto slash = flow_.name.find('/');
  return path_of(named->pattern,
                 {slash == std::string::npos ? "" : flow_.name.substr(slash + 1), subject});
}

const Accepted* Snapshot::file(const Place& place, const Subject& subject) const {
  const auto found = docs_.find(path(place, subject));
  if (found == docs_.end())
    return nullptr;
  const Kind* const its = kind(document_name(found->second.kind));
  const bool gone = !found->second.present && its != nullptr && its->optional;
  return gone ? nullptr : &found->second;
}

std::optional<std::string> Snapshot::pointer(const Place& place, const Subject& subject) const {
  const Accepted* const accepted = file(place, subject);
  const Value* const record = accepted == nullptr ? nullptr : record_of(*accepted->document);
  return record == nullptr ? pointer_for(place, subject)
                           : places_.pointer(*record, place.pointer, subject);
}

const Value* Snapshot::member(const Value& record, const Place& place,
                              const Subject& subject) const {
  const auto pointer = places_.pointer(record, place.pointer, subject);
  return pointer ? json::at(record, *pointer) : nullptr;
}

const Value* Snapshot::value(const Place& place, const Subject& subject) const {
  const Accepted* const accepted = file(place, subject);
  const Value* const record = accepted == nullptr ? nullptr : record_of(*accepted->document);
  return record == nullptr ? nullptr : member(*record, place, subject);
}

std::map<std::string, std::string> Snapshot::paths(const Subject& subject) const {
  std::map<std::string, std::string> all;
  for (const Kind& kind : rule_.kinds)
    if (std::string path = this->path(Place{kind.name, ""}, subject);
        !kind.name.empty() && !path.empty())
      all.emplace(kind.name, std::move(path));
  return all;
}

bool Snapshot::met(const Condition& condition, const Subject& subject) const {
  if (is_over_all(condition)) {
    std::vector<const Value*> found;
    for (const auto& [each, member] : over(condition.place))
      found.push_back(member);
    return holds_over(condition, found);
  }
  const auto limit = limit_place(condition);
  return rules::holds(condition, value(condition.place, subject),
                      limit ? value(*limit, subject) : nullptr);
}

const Condition* Snapshot::unmet(const Reaction& reaction, const Subject& subject) const {
  const auto found = std::find_if(reaction.when.begin(), reaction.when.end(),
                                  [&](const Condition& each) { return !met(each, subject); });
  return found == reaction.when.end() ? nullptr : &*found;
}

}  // namespace baton::rules
