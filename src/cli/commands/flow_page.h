// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page of `baton status FLOW`: how one flow stands, its subjects, its last events and what its
// last agent wrote to stderr.

#include <cstddef>
#include <string>

#include "base/time.h"
#include "engine/decide/status.h"
#include "workspace/rehearsal.h"

namespace baton {

/// `"Fix the login": ` if the flow's files give a title; else "".
std::string title_text(const FlowStatus& status);

/// `columns`: the width of the terminal; 0: lines may have any length. What cannot be read, such as
/// a journal, is left out.
std::string flow_page(const FlowStatus& status, const RehearsedRoot& on_root, Time now,
                      std::size_t columns);

/// One line of the history: time, event, flow, role, subject, run and reason. `root`: empty if
/// there is only one.
std::string event_text(const Event& event, const std::string& root);

}  // namespace baton
