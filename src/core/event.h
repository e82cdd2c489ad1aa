// SPDX-License-Identifier: Apache-2.0
#pragma once

// What goes into the engine (inputs, requests) and what comes out of it (replies, events of the
// history).

#include <string>
#include <variant>

#include "base/json/json.h"
#include "core/flow.h"
#include "core/run.h"

namespace baton {

/// What wakes the engine. An input only says "look again". The engine decides from files and
/// journal, so a lost or repeated input does no harm.
struct FileChanged {
  std::string path;       ///< relative to the root
  std::string was;        ///< the name that the file had before, if somebody was seen to rename it
  bool complete = false;  ///< the name was seen to appear by a rename or link: nobody writes it
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

/// Which process asks, as far as the kernel says.
struct Asker {
  enum class Kind {
    person,  ///< a process that belongs to no run
    run,     ///< an agent, inside of its run
    nobody,  ///< the process that asked has ended, or cannot be seen
  };
  Kind kind = Kind::person;
  RunId run;  ///< of Kind::run; it may be a run of another root
  bool operator==(const Asker&) const = default;
};

/// A command of a person or a script. The control commands write it as a file into the state
/// folder.
struct Request {
  std::string id;   ///< unique; orders requests
  Word verb;        ///< pause, resume, stop, retry, drain, forget, start, approve ...
  FlowId flow;      ///< empty: the whole root
  Subject subject;  ///< empty: the whole flow
  Json arguments;   ///< an object; depends on the verb
  std::string by;   ///< who asked, for the history: a user, or `agent developer (run ab12cd34)`
  /// Which agent asked from inside its run: `developer (run ab12cd34)`. Empty: a person.
  std::string agent;
  Time made{};
  Asker asker{};
};

/// The answer to a request.
struct Reply {
  std::string request;
  bool accepted = false;
  std::string message;  ///< what was done, or why not and what to do
  bool operator==(const Reply&) const = default;
};

/// One line of the history (`baton events`). Lines are only ever appended.
struct Event {
  Arrival seq = 0;  ///< set by the journal
  Time time{};
  Word event;  ///< accepted, rejected, stage, started, ended, blocked, stopped, ...
  FlowId flow;
  Subject subject;
  Role role;
  RunId run;
  std::string why;
  bool operator==(const Event&) const = default;
};

}  // namespace baton
