// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the option `shell` of this dialect allows: whether loops may run shell actions, and which
// variables of the daemon's environment they get. Agents can write definitions, so a definition
// gets nothing that the configuration does not name.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/definition.h"

namespace baton::fsm_loop {

/// Variables that every loop gets; `LC_*` also belongs to them, and `PWD`, which is the root.
inline constexpr std::array<std::string_view, 12> kUsualVariables = {
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL",
    "TEMP", "TMP",  "TMPDIR",   "TZ",      "USER", "XDG_RUNTIME_DIR"};

/// The names in `shell: { env: [...] }`.
std::vector<std::string> listed_variables(const Json& options);
/// Whether loops get this variable.
bool gives_variable(const Json& options, std::string_view name);
/// Whether loops may start programs without an agent.
bool allows_shell(const Json& options);

/// The lines of baton.yaml that give loops one more variable.
std::string variable_line(const Json& options, std::string_view name);
/// Why a shell action does not run, and what to do.
inline constexpr std::string_view kShellForbidden =
    "the configuration forbids shell actions of loops (`shell: { allow: false }`)";
inline constexpr std::string_view kAllowShell =
    "give the action to an agent, or set `dialects: { fsm_loop: { shell: { allow: true } } }` in "
    "baton.yaml; then `baton reload`";

/// Reports each `${env.NAME}` that loops do not get (S15). `root` is a definition as written.
void check_variables(const Value& root, const Json& options, FindingList& findings);
/// Reports each state that starts a program without an agent, if that is forbidden (S16). `states`
/// is the member of that name, with whole bodies.
void check_shell(const Definition& definition, const Json& options, FindingList& findings);

/// The first fault of a definition that is put together: what the two rules above say of it, of
/// its parents and of its sub-loops, as `PATH:LINE:COLUMN: ...`. Empty: there is none.
std::string access_fault(const Library& library, const Value& long_form, const Json& options);

}  // namespace baton::fsm_loop
