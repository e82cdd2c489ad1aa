// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/cap_raise.h"

#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands/provider_release.h"
#include "cli/who_asks.h"
#include "io/journal/daemon_runs.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/environment.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

constexpr double kMostRaise = 1e15;

struct Raise {
  CapKey key = CapKey::spawns_per_day;
  double by = 0;
};

Result<Raise> parse_raise(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto key = parse_cap_key(text.substr(0, equals));
  if (!key) {
    std::vector<std::string> known;
    for (const CapKey each : kCapKeys)
      known.emplace_back(word(each));
    const auto near = nearest(text.substr(0, equals), known);
    return fail(Errc::usage, "--raise `" + printable(text, 80) + "` names no cap" +
                                 (near ? "; did you mean `" + *near + "`?"
                                       : "; write KEY=N with one of: " + join(known, ", ")));
  }
  const std::string number = text.substr(std::min(equals + 1, text.size()));
  Raise raise{*key, 0};
  const char* const end = number.data() + number.size();
  const auto [behind, error] = std::from_chars(number.data(), end, raise.by);
  if (error != std::errc() || behind != end || !std::isfinite(raise.by) || raise.by <= 0 ||
      raise.by > kMostRaise)
    return fail(Errc::usage, "--raise `" + printable(text, 80) +
                                 "`: write a number above 0 that is added to the cap, such as " +
                                 std::string(word(*key)) + "=50");
  if (!word(*key).starts_with("cost_") && raise.by != std::floor(raise.by))
    return fail(Errc::usage, "--raise `" + printable(text, 80) + "`: " + std::string(word(*key)) +
                                 " is counted in whole numbers; write one, such as " +
                                 std::string(word(*key)) + "=50");
  return raise;
}

/// The keys of the caps that the configuration has for this place.
std::string keys_of(const Config& config, const CapPlace& place) {
  std::vector<std::string> keys;
  if (const auto caps = config.caps.find(place); caps != config.caps.end())
    for (const auto& [key, cap] : caps->second)
      keys.emplace_back(word(key));
  return keys.empty() ? text(place) + " has no cap that can be raised in the configuration"
                      : text(place) + " has caps for: " + join(keys, ", ");
}

std::string asker() {
  return printable(asked_by(), 80);
}

/// The place and key of a name that `cap_name` has made.
std::optional<std::pair<CapPlace, CapKey>> parse_cap_name(const std::string& name) {
  const std::size_t first = name.find(':');
  const std::size_t last = name.rfind(':');
  if (first == std::string::npos || first == last)
    return std::nullopt;
  const auto scope = parse_cap_scope(name.substr(0, first));
  const auto key = parse_cap_key(name.substr(last + 1));
  if (!scope || !key)
    return std::nullopt;
  return std::pair{CapPlace{*scope, name.substr(first + 1, last - first - 1)}, *key};
}

ExitCode add(const Context& context, const CapPlace& place, const Raise& raise) {
  const auto caps = context.config().caps.find(place);
  if (place.scope == CapScope::everything && raise.key == CapKey::max_running) {
    complain(
        "the places of the whole daemon are no cap that can be raised: change "
        "`limits: { max_running: N }` in the configuration, then `baton reload`");
    return ExitCode::usage;
  }
  if (caps == context.config().caps.end() || !caps->second.contains(raise.key)) {
    complain("there is no cap " + std::string(word(raise.key)) +
             " to raise: " + keys_of(context.config(), place));
    return ExitCode::usage;
  }
  const auto folders = shared_state_folders(context);
  if (!folders)
    return complain(folders.error());
  if (folders->empty())
    return complain(Error{Errc::not_found,
                          "no daemon has served this root yet, so no cap is used "
                          "up",
                          context.root()});
  const CapRaise row{context.configuration(), place, raise.key, raise.by, asker(),
                     real_clock()->wall()};
  for (const std::string& folder : *folders)
    if (auto added = add_raise(folder, row); !added)
      return complain(added.error());
  print("the cap " + std::string(word(raise.key)) + " of " + text(place) + " is " +
        amount_text(raise.key, raise.by) + " higher until " + iso_time(end_of(row)) +
        "; a daemon goes on within five seconds\n");
  return finish(ExitCode::fine);
}

}  // namespace

ExitCode raise_cap(const Context& context, const CapPlace& place, const std::string& raise) {
  if (const auto code = refused_to_command(context, "raise"))
    return *code;
  const auto parsed = parse_raise(raise);
  return parsed ? add(context, place, *parsed) : complain(parsed.error());
}

ExitCode raise_cap_of(const Context& on_root, const FlowId& flow, const std::string& raise) {
  if (const auto code = refused_to_command(on_root, "raise"))
    return *code;
  const auto parsed = parse_raise(raise);
  if (!parsed)
    return complain(parsed.error());
  // Without a daemon nothing starts anyway, and that would hide the cap.
  const auto rehearsal = Rehearsal::of_root(on_root, {.as_daemon = true});
  if (!rehearsal)
    return complain(rehearsal.error());
  std::string others;
  const auto holds = (*rehearsal)->plan().holds.find(flow);
  if (holds != (*rehearsal)->plan().holds.end())
    for (const Hold& hold : holds->second)
      if (const auto cap = parse_cap_name(hold.cap)) {
        if (cap->second == parsed->key)
          return add(on_root, cap->first, *parsed);
        others = "; it waits at " + hold.why + ": `" + hold.action + "`";
      }
  complain(
      text(flow) + " does not wait at a cap " + std::string(word(parsed->key)) +
      " of more than one flow" +
      (others.empty() ? "; `baton explain " + text(flow) + "` says what it waits for" : others));
  return ExitCode::failed;
}

Result<std::string> caps_reached(const Context& context, const CapPlace& place) {
  const auto folders = shared_state_folders(context);
  if (!folders)
    return tl::unexpected<Error>(folders.error());
  std::vector<std::string> lines;
  for (const std::string& folder : *folders) {
    const auto spending = make_spending(folder, true);
    const Time now = real_clock()->wall();
    auto counted = spending->counted(now);
    if (!counted)
      return pass_on(counted);
    const CapSums sums(context.config().caps, context.configuration(), **counted, now);
    for (const CapReached& cap : sums.all_reached())
      if (cap.place == place && window_of(cap.key))
        lines.push_back(cap.why + ": `" + raise_command(cap.place, cap.key, cap.cap) +
                        "` lets it go on");
  }
  return join(lines, "; ");
}

}  // namespace baton
