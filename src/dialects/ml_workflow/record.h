#pragma once

#include "dialects/ml_workflow/edits.h"
#include "dialects/ml_workflow/next.h"

namespace baton::ml_workflow {

/// Enters started runs: a new entry in progress, or the failed one again with what is tried.
void record_starts(Scene& scene, Edits& edits);
/// Entries whose agent has ended without saying so, and validations that say nothing, have failed;
/// what a retry came to is noted.
void record_ends(const Scene& scene, Edits& edits);
/// A round of validation that is complete is judged once.
void record_rounds(const Scene& scene, Edits& edits);
/// Times that agents left out, and the counters that follow from the history.
void record_counters(const Scene& scene, Edits& edits);

/// The decision of a person, as approval_history and the flags have it.
void record_decision(const Scene& scene, std::string_view approval, std::string_view status,
                     const std::string& by, const std::string& comment, Edits& edits);

/// Back from phase_2 to the plan. What is under way or has failed is left as it is: `skipped`.
void record_return(const Scene& scene, Edits& edits);

}  // namespace baton::ml_workflow
