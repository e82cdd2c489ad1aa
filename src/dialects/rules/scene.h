#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/dialect.h"
#include "dialects/rules/layout.h"

namespace baton::rules {

/// A stage is a word; a number or a truth value is as good as one.
std::optional<Word> word_of(const Value* value);
/// As JSON, numbers by their value: 1, 1.0 and 1e0 are one word.
std::string spelled(const Value& value);

/// What a document says now: of lines it is the last one. nullptr: there is no line yet.
const Value* record_of(const Document& document);

/// Where each subject of one document stands. With `{subject}` in the pointer each member of the
/// object in front of it is one; members without a stage (comments, metadata) are none.
Stages stages_in(const Value& root, const std::string& pointer, const Subject& otherwise);

/// The name of a document out of its kind: `tickets/review` is `review`, `tickets` has none.
std::string document_name(const std::string& kind);

/// The documents of one flow, seen by its rule. What it was made of has to outlive it.
class Scene {
 public:
  Scene(const FlowId& flow, const FlowState& docs, const Rule& rule);

  const Rule& rule() const { return rule_; }
  const Stages& stages() const { return stages_; }
  /// Two documents say where it stands; the flow is held.
  bool disputed(const Subject& subject) const { return disputed_.contains(subject); }
  /// By path: the other document that says where a subject of it stands too.
  const std::map<Subject, std::pair<std::string, std::string>>& disputes() const {
    return disputed_;
  }

  /// The path of the document that holds the subject; empty when none does.
  std::string holder(const Subject& subject) const;
  /// The path a place's document has or would have; empty for one nobody can tell, and where the
  /// subject's name cannot be part of a path.
  std::string path(const Place& place, const Subject& subject) const;
  /// The document of a place; nullptr when it is not there.
  const Accepted* file(const Place& place, const Subject& subject) const;
  /// What stands at a place; nullptr when nothing does.
  const Value* value(const Place& place, const Subject& subject) const;
  /// Each named document that has one, with its path.
  std::map<std::string, std::string> paths(const Subject& subject) const;

  /// Whether a condition holds.
  bool met(const Condition& condition, const Subject& subject) const;
  /// The first condition of a reaction that does not hold; nullptr when all do.
  const Condition* unmet(const Reaction& reaction, const Subject& subject) const;

 private:
  const Kind* kind(const std::string& name) const;
  void collect();

  const FlowId& flow_;
  const FlowState& docs_;
  const Rule& rule_;
  Stages stages_;
  std::map<Subject, std::string> holders_;
  std::map<Subject, std::pair<std::string, std::string>> disputed_;
};

}  // namespace baton::rules
