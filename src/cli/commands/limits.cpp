// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "cli/commands/provider_release.h"
#include "cli/who_asks.h"
#include "core/provider_limits.h"
#include "io/journal/daemon_db.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

Json json_of(const Parked& row) {
  Json json =
      Json::object({{"schema", "baton/limits/v1"},
                    {"provider", row.whose.provider},
                    {"account", row.whose.account},
                    {"model", row.whose.model},
                    {"reason", word(row.login ? Reason::login_refused : Reason::provider_limit)},
                    {"since", iso_time(row.since)},
                    {"until", row.until ? Json(iso_time(*row.until)) : Json()},
                    {"times", static_cast<std::uint64_t>(row.times)},
                    {"run", row.run},
                    {"why", row.why}});
  return json;
}

void print_table(const std::vector<Parked>& rows) {
  Table table({"PROVIDER", "ACCOUNT", "MODEL", "REASON", "SINCE", "UNTIL", "RUN", "WHY"});
  for (const Parked& row : rows) {
    const std::string longer = reason_of_wait(row);
    table.row({row.whose.provider, row.whose.account.substr(0, 8), row.whose.model,
               std::string(word(row.login ? Reason::login_refused : Reason::provider_limit)),
               iso_time(row.since), row.until ? iso_time(*row.until) : "", row.run.substr(0, 8),
               row.why + (longer.empty() ? "" : " (" + longer + ")")});
  }
  print(table.empty() ? "no provider has a limit that baton knows of\n" : table.text());
}

}  // namespace

ExitCode limits_command(Words words) {
  Places places;
  std::string clear;
  bool as_json = false;
  Options options(
      "limits",
      "Lists the providers that have no room now, or that refuse a login. Their agents\n"
      "start again at UNTIL, or after --clear.",
      {{ExitCode::fine, "done"},
       {ExitCode::failed,
        "--clear: the provider has no limit that baton knows of, or an agent asks that may not"},
       {ExitCode::usage, "wrong usage or configuration"},
       {ExitCode::unreachable, "the state cannot be read or written"}});
  options.value("--clear", clear, "PROVIDER", "Forget the limits of this provider: try now");
  options.flag("--json", as_json, "One JSON object per line");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  const auto context = Context::open_anyway(places);
  if (!context)
    return complain(context.error());
  if (!clear.empty()) {
    if (const auto code = refused_to_command(*context, "limits"))
      return *code;
    const auto cleared =
        release_providers(*context, [&](const Parked& row) { return row.whose.provider == clear; });
    if (!cleared)
      return complain(cleared.error());
    if (*cleared == 0) {
      complain("baton knows of no limit of the provider `" + printable(clear, 80) +
               "`; `baton limits` lists those it knows");
      return ExitCode::failed;
    }
    print("the agents of " + printable(clear, 80) + " may start again\n");
    return finish(ExitCode::fine);
  }
  const auto rows = parked_providers(*context);
  if (!rows)
    return complain(rows.error());
  const Time now = real_clock()->wall();
  std::vector<Parked> current;
  std::copy_if(rows->begin(), rows->end(), std::back_inserter(current),
               [&](const Parked& row) { return !row.until || *row.until > now; });
  if (!as_json)
    print_table(current);
  for (const Parked& row : current)
    if (as_json)
      print(json_of(row).dump() + "\n");
  return finish(ExitCode::fine);
}

}  // namespace baton
