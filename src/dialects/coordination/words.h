// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words of the files as enumerations and tables.

#include <array>
#include <optional>
#include <string_view>

#include "core/flow.h"
#include "dialects/tables.h"

namespace baton::coordination {

/// The status of a group in group_status.json.
enum class Status {
  pending,
  dev_working,
  dev_blocked,
  waiting_qa,
  qa_testing,
  qa_failed,
  waiting_review,
  tech_review,
  changes_requested,
  complete,
};

inline constexpr std::string_view kDeveloper = "developer";
inline constexpr std::string_view kQa = "qa_expert";
inline constexpr std::string_view kTechLead = "tech_lead";
inline constexpr std::string_view kManager = "project_manager";

struct StatusRow {
  std::string_view word;
  Status status;
  std::string_view stage;    ///< of the group, see stage_of
  std::string_view agent;    ///< the role that works in this status; empty: none
  std::string_view awaited;  ///< the role whose result the status waits for; empty: none
};
inline constexpr std::array kStatuses = {
    StatusRow{"pending", Status::pending, "dev", "", ""},
    StatusRow{"dev_working", Status::dev_working, "dev", kDeveloper, kDeveloper},
    StatusRow{"dev_blocked", Status::dev_blocked, "blocked", "", ""},
    StatusRow{"waiting_qa", Status::waiting_qa, "qa", "", kQa},
    StatusRow{"qa_testing", Status::qa_testing, "qa", kQa, kQa},
    StatusRow{"qa_failed", Status::qa_failed, "dev", "", ""},
    StatusRow{"waiting_review", Status::waiting_review, "review", "", kTechLead},
    StatusRow{"tech_review", Status::tech_review, "review", kTechLead, kTechLead},
    StatusRow{"changes_requested", Status::changes_requested, "dev", "", ""},
    StatusRow{"complete", Status::complete, "complete", "", ""},
};
static_assert(in_enum_order(kStatuses, &StatusRow::status, Status::complete));

constexpr const StatusRow& status_row(Status status) {
  return kStatuses.at(static_cast<std::size_t>(status));
}
constexpr std::string_view word(Status status) {
  return status_row(status).word;
}

/// The subject of the session as a whole.
inline constexpr std::string_view kSession = "*session";

/// The roles that work on groups.
struct RoleRow {
  std::string_view word;
  std::string_view counter;  ///< the member of `iterations`
  std::string_view phase;    ///< current_phase after a start
};
inline constexpr std::array kWorkers = {RoleRow{kDeveloper, "developer", "developer_working"},
                                        RoleRow{kQa, "qa", "qa_testing"},
                                        RoleRow{kTechLead, "tech_lead", "tech_review"}};

/// An alias that the option `lenient` allows in files. Without this option, the schemas refuse
/// aliases.
struct AliasRow {
  std::string_view member;  ///< status, current_agent, from, to, decision or current_phase
  std::string_view alias;
  std::string_view word;
};
inline constexpr std::array kAliases = {
    AliasRow{"status", "completed", "complete"},
    AliasRow{"current_agent", "qa", kQa},
    AliasRow{"current_agent", "techlead", kTechLead},
    AliasRow{"current_agent", "pm", kManager},
    AliasRow{"from", "qa", kQa},
    AliasRow{"from", "techlead", kTechLead},
    AliasRow{"to", "qa", kQa},
    AliasRow{"to", "techlead", kTechLead},
    AliasRow{"decision", "APPROVED", "approved"},
    AliasRow{"decision", "CHANGES_REQUESTED", "changes_requested"},
    AliasRow{"decision", "UNBLOCKED", "unblocked"},
    AliasRow{"current_phase", "pm_checking", "pm_final_check"},
};
/// The word that an alias stands for; other words are unchanged. Not for the status of
/// orchestrator_state, where `completed` is no alias.
std::string_view canonical_word(std::string_view member, std::string_view word);

std::optional<Status> parse_status(std::string_view word);

/// Whether an agent may change the status like this (format page, Moves). The way back to pending
/// is not among these moves: only the project manager may take it.
bool legal_move(Status from, Status to);

/// The three mailboxes: file, sender, reader, and the member with the result.
struct MailboxRow {
  std::string_view kind;
  std::string_view from;
  std::string_view to;
  std::string_view result;
};
inline constexpr std::array kMailboxes = {
    MailboxRow{"dev_to_qa", kDeveloper, kQa, "status"},
    MailboxRow{"qa_to_techlead", kQa, kTechLead, "result"},
    MailboxRow{"techlead_to_dev", kTechLead, kDeveloper, "decision"},
};
/// Names that agents give to mailboxes, and that nobody reads.
struct MisnamedRow {
  std::string_view name;
  std::string_view meant;
};
inline constexpr std::array kMisnamed = {
    MisnamedRow{"qa_to_tech_lead", "qa_to_techlead"},
    MisnamedRow{"tech_lead_to_dev", "techlead_to_dev"},
};
inline constexpr std::string_view kMisnamedKind = "misnamed_mailbox";
/// The index of a mailbox by kind; nothing for other kinds.
std::optional<std::size_t> mailbox(std::string_view kind);
/// The mailbox that a role writes or reads; nothing for the project manager.
std::optional<std::size_t> outbox(std::string_view role);
std::optional<std::size_t> inbox(std::string_view role);

}  // namespace baton::coordination
