// SPDX-License-Identifier: Apache-2.0
#pragma once

// The log of the daemon. Under systemd it goes to the journal with fields of its own, so that
// `journalctl BATON_FLOW=rules/tickets/1` works; else, and when the journal does not read, to
// stderr. It never waits for its reader.
//
// The protocol of the journal: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/. It is one datagram per
// line. libsystemd would wait for a journal that does not read.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/common.h>

namespace baton {

/// Names and values: `BATON_FLOW` and the like. Empty values are left out.
using LogFields = std::vector<std::pair<std::string_view, std::string>>;

/// Makes the logger of the program. Lines have to be printable (base/text.h). On stderr they begin
/// with the time, unless stderr leads to the journal, which adds its own.
void begin_log();

/// A line that concerns a flow or a run. Without `begin_log` the fields are dropped.
void log_with_fields(spdlog::level::level_enum level, const std::string& line, LogFields fields);

}  // namespace baton
