#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/agent_run/snapshot.h"

namespace baton::agent_run {

/// What a report says of its step.
struct Report {
  bool completed = false;
  bool gate_failure = false;
  std::string ended_at;
  Json artifacts = Json::array();  ///< below the repository where they lie in it
  Json metrics = Json::object();
  Json logs = Json::array();
  Json memory_updates;              ///< null: none
  std::vector<std::string> astray;  ///< artifacts that are not below the repository
};
/// Of a document that its schema accepts.
Report report_of(const Scene& scene, const Value& root);

/// The first and the last lines of the logs, for messages.
std::string first_line(const Report& report);
std::string last_lines(const Report& report);

/// What an ended start has left to go by.
struct Testimony {
  enum class Kind {
    none,     ///< no report, and none is to be expected any more
    waiting,  ///< there may still be one: look again at `again`
    written,  ///< the agent printed it instead; `file` brings it to where it belongs
    invalid,  ///< `why`
    valid,    ///< `report`
  };
  Kind kind = Kind::none;
  std::string why;
  Time again{};
  std::optional<Update> file;
  Report report;
};
/// RUNNING steps whose agents have ended: their reports are looked for also where no event has told
/// of them.
std::vector<std::string> wanting_reports(const Scene& scene);
Testimony testimony(const Scene& scene, const Step& step, const Run& run);

/// The report of a start that is still at work, when it is whole and can be its own.
std::optional<Report> lying_report(const Scene& scene, const Step& step, const Run& run);

/// What an agent says on its stdout. Where that is a stream of events in JSON, as the command lines
/// of several agents write it, the texts in them, each on lines of its own; what the agent was told
/// and what its tools have read is not among them. Other lines as they stand.
std::string spoken(std::string_view output);

/// The text between the last pair of lines `<<<RUN_REPORT_JSON` and `RUN_REPORT_JSON>>>` of the
/// output, or of what is spoken in it.
std::optional<std::string> printed_report(std::string_view output);

}  // namespace baton::agent_run
