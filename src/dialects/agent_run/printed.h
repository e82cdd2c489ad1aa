#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::agent_run {

/// What an agent says on its stdout. Where that is a stream of events in JSON, as the command lines
/// of several agents write it, the texts in them, each on lines of its own; what the agent was told
/// and what its tools have read is not among them. Other lines as they stand.
std::string spoken(std::string_view output);

/// The text between the last pair of lines `<<<RUN_REPORT_JSON` and `RUN_REPORT_JSON>>>` of the
/// output, or of what is spoken in it.
std::optional<std::string> printed_report(std::string_view output);

}  // namespace baton::agent_run
