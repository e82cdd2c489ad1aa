// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/gzip.h"
#include "base/json/json.h"
#include "engine/configured_parts.h"
#include "engine/decide/status.h"
#include "remembered.h"
#include "world.h"

namespace baton::testing {
namespace {

constexpr std::size_t kMostUnpacked = 1U << 20U;

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string text_of(const Value& from, std::string_view name) {
  return std::string(json::text(from, name).value_or(""));
}

/// A scenario names flows without their dialect; "" and "root" are the root.
FlowId flow_of(const Value& from, const std::string& dialect) {
  const std::string name = text_of(from, "flow");
  return name.empty() ? FlowId{} : FlowId{dialect, name};
}

/// What was got fits what is expected: every member that is named is equal; `why` and `message`
/// are parts of the text.
bool fits(const Value& expected, const Value& got) {
  if (!expected.IsObject())
    return json::equal(expected, got);
  if (!got.IsObject())
    return false;
  for (const auto& member : expected.GetObject()) {
    const std::string name = member.name.GetString();
    const Value* const value = json::child(got, name);
    if (value == nullptr && member.value.IsNull())
      continue;
    if (value == nullptr)
      return false;
    if (name == "why" || name == "do" || name == "message") {
      if (json::text(*value).value_or("").find(json::text(member.value).value_or("")) ==
          std::string_view::npos)
        return false;
    } else if (!fits(member.value, *value)) {
      return false;
    }
  }
  return true;
}

std::string lines_of(const std::vector<Json>& items) {
  if (items.empty())
    return "nothing";
  std::string text;
  for (const Json& item : items)
    text += (text.empty() ? "" : "\n            ") + item.dump();
  return text;
}

/// The words of all events that happened while somebody counted.
std::set<std::string>& heard() {
  static std::set<std::string> words;
  return words;
}

std::set<std::string>& counted() {
  static std::set<std::string> words;
  return words;
}

/// What a word of a line stands for; nothing when it is none of them.
template <typename T>
std::optional<T> meaning(const Value& word, const std::map<std::string_view, T>& known) {
  const auto found = known.find(json::text(word).value_or(""));
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

const std::optional<std::string> no_such_word = "there is no such word";

class Runner {
 public:
  /// `moment`: the one at which `crash_at: each` kills.
  Runner(const std::filesystem::path& file, std::int64_t moment)
      : dialect_(file.parent_path().filename().string()),
        folder_(file.parent_path()),
        moment_(moment) {}

  /// There was a `crash_at: each`, and a later moment may be one, too.
  bool goes_on() const { return each_ && !missed_; }

  /// Nothing: the line holds.
  std::optional<std::string> line(const Json& step) {
    if (!begun_)
      return begin(step);
    for (const Acts& acts :
         {std::cref(happenings()), std::cref(troubles()), std::cref(expectations())})
      for (const auto& [name, act] : acts)
        if (const Value* const value = json::child(*step, name)) {
          auto fault = act(*this, *value, *step);
          if (!fault && !waits(*step))
            fault = remembered_otherwise(world_);
          if (fault)
            return fault;
          const std::vector<std::string> broken = world_.faults();
          return broken.empty() ? std::nullopt : std::optional<std::string>(broken.front());
        }
    return "no such step: " + step.dump();
  }

 private:
  using Fault = std::optional<std::string>;
  using Act = std::function<Fault(Runner&, const Value& value, const Value& step)>;

  using Acts = std::map<std::string, Act>;

  /// What happens to the world.
  static const Acts& happenings();
  /// What goes wrong in it.
  static const Acts& troubles();
  /// What is expected of it.
  static const Acts& expectations();

  static Fault fault_of(const Result<void>& result) {
    if (result)
      return std::nullopt;
    return "the daemon ended: " + describe(result.error());
  }

  Fault begin(const Json& step) {
    begun_ = true;
    if (text_of(*step, "scenario").empty())
      return "the first line has no `scenario`";
    Json config = Json::object();
    if (const std::string name = text_of(*step, "config_from"); !name.empty()) {
      auto read = parse_json(slurp(folder_ / name));
      if (!read)
        return "cannot read " + name + ": " + describe(read.error());
      config = std::move(*read);
    }
    if (const Value* const own = json::child(*step, "config"))
      for (const auto& member : own->GetObject())
        config.set(member.name.GetString(), member.value);
    auto setup = setup_of(config, dialect_);
    if (!setup)
      return describe(setup.error());
    world_.setup = std::move(*setup);
    if (json::boolean(*step, "down").value_or(false))
      return std::nullopt;
    return up();
  }

  Fault up() {
    if (auto started = world_.start(); !started)
      return fault_of(started);
    return settle();
  }

  Fault settle() { return fault_of(world_.settle()); }

  /// Killed at the n-th moment of whatever comes with the next steps; then started again.
  Fault crash_at(const Value& at) {
    const bool each = json::text(at) == "each";
    const auto moment = each ? std::optional(moment_) : json::integer(at);
    if (!moment || *moment < 1)
      return "no such moment";
    each_ = each_ || each;
    world_.fuse.light(static_cast<std::uint64_t>(*moment));
    bool killed = false;
    try {
      if (auto fault = settle())
        return fault;
    } catch (const DaemonKilled&) {
      killed = true;
    }
    if (!killed && (!each || moment_ == 1))
      return "there is no such moment: all was done before it";
    missed_ = missed_ || !killed;
    world_.fuse.cut();
    world_.kill();
    return up();
  }

  /// `together` with what the next step does, in one step of the engine. Of exits and requests it
  /// may stand among what they say.
  static bool waits(const Value& step, const Value* what = nullptr) {
    return json::boolean(step, "together").value_or(false) ||
           (what != nullptr && json::boolean(*what, "together").value_or(false));
  }

  Fault write(const Value& path, const Value& step) {
    const Value* const value = json::child(step, "json");
    const std::string bytes = value != nullptr ? json::dump(*value) + "\n" : text_of(step, "text");
    const std::string name(json::text(path).value_or(""));
    world_.disk.write(name, bytes);
    if (json::boolean(step, "by_git").value_or(false))
      world_.disk.by_git.insert(name);
    if (json::boolean(step, "in_place").value_or(false))
      world_.disk.changed_at[name] = world_.clock.wall();
    if (json::boolean(step, "unseen").value_or(false))
      world_.disk.changes.clear();
    return waits(step) ? std::nullopt : settle();
  }

  /// Members of the file as it stands are replaced; the rest stays byte for byte.
  Fault change(const Value& path, const Value& step) {
    const std::string name(json::text(path).value_or(""));
    const std::string* const bytes = world_.disk.file(name);
    const Value* const members = json::child(step, "members");
    if (bytes == nullptr || members == nullptr)
      return name + " is not there, or there are no `members`";
    std::vector<json::Edit> edits;
    for (const auto& member : members->GetObject())
      edits.push_back(json::Edit{member.name.GetString(), json::dump(member.value)});
    auto text = json::splice(*bytes, edits);
    if (!text)
      return describe(text.error());
    world_.disk.write(name, *text);
    return waits(step) ? std::nullopt : settle();
  }

  Fault exit(const Value& what, const Value& step) {
    FakeAgents::Shim* const shim =
        world_.agents.live(text_of(what, "role"), text_of(what, "subject"));
    if (shim == nullptr)
      return "no such agent runs";
    RunEnd end;
    if (const auto word = json::text(what, "outcome"))
      end.outcome = parse_outcome(*word).value_or(Outcome::none);
    else
      end.outcome =
          json::integer(what, "code").value_or(0) == 0 ? Outcome::succeeded : Outcome::failed;
    if (const auto code = json::integer(what, "code")) {
      end.exit_code = static_cast<int>(*code);
      if (*code != 0)
        end.reason = "exit_" + std::to_string(*code);
    }
    if (const auto reason = json::text(what, "reason"))
      end.reason = *reason;
    end.output = text_of(what, "output");
    end.errors = text_of(what, "errors");
    end.duration = Millis(json::integer(what, "duration_ms").value_or(0));
    if (end.outcome == Outcome::none)
      return "no such outcome";
    if (end.outcome == Outcome::unknown)
      world_.agents.kill_shim(shim->id);
    else
      world_.agents.finish(shim->id, end);
    return waits(step, &what) ? std::nullopt : settle();
  }

  Fault request(const Value& what, const Value& step) {
    Request request;
    request.id = "request-" +
                 std::string(2 - std::min<std::size_t>(2, std::to_string(requests_).size()), '0') +
                 std::to_string(requests_);
    ++requests_;
    request.verb = text_of(what, "verb");
    request.flow = flow_of(what, dialect_);
    request.subject = text_of(what, "subject");
    request.arguments = Json::object();
    if (const Value* const arguments = json::child(what, "arguments"))
      request.arguments = Json(*arguments);
    request.by = text_of(what, "by");
    request.agent = text_of(what, "agent");
    if (const std::string role = text_of(what, "inside"); role == "nobody") {
      request.asker.kind = Asker::Kind::nobody;
    } else if (!role.empty()) {
      const FakeAgents::Shim* const shim =
          world_.agents.live(role, text_of(what, "inside_subject"));
      request.asker = {Asker::Kind::run, shim == nullptr ? role : shim->id};
    }
    request.made = world_.clock.at;
    world_.requests.add(request);
    return waits(step, &what) ? std::nullopt : settle();
  }

  /// The path; what is done there fails from now on, with the error the line names, if any. Nothing
  /// when there is no such error.
  static std::optional<std::string> refuse(std::map<std::string, Errc>& refused, const Value& what,
                                           const Value& step) {
    static const std::map<std::string, Errc> errors = {{"busy", Errc::busy},
                                                       {"denied", Errc::denied},
                                                       {"io", Errc::io},
                                                       {"not_regular", Errc::not_regular},
                                                       {"too_large", Errc::too_large}};
    const std::string path(json::text(what).value_or(""));
    refused.erase(path);
    const std::string word = text_of(step, "error");
    if (const auto error = errors.find(word); error != errors.end())
      refused[path] = error->second;
    else if (!word.empty())
      return std::nullopt;
    return path;
  }
  Fault disk(const Value& what) {
    const auto word = json::text(what).value_or("");
    if (!meaning<bool>(what, {{"full", true},
                              {"journal_full", true},
                              {"root_full", true},
                              {"lent", true},
                              {"journal_locked", true},
                              {"free", false}}))
      return no_such_word;
    world_.journal.fails.reset();
    world_.disk.full = false;
    world_.requests.no_space = word == "full" || word == "journal_full" || word == "lent";
    if (word == "full" || word == "journal_full")
      world_.journal.fails = Errc::no_space;
    if (word == "journal_locked")
      world_.journal.fails = Errc::busy;
    if (word == "full" || word == "root_full")
      world_.disk.full = true;
    return settle();
  }

  Fault compare(const Value& expected, const std::vector<Json>& got, bool in_order) {
    std::vector<Json> want;
    for (const Value& item : expected.GetArray())
      want.emplace_back(item);
    std::vector<Json> left = got;
    bool same = want.size() == got.size();
    for (std::size_t i = 0; same && i < want.size(); ++i) {
      if (in_order) {
        same = fits(*want[i], *got[i]);
        continue;
      }
      const auto at = std::find_if(left.begin(), left.end(),
                                   [&](const Json& item) { return fits(*want[i], *item); });
      same = at != left.end();
      if (same)
        left.erase(at);
    }
    if (same)
      return std::nullopt;
    return "\n  expected: " + lines_of(want) + "\n  got:      " + lines_of(got);
  }

  Fault expect(const Value& expected, bool writes = true) {
    std::vector<Json> got;
    for (const Did& did : std::exchange(world_.deeds, {}))
      if (writes || did.what != Did::What::write)
        got.push_back(deed(did));
    return compare(expected, got, writes);
  }

  /// Of the newest run of that role and subject.
  Fault expect_prompt(const Value& what) {
    const FakeAgents::Shim* const shim =
        world_.agents.live(text_of(what, "role"), text_of(what, "subject"));
    if (shim == nullptr)
      return "no such agent runs";
    const std::string part = text_of(what, "has");
    const std::string absent = text_of(what, "hasnt");
    if (shim->launch.prompt.find(part) == std::string::npos ||
        (!absent.empty() && shim->launch.prompt.find(absent) != std::string::npos))
      return "\n  got:      " + shim->launch.prompt;
    return std::nullopt;
  }

  Fault expect_members(const Value& path, const Value& step) const {
    const std::string* const bytes = world_.disk.file(std::string(json::text(path).value_or("")));
    const Value* const members = json::child(step, "members");
    if (bytes == nullptr || members == nullptr)
      return "the file is not there, or there are no `members`";
    const bool packed = bytes->starts_with("\x1F\x8B");
    auto text = packed ? gunzip(*bytes, kMostUnpacked) : Result<std::string>(*bytes);
    auto parsed = text ? parse_json(*text) : Result<Json>(pass_on(text));
    if (!parsed)
      return describe(parsed.error());
    for (const auto& member : members->GetObject()) {
      const Value* const got = json::at(**parsed, member.name.GetString());
      const bool absent = member.value.IsNull() && got == nullptr;
      if (!absent && (got == nullptr || !json::equal(member.value, *got)))
        return std::string(member.name.GetString()) + " is " +
               (got == nullptr ? std::string("absent") : json::dump(*got));
    }
    return std::nullopt;
  }

  /// All lines of one event in a log, in order.
  Fault expect_lines(const Value& path, const Value& step) const {
    const std::string* const bytes = world_.disk.file(std::string(json::text(path).value_or("")));
    const Value* const expected = json::child(step, "members");
    if (bytes == nullptr || expected == nullptr)
      return "the file is not there, or there are no `members`";
    const auto log = load_document(*bytes, Format::jsonl);
    if (!log)
      return "the file is no log: " + *bytes;
    std::vector<const Value*> lines;
    for (const Value& line : (*log)->root().GetArray())
      if (json::text(line, "event") == text_of(step, "event"))
        lines.push_back(&line);
    std::string got;
    for (const Value* const line : lines)
      got += "\n  got:      " + json::dump(*line);
    if (lines.size() != expected->Size())
      return std::to_string(lines.size()) + " lines" + got;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!fits((*expected)[static_cast<rapidjson::SizeType>(i)], *lines[i]))
        return "line " + std::to_string(i + 1) + got;
    return std::nullopt;
  }

  Json deed(const Did& did) {
    if (did.what == Did::What::write)
      return Json::object({{"write", did.path}});
    const auto shim = world_.agents.shims.find(did.run);
    if (shim == world_.agents.shims.end())
      return Json::object({{"unknown", did.run}});
    const Launch& launch = shim->second.launch;
    const auto known =
        std::find_if(world_.journal.tables.runs.begin(), world_.journal.tables.runs.end(),
                     [&](const Run& run) { return run.id == did.run; });
    const std::string purpose = known == world_.journal.tables.runs.end() ? "" : known->purpose;
    std::vector<Json> argv(launch.argv.begin(), launch.argv.end());
    return Json::object(
        {{did.what == Did::What::start ? "start" : "stop",
          Json::object({{"flow", launch.key.flow.name},
                        {"role", launch.key.role},
                        {"subject", launch.key.subject},
                        {"generation", Json(launch.key.generation)},
                        {"attempt", Json(static_cast<std::uint64_t>(launch.attempt))},
                        {"argv", Json::array(argv)},
                        {"purpose", purpose}})}});
  }

  Fault expect_holds(const Value& expected) {
    std::vector<Json> got;
    for (const auto& [flow, record] : world_.engine->records())
      for (const Hold& hold : record.holds)
        got.push_back(Json::object({{"flow", flow.name},
                                    {"role", hold.role},
                                    {"subject", hold.subject},
                                    {"condition", word(hold.cause.condition)},
                                    {"reason", word(hold.cause.reason)},
                                    {"why", hold.why},
                                    {"do", hold.action}}));
    return compare(expected, got, false);
  }

  Fault expect_failed(const Value& expected) const {
    std::vector<Json> want;
    for (const Value& name : expected.GetArray())
      want.emplace_back(name);
    std::vector<Json> failed;
    for (const FlowStatus& status : statuses(world_.engine->records(), world_.engine->plan()))
      if (status.cause.condition == Condition::failed)
        failed.emplace_back(status.flow.name);
    if (want == failed)
      return std::nullopt;
    return "\n  expected: " + lines_of(want) + "\n  got:      " + lines_of(failed);
  }

  Fault expect_condition(const Value& expected) const {
    const std::string name(json::text(expected, "flow").value_or(""));
    for (const FlowStatus& status : statuses(world_.engine->records(), world_.engine->plan())) {
      if (status.flow.name != name && text(status.flow) != name)
        continue;
      Json got = status_json(status);
      got.set("flow", Json(name));
      return fits(expected, *got)
                 ? std::nullopt
                 : Fault("\n  expected: " + json::dump(expected) + "\n  got:      " + got.dump());
    }
    return "there is no flow " + name;
  }

  Fault expect_events(const Value& expected) {
    std::vector<Json> got;
    const bool words = std::all_of(expected.Begin(), expected.End(),
                                   [](const Value& item) { return item.IsString(); });
    for (const Event& event : std::exchange(world_.observer.events, {}))
      got.push_back(words ? Json(event.event)
                          : Json::object({{"event", event.event},
                                          {"flow", event.flow.name},
                                          {"subject", event.subject},
                                          {"role", event.role},
                                          {"why", event.why}}));
    return compare(expected, got, true);
  }

  Fault expect_counts(const Value& expected) {
    const auto& all = world_.observer.events;
    for (const Event& event : all)
      heard().insert(event.event);
    for (const auto& member : expected.GetObject()) {
      const std::string word = member.name.GetString();
      counted().insert(word);
      const auto count = std::count_if(all.begin(), all.end(),
                                       [&](const Event& event) { return event.event == word; });
      if (json::integer(member.value) != count)
        return "expected " + json::dump(member.value) + " events `" + word + "`, got " +
               std::to_string(count);
    }
    world_.observer.events.clear();
    return std::nullopt;
  }

  Fault expect_replies(const Value& expected) {
    std::vector<Json> got;
    for (const Reply& reply : std::exchange(world_.requests.answers, {}))
      got.push_back(Json::object({{"accepted", reply.accepted}, {"message", reply.message}}));
    return compare(expected, got, true);
  }

  Fault expect_file(const Value& what) const {
    const std::string path = text_of(what, "path");
    const std::string* const bytes = world_.disk.file(path);
    if (json::boolean(what, "gone").value_or(false))
      return bytes == nullptr ? std::nullopt : Fault(path + " is there: " + *bytes);
    if (bytes == nullptr)
      return path + " is gone";
    if (const auto text = json::text(what, "text"))
      return *bytes == *text ? std::nullopt : Fault("\n  got:      " + json::quote(*bytes));
    return same_json(json::child(what, "json"), *bytes);
  }

  static Fault same_json(const Value* expected, const std::string& bytes) {
    auto parsed = parse_json(bytes);
    if (expected == nullptr || !parsed || !json::equal(*expected, **parsed))
      return "\n  got:      " + bytes;
    return std::nullopt;
  }

  Fault expect_accepted(const Value& what) {
    const std::string path = text_of(what, "path");
    const auto found = world_.journal.tables.accepted.find(path);
    if (found == world_.journal.tables.accepted.end())
      return path + " was never accepted";
    return same_json(json::child(what, "json"), found->second.second);
  }

  /// As the journal has it, of all runs of the flow.
  Fault expect_cost(const Value& what) {
    double cost = 0;
    std::int64_t tokens = 0;
    for (const Run& run : world_.journal.tables.runs) {
      if (run.key.flow != flow_of(what, dialect_))
        continue;
      cost += run.cost_usd.value_or(0);
      tokens += run.tokens.value_or(0);
    }
    const Json got = Json::object(
        {{"flow", text_of(what, "flow")}, {"cost", Json(cost)}, {"tokens", Json(tokens)}});
    return fits(what, *got) ? std::nullopt : Fault("got " + got.dump());
  }

  Fault expect_stage(const Value& what) {
    const auto& records = world_.engine->records();
    const auto record = records.find(flow_of(what, dialect_));
    const std::string subject = text_of(what, "subject");
    if (record == records.end() || !record->second.stages.contains(subject))
      return "no such subject";
    const StageState& state = record->second.stages.at(subject);
    const Json got = Json::object({{"flow", text_of(what, "flow")},
                                   {"subject", subject},
                                   {"stage", state.stage},
                                   {"previous", state.previous},
                                   {"generation", Json(state.generation)}});
    return fits(what, *got) ? std::nullopt : Fault("got " + got.dump());
  }

  std::string dialect_;
  std::filesystem::path folder_;
  World world_;
  bool begun_ = false;
  std::size_t requests_ = 0;
  std::int64_t moment_;
  bool each_ = false;
  bool missed_ = false;  ///< nobody was killed at that moment
};

const Runner::Acts& Runner::happenings() {
  static const Acts all = {
      {"write", [](Runner& r, const Value& v, const Value& s) { return r.write(v, s); }},
      {"change", [](Runner& r, const Value& v, const Value& s) { return r.change(v, s); }},
      {"remove",
       [](Runner& r, const Value& v, const Value&) {
         r.world_.disk.remove(std::string(json::text(v).value_or("")));
         return r.settle();
       }},
      {"rename",
       [](Runner& r, const Value& v, const Value& s) {
         const std::string from(json::text(v).value_or(""));
         const bool second = json::boolean(s, "link").value_or(false);
         return (second ? r.world_.disk.link(from, text_of(s, "to"))
                        : r.world_.disk.rename(from, text_of(s, "to")))
                    ? (waits(s) ? std::nullopt : r.settle())
                    : Fault(from + " is not there");
       }},
      {"exit", [](Runner& r, const Value& v, const Value& s) { return r.exit(v, s); }},
      {"advance",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const auto by = parse_duration(json::text(v).value_or(""));
         return by ? fault_of(r.world_.pass(*by)) : Fault("no duration");
       }},
      {"repeat",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         const Value* const lines = json::child(s, "lines");
         for (std::int64_t i = 0; lines != nullptr && i < json::integer(v).value_or(0); ++i)
           for (const Value& line : lines->GetArray())
             if (auto fault = r.line(Json(line)))
               return "round " + std::to_string(i + 1) + ": " + *fault;
         return std::nullopt;
       }},
      {"request", [](Runner& r, const Value& v, const Value& s) { return r.request(v, s); }},
      {"rescan",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const std::string why(json::text(v).value_or("timer"));
         if (auto done = r.world_.engine->step({Rescan{why}}); !done)
           return fault_of(done);
         return r.settle();
       }},
      {"crash",
       [](Runner& r, const Value&, const Value&) {
         r.world_.kill();
         return r.up();
       }},
      {"crash_at", [](Runner& r, const Value& v, const Value&) { return r.crash_at(v); }},
      {"power_cut",
       [](Runner& r, const Value&, const Value&) {
         r.world_.power_cut();
         return r.up();
       }},
      {"down",
       [](Runner& r, const Value&, const Value&) -> Fault {
         r.world_.kill();
         return std::nullopt;
       }},
      {"up", [](Runner& r, const Value&, const Value&) { return r.up(); }},
      {"config",
       [](Runner& r, const Value& v, const Value& step) -> Fault {
         auto setup = setup_of(Json(v), r.dialect_);
         if (!setup)
           return describe(setup.error());
         setup->renew = r.world_.renewer();
         r.world_.setup = *setup;
         if (r.world_.engine == nullptr)
           return std::nullopt;
         auto parts = r.world_.engine->configured_parts_of(std::move(*setup));
         if (!parts)
           return describe(parts.error());
         r.world_.engine->reconfigure(*std::move(parts));
         return waits(step) ? std::nullopt : r.settle();
       }},
      {"stop_agents",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         r.world_.engine->stop_agents(std::string(json::text(v).value_or("")));
         return r.settle();
       }},
  };
  return all;
}

const Runner::Acts& Runner::troubles() {
  static const Acts all = {
      {"disk", [](Runner& r, const Value& v, const Value&) { return r.disk(v); }},
      {"root",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         FakeDisk& disk = r.world_.disk;
         const auto away = meaning<bool>(v, {{"away", true}, {"back", false}});
         if (!away)
           return no_such_word;
         disk.away = *away;
         for (const auto& [path, bytes] : disk.files())
           disk.changes.push_back(path);
         if (!disk.away && r.world_.engine != nullptr)
           if (auto done = r.world_.engine->step({Rescan{"root_replaced"}}); !done)
             return fault_of(done);
         return r.settle();
       }},
      {"list_fails",
       [](Runner& r, const Value&, const Value&) -> Fault {
         r.world_.disk.list_fails = Errc::busy;
         return std::nullopt;
       }},
      {"agent",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         r.world_.broken_roles[std::string(json::text(v).value_or(""))] = text_of(s, "problem");
         return std::nullopt;
       }},
      {"agents",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const auto refused = meaning<bool>(v, {{"refused", true}, {"free", false}});
         if (!refused)
           return no_such_word;
         r.world_.agents.prepare_fails = *refused ? std::optional(Errc::busy) : std::nullopt;
         return r.settle();
       }},
      {"stops",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         using Fails = std::optional<Errc>;
         const auto fails = meaning<Fails>(
             v, {{"io", Errc::io}, {"busy", Errc::busy}, {"hang", Fails()}, {"free", Fails()}});
         if (!fails)
           return no_such_word;
         r.world_.agents.stop_fails = *fails;
         r.world_.agents.stops_hang = json::text(v) == "hang";
         return r.settle();
       }},
      {"claim_delay",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const auto delay = parse_duration(json::text(v).value_or(""));
         if (!delay)
           return "no duration";
         r.world_.agents.claim_delay = *delay;
         return std::nullopt;
       }},
      {"spending",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const auto word = json::text(v).value_or("");
         if (word != "locked" && word != "unwritable" && word != "free" && word != "lost")
           return no_such_word;
         if (word == "lost")
           r.world_.spending.lose();
         r.world_.spending.locked = word == "locked";
         r.world_.spending.unwritable = word == "unwritable";
         return r.settle();
       }},
      {"raise",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const auto key = parse_cap_key(json::text(v, "key").value_or(""));
         const auto scope = parse_cap_scope(json::text(v, "scope").value_or("everything"));
         if (!key || !scope)
           return no_such_word;
         r.world_.spending.raise({"",
                                  {*scope, std::string(json::text(v, "name").value_or(""))},
                                  *key,
                                  static_cast<double>(json::integer(v, "by").value_or(1)),
                                  "anna",
                                  r.world_.clock.now()});
         return std::nullopt;
       }},
      {"race",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         const Value* const value = json::child(s, "json");
         r.world_.disk.racing[std::string(json::text(v).value_or(""))] =
             value == nullptr ? text_of(s, "text") : json::dump(*value) + "\n";
         return std::nullopt;
       }},
      {"overtake",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         const Value* const value = json::child(s, "json");
         r.world_.overtaking[std::string(json::text(v).value_or(""))] =
             value == nullptr ? std::nullopt : std::optional(json::dump(*value) + "\n");
         return std::nullopt;
       }},
      {"git",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const std::string how(json::text(v).value_or(""));
         if (how != "locks" && how != "unlocks")
           return no_such_word;
         r.world_.disk.index_locked = how == "locks";
         return std::nullopt;
       }},
      {"polls",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         r.world_.engine->polled(json::boolean(v).value_or(true));
         return std::nullopt;
       }},
      {"late_write",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         const Value* const value = json::child(s, "json");
         const auto open = parse_duration(text_of(s, "open_for")).value_or(Millis(0));
         const bool kept = r.world_.disk.write_late(
             std::string(json::text(v).value_or("")),
             value == nullptr ? text_of(s, "text") : json::dump(*value) + "\n",
             r.world_.clock.at + open, json::integer(s, "older").value_or(0));
         return kept ? std::nullopt : Fault("baton keeps no version of it that it has replaced");
       }},
      {"unreadable",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         const auto path = r.refuse(r.world_.disk.unreadable, v, s);
         if (!path)
           return no_such_word;
         if (!json::boolean(s, "unseen").value_or(false))
           r.world_.disk.changes.push_back(*path);
         return r.settle();
       }},
      {"unwritable",
       [](Runner& r, const Value& v, const Value& s) -> Fault {
         return r.refuse(r.world_.disk.unwritable, v, s) ? r.settle() : no_such_word;
       }},
  };
  return all;
}

const Runner::Acts& Runner::expectations() {
  static const Acts all = {
      {"expect", [](Runner& r, const Value& v, const Value&) { return r.expect(v); }},
      {"expect_agents", [](Runner& r, const Value& v, const Value&) { return r.expect(v, false); }},
      {"expect_prompt", [](Runner& r, const Value& v, const Value&) { return r.expect_prompt(v); }},
      {"expect_members",
       [](Runner& r, const Value& v, const Value& s) { return r.expect_members(v, s); }},
      {"expect_lines",
       [](Runner& r, const Value& v, const Value& s) { return r.expect_lines(v, s); }},
      {"expect_holds", [](Runner& r, const Value& v, const Value&) { return r.expect_holds(v); }},
      {"expect_failed", [](Runner& r, const Value& v, const Value&) { return r.expect_failed(v); }},
      {"expect_condition",
       [](Runner& r, const Value& v, const Value&) { return r.expect_condition(v); }},
      {"expect_events", [](Runner& r, const Value& v, const Value&) { return r.expect_events(v); }},
      {"expect_counts", [](Runner& r, const Value& v, const Value&) { return r.expect_counts(v); }},
      {"expect_replies",
       [](Runner& r, const Value& v, const Value&) { return r.expect_replies(v); }},
      {"expect_file", [](Runner& r, const Value& v, const Value&) { return r.expect_file(v); }},
      {"expect_accepted",
       [](Runner& r, const Value& v, const Value&) { return r.expect_accepted(v); }},
      {"expect_stage", [](Runner& r, const Value& v, const Value&) { return r.expect_stage(v); }},
      {"expect_cost", [](Runner& r, const Value& v, const Value&) { return r.expect_cost(v); }},
      {"expect_quiet",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const bool quiet = r.world_.engine->quiet();
         return json::boolean(v) == quiet ? std::nullopt
                                          : Fault(quiet ? "it is quiet" : "it is not quiet");
       }},
      {"expect_replaced",
       [](Runner& r, const Value& v, const Value&) -> Fault {
         const auto count = static_cast<std::int64_t>(r.world_.journal.tables.replaced.size());
         return json::integer(v) == count
                    ? std::nullopt
                    : Fault("the journal keeps " + std::to_string(count) + " replaced versions");
       }},
  };
  return all;
}

/// Each of the lines, until one does not hold. Says whether it is to be run once more.
std::vector<ScenarioFault> run_once(const std::filesystem::path& file, std::int64_t moment,
                                    bool& once_more) {
  std::ifstream in(file);
  Runner runner(file, moment);
  std::string text;
  int number = 0;
  while (std::getline(in, text)) {
    ++number;
    if (text.empty() || text.starts_with("//"))
      continue;
    auto step = parse_json(text);
    if (!step)
      return {{number, "no JSON: " + describe(step.error())}};
    if (auto fault = runner.line(*step))
      return {
          {number, text + ": " + *fault +
                       (moment > 1 ? " (killed at moment " + std::to_string(moment) + ")" : "")}};
  }
  if (number < 2)
    return {{number, "there is nothing in it"}};
  once_more = runner.goes_on();
  return {};
}

}  // namespace

std::set<std::string> unheard_events() {
  std::set<std::string> unheard;
  std::set_difference(counted().begin(), counted().end(), heard().begin(), heard().end(),
                      std::inserter(unheard, unheard.begin()));
  return unheard;
}

std::vector<ScenarioFault> run_scenario(const std::filesystem::path& file) {
  constexpr std::int64_t kMostMoments = 500;
  for (std::int64_t moment = 1; moment <= kMostMoments; ++moment) {
    bool once_more = false;
    auto faults = run_once(file, moment, once_more);
    if (!faults.empty() || !once_more)
      return faults;
  }
  return {{0, "there is always one more moment to be killed at"}};
}

}  // namespace baton::testing
