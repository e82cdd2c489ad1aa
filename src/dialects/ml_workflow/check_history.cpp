// SPDX-License-Identifier: Apache-2.0

// The rules about the steps and their order.

#include <algorithm>
#include <cmath>
#include <string>

#include "dialects/kinds.h"
#include "dialects/ml_workflow/ml_workflow.h"
#include "dialects/timestamps.h"

namespace baton::ml_workflow {
namespace {

using std::chrono::seconds;

constexpr seconds kRounding{2};

std::string step_text(std::int64_t step) {
  return "step " + std::to_string(step);
}

void agent_rule(const Entry& entry, FindingList& findings) {
  if (entry.agent != agent_of(entry.step))
    findings.error("S3", pointer_of(entry, "agent"),
                   step_text(entry.step) + " was done by " + shown(entry.agent) +
                       ", but belongs to the " + std::string(agent_of(entry.step)),
                   json::child(*entry.value, "agent"), std::string(agent_of(entry.step)));
}

void template_rule(const Entry& entry, FindingList& findings) {
  if (!entry.file.empty() && !template_fits(entry.step, entry.file))
    findings.warning("S8", pointer_of(entry, "template"),
                     "this is no template of " + step_text(entry.step),
                     json::child(*entry.value, "template"));
}

void duration_rule(const Entry& entry, FindingList& findings) {
  const auto began = timestamp(*entry.value, "started_at");
  const auto ended = end_of(entry);
  const auto took = json::integer(*entry.value, "execution_time");
  if (!began || !ended || !took)
    return;
  const auto lay = *ended - *began;
  const auto measured = std::chrono::round<seconds>(lay).count();
  // In floating point, because the file may have any number and an integer could overflow.
  const double off = std::chrono::duration<double>(lay).count() - static_cast<double>(*took);
  if (std::abs(off) > static_cast<double>(kRounding.count()))
    findings.warning("S9", pointer_of(entry, "execution_time"),
                     "execution_time is " + std::to_string(*took) +
                         " s, but between started_at and "
                         "completed_at lie " +
                         std::to_string(measured) + " s",
                     json::child(*entry.value, "execution_time"), std::to_string(measured));
}

void recovery_rule(const Entry& entry, FindingList& findings) {
  const Value& error = error_of(entry);
  const auto attempts = json::integer(error, "recovery_attempts");
  const std::string tried = std::to_string(recoveries(entry).Size());
  if (attempts && member(error, "recovery_strategies").IsArray() &&
      std::to_string(*attempts) != tried)
    findings.warning("S15", pointer_of(entry, "error_info") + "/recovery_attempts",
                     "recovery_attempts is " + std::to_string(*attempts) +
                         ", but recovery_strategies lists " + tried,
                     json::child(error, "recovery_attempts"), tried);
}

/// Whether an entry may follow another one. A step that was not completed may be done again. The
/// halves a and b of a validation come in any order.
bool may_follow(const Entry& before, const Entry& next) {
  if (before.step != next.step)
    return follows(before.step, next.step);
  if (!before.completed())
    return true;
  const bool same = before.half == next.half && before.half != Half::whole;
  return follows(before.step, next.step) && (next.step == kLastStep || !same);
}

void order_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const std::size_t first = plan_start(root);
  std::int64_t former = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const bool back = i > 0 && entry.index >= first && entries[i - 1].index < first;
    const bool good = i == 0 ? follows(0, entry.step)
                      : back ? entry.step == 3
                             : may_follow(entries[i - 1], entry);
    if (!good)
      findings.error("S4", pointer_of(entry, "step_number"),
                     step_text(entry.step) +
                         (former == 0 ? " comes first" : " comes after " + step_text(former)),
                     json::child(*entry.value, "step_number"),
                     back ? "3" : std::string(successors(former)));
    former = entry.step;
  }
}

/// Whether the entries are the two halves of one step. Two validators may work on them at a time.
bool pair(const Entry& one, const Entry& other) {
  return one.step == other.step && code_validation(one.step) &&
         (one.half != other.half || one.half == Half::whole);
}

void progress_rule(const std::vector<Entry>& entries, FindingList& findings) {
  std::vector<const Entry*> working;
  for (const Entry& entry : entries)
    if (entry.status == "in_progress")
      working.push_back(&entry);
  if (working.size() < 2 || (working.size() == 2 && pair(*working[0], *working[1])))
    return;
  findings.error("S13", pointer_of(*working.back(), "status"),
                 std::to_string(working.size()) + " entries are in_progress",
                 json::child(*working.back()->value, "status"),
                 "one, or the two halves of step 5 or 7");
}

void current_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const Value* const list = json::child(root, "step_history");
  const std::int64_t current = count_of(root, "current_step");
  const Value* const found = json::child(root, "current_step");
  if (list == nullptr)
    return;
  if (entries.empty()) {
    if (current > 1 && list->Empty())
      findings.error("S5", "/current_step",
                     "no step was begun, but current_step is " + shown(*found), found, "0 or 1");
    return;
  }
  const Entry& last = entries.back();
  const Value& newest = (*list)[list->Size() - 1];
  if (current == last.step || current == json::integer(newest, "step_number") ||
      (last.completed() && follows(last.step, current)))
    return;
  std::string allowed = std::to_string(last.step);
  if (last.completed())
    allowed += ", or " + std::string(successors(last.step)) + " after it";
  findings.error("S5", "/current_step",
                 "current_step is " + shown(*found) + ", but the last entry is " +
                     step_text(last.step) + " (" + std::string(last.status) + ")",
                 found, std::move(allowed));
}

void completed_rule(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  const Value* const found = json::child(root, "last_completed_step");
  if (found == nullptr || json::child(root, "step_history") == nullptr)
    return;
  const auto last = std::find_if(entries.rbegin(), entries.rend(),
                                 [](const Entry& entry) { return entry.completed(); });
  const std::int64_t step = last == entries.rend() ? 0 : last->step;
  if (json::integer(*found) != step)
    findings.warning("S6", "/last_completed_step",
                     "last_completed_step is " + shown(*found) + ", but " +
                         (step == 0 ? "no entry is completed"
                                    : "the last completed entry is " + step_text(step)),
                     found, std::to_string(step));
}

/// The origin's sample code writes a repeated step over its first entry. The last entry of the
/// history is then older than an entry before it.
void overwrite_rule(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  if (entries.size() < 2)
    return;
  const Entry& last = entries.back();
  const auto end = end_of(last);
  for (const Entry& entry : entries) {
    const auto done = end_of(entry);
    const bool newer = end && done && *done > *end + kRounding && entry.step != last.step;
    const bool named = last.completed() && entry.completed() && entry.step < last.step &&
                       json::integer(root, "current_step") == entry.step &&
                       json::integer(root, "last_completed_step") == entry.step;
    if (!newer && !named)
      continue;
    findings.warning("S17", pointer_of(entry, "step_number"),
                     "this entry of " + step_text(entry.step) +
                         " was written over: its second run belongs behind " + step_text(last.step),
                     nullptr, "an entry per run, appended");
    return;
  }
}

}  // namespace

std::string pointer_of(const Entry& entry, std::string_view member) {
  return "/step_history/" + std::to_string(entry.index) + "/" + std::string(member);
}

void history_rules(const Value& root, const std::vector<Entry>& entries, FindingList& findings) {
  for (const Entry& entry : entries) {
    agent_rule(entry, findings);
    template_rule(entry, findings);
    duration_rule(entry, findings);
    recovery_rule(entry, findings);
  }
  order_rules(root, entries, findings);
  progress_rule(entries, findings);
  current_rules(root, entries, findings);
  completed_rule(root, entries, findings);
  overwrite_rule(root, entries, findings);
}

}  // namespace baton::ml_workflow
