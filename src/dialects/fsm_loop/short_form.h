#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"

namespace baton::fsm_loop {

/// One state of a short form.
struct CompiledState {
  std::string name;
  std::string pointer;  ///< of what it was made from, in the file as it stands
  Json body;
};

/// A short form as a definition with `initial`; its states stand apart.
struct ShortForm {
  Json root;
  std::vector<CompiledState> states;
};

/// `paradigm` without `initial` asks for a loop of a known form.
bool is_short_form(const Value& root);

/// Compiles goal, convergence, invariants or imperative; expects what the schema accepts. What the
/// form does not use (scope, llm, limits, context ...) is kept.
ShortForm compiled(const Value& root);

}  // namespace baton::fsm_loop
