// SPDX-License-Identifier: Apache-2.0
#pragma once

// Providers that have no room now, or that refuse a login: which agents wait for them, and until
// when.
//
// Problem: one limit stops all agents of an account, in all flows and roots.
// Way: a run that meets a limit parks its provider for its account. Nothing of that account starts
// until then. The rows are kept outside of the roots (io/journal/daemon_db.h).
// Limits: what a text says about the time is read in adapters/reset_time.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/effect.h"
#include "core/run.h"

namespace baton {

/// Whose limits an agent meets.
struct ProviderAccount {
  std::string provider;
  std::string account;  ///< digest of the values that identify the account; empty: none is known
  std::string model;    ///< empty: the program's own choice; of a parked row: all models
  auto operator<=>(const ProviderAccount&) const = default;
};

/// One row. A row whose time is over stays until a run succeeds, because it counts in `times`.
struct Parked {
  ProviderAccount whose;
  bool login = false;         ///< the login or the credit was refused
  Time since{};               ///< when it was met first
  std::optional<Time> until;  ///< nothing: until a person or a changed login
  std::uint32_t times = 1;    ///< met in a row, without a success in between
  RunId run;                  ///< that met it first
  std::string why;            ///< what the program said
  bool operator==(const Parked&) const = default;
};

/// Whether a run has met the limit of the row, and not a further one: the row is still in force, or
/// it is the run's own. So agents that work at the same time count once, and so does an end that is
/// judged again after a crash or a failed commit.
bool is_same_limit(const Parked& parked, const Run& run);
/// Whether people hear of the limit from this run: once, however often its end is judged.
bool is_told_by(const std::optional<Parked>& before, const Run& run);

/// The row after a run of `whose` has met a limit. `before`: the row so far. `named`: when the
/// limit ends by the program. Without a time baton tries again after 15 minutes, then after twice
/// as long each time, up to five hours; from the third time in a row on it waits at least that
/// long. A tenth of the wait, at most 90 s, is added, different for each run, so that not all start
/// at once. Of two runs that meet the same limit the later named time counts; one without a time
/// changes nothing.
Parked parked_by_limit(const std::optional<Parked>& before, const ProviderAccount& whose,
                       std::optional<Time> named, const Run& run, const std::string& why);
/// The row after a login was refused to a run.
Parked parked_by_login(const std::optional<Parked>& before, const ProviderAccount& whose,
                       const Run& run, const std::string& why);
/// Whether a successful run of the agent ends the row: it was started after the row's time, or
/// after the login was refused. A run that was at work before says nothing of a limit that another
/// one has met meanwhile.
bool is_over_for(const Parked& parked, const ProviderAccount& agent, const Run& run);

/// Whether the row keeps this agent from starting now.
bool holds(const Parked& parked, const ProviderAccount& agent, Time now);

/// Why baton waits so long, where it is not what the program says; else empty.
std::string reason_of_wait(const Parked& parked);

/// Why an agent waits, for people.
Hold hold_of(const Parked& parked, const Role& agent);

}  // namespace baton
