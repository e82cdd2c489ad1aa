// SPDX-License-Identifier: Apache-2.0
#include "dialects/agent_run/snapshot.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialects/agent_run/agent_run.h"
#include "dialects/agent_run/conditions.h"
#include "dialects/agent_run/variables.h"
#include "dialects/memo_fields.h"
#include "dialects/tables.h"

namespace baton::agent_run {

template <class Visit>
void fields(StepMemo& step, Visit visit) {
  visit("run", step.run);
  visit("label", step.label);
  visit("labels", step.labels);
  visit("failed_ms", step.failed_ms);
  visit("gate", step.gate);
  visit("gate_ms", step.gate_ms);
  visit("reason", step.reason);
  visit("early", step.early);
  visit("report_ms", step.report_ms);
  visit("ended_ms", step.ended_ms);
  visit("cancelled", step.cancelled);
}

template <class Visit>
void fields(Memo& memo, Visit visit) {
  visit("driven", memo.driven);
  visit("steps", memo.steps);
  visit("heard", memo.answered);
  visit("cost_day", memo.cost_day);
  visit("cost_usd", memo.cost_usd);
}

Memo memo_of(const Json& json) {
  Memo memo;
  read_memo(*json, memo);
  return memo;
}

Json json_of(Memo memo) {
  std::erase_if(memo.steps, [](const auto& row) { return row.second == StepMemo{}; });
  return write_memo(memo);
}

namespace {

std::optional<std::string> below_root(const Snapshot& snapshot, const std::string& path) {
  const std::string& root = snapshot.view.env.root;
  if (!within(path, root) || path.size() <= root.size())
    return std::nullopt;
  return path.substr(root.size() + 1);
}

bool in_use(const StepMemo& memo, const std::string& label) {
  return std::find(memo.labels.begin(), memo.labels.end(), label) != memo.labels.end();
}

std::string first_label(const StepRecord& record) {
  return "i" + std::to_string(record.iterations) + "a" + std::to_string(record.attempts);
}

struct CostRow {
  std::string_view word;
  OnCost action;
};
constexpr std::array kCost = {CostRow{"warn", OnCost::warn}, CostRow{"pause", OnCost::pause},
                              CostRow{"fail", OnCost::fail}};

/// Reads the dialect's options, which apply to all runs.
void read_configured(const Value& options, Settings& settings) {
  settings.drain = json::text(options, "on_failure") == "drain";
  settings.strict_reports = json::boolean(options, "strict_reports").value_or(false);
  if (json::boolean(options, "accept_early").value_or(false))
    settings.accept_early = Millis(0);
  else if (const auto after = json::text(options, "accept_early"))
    settings.accept_early = parse_duration(*after);
  settings.daily_cost_limit = json::number(options, "daily_cost_limit");
  if (const CostRow* const row =
          row_of(kCost, json::text(options, "cost_limit_action").value_or("")))
    settings.on_cost = row->action;
}

}  // namespace

Snapshot::Snapshot(const View& given) : view(given), paths(given), memo(memo_of(given.memo)) {
  state = document(paths.state());
  settings = settings_of(*view.options, state == nullptr ? nullptr : &state->document->root());
  if (state == nullptr)
    return;
  // If baton wrote the run state, it drives the run. This is how a new run begins.
  memo.driven = memo.driven || state->writer == "baton";
  run = run_record(state->document->root());
  if (const Accepted* const pinned = document(paths.workflow())) {
    workflow.emplace(pinned->document->root());
    for (const Step& step : workflow->steps())
      run.steps.try_emplace(step.id);
    add_items();
  }
}

void Snapshot::add_items() {
  std::vector<std::pair<std::string, std::size_t>> loops;
  for (const Step& step : workflow->steps())
    if (const StepRecord& own = record(step.id);
        is_parallel(step) && own.loop_items->IsArray() && !own.loop_completed &&
        (own.status == Status::running || own.status == Status::failed))
      loops.emplace_back(step.id, item_count(step, own));
  for (const auto& [id, count] : loops)
    workflow->add_items(id, count);
  for (const Step& step : workflow->steps())
    run.steps.try_emplace(step.id);
}

const Accepted* Snapshot::document(const std::string& path) const {
  const auto found = view.docs.find(path);
  return found == view.docs.end() ? nullptr : &found->second;
}

const StepMemo& Snapshot::step_memo(std::string_view id) const {
  static const StepMemo none;
  const auto found = memo.steps.find(id);
  return found == memo.steps.end() ? none : found->second;
}

const Run* Snapshot::live(std::string_view id) const {
  const auto found = std::find_if(view.runs.begin(), view.runs.end(), [&](const Run& each) {
    return each.live() && each.key.subject == id;
  });
  return found == view.runs.end() ? nullptr : &*found;
}

const Run* Snapshot::find(const RunId& id) const {
  const auto found = id.empty() ? view.runs.end()
                                : std::find_if(view.runs.begin(), view.runs.end(),
                                               [&](const Run& each) { return each.id == id; });
  return found == view.runs.end() ? nullptr : &*found;
}

std::optional<Standing> Snapshot::trouble() const {
  const std::string recover = command("recover", view.flow) + " --write";
  if (!state->present)
    return Standing{cause_of(Situation::state_gone), paths.state() + " is missing", recover, {}};
  if (!state->rejected.empty())
    return Standing{cause_of(Situation::state_rejected),
                    "the run state is not valid: " + first_error(paths.state(), state->rejected),
                    recover,
                    {}};
  if (!workflow)
    return Standing{cause_of(Situation::workflow_gone),
                    paths.workflow() + " is missing, the run's copy of its workflow",
                    "put the workflow file back as " + paths.workflow() +
                        ", then `baton validate " + shell_word(paths.workflow()) + "`",
                    {}};
  return std::nullopt;
}

bool Snapshot::done(const std::string& id) const {
  return record(id).done() && step_memo(id).gate.empty();
}

bool Snapshot::needs_done(const Step& step) const {
  return std::all_of(step.needs.begin(), step.needs.end(),
                     [&](const std::string& id) { return done(id); });
}

bool Snapshot::any_failed() const {
  return std::any_of(run.steps.begin(), run.steps.end(),
                     [](const auto& row) { return row.second.status == Status::failed; });
}

bool Snapshot::all_done() const {
  const auto& steps = workflow->steps();
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) { return done(step.id); });
}

std::int64_t Snapshot::max_attempts(const Step& step) const {
  return json::integer(*step.body, "max_attempts").value_or(settings.max_attempts);
}

Role role_of(const Step& step) {
  return Role(json::text(*step.body, "agent").value_or(""));
}

bool needs_person(const Step& step) {
  // A person decides about all items together.
  if (!step.of.empty())
    return false;
  const Value* const human = json::child(*step.body, "human_in_the_loop");
  if (human == nullptr || human->IsNull())
    return false;
  if (const auto flag = json::boolean(*human))
    return *flag;
  const std::string word = json::text(*human) ? upper(*json::text(*human)) : json::dump(*human);
  return word == "YES" || word == "ON" || word == "TRUE" || word == "1";
}

std::vector<std::string> gates(const Step& step) {
  const Value* const list = json::child(*step.body, "gates");
  std::vector<std::string> all;
  if (list == nullptr || !list->IsArray())
    return texts_of(list);
  for (const Value& gate : items_in(list))
    all.push_back(gate.IsObject() ? gate_text(gate) : std::string(json::text(gate).value_or("")));
  return all;
}

std::optional<std::string> gate_file(const Snapshot& snapshot) {
  const std::string& given = snapshot.settings.gate_state_file;
  return given.empty() ? std::optional(snapshot.paths.gates()) : below_root(snapshot, given);
}

std::string gate_fault(const Snapshot& snapshot) {
  const auto path = gate_file(snapshot);
  const Accepted* const file = path ? snapshot.document(*path) : nullptr;
  if (path && snapshot.view.rejected.contains(*path))
    return "the file is not valid: " + first_error(*path, snapshot.view.rejected.at(*path));
  if (file == nullptr)
    return snapshot.settings.gate_state_file.empty() ? "" : "the file is missing or not JSON";
  if (!file->present)
    return "the file is missing";
  // No schema has checked a gate state outside the folder of the run.
  const Value& gates = file->document->root();
  if (!gates.IsObject())
    return "the file is not a JSON object of gates";
  for (const Finding& finding : check_gate_state(gates))
    if (finding.severity == Severity::error)
      return finding.message;
  return {};
}

bool gate_open(const Snapshot& snapshot, const std::string& gate) {
  if (!gate_fault(snapshot).empty())
    return false;
  const auto path = gate_file(snapshot);
  const Accepted* const file = path ? snapshot.document(*path) : nullptr;
  if (file == nullptr)
    return true;
  const Value& open = file->document->root();
  if (json::boolean(open, gate) == true)
    return true;
  const auto colon = gate.find(": ");
  if (colon == std::string::npos)
    return false;
  const std::string key = gate.substr(0, colon);
  const std::string value = gate.substr(colon + 2);
  return json::text(open, key) == value || (value == "passed" && json::boolean(open, key) == true);
}

const Value* loop_of(const Step& step) {
  const Value* const loop = json::child(*step.body, "loop");
  return step.of.empty() && loop != nullptr && loop->IsObject() ? loop : nullptr;
}

std::size_t parallel(const Step& step) {
  const Value* const loop = loop_of(step);
  const auto most = loop == nullptr ? std::nullopt : json::integer(*loop, "parallel");
  return most && *most > 1 ? static_cast<std::size_t>(*most) : 1;
}

bool is_parallel(const Step& step) {
  return parallel(step) > 1;
}

std::size_t item_count(const Step& step, const StepRecord& record) {
  const auto count = std::int64_t{record.loop_items->Size()};
  const std::int64_t most = json::integer(*loop_of(step), "max_iterations").value_or(count);
  return std::min(static_cast<std::size_t>(std::min(count, most)), kMostParallelItems);
}

std::vector<const Step*> items_of(const Snapshot& snapshot, const Step& step) {
  std::vector<const Step*> items;
  for (const Step& each : snapshot.workflow->steps())
    if (!each.of.empty() && each.of == step.id)
      items.push_back(&each);
  return items;
}

std::vector<std::string> item_files(const Snapshot& snapshot, const Step& step) {
  const Value* const loop = loop_of(step);
  std::string file;
  if (const auto from = json::text(*loop, "items_from_artifact")) {
    file = *from;
  } else if (const auto producer = json::text(*loop, "items_from_step")) {
    const auto found = snapshot.run.steps.find(*producer);
    const auto made = found == snapshot.run.steps.end() ? std::vector<std::string>()
                                                        : texts_of(&*found->second.artifacts);
    file = made.empty() ? "" : made.front();
  }
  file = snapshot.paths.relative(file);
  if (file.empty() || leaves_folder(file))
    return {};
  while (file.starts_with("./"))
    file.erase(0, 2);
  return {snapshot.paths.in_repository(file), snapshot.paths.artifacts() + "/" + file};
}

bool wants_items(const Snapshot& snapshot, const Step& step) {
  const StepRecord& record = snapshot.record(step.id);
  return loop_of(step) != nullptr && record.loop_items.is_null() &&
         record.status == Status::pending && snapshot.needs_done(step);
}

std::optional<std::string> workflow_source(const Snapshot& snapshot) {
  return below_root(snapshot, snapshot.settings.workflow_path);
}

std::string next_label(const StepRecord& record, const StepMemo& memo) {
  const std::string label = first_label(record);
  return in_use(memo, label) ? label + "x" + std::to_string(record.executions) : label;
}

std::string decision_label(const Snapshot& snapshot, const std::string& id) {
  const std::string& label = snapshot.step_memo(id).label;
  return label.empty() ? "taken_over" : label;
}

std::string next_log(const StepRecord& record, const StepMemo& memo) {
  const std::string name =
      "i" + std::to_string(record.iterations) + "__attempt" + std::to_string(record.attempts);
  return in_use(memo, first_label(record)) ? name + "__x" + std::to_string(record.executions)
                                           : name;
}

Word summary(const RunRecord& run) {
  const auto any = [&](Status status) {
    return std::any_of(run.steps.begin(), run.steps.end(),
                       [&](const auto& row) { return row.second.status == status; });
  };
  if (any(Status::failed))
    return Word(word(RunStatus::failed));
  if (any(Status::running))
    return Word(word(RunStatus::running));
  if (any(Status::waiting_on_human))
    return Word(word(RunStatus::waiting));
  return Word(word(any(Status::pending) ? RunStatus::running : RunStatus::completed));
}

Stages stages(const View& view) {
  const Snapshot snapshot(view);
  Stages stages;
  if (snapshot.state == nullptr)
    return stages;
  for (const auto& [id, step] : snapshot.run.steps) {
    const std::int64_t starts = step.executions + (step.status == Status::pending ? 1 : 0);
    // `work#N` is only for runs that baton drives.
    const bool work = step.status == Status::pending || step.status == Status::running ||
                      step.status == Status::failed;
    stages[id] = work && snapshot.memo.driven ? "work#" + std::to_string(starts)
                                              : std::string(step.row().stage);
  }
  return stages;
}

Settings settings_of(const Value& options, const Value* state) {
  Settings settings;
  read_configured(options, settings);
  const Value* const own = state == nullptr ? nullptr : json::child(*state, "options");
  if (own == nullptr || !own->IsObject())
    return settings;
  settings.max_attempts = json::integer(*own, "max_attempts").value_or(settings.max_attempts);
  settings.max_iterations = json::integer(*own, "max_iterations").value_or(settings.max_iterations);
  settings.pause_for_human_input = json::boolean(*own, "pause_for_human_input").value_or(false);
  settings.workflow_path = text_of(*own, "workflow_path");
  settings.gate_state_file = text_of(*own, "gate_state_file");
  settings.logs_dir = text_of(*own, "logs_dir");
  // Agents can write the run state, so it is no better than `--set`.
  for (const auto& member : members_in(*own, "set"))
    if (is_variable(json::name(member.name)) && !steers_programs(json::name(member.name)))
      settings.set.emplace(json::name(member.name), json::text(member.value).value_or(""));
  return settings;
}

}  // namespace baton::agent_run
