#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/flow.h"

namespace baton::coordination {

/// The statuses of a group, as group_status.json spells them.
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

/// What a status says about who has the group in hand. `agent` works while it stands there ("" when
/// nobody does).
struct StatusRow {
  std::string_view word;
  Status status;
  std::string_view agent;
};
inline constexpr std::array kStatuses = {
    StatusRow{"pending", Status::pending, ""},
    StatusRow{"dev_working", Status::dev_working, "developer"},
    StatusRow{"dev_blocked", Status::dev_blocked, ""},
    StatusRow{"waiting_qa", Status::waiting_qa, ""},
    StatusRow{"qa_testing", Status::qa_testing, "qa_expert"},
    StatusRow{"qa_failed", Status::qa_failed, ""},
    StatusRow{"waiting_review", Status::waiting_review, ""},
    StatusRow{"tech_review", Status::tech_review, "tech_lead"},
    StatusRow{"changes_requested", Status::changes_requested, ""},
    StatusRow{"complete", Status::complete, ""},
};

inline constexpr std::string_view kDeveloper = "developer";
inline constexpr std::string_view kQa = "qa_expert";
inline constexpr std::string_view kTechLead = "tech_lead";
inline constexpr std::string_view kManager = "project_manager";

/// The subject of everything that concerns the session and not one group.
inline constexpr std::string_view kSession = "*session";

/// Which member of `iterations` counts the runs of a role. Nothing for the project manager.
std::optional<std::string_view> counter_of(std::string_view role);

/// A word the lenient profile (option `lenient`) takes for one of ours. Strict schemas refuse it,
/// so that documents in force have none.
struct AliasRow {
  std::string_view member;  ///< of status, current_agent, from, to, decision
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
};
/// The word of ours a member means: itself unless it is an alias. `status` is that of a group, a
/// task or a phase; in orchestrator_state `completed` is a word of its own.
std::string_view meant(std::string_view member, std::string_view word);

std::string_view word(Status status);
std::optional<Status> parse_status(std::string_view word);

/// Whether an agent may take a group from one status to the other (page section 2.3). Staying is
/// always allowed; what only a project manager may do (back to pending, removal) is not listed.
bool legal_move(Status from, Status to);

/// The three mailboxes: file, who writes, who reads, and the member that holds the result.
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
/// The index of a mailbox by its kind; nothing for anything else.
std::optional<std::size_t> mailbox(std::string_view kind);
/// The mailbox a role writes, and the one it reads. Nothing for the project manager; a developer
/// reads techlead_to_dev, a QA expert dev_to_qa, a tech lead qa_to_techlead.
std::optional<std::size_t> outbox(std::string_view role);
std::optional<std::size_t> inbox(std::string_view role);

}  // namespace baton::coordination
