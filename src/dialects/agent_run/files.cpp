#include "dialects/agent_run/files.h"

#include <string>
#include <utility>

#include "dialects/kinds.h"

namespace baton::agent_run {
namespace {

FileKind kind(std::string name, std::string pattern, Format format = Format::json) {
  FileKind result = file_kind("agent_run", std::move(name), std::move(pattern), format);
  // Reports and decisions come and go.
  result.essential = result.kind == "run_state";
  // The original takes any name for a run.
  result.loose = true;
  return result;
}

}  // namespace

std::string runs_folder(const Json& options) {
  std::string path(json::text(*options, "path").value_or(".agents/runs"));
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

std::vector<FileKind> files(const Json& options) {
  const std::string run = runs_folder(options) + "/{flow}/";
  FileKind prompt = kind("prompt", run + "prompts/{part}.md", Format::text);
  prompt.schema.clear();
  return {kind("run_state", run + "run_state.json"),
          kind("report", run + "reports/{flow}__{part}.json"),
          kind("manual_input", run + "manual_inputs/{flow}__{part}.json"),
          kind("workflow", run + "workflow.yaml", Format::yaml),
          std::move(prompt),
          kind("gate_state", run + "gate_state.json"),
          kind("loop_items", run + "loop_items/{part}.json")};
}

Place place_of(const Json& options, std::string_view kind, std::string_view path) {
  auto match = match_kind(files(options), kind, path);
  return match ? Place{std::move(match->flow), std::move(match->part), runs_folder(options)}
               : Place{};
}

}  // namespace baton::agent_run
