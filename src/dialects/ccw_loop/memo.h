#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"

namespace baton::ccw_loop {

/// What baton remembers of a loop besides its documents; journalled.
struct Memo {
  /// Digests of the skill_states accepted so far, of the whole master states accepted so far, and
  /// of those that were put right, oldest first: what equals one of them is an old copy.
  std::vector<std::string> skills;
  std::vector<std::string> states;
  std::vector<std::string> corrected;
  /// Digests of the members accepted so far that are a person's (kMetadata).
  std::vector<std::string> metadata;
  /// The newest run, and the digest of the work (see Scene) when it was started.
  RunId run;
  std::string work;
  bool judged = false;        ///< its end has been looked at
  bool teed = false;          ///< what it printed has been looked at (C-27)
  std::uint32_t idle = 0;     ///< runs in a row that ended well and changed nothing
  std::string counted;        ///< the work key whose start was counted as an iteration last
  std::int64_t limit_ms = 0;  ///< when the iterations were first seen used up, on baton's clock
  std::string mode;           ///< `auto` or `interactive`, when `start` said so
  std::string choice;         ///< what a person chose to be done next
  std::string choice_key;     ///< ... by the work key it is for
  std::string answer;         ///< what a person said about it
  bool pause_asked = false;   ///< the pause in force came by a request, not by the file
  /// Where the loop stood when a request set it going beside an executor at work, which has not
  /// shown yet that it knows; empty: none such.
  Word resumed_over;
  bool left = false;     ///< no executor was alive when the loop was looked at last
  bool hurry = false;    ///< an executor that lingers after the end is not waited for
  std::string untested;  ///< the work key by which it was paused last, for it ran no test
  Word hold;             ///< why baton itself paused or failed the loop
  std::string hold_why;
  /// When the work was developed, debugged and validated last, as the version said that was looked
  /// at last; and which of them came last, by arrival. Nothing: only the times themselves can tell.
  std::vector<std::string> facts;
  Word newest;
  std::string warning;          ///< about the last version (T7)
  bool ahead = false;           ///< updated_at was once far ahead of baton's clock (S12)
  std::set<std::string> dealt;  ///< requests that were dealt with and may still be seen
  bool operator==(const Memo&) const = default;
};

/// Enters a digest into one of the three, unless it is the newest. Old ones are forgotten.
void remember(std::vector<std::string>& history, const std::string& digest);

Memo memo_of(const Json& json);
Json json_of(const Memo& memo);

}  // namespace baton::ccw_loop
