// SPDX-License-Identifier: Apache-2.0
#pragma once

// What baton knows about one agent program, as the file `adapters/NAME.yaml` says it
// (schemas/adapter.schema.json; docs/adapters.md explains each key).
//
// Problem: each program has its own options, result format, error texts and exit codes.
// Way: all of it is data. The code knows only how to apply the data.
// Limits: an adapter is checked against its schema first; `parse_adapter` reads valid ones.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/document.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/schema/pattern.h"

namespace baton {

/// What an error of a program means. A text that may mean several things means the first of these.
enum class ErrorClass : std::uint8_t {
  limit,        ///< a limit of the provider for some time: hours or days
  model_limit,  ///< the same for one model
  spend,        ///< a limit of cost until a date
  credit,       ///< no credit left, or not in the plan: waiting does not help
  auth,         ///< the login is missing, wrong or expired
  throttle,     ///< too many requests at the moment
  context,      ///< the session has become too long
  refusal,      ///< the provider refuses the content
  max_turns,
  budget,      ///< the program's own limit of cost
  permission,  ///< the program was not allowed to do something that it needed
  config,      ///< wrong option, unknown model, missing input
  transient,   ///< overload, network, a server that fails
  permanent,   ///< anything else that is known
};
std::string_view word(ErrorClass error);
std::optional<ErrorClass> parse_error_class(std::string_view word);

/// Where an error text may stand. Never in the prose of a model.
enum class Channel : std::uint8_t {
  result,  ///< the error in the final object
  event,   ///< an error event in the output
  stderr_text,
  stdout_text,    ///< the last ten lines of the output of a failed run without final object
  stdout_always,  ///< the last ten lines of any output without final object
};

struct ErrorRow {
  ErrorClass error = ErrorClass::permanent;
  Channel in = Channel::result;
  /// Searched in the folded text (reset_time.h), so it is written in lower case. On stdout, and on
  /// stderr if the output is mixed, it fits only at the beginning of a line.
  Pattern pattern;
};

/// Members that an object must have: pointer → value. A null value: the member exists.
using Match = std::vector<std::pair<std::string, Json>>;
bool matches(const Match& match, const Value& object);

/// An object that ends the run.
struct FinalRow {
  Match match;
  Match unless;                    ///< such an object ends only a part of the run
  std::optional<bool> ok;          ///< what it says by being there
  Match ok_if;                     ///< else: it says success if these fit ...
  Match failed_if;                 ///< ... and these, if there are any, do not
  std::vector<std::string> error;  ///< pointers of the error text; the first that has one counts
};

/// An object in the output that says something before the end.
struct OutputEvent {
  Match match;
  std::optional<ErrorClass> error;  ///< what it means by being there, if the run fails
  std::vector<std::string> text;    ///< pointers of an error text
  std::optional<Pattern> like;      ///< if set, the folded text has to fit
  bool fails = false;               ///< the run has failed, whatever the final object says
  std::string until;                ///< pointer of the time at which the limit ends, as a number
};

/// Where numbers of the whole run stand. A token `*` of a pointer means each member; all that is
/// found is added up.
struct UsageRow {
  enum class Of : std::uint8_t {
    run,     ///< the last object that has it speaks for the run
    each,    ///< each object speaks for a part
    thread,  ///< the last object speaks for all runs of its session
  } of = Of::run;
  Match match;  ///< empty: the final object
  std::vector<std::string> cost;
  std::vector<std::string> tokens;
};

/// How a session is begun and continued. Both are put where `${session}` stands in `argv`.
struct SessionRules {
  std::vector<std::string> begin;   ///< arguments; empty: baton cannot choose the id
  std::vector<std::string> resume;  ///< arguments; empty: sessions cannot be continued
  std::vector<std::string> id;      ///< pointers of the id in any object of the output
  std::optional<Pattern> unusable;  ///< in an error text: the session is gone or in use
};

/// Whether a text can be an argument that names a session: letters, digits, `-`, `_` and `.`, at
/// most 200, with a letter or a digit at the beginning. Ids come from the output of a program, and
/// some programs make file names of them.
bool is_session_id(std::string_view text);

enum class PromptBy : std::uint8_t { standard_input, argument, file };

struct Adapter {
  std::string name;
  std::string provider;
  std::vector<std::string> tested;  ///< versions; empty: none
  std::vector<std::string> version_argv;

  std::vector<std::string> argv;   ///< with `${model}`, `${args}`, `${session}`, `${prompt}`
  std::vector<std::string> model;  ///< put where `${model}` stands if the agent has one
  PromptBy prompt = PromptBy::standard_input;
  std::size_t prompt_max_bytes = 0;  ///< 0: no limit
  SessionRules session;
  std::vector<std::string> env_pass;  ///< of the daemon's environment
  std::map<std::string, std::string> env_set;
  std::vector<std::string> env_unset;
  std::vector<std::string> account;          ///< variables that identify the account
  std::vector<std::string> login_variables;  ///< one of them set is a login
  std::vector<std::string> login_files;      ///< below HOME: one of them shows a login
  /// Variable → folder below HOME: if the variable is set, its folder takes the place of this one.
  std::map<std::string, std::string> login_folders;
  std::vector<std::string> edit_args;  ///< arguments of the agent that let the program edit files
  std::string git_unless;   ///< without this argument the working folder has to be in a repository
  std::string not_as_root;  ///< the argument that the program refuses as root
  std::string not_as_root_unless;  ///< the variable that lifts this
  bool silent = false;             ///< prints nothing before its end

  bool mixed = false;        ///< the output may hold that of other programs
  bool needs_final = false;  ///< without a final object the run has failed
  std::vector<FinalRow> finals;
  std::vector<OutputEvent> events;
  std::vector<std::string> answer;  ///< pointers into the final object: the answer
  /// Pointers into any object: an array that is not empty, or a number above 0.
  std::vector<std::string> denials;
  std::vector<std::string> status;  ///< pointers into the final object: an HTTP status
  /// Pointers into the final object: where the end of a limit stands if the error text has none.
  std::vector<std::string> resets;
  std::vector<UsageRow> usage;
  std::vector<ErrorRow> errors;  ///< the first that fits counts; limits come first
  std::map<int, ErrorClass> exits;
};

/// The names of the adapters that are part of baton, sorted, without `generic`.
std::vector<std::string> adapter_names();
/// The text of an embedded adapter; empty: there is none.
std::string_view adapter_text(std::string_view name);
/// Reads an adapter that fits its schema. Errc::schema: a pattern is wrong, or `include` names no
/// embedded adapter.
Result<Adapter> parse_adapter(const Value& file);
/// An embedded adapter. Asserts that there is one.
const Adapter& embedded_adapter(std::string_view name);

}  // namespace baton
