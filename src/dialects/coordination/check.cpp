// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "dialects/coordination/coordination.h"
#include "dialects/coordination/decide.h"
#include "dialects/coordination/files.h"
#include "dialects/coordination/plan.h"
#include "dialects/findings.h"
#include "dialects/kinds.h"

namespace baton::coordination {
namespace {

constexpr std::int64_t kMostDevelopers = 4;

/// A count from a file as a natural number, so that the sum of two counts does not overflow.
std::uint64_t natural(std::int64_t number) {
  return number < 0 ? 0 : static_cast<std::uint64_t>(number);
}

/// S20: the numbers of each kind of tests.
void test_results(const Value& entry, Status status, const std::string& pointer,
                  FindingList& findings) {
  const bool handed_on = status == Status::waiting_review || status == Status::complete;
  for (const auto& member : members_in(entry, "test_results")) {
    const std::string where = member_pointer(pointer + "/test_results", json::name(member.name));
    const auto total = json::integer(member.value, "total");
    const auto passed = count_of(member.value, "passed");
    const auto failed = count_of(member.value, "failed");
    if (total && natural(passed) + natural(failed) > natural(*total))
      findings.warning("S20", where,
                       std::to_string(passed) + " passed and " + std::to_string(failed) +
                           " failed tests are more than the total of " + std::to_string(*total));
    if (handed_on && failed > 0)
      findings.warning(
          "S20", where + "/failed",
          std::to_string(failed) + " tests fail, but the group is " + std::string(word(status)));
  }
}

/// `pointer` leads to the entry.
void check_group(const std::string& id, const std::string& pointer, const Value& entry,
                 bool reviews, FindingList& findings) {
  const auto given = json::text(entry, "group_id");
  if (given && given != id)
    findings.error(
        "S7", pointer + "/group_id",
        "group_id is `" + std::string(*given) + "`, but the entry belongs to `" + id + "`");
  const auto status = parse_status(word_of(entry, "status").value_or(""));
  if (!status)
    return;
  const auto agent = word_of(entry, "current_agent");
  const StatusRow& row = status_row(*status);
  if (*status == Status::complete && agent && agent != "none")
    findings.warning("S8", pointer + "/current_agent",
                     "current_agent is " + std::string(*agent) + ", but the group is complete");
  // Row 14: a tech lead helps with a test that gave no result; the status stays.
  const bool helped = *status == Status::qa_testing && agent == kTechLead;
  if (!row.agent.empty() && agent && agent != row.agent && !helped)
    findings.warning(
        "S9", pointer + "/current_agent",
        "current_agent is " + std::string(*agent) + ", but the group is " + std::string(row.word));
  if (reviews && *status == Status::complete && count_feedback(entry, "approved") == 0)
    findings.warning("S10", pointer + "/status",
                     "the group is complete, but no review has approved it");
  if (*status == Status::dev_blocked && open_blockers(&entry).empty())
    findings.warning("S19", pointer + "/blockers", "the group is blocked, but no blocker is open");
  test_results(entry, *status, pointer, findings);
}

/// Whether a text such as `7/8` or `7/8 passed` says that not all tests passed. False for other
/// texts.
bool short_of(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return false;
  std::int64_t passed = 0;
  std::int64_t total = 0;
  const char* const end = text.data() + text.size();
  const auto left = std::from_chars(text.data(), text.data() + slash, passed);
  const auto right = std::from_chars(text.data() + slash + 1, end, total);
  return left.ec == std::errc() && left.ptr == text.data() + slash && right.ec == std::errc() &&
         passed < total;
}

void failing_pass(const Value& message, const std::string& pointer, FindingList& findings) {
  if (json::text(message, "result") != "PASS")
    return;
  for (const auto& member : members_in(message, "test_results"))
    if (const auto text = json::text(member.value); text && short_of(*text))
      findings.warning("S14", member_pointer(pointer + "/test_results", json::name(member.name)),
                       "`" + std::string(*text) + "` in a message that says PASS");
}

/// S17: completion is claimed too early.
void check_completion_claim(const FlowState& docs, const Plan& plan, const Options& options,
                            std::map<std::string, Findings>& all) {
  const Value& pm = root(docs, "pm_state");
  const bool stated = plan_says_completed(pm, options);
  const bool ended = json::text(root(docs, "orchestrator_state"), "status") == "completed";
  if (!stated && !ended)
    return;
  for (const Group& group : plan.groups) {
    const bool unapproved = options.reviews && !group.approved;
    if (group.status == Status::complete && !unapproved)
      continue;
    const bool signalled = json::text(pm, "signal") == options.completion_word;
    all[path_of(options, stated ? "pm_state" : "orchestrator_state")].push_back(
        finding(Severity::error, "S17", signalled ? "/signal" : "/status",
                "completion is claimed, but group " + group.id +
                    (group.status == Status::complete ? " has no approved review"
                                                      : " is " + std::string(word(group.status)))));
    return;
  }
}

/// Progress in the words of the project manager.
constexpr std::string_view kPending = "pending";
constexpr std::string_view kInProgress = "in_progress";
constexpr std::string_view kComplete = "complete";

std::string_view progress(Status status) {
  if (status == Status::pending)
    return kPending;
  return status == Status::complete ? kComplete : kInProgress;
}

/// What pm_state says of the progress of groups, compared with group_status.
class Comparison {
 public:
  Comparison(const Plan& plan, const Value& pm) : plan_(plan), pm_(pm) {}

  Findings found() && {
    for (const auto& [list, says] :
         {std::pair("completed_groups", kComplete), std::pair("in_progress_groups", kInProgress),
          std::pair("pending_groups", kPending)})
      each_listed(pm_, "", list, says);
    each("task_groups", [&](const Value& task, const std::string& pointer) {
      const std::string_view said = word_of(task, "status").value_or("");
      compare(text_of(task, "id"), pointer + "/status", said == "assigned" ? kPending : said);
    });
    // A phase in progress may have groups of any state.
    each("execution_phases", [&](const Value& phase, const std::string& pointer) {
      if (const std::string_view said = word_of(phase, "status").value_or(""); said != kInProgress)
        each_listed(phase, pointer, "group_ids", said);
    });
    // So may a group in progress have tasks of any state.
    each("all_tasks", [&](const Value& task, const std::string& pointer) {
      const Group* const group = plan_.find(text_of(task, "group_id"));
      if (group != nullptr && progress(group->status) != kInProgress)
        compare(group->id, pointer + "/status", word_of(task, "status").value_or(""));
    });
    return findings_.take();
  }

 private:
  template <class Look>
  void each(std::string_view list, const Look& look) {
    std::size_t n = 0;
    for (const Value& item : items_in(pm_, list))
      look(item, item_pointer("/" + std::string(list), n++));
  }

  void each_listed(const Value& holder, const std::string& pointer, std::string_view list,
                   std::string_view says) {
    each_text(holder, pointer, list,
              [&](const std::string& id, const std::string& place) { compare(id, place, says); });
  }

  /// Groups without an entry have not begun and are not compared.
  void compare(std::string_view id, const std::string& pointer, std::string_view says) {
    const Group* const group = plan_.find(id);
    if (group != nullptr && group->entry != nullptr && !says.empty() &&
        says != progress(group->status))
      findings_.warning("S4", pointer,
                        "`" + group->id + "` is " + std::string(word(group->status)) +
                            " in group_status, which counts");
  }

  const Plan& plan_;
  const Value& pm_;
  FindingList findings_{"coordination"};
};

}  // namespace

Finding finding(Severity severity, const std::string& id, std::string pointer,
                std::string message) {
  Finding found;
  found.severity = severity;
  found.rule = "coordination/" + id;
  found.pointer = std::move(pointer);
  found.message = std::move(message);
  return found;
}

Findings check_groups(const Value& status, bool reviews) {
  FindingList findings("coordination");
  for (const auto& member : status.GetObject())
    if (const std::string id(json::name(member.name)); id.empty() || id == kSession)
      findings.error("S24", "/" + json::pointer_token(id),
                     id.empty() ? "a group has no id"
                                : "`" + id +
                                      "` is reserved for the session and "
                                      "cannot be a group");
    else if (!is_metadata(id) && member.value.IsObject())
      check_group(id, "/" + json::pointer_token(id), member.value, reviews, findings);
  return findings.take();
}

Findings check_orchestrator(const Value& state) {
  const auto agents = items_in(state, "active_agents");
  const auto developers = std::count_if(agents.begin(), agents.end(), [](const Value& agent) {
    return json::text(agent, "agent_type") == kDeveloper;
  });
  if (developers <= kMostDevelopers)
    return {};
  return {finding(Severity::warning, "S6", "/active_agents",
                  std::to_string(developers) + " developers at a time; at most 4 are started")};
}

Findings check_mailbox(const Value& mailbox) {
  FindingList findings("coordination");
  std::set<std::string> ids;
  std::size_t index = 0;
  for (const Value& message : items_in(mailbox, "messages")) {
    const std::string pointer = item_pointer("/messages", index++);
    const std::string id = text_of(message, "id");
    if (!ids.insert(id).second)
      findings.error("S12", pointer + "/id", "`" + id + "` is the id of an earlier message");
    failing_pass(message, pointer, findings);
  }
  return findings.take();
}

/// Warns about messages that nobody gets.
Findings check_misnamed(std::string_view path) {
  for (const MisnamedRow& row : kMisnamed)
    if (path.ends_with("/" + std::string(row.name) + ".json"))
      return {finding(Severity::warning, "S26", "",
                      "nobody reads this mailbox; baton knows it as `" + std::string(row.meant) +
                          ".json`: move the messages there")};
  return {};
}

Findings check(const std::string& path, const Accepted& accepted, const Json& options,
               std::optional<Time> /*wall*/) {
  const Value& root = accepted.document->root();
  if (accepted.kind == "pm_state")
    return check_plan(root);
  if (accepted.kind == "group_status")
    return check_groups(root, options_of(options).reviews);
  if (accepted.kind == "orchestrator_state")
    return check_orchestrator(root);
  if (mailbox(accepted.kind))
    return check_mailbox(root);
  if (accepted.kind == kMisnamedKind)
    return check_misnamed(path);
  FindingList findings("coordination");
  if (accepted.kind == "inbox" && !accepted.part.empty())
    check_group(accepted.part, "", root, options_of(options).reviews, findings);
  return findings.take();
}

std::map<std::string, Findings> check_flow(const FlowState& docs, const Json& options) {
  const Options given = options_of(options);
  std::map<std::string, Findings> all;
  const Value& pm = root(docs, "pm_state");
  if (pm.IsNull())
    return all;
  const Plan plan = plan_of(docs);
  if (Findings found = check_progress(plan, pm); !found.empty())
    all[path_of(given, "pm_state")] = std::move(found);
  check_completion_claim(docs, plan, given, all);
  for (const MailboxRow& row : kMailboxes) {
    std::size_t index = 0;
    for (const Value& message : items_in(root(docs, row.kind), "messages")) {
      const std::string pointer = item_pointer("/messages", index++) + "/group_id";
      const std::string id = text_of(message, "group_id");
      if (!plan.groups.empty() && plan.find(id) == nullptr)
        all[path_of(given, row.kind)].push_back(
            finding(Severity::warning, "S13", pointer, "there is no group `" + id + "`"));
    }
  }
  const Value& state = root(docs, "orchestrator_state");
  const std::string session = text_of(pm, "session_id");
  if (!state.IsNull() && session != text_of(state, "session_id"))
    all[path_of(given, "orchestrator_state")].push_back(
        finding(Severity::error, "S22", "/session_id",
                "session_id differs from that of pm_state, `" + session + "`"));
  return all;
}

Findings check_progress(const Plan& plan, const Value& pm) {
  return Comparison(plan, pm).found();
}

}  // namespace baton::coordination
