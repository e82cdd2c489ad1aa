#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "core/flow.h"
#include "core/run.h"

namespace baton {

/// What wakes the engine. None of these carries meaning beyond "look again": the engine decides
/// from what it finds in files and journal.
struct FileChanged {
  std::string path;  ///< relative to the root
};
struct Rescan {
  std::string why;  ///< start, overflow, timer, poll, reload ...
};
struct RunEnded {
  RunEnd end;
};
struct RequestsChanged {};
struct TimerDue {};
using Input = std::variant<FileChanged, Rescan, RunEnded, RequestsChanged, TimerDue>;

/// A wish of a person or a script, written as a file into the state folder by the control commands.
struct Request {
  std::string id;   ///< unique; orders requests
  Word verb;        ///< pause, resume, stop, retry, drain, forget, start, approve ...
  FlowId flow;      ///< empty: the whole root
  Subject subject;  ///< empty: the whole flow
  Json arguments;   ///< an object; what the verb needs
  std::string by;   ///< who asked, for the history
  Time made{};
};

/// The answer to a request.
struct Reply {
  std::string request;
  bool accepted = false;
  std::string message;  ///< what was done, or why not and what to do
  bool operator==(const Reply&) const = default;
};

/// One line of the history (`baton events`), append-only.
struct Event {
  Arrival seq = 0;  ///< set by the journal
  Time time{};
  Word event;  ///< accepted, rejected, stage, started, ended, held, stopped, ...
  FlowId flow;
  Subject subject;
  Role role;
  RunId run;
  std::string why;
  bool operator==(const Event&) const = default;
};

}  // namespace baton
