#pragma once

// What baton remembers of a flow of a rule besides its files. Kept in the journal.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "core/dialect.h"

namespace baton::rules {

/// The decision of a person.
struct Saying {
  std::string decision;  ///< approved, rejected; empty: nothing yet
  std::string by;
  std::string comment;
  bool operator==(const Saying&) const = default;
};

/// What was done since the subject entered its stage.
struct Entry {
  std::uint64_t generation = 0;
  /// Digests of files before a reaction wrote them, by key of the reaction (with `r` for a
  /// rejection). An unchanged file was not written.
  std::map<std::string, std::map<std::string, std::string>> written;
  /// Version of each decision file when the wait began, by path; 0: no file.
  std::map<std::string, Arrival> waits;
  Saying said;
};

/// The reply to a request.
struct Answer {
  bool accepted = false;
  std::string message;
};

/// A member that baton wrote, as JSON; empty: it did not exist.
struct Written {
  std::string pointer;
  std::string before;
  std::string after;
};
/// One write of baton to a file. A late write that was merged has no members.
struct Writing {
  std::string over;  ///< digest of the version it was based on
  std::vector<Written> members;
};

struct Memo {
  std::map<Subject, Entry> entries;
  std::map<Subject, Saying> said;  ///< last decision per subject
  /// Writes per path, each based on the result of the one before.
  std::map<std::string, std::vector<Writing>> files;
  std::map<std::string, Answer> heard;  ///< replies to requests that are still shown, by id

  /// The memory of the present entry; an older one is replaced.
  Entry& entry(const Subject& subject, std::uint64_t generation);
};

Memo memo_of(const Json& json);
/// Null without anything to remember.
Json json_of(Memo memo);

}  // namespace baton::rules
