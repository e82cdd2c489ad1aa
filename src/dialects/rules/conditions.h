// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every state in which a flow of a rule can stand, with the condition and the reason that people
// are told. All holds and standings of the dialect take their cause from this table.

#include <array>

#include "core/condition.h"
#include "dialects/tables.h"

namespace baton::rules {

enum class Situation {
  done,
  nothing_due,
  no_reaction,
  unknown_stage,
  no_stage,
  condition_unmet,
  needs_others,
  unknown_need,
  approval_wanted,
  rejected_by_person,
  file_rejected,
  file_missing,
  max_entries,
  max_entries_per,
  prompt_unusable,
  paused,
  stopped,
  existing,
  rule_missing,
};

using SituationRow = baton::SituationRow<Situation>;
inline constexpr std::array kSituations = {
    // Every subject is in a stage of `done:`, and no reaction is left.
    SituationRow{Situation::done, {"done", {baton::Condition::done, Reason::none}}},
    // All reactions of the stage are done, there is no subject yet, or an optional file is absent.
    SituationRow{Situation::nothing_due,
                 {"nothing_due", {baton::Condition::idle, Reason::nothing_due}}},
    SituationRow{Situation::no_reaction,
                 {"no_reaction", {baton::Condition::idle, Reason::no_reaction}}},
    SituationRow{Situation::unknown_stage,
                 {"unknown_stage", {baton::Condition::blocked, Reason::unknown_stage}}},
    SituationRow{Situation::no_stage, {"no_stage", {baton::Condition::blocked, Reason::no_stage}}},
    SituationRow{Situation::condition_unmet,
                 {"condition_unmet", {baton::Condition::waiting, Reason::condition}}},
    // What `needs` names is not done yet. The engine says the same of flows that need other flows.
    SituationRow{Situation::needs_others,
                 {"needs_others", {baton::Condition::waiting, Reason::dependency}}},
    SituationRow{Situation::unknown_need,
                 {"unknown_need", {baton::Condition::blocked, Reason::unknown_dependency}}},
    SituationRow{Situation::approval_wanted,
                 {"approval_wanted", {baton::Condition::blocked, Reason::approval_wanted}}},
    SituationRow{Situation::rejected_by_person,
                 {"rejected_by_person", {baton::Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::file_rejected,
                 {"file_rejected", {baton::Condition::blocked, Reason::file_rejected}}},
    // A document that `set` needs. The engine reports missing documents of the flow itself.
    SituationRow{Situation::file_missing,
                 {"file_missing", {baton::Condition::blocked, Reason::file_missing}}},
    SituationRow{Situation::max_entries,
                 {"max_entries", {baton::Condition::blocked, Reason::max_entries}}},
    // With a span: it goes on by itself.
    SituationRow{Situation::max_entries_per,
                 {"max_entries_per", {baton::Condition::waiting, Reason::max_entries}}},
    SituationRow{Situation::prompt_unusable,
                 {"prompt_unusable", {baton::Condition::blocked, Reason::agent_unusable}}},
    // These three keep `set` waiting. The engine knows the order and may name its cause better.
    SituationRow{Situation::paused, {"paused", {baton::Condition::paused, Reason::by_operator}}},
    SituationRow{Situation::stopped, {"stopped", {baton::Condition::stopped, Reason::by_operator}}},
    SituationRow{Situation::existing, {"existing", {baton::Condition::blocked, Reason::existing}}},
    SituationRow{Situation::rule_missing,
                 {"rule_missing", {baton::Condition::blocked, Reason::unconfigured}}},
};
static_assert(in_enum_order(kSituations, &SituationRow::situation, Situation::rule_missing));

/// For Dialect::states.
inline constexpr auto kStates = states_of(kSituations);

constexpr Cause cause_of(Situation situation) {
  return state_of(kStates, situation).cause;
}

}  // namespace baton::rules
