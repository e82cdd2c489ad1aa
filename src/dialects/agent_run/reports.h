#pragma once

// Reports of agents: reading them, finding the report of an ended start, and taking a report out of
// the agent's output when it printed the report instead of writing it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

/// The content of a report.
struct Report {
  bool completed = false;
  bool gate_failure = false;
  std::string ended_at;
  Json artifacts = Json::array();  ///< relative to the repository where they lie in it
  Json metrics = Json::object();
  Json logs = Json::array();
  Json memory_updates;               ///< null: none
  std::vector<std::string> outside;  ///< artifacts outside the repository
};
/// The document must have passed its schema.
Report report_of(const Snapshot& snapshot, const Value& root);

/// The first and the last lines of the logs, for messages.
std::string first_line(const Report& report);
std::string last_lines(const Report& report);

/// The report of an ended start, or why there is none.
struct FoundReport {
  enum class Kind {
    none,     ///< no report, and none will come
    waiting,  ///< it may still arrive: look again at `look_again`
    written,  ///< the agent printed it; `file` writes it to its place
    invalid,  ///< `why`
    valid,    ///< `report`
  };
  Kind kind = Kind::none;
  std::string why;
  Time look_again{};
  std::optional<Update> file;
  Report report;
};
/// RUNNING steps whose agents have ended. Their reports are read even if no event arrived.
std::vector<std::string> steps_wanting_reports(const Snapshot& snapshot);
FoundReport find_report(const Snapshot& snapshot, const Step& step, const Run& run);

/// The report of a running agent, when it is complete and belongs to this start.
std::optional<Report> early_report(const Snapshot& snapshot, const Step& step, const Run& run);

/// The text that an agent wrote to stdout. Several agents write a stream of JSON events; then the
/// texts in the events count, each on its own lines. Prompts and tool results are left out. Other
/// lines stay as they are.
std::string agent_text(std::string_view output);

/// The text between the last lines `<<<RUN_REPORT_JSON` and `RUN_REPORT_JSON>>>` of the output, or
/// of the texts in its events.
std::optional<std::string> report_in_output(std::string_view output);

}  // namespace baton::agent_run
