// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialects/fsm_loop/definition.h"
#include "dialects/fsm_loop/fsm_loop.h"
#include "dialects/fsm_loop/loop.h"
#include "dialects/fsm_loop/snapshot.h"

namespace baton::fsm_loop {

namespace {

constexpr std::array kArguments = {std::string_view("set"), std::string_view("input"),
                                   std::string_view("max_steps"),
                                   std::string_view("ignore_unsupported")};

tl::unexpected<Error> wrong(const std::string& message) {
  return fail(Errc::usage, message);
}

Result<void> check_arguments(const Value& arguments) {
  if (!arguments.IsObject())
    return {};
  for (const auto& member : arguments.GetObject()) {
    const std::string_view name = json::name(member.name);
    if (std::find(kArguments.begin(), kArguments.end(), name) == kArguments.end())
      return wrong("a loop is not started with `" + printable(name, 60) + "`");
  }
  if (const Value* const set = json::child(arguments, "set"); set != nullptr && !set->IsObject())
    return wrong("`set` is an object");
  if (json::child(arguments, "max_steps") != nullptr &&
      json::integer(arguments, "max_steps").value_or(0) < 1)
    return wrong("max_steps must be an integer of 1 or more");
  return {};
}

/// Why no run can start now. Empty if one can.
std::string why_no_start(Snapshot& snapshot) {
  const std::string name = printable(snapshot.view.flow.name, 80);
  if (!snapshot.memo.owned && other_program_holds_lock(snapshot))
    return "another running program holds " + snapshot.paths.lock();
  if (snapshot.state == nullptr || !snapshot.state->present)
    return {};
  if (snapshot.record().status == Status::running && !snapshot.owned() &&
      owner_of(snapshot) != Owner::dead)
    return "another program is running the loop " + name + "; `baton resume " + name +
           "` takes it over when that program has ended";
  if (snapshot.owned() && snapshot.record().status != Status::running && snapshot.live() != nullptr)
    return "the last action of the loop " + name +
           " is still being ended; try again in a few seconds";
  return {};
}

/// The complete definition. Errc::usage: there is none. Errc::schema: it cannot run.
Result<Json> definition_of(const Snapshot& snapshot, bool ignore_unsupported) {
  if (const std::string why = snapshot.definition_fault(); !why.empty())
    return fail(Errc::schema, "the definition is not valid: " + why);
  const std::string path = snapshot.definition();
  if (path.empty())
    return wrong("there is no loop " + printable(snapshot.view.flow.name, 80) + ": neither " +
                 snapshot.paths.folder() + "/" + printable(snapshot.view.flow.name, 80) +
                 ".fsm.yaml nor .yaml is there and valid; `baton validate` says more");
  Loaded loaded = snapshot.loaded(path, ignore_unsupported);
  if (!loaded.definition)
    return fail(Errc::schema, why_not(loaded));
  return std::move(*loaded.definition);
}

/// The first member of `wanted` that is missing or different in `there`. Empty if there is none.
std::string first_difference(const Json& there, const Json& wanted) {
  for (const auto& member : wanted->GetObject()) {
    const Value* const known = json::child(*there, json::name(member.name));
    if (known == nullptr || !json::equal(*known, member.value))
      return std::string(json::name(member.name));
  }
  return {};
}

Result<Json> context_of(const Loop& loop, const Value& arguments) {
  Json context = Json::object();
  if (const auto input = json::text(arguments, "input"))
    unpack_input(loop, *input, context);
  if (const Value* const set = json::child(arguments, "set"))
    context = merged(*context, *set);
  return complete_context(loop, std::move(context));
}

/// A loop that names its run folder nowhere gets none. A loop inside of it may name it.
bool uses_run_folder(const Loop& loop, const Value& definition) {
  return json::dump(definition).find("context.run_dir") != std::string::npos ||
         std::any_of(loop.states.begin(), loop.states.end(),
                     [](const LoopState& state) { return !state.loop.empty(); });
}

}  // namespace

Result<std::vector<Update>> create(const Request& request, const View& view) {
  if (request.verb != "start")
    return wrong("start a loop with `baton start " + printable(view.flow.name, 80) + "`");
  if (auto fine = check_arguments(*request.arguments); !fine)
    return pass_on(fine);
  Snapshot snapshot(view);
  if (const std::string why = why_no_start(snapshot); !why.empty())
    return wrong(why);
  const bool runs =
      snapshot.owned() && snapshot.state->present && snapshot.record().status == Status::running;
  // A second start without values changes nothing.
  if (runs && json::child(*request.arguments, "set") == nullptr &&
      json::child(*request.arguments, "input") == nullptr)
    return std::vector<Update>{};
  const bool ignore_unsupported =
      json::boolean(*request.arguments, "ignore_unsupported").value_or(false);
  auto definition = definition_of(snapshot, ignore_unsupported);
  if (!definition)
    return pass_on(definition);
  Loop loop = loop_of(**definition);
  loop.max_steps = json::integer(*request.arguments, "max_steps").value_or(loop.max_steps);
  auto context = context_of(loop, *request.arguments);
  if (!context)
    return pass_on(context);
  if (runs) {
    if (const std::string other = first_difference(snapshot.record().context, *context);
        !other.empty())
      return wrong("the loop " + printable(view.flow.name, 80) +
                   " is running already, with another `" + printable(other, 60) +
                   "`; `baton stop " + text(view.flow) + "` ends it");
    return std::vector<Update>{};
  }
  const std::string started_at = stamp(view.wall);
  const std::string folder = snapshot.paths.run_folder(started_at);
  const bool own_folder = json::child(*loop.context, "run_dir") == nullptr &&
                          json::child(**context, "run_dir") == nullptr;
  if (auto added = add_run_values(loop, view.env.root + "/" + folder, *context); !added)
    return pass_on(added);
  Record record;
  record.loop_name = loop.name;
  record.current_state = loop.initial;
  record.started_at = started_at;
  record.context = std::move(*context);
  record.start = request.id;
  if (const auto steps = json::integer(*request.arguments, "max_steps"))
    record.max_steps = *steps;
  record.ignore_unsupported = ignore_unsupported;
  std::vector<Update> updates;
  const std::string why = "a run was requested";
  const bool before = snapshot.state != nullptr && snapshot.state->present;
  if (before) {
    record.archived =
        snapshot.paths.archive(snapshot.record().started_at, snapshot.record().archived);
    updates.emplace_back(Create{record.archived + "/state.json", snapshot.state->document->text(),
                                "the run before is kept"});
    updates.emplace_back(Move{snapshot.paths.events(), Digest{}, record.archived + "/events.jsonl",
                              "the run before is kept"});
    updates.emplace_back(Move{snapshot.paths.events() + ".1", Digest{},
                              record.archived + "/events.jsonl.1", "the run before is kept"});
  }
  if (own_folder && uses_run_folder(loop, **definition))
    updates.emplace_back(Create{folder + ".keep", "", "a folder for the files of the run"});
  Json state = json_of(record, nullptr);
  state.set("updated_at", stamp(view.wall));
  if (before)
    updates.emplace_back(
        Replace{snapshot.paths.state(), snapshot.state->document->digest(), state.pretty(), why});
  else
    updates.emplace_back(Create{snapshot.paths.state(), state.pretty(), why});
  return updates;
}

}  // namespace baton::fsm_loop
