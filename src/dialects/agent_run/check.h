#pragma once

#include <string>

#include "base/json/document.h"

namespace baton::agent_run {

/// What the name of a run's file says; empty where it does not fit the kind's pattern.
struct Place {
  std::string run;
  std::string step;
  std::string runs = {};  ///< the folder of the runs, relative to the root
};

/// The rules of one document that no schema can state; the list is on the format page. Each
/// expects a document that its schema accepts.
Findings check_workflow(const Value& root);
Findings check_run_state(const Value& root, const Place& place);
Findings check_report(const Value& root, const Place& place);
Findings check_manual_input(const Value& root);
Findings check_gate_state(const Value& root);

}  // namespace baton::agent_run
