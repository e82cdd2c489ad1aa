#include "dialects/ml_workflow/snapshot.h"

#include <algorithm>
#include <array>

#include "dialects/findings.h"

namespace baton::ml_workflow {
namespace {

constexpr std::string_view kStepDigits = "1234567";

/// Which half an entry is that does not say so: the one its round has not got yet.
void tell_halves_apart(std::vector<Entry>& entries) {
  bool first = false;
  for (Entry& entry : entries) {
    if (!code_validation(entry.step)) {
      first = false;
      continue;
    }
    if (entry.half == Half::whole)
      entry.half = first ? Half::b : Half::a;
    if (entry.completed())
      first = entry.half == Half::a;
  }
}

std::int64_t positive(const Value& options, std::string_view name, std::int64_t otherwise) {
  const auto number = json::integer(options, name);
  return number && *number > 0 ? *number : otherwise;
}

}  // namespace

Options options_of(const Json& given_options) {
  const Value& given = *given_options;
  Options options;
  options.parallel = json::text(given, "validators") == "parallel";
  options.plan_attempts = positive(given, "plan_attempts", options.plan_attempts);
  options.code_attempts = positive(given, "code_attempts", options.code_attempts);
  options.max_steps = positive(given, "max_steps", options.max_steps);
  if (const auto folder = json::text(given, "templates"); folder && !folder->empty())
    options.templates = *folder;
  const auto duration = [&](std::string_view name, std::string_view otherwise) {
    const auto time = parse_duration(json::text(given, name).value_or(otherwise));
    return time.value_or(Millis(0));
  };
  options.reminders = duration("reminders", "24h");
  options.approval_patience = duration("approval_patience", "0s");
  return options;
}

bool required(const Json& options, std::string_view approval) {
  const Value* const wanted = json::child(*options, "approvals");
  return wanted != nullptr ? lists(wanted, approval) : approval != "code";
}

Memo memo_of(const Json& json) {
  Memo memo;
  const Value& value = *json;
  memo.fresh = !value.IsObject();
  memo.decisions = json::integer(value, "decisions").value_or(0);
  memo.escalated = json::text(value, "escalated").value_or("");
  memo.escalations = json::integer(value, "escalations").value_or(0);
  memo.paused_ms = json::integer(value, "paused_ms").value_or(0);
  if (const Value* const asked = json::child(value, "asked"))
    memo.asked = Asked{std::string(json::text(*asked, "approval").value_or("")),
                       json::integer(*asked, "entry").value_or(-1),
                       json::integer(*asked, "since_ms").value_or(0)};
  memo.answer = json::text(value, "answer").value_or("");
  if (const Value* const judged = json::child(value, "judged"))
    for (const std::string_view approval : kApprovals)
      if (const Value* const one = json::child(*judged, approval))
        memo.judged[std::string(approval)] = Judged{json::integer(*one, "entry").value_or(-1),
                                                    json::integer(*one, "from").value_or(0),
                                                    json::boolean(*one, "flag").value_or(false)};
  if (const Value* const base = json::child(value, "base"); base != nullptr && base->IsObject())
    for (const auto& member : base->GetObject())
      memo.base[member.name.GetString()] = json::integer(member.value).value_or(0);
  for (const Value* const id : list_at(value, "/heard"))
    memo.heard.emplace_back(json::text(*id).value_or(""));
  memo.backups = json::integer(value, "backups").value_or(0);
  memo.backup_ms = json::integer(value, "backup_ms").value_or(0);
  for (const Value* const step : list_at(value, "/folders"))
    memo.folders.insert(json::integer(*step).value_or(0));
  for (const Value* const run : list_at(value, "/over"))
    memo.over.emplace(json::text(*run).value_or(""));
  for (const Value* const run : list_at(value, "/gave_up"))
    memo.gave_up.emplace(json::text(*run).value_or(""));
  if (const Value* const refused = json::child(value, "refused");
      refused != nullptr && refused->IsObject())
    for (const auto& member : refused->GetObject())
      memo.refused[member.name.GetString()] = json::text(member.value).value_or("");
  return memo;
}

Json json_of(const Memo& memo) {
  Json judged = Json::object();
  for (const auto& [approval, one] : memo.judged)
    judged.set(approval, Json::object({{"entry", Json(one.entry)},
                                       {"from", Json(one.from)},
                                       {"flag", Json(one.flag)}}));
  Json base = Json::object();
  for (const auto& [what, number] : memo.base)
    base.set(what, Json(number));
  Json folders = Json::array();
  for (const std::int64_t step : memo.folders)
    folders.push(Json(step));
  Json over = Json::array();
  for (const RunId& run : memo.over)
    over.push(run);
  Json gave_up = Json::array();
  for (const RunId& run : memo.gave_up)
    gave_up.push(run);
  Json refused = Json::object();
  for (const auto& [pointer, digest] : memo.refused)
    refused.set(pointer, digest);
  Json heard = Json::array();
  for (const std::string& id : memo.heard)
    heard.push(id);
  return Json::object({{"decisions", Json(memo.decisions)},
                       {"judged", judged},
                       {"base", base},
                       {"escalated", memo.escalated},
                       {"escalations", Json(memo.escalations)},
                       {"paused_ms", Json(memo.paused_ms)},
                       {"asked", Json::object({{"approval", memo.asked.approval},
                                               {"entry", Json(memo.asked.entry)},
                                               {"since_ms", Json(memo.asked.since_ms)}})},
                       {"answer", memo.answer},
                       {"heard", heard},
                       {"backups", Json(memo.backups)},
                       {"backup_ms", Json(memo.backup_ms)},
                       {"folders", folders},
                       {"over", over},
                       {"gave_up", gave_up},
                       {"refused", refused}});
}

Subject subject_of(const Work& work) {
  return std::to_string(work.step) + (work.half == Half::a ? "a" : work.half == Half::b ? "b" : "");
}

Subject subject_of(const Entry& entry) {
  return subject_of(Work{entry.step, entry.half});
}

std::optional<Work> parse_work(std::string_view subject) {
  if (subject.empty() || kStepDigits.find(subject[0]) == std::string_view::npos)
    return std::nullopt;
  Work work{subject[0] - '0', Half::whole};
  if (subject.size() == 2 && code_validation(work.step))
    work.half = subject[1] == 'a' ? Half::a : Half::b;
  return subject_of(work) == subject ? std::optional(work) : std::nullopt;
}

std::optional<Scene> Scene::of(const View& view) {
  const auto found = std::find_if(view.docs.begin(), view.docs.end(),
                                  [](const auto& row) { return row.second.kind == "state"; });
  if (found == view.docs.end())
    return std::nullopt;
  const Value& root = found->second.document->root();
  const auto status = parse_status(json::text(root, "status").value_or(""));
  if (!status)
    return std::nullopt;
  Scene scene{
      view,    found->second, root, found->first, options_of(view.options), memo_of(view.memo),
      *status, history(root)};
  tell_halves_apart(scene.entries);
  return scene;
}

const Entry* Scene::newest(const Subject& subject) const {
  const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                  [&](const Entry& entry) { return subject_of(entry) == subject; });
  return found == entries.rend() ? nullptr : &*found;
}

std::size_t Scene::count(const Subject& subject) const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const Entry& entry) { return subject_of(entry) == subject; }));
}

std::uint64_t Scene::generation(const Subject& subject) const {
  const auto found = view.stages.find(subject);
  return found == view.stages.end() || found->second.stage.empty() ? 0 : found->second.generation;
}

const Run* Scene::live(const Subject& subject) const {
  for (const Run& run : view.runs)
    if (run.live() && run.key.subject == subject && run.key.generation == generation(subject))
      return &run;
  return nullptr;
}

bool Scene::plan_phase() const {
  return json::text(root, "current_phase") != "phase_2";
}

std::string Scene::now() const {
  return iso_time(view.wall);
}

std::int64_t recovery_attempts(const Entry& entry) {
  const Value* const error = json::child(*entry.value, "error_info");
  return error == nullptr ? 0 : json::integer(*error, "recovery_attempts").value_or(0);
}

std::vector<const Value*> list_at(const Value& root, std::string_view pointer) {
  std::vector<const Value*> items;
  const Value* const list = json::at(root, pointer);
  if (list != nullptr && list->IsArray())
    for (const Value& item : list->GetArray())
      items.push_back(&item);
  return items;
}

}  // namespace baton::ml_workflow
