#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/dialect.h"

namespace baton::rules {

/// What a person has decided.
struct Saying {
  std::string decision;  ///< approved, rejected; empty: nothing yet
  std::string by;
  std::string comment;
  bool operator==(const Saying&) const = default;
};

/// What was done for a subject's present entry into its stage.
struct Entry {
  std::uint64_t generation = 0;
  /// By the key of the reaction (with an `r` behind it for what its rejection sets): the digests of
  /// the files as they were before. A file that is still like that was not written.
  std::map<std::string, std::map<std::string, std::string>> written;
  /// By path of the files that may decide: the version each was when something first waited for it;
  /// 0 for none.
  std::map<std::string, Arrival> waits;
  Saying said;
};

/// One member baton wrote, as JSON; "" where there was none.
struct Written {
  std::string pointer;
  std::string before;
  std::string after;
};
/// One write of baton's own into a file; of a late write that was merged it has no members.
struct Writing {
  std::string over;  ///< the digest of the version it was made from
  std::vector<Written> members;
};

struct Memo {
  std::map<Subject, Entry> entries;
  std::map<Subject, Saying> said;  ///< the last decision about each
  /// By path, in order: each is made from what the one before it has left.
  std::map<std::string, std::vector<Writing>> files;
  std::map<std::string, Reply> heard;  ///< requests of this moment, by id

  /// That of the present entry; of an earlier one nothing is left.
  Entry& entry(const Subject& subject, std::uint64_t generation);
};

Memo memo_of(const Json& json);
/// Null when there is nothing to remember.
Json json_of(const Memo& memo);

}  // namespace baton::rules
