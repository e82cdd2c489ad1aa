// SPDX-License-Identifier: Apache-2.0
#pragma once

// When the next line of a log may be read (LogReading::entries).
//
// Problem: each line that brings a new stage asks for work, and lines may come faster than the work
// is done.
// Way: the lines wait in the log. The next one is read when all agents that the present stages want
// have done their work, and nothing waits for a person. What that needs to know is in the journal,
// so that it can be asked before the flow is decided.

#include "engine/state/flow_record.h"

namespace baton {

/// Notes what the present stages want. Call it when a flow has been decided.
void note_entries(FlowRecord& record);

/// Lets the next line be read if the work of the present one has failed.
void pass_failed(FlowRecord& record);

/// Whether all that the lines read so far ask for is done, so that the next one may be read. A line
/// that waits until a condition holds, or whose stage no reaction is for, asks for nothing now.
/// `root`: the record of the root, or nullptr.
bool is_worked(const FlowRecord& record, const FlowRecord* root);

}  // namespace baton
