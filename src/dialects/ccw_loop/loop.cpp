// SPDX-License-Identifier: Apache-2.0
#include "dialects/ccw_loop/loop.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/text.h"
#include "dialects/timestamps.h"

namespace baton::ccw_loop {

namespace {

bool evidence_missing(const Value& hypothesis) {
  const Value& evidence = member(hypothesis, "evidence");
  return evidence.IsNull() || (evidence.IsArray() && evidence.Empty()) ||
         (evidence.IsObject() && evidence.ObjectEmpty());
}

void read_debugging(const Value& debug, Work& work) {
  work.debugged = timestamp(debug, "last_analysis_at");
  const auto hypotheses = items_in(debug, "hypotheses");
  if (const auto id = json::text(debug, "confirmed_hypothesis"))
    if (const Value* const hypothesis = item_of(hypotheses, *id))
      work.confirmed = json::text(*hypothesis, "status") == "confirmed";
  work.undecided = std::all_of(hypotheses.begin(), hypotheses.end(), [](const Value& hypothesis) {
    return json::text(hypothesis, "status") == "rejected" || evidence_missing(hypothesis);
  });
}

Work work_of(const Value& skill) {
  Work work;
  const Value& develop = member(skill, "develop");
  const auto tasks = items_in(develop, "tasks");
  work.total = tasks.Size();
  work.pending = count_status(tasks, "pending");
  work.in_progress = count_status(tasks, "in_progress");
  work.completed = count_status(tasks, "completed");
  work.developed = timestamp(develop, "last_progress_at");
  read_debugging(member(skill, "debug"), work);
  const Value& validate = member(skill, "validate");
  work.validated = timestamp(validate, "last_run_at");
  const bool failed = !items_in(validate, "failed_tests").Empty();
  work.passed = flag_of(validate, "passed") && !failed;
  work.no_tests = !failed && member(validate, "pass_rate").IsNull();
  return work;
}

/// The position of an option's word among the allowed ones; 0, the default, for any other word.
int choice(const Value& given, std::string_view name,
           std::initializer_list<std::string_view> words) {
  const auto* const found = std::find(words.begin(), words.end(), text_of(given, name));
  return found == words.end() ? 0 : static_cast<int>(found - words.begin());
}

/// `DEVELOP`, `develop` and `action-develop-with-file` mean the same (C-11).
std::optional<Action> parse_last_action(const std::string& text) {
  const std::string word = lower(text);
  std::string_view left = word;
  constexpr std::string_view kFront = "action-";
  constexpr std::string_view kBack = "-with-file";
  if (left.starts_with(kFront))
    left.remove_prefix(kFront.size());
  if (left.ends_with(kBack))
    left.remove_suffix(kBack.size());
  return parse_action(left);
}

}  // namespace

const Value* item_of(Value::ConstArray items, std::string_view id) {
  const auto* const found = std::find_if(
      items.begin(), items.end(), [&](const Value& item) { return json::text(item, "id") == id; });
  return found == items.end() ? nullptr : found;
}

std::int64_t count_status(Value::ConstArray items, std::string_view status) {
  return std::count_if(items.begin(), items.end(),
                       [&](const Value& item) { return json::text(item, "status") == status; });
}

bool Loop::broken() const {
  const std::string reason = text("failure_reason");
  return status == Status::failed && !reason.empty() && reason != kStoppedByUser;
}

std::string Loop::summary() const {
  std::string said = "iteration " + std::to_string(iteration) + " of " +
                     json::dump(member(*root, "max_iterations"));
  if (skill == nullptr)
    return said + ", no tasks yet";
  said += ", " + std::to_string(work.completed) + " of " + std::to_string(work.total) +
          " tasks done, validation " + (work.passed ? "passed" : "not passed");
  // A coverage of 0 means that it was not measured (C-21).
  const auto coverage = json::number(member(*skill, "validate"), "coverage").value_or(0);
  return said + ", coverage " +
         (coverage > 0 ? json::dump(member(member(*skill, "validate"), "coverage")) + " %"
                       : std::string("unknown"));
}

Loop loop_of(const Value& root) {
  Loop loop;
  loop.root = &root;
  loop.status = parse_status(json::text(root, "status").value_or("")).value_or(Status::created);
  loop.iteration = json::integer(root, "current_iteration").value_or(0);
  loop.max_iterations = json::number(root, "max_iterations").value_or(1);
  if (const Value& skill = member(root, "skill_state"); skill.IsObject()) {
    loop.skill = &skill;
    loop.work = work_of(skill);
    loop.last_action = parse_last_action(text_of(skill, "last_action"));
  }
  return loop;
}

Loop loop_of(const FlowState& docs) {
  for (const auto& [path, accepted] : docs) {
    if (accepted.kind != "state" || accepted.document == nullptr)
      continue;
    Loop loop = loop_of(accepted.document->root());
    loop.file = &accepted;
    loop.path = path;
    return loop;
  }
  return {};
}

std::string metadata_digest(const Value& root, std::string_view name) {
  return hex(digest_of(std::string(name) + "=" + json::dump(member(root, name))));
}

std::string skill_digest(const Value& root) {
  return hex(digest_of(json::dump(member(root, "skill_state"))));
}

Options options_of(const Json& given_options) {
  const Value& given = *given_options;
  Options options;
  if (const auto path = json::text(given, "path"); path && !path->empty())
    options.path = *path;
  while (options.path.size() > 1 && options.path.ends_with('/'))
    options.path.pop_back();
  options.granularity = Granularity{choice(given, "granularity", {"run", "action"})};
  if (const auto grace = parse_duration(json::text(given, "pause_grace").value_or("")))
    options.pause_grace = *grace;
  options.on_max_iterations =
      AtLimit{choice(given, "on_max_iterations", {"complete", "fail", "pause", "ignore"})};
  options.no_tests = NoTests{choice(given, "no_tests", {"pause", "pass", "fail"})};
  if (const auto most = count_of(given, "max_debug");
      most > 0 && std::in_range<std::uint32_t>(most))
    options.max_debug = static_cast<std::uint32_t>(most);
  options.tee_debug = flag_of(given, "tee_debug");
  options.interactive = json::text(given, "mode") == "interactive";
  return options;
}

}  // namespace baton::ccw_loop
