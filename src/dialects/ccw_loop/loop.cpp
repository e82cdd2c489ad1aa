#include "dialects/ccw_loop/loop.h"

#include <algorithm>
#include <limits>

#include "base/digest.h"
#include "dialects/timestamps.h"

namespace baton::ccw_loop {

namespace {

const Value& none() {
  static const Value value;
  return value;
}

bool evidence_missing(const Value& hypothesis) {
  const Value& evidence = member(hypothesis, "evidence");
  return evidence.IsNull() || (evidence.IsArray() && evidence.Empty()) ||
         (evidence.IsObject() && evidence.ObjectEmpty());
}

void read_debugging(const Value& debug, Work& work) {
  work.debugged = timestamp(debug, "last_analysis_at");
  const Value& hypotheses = list(debug, "hypotheses");
  if (const auto id = json::text(debug, "confirmed_hypothesis"))
    if (const Value* const hypothesis = item_of(hypotheses, *id))
      work.confirmed = json::text(*hypothesis, "status") == "confirmed";
  work.undecided = std::all_of(hypotheses.Begin(), hypotheses.End(), [](const Value& hypothesis) {
    return json::text(hypothesis, "status") == "rejected" || evidence_missing(hypothesis);
  });
}

Work work_of(const Value& skill) {
  Work work;
  const Value& develop = member(skill, "develop");
  const Value& tasks = list(develop, "tasks");
  work.total = tasks.Size();
  work.pending = count(tasks, "status", "pending");
  work.in_progress = count(tasks, "status", "in_progress");
  work.completed = count(tasks, "status", "completed");
  work.developed = timestamp(develop, "last_progress_at");
  read_debugging(member(skill, "debug"), work);
  const Value& validate = member(skill, "validate");
  work.validated = timestamp(validate, "last_run_at");
  const bool failed = !list(validate, "failed_tests").Empty();
  work.passed = json::boolean(validate, "passed").value_or(false) && !failed;
  work.no_tests = !failed && member(validate, "pass_rate").IsNull();
  return work;
}

/// `DEVELOP`, `develop` and `action-develop-with-file` mean the same (C-11).
std::optional<Action> parse_last_action(const std::string& text) {
  const std::string word = lower_case(text);
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

const Value& member(const Value& object, std::string_view name) {
  const Value* const found = json::child(object, name);
  return found == nullptr ? none() : *found;
}

const Value& list(const Value& object, std::string_view name) {
  static const Value empty(rapidjson::kArrayType);
  const Value& found = member(object, name);
  return found.IsArray() ? found : empty;
}

const Value* item_of(const Value& items, std::string_view id) {
  const auto* const found = std::find_if(
      items.Begin(), items.End(), [&](const Value& item) { return json::text(item, "id") == id; });
  return found == items.End() ? nullptr : found;
}

std::int64_t count(const Value& items, std::string_view member, std::string_view word) {
  return std::count_if(items.Begin(), items.End(),
                       [&](const Value& item) { return json::text(item, member) == word; });
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
  if (json::text(given, "granularity") == "action")
    options.granularity = Granularity::action;
  if (const auto grace = parse_duration(json::text(given, "pause_grace").value_or("")))
    options.pause_grace = *grace;
  const auto limit = json::text(given, "on_max_iterations").value_or("complete");
  options.on_max_iterations = limit == "fail"     ? AtLimit::fail
                              : limit == "pause"  ? AtLimit::pause
                              : limit == "ignore" ? AtLimit::ignore
                                                  : AtLimit::complete;
  const auto no_tests = json::text(given, "no_tests").value_or("pause");
  options.no_tests = no_tests == "pass"   ? NoTests::pass
                     : no_tests == "fail" ? NoTests::fail
                                          : NoTests::pause;
  if (const auto most = json::integer(given, "max_debug");
      most && *most > 0 && *most <= std::numeric_limits<std::uint32_t>::max())
    options.max_debug = static_cast<std::uint32_t>(*most);
  options.tee_debug = json::boolean(given, "tee_debug").value_or(false);
  options.interactive = json::text(given, "mode") == "interactive";
  return options;
}

}  // namespace baton::ccw_loop
