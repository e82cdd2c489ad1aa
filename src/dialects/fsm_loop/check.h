#pragma once

#include <string>
#include <vector>

#include "base/json/document.h"
#include "core/dialect.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

/// The rules of one document that no schema can state; the list is on the format page. Each
/// expects a document that its schema accepts.
Findings check_definition(const Document& document);

/// A definition that was put together from several files, with what is wrong with it. `sources`:
/// the files, the one that counts most first. Pointers are of `root` and of what was made from it,
/// so they need not lead to anything in a file.
struct Judged {
  Definition definition;
  Findings findings;
};
Judged judge_definition(const Value& root, const std::vector<const Document*>& sources);
/// `stem`: what the file's name says, empty where the name does not fit the kind's pattern.
Findings check_state(const Value& root, const std::string& stem);
Findings check_events(const Value& lines);
Findings check_lock(const Value& root);

}  // namespace baton::fsm_loop
