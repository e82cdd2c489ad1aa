#pragma once

#include <string>

#include "base/document.h"
#include "core/dialect.h"

namespace baton::fsm_loop {

/// The rules of one document that no schema can state; the list is on the format page. Each
/// expects a document that its schema accepts.
Findings check_definition(const Document& document);
/// `stem`: what the file's name says, empty where the name does not fit the kind's pattern.
Findings check_state(const Value& root, const std::string& stem);
Findings check_events(const Value& lines);
Findings check_lock(const Value& root);

}  // namespace baton::fsm_loop
