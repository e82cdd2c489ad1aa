#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "dialects/agent_run/check.h"
#include "dialects/agent_run/text.h"
#include "dialects/agent_run/words.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

class RunStateCheck {
 public:
  RunStateCheck(const Value& root, const Place& place) : root_(root), place_(place) {}

  Findings run() {
    const auto run = json::text(root_, "run_id").value_or("");
    if (!place_.run.empty() && run != place_.run)
      findings_.warning(
          "S26", "/run_id",
          "run_id is " + quoted_word(run) + ", but the folder is " + quoted_word(place_.run),
          {.found = std::string(run), .expected = place_.run});
    path(root_, "", "reports_dir");
    path(root_, "", "manual_inputs_dir");
    before(root_, "", "created_at", "updated_at");
    const Value* const steps = json::child(root_, "steps");
    for (const auto& member : steps->GetObject())
      ids_.emplace(json::name(member.name));
    for (const auto& member : steps->GetObject())
      step(std::string(json::name(member.name)), member.value);
    return findings_.take();
  }

 private:
  void step(const std::string& id, const Value& step) {
    const std::string pointer = member_pointer("/steps", id);
    if (const std::string fault = id_fault(id); !fault.empty())
      findings_.error(
          "S3", pointer, "the id " + quoted_word(id) + " cannot become a file's name: " + fault,
          {.found = id, .expected = "letters, digits, _ . - and blanks, at most 100 bytes"});
    began(id, step, pointer);
    waiting(id, step, pointer);
    items(id, step, pointer);
    path(step, pointer, "report_path");
    path(step, pointer, "manual_input_path");
    before(step, pointer, "started_at", "ended_at");
  }

  /// What has been started has a start. Items are counted by the loop: a step with items ends
  /// with the counters of a step that never began. So does one that the cost limit kept from it.
  void began(const std::string& id, const Value& step, const std::string& pointer) {
    const auto status = json::text(step, "status").value_or("");
    const StatusRow* const row = row_of(kStatus, status);
    const Value* const items = json::child(step, "loop_items");
    const bool looped =
        json::boolean(step, "loop_completed") == true || (items != nullptr && items->IsArray());
    const bool unpaid = row != nullptr && row->status == Status::failed &&
                        json::text(step, "last_error_code").value_or("") == "cost_limit";
    if (row == nullptr || !row->began || unpaid || (row->status == Status::completed && looped))
      return;
    const auto attempts = json::integer(step, "attempts").value_or(0);
    if (attempts < 1)
      findings_.error(
          "S20", pointer + "/attempts",
          "the step " + quoted_word(id) + " is " + std::string(status) + ", but was never started",
          {.found = std::to_string(attempts), .expected = "at least 1"});
    if (!json::text(step, "started_at"))
      findings_.error(
          "S20", present(step, pointer, "started_at"),
          "the step " + quoted_word(id) + " is " + std::string(status) + ", but has no started_at",
          {.found = "null", .expected = "date and time"});
  }

  static std::string present(const Value& step, const std::string& pointer, std::string_view key) {
    return json::child(step, key) == nullptr ? pointer : member_pointer(pointer, key);
  }

  void waiting(const std::string& id, const Value& step, const std::string& pointer) {
    if (json::text(step, "status") == "WAITING_ON_HUMAN" && !json::text(step, "manual_input_path"))
      findings_.error(
          "S21", present(step, pointer, "manual_input_path"),
          "the step " + quoted_word(id) + " waits for a person, but nobody can tell where",
          {.found = "null", .expected = "the path of the manual input"});
    const auto blocker = json::text(step, "blocked_by_loop");
    if (!blocker || ids_.contains(*blocker))
      return;
    const std::vector<std::string_view> ids(ids_.begin(), ids_.end());
    findings_.error(
        "S22", pointer + "/blocked_by_loop",
        "blocked_by_loop names the step " + quoted_word(*blocker) + ", which does not exist",
        {.found = std::string(*blocker),
         .expected = any_of_words(ids),
         .suggestion = near_word(*blocker, ids)});
  }

  void items(const std::string& id, const Value& step, const std::string& pointer) {
    const auto index = json::integer(step, "loop_index");
    const Value* const items = json::child(step, "loop_items");
    if (index && items != nullptr && items->IsArray() && *index > std::int64_t{items->Size()})
      findings_.error("S24", pointer + "/loop_index",
                      "the step " + quoted_word(id) + " is at item " + std::to_string(*index) +
                          " of " + std::to_string(items->Size()),
                      {.found = std::to_string(*index),
                       .expected = "at most " + std::to_string(items->Size())});
  }

  /// baton reads and writes there, so it has to be a place of the run.
  void path(const Value& object, const std::string& pointer, std::string_view key) {
    const auto path = json::text(object, key);
    // A repository may be named with a slash at the end.
    const std::string repository(json::text(root_, "repo_dir").value_or(""));
    const std::string folder = tidied(repository + "/.agents");
    // Options may have the runs elsewhere, in no `.agents` at all.
    const std::string runs = place_.runs.empty() ? folder : tidied(repository + "/" + place_.runs);
    if (path && !within(*path, folder) && !within(*path, runs))
      findings_.error("S23", member_pointer(pointer, key),
                      std::string(key) + " is outside of the repository's .agents",
                      {.found = std::string(*path), .expected = "a path below " + folder});
  }

  void before(const Value& object, const std::string& pointer, std::string_view first,
              std::string_view second) {
    const auto one = json::text(object, first);
    const auto other = json::text(object, second);
    const auto start = one ? parse_time(*one) : std::nullopt;
    const auto end = other ? parse_time(*other) : std::nullopt;
    // Agents write whole seconds; an end within the second of the start is none before it.
    using std::chrono::floor;
    using std::chrono::seconds;
    if (start && end && floor<seconds>(*end) < floor<seconds>(*start))
      findings_.warning(
          "S25", member_pointer(pointer, second),
          std::string(second) + " is before " + std::string(first),
          {.found = std::string(*other), .expected = "not before " + std::string(*one)});
  }

  const Value& root_;
  const Place& place_;
  std::set<std::string_view> ids_;
  FindingList findings_{"agent_run"};
};

}  // namespace

Findings check_run_state(const Value& root, const Place& place) {
  return RunStateCheck(root, place).run();
}

}  // namespace baton::agent_run
