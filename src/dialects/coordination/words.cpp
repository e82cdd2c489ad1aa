// SPDX-License-Identifier: Apache-2.0
#include "dialects/coordination/words.h"

#include <algorithm>
#include <cstddef>

namespace baton::coordination {
namespace {

struct Move {
  Status from;
  Status to;
};
using enum Status;
// From pending straight to a result: the agent was done before baton had written its start.
constexpr std::array kMoves = {
    Move{pending, dev_working},        Move{pending, waiting_qa},
    Move{pending, waiting_review},     Move{pending, dev_blocked},
    Move{dev_working, waiting_qa},     Move{dev_working, waiting_review},
    Move{dev_working, dev_blocked},    Move{dev_blocked, dev_working},
    Move{waiting_qa, qa_testing},      Move{waiting_qa, waiting_review},
    Move{waiting_qa, qa_failed},       Move{qa_testing, waiting_review},
    Move{qa_testing, qa_failed},       Move{qa_testing, waiting_qa},
    Move{qa_failed, dev_working},      Move{waiting_review, tech_review},
    Move{waiting_review, complete},    Move{waiting_review, changes_requested},
    Move{tech_review, complete},       Move{tech_review, changes_requested},
    Move{tech_review, waiting_review}, Move{changes_requested, dev_working},
};

std::optional<std::size_t> mailbox_where(std::string_view MailboxRow::*member,
                                         std::string_view word) {
  for (std::size_t i = 0; i < kMailboxes.size(); ++i)
    if (kMailboxes[i].*member == word)
      return i;
  return std::nullopt;
}

}  // namespace

std::string_view canonical_word(std::string_view member, std::string_view word) {
  const auto* const row = std::find_if(kAliases.begin(), kAliases.end(), [&](const AliasRow& r) {
    return r.member == member && r.alias == word;
  });
  return row == kAliases.end() ? word : row->word;
}

std::optional<Status> parse_status(std::string_view word) {
  const StatusRow* const row = row_of(kStatuses, word);
  return row == nullptr ? std::nullopt : std::optional(row->status);
}

bool legal_move(Status from, Status to) {
  return from == to || std::any_of(kMoves.begin(), kMoves.end(), [&](const Move& move) {
           return move.from == from && move.to == to;
         });
}

std::optional<std::size_t> mailbox(std::string_view kind) {
  return mailbox_where(&MailboxRow::kind, kind);
}
std::optional<std::size_t> outbox(std::string_view role) {
  return mailbox_where(&MailboxRow::from, role);
}
std::optional<std::size_t> inbox(std::string_view role) {
  return mailbox_where(&MailboxRow::to, role);
}

}  // namespace baton::coordination
