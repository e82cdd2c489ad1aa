#include "dialects/fsm_loop/files.h"

#include <utility>

#include "dialects/kinds.h"

namespace baton::fsm_loop {
namespace {

FileKind kind(std::string name, std::string pattern, Format format) {
  FileKind result = file_kind("fsm_loop", std::move(name), std::move(pattern), format);
  // A running loop keeps the definition it began with, and its events and lock are for others to
  // read; only its state must be there.
  result.essential = result.kind == "state";
  result.kept = result.kind != "events";
  return result;
}

/// A number and nothing else, which other programs leave there.
FileKind process_id(std::string pattern) {
  FileKind result = kind("pid", std::move(pattern), Format::text);
  result.schema.clear();
  return result;
}

}  // namespace

std::vector<FileKind> files(const Json& options) {
  const std::string path(json::text(*options, "path").value_or(".loops"));
  const std::string running = path + "/.running/{flow}";
  // `x.fsm.yaml` is the definition of `x`, so it is looked for first.
  return {kind("definition", path + "/{flow}.fsm.yaml", Format::yaml),
          kind("definition", path + "/{flow}.yaml", Format::yaml),
          kind("state", running + ".state.json", Format::json),
          kind("events", running + ".events.jsonl", Format::jsonl),
          kind("lock", running + ".lock", Format::json),
          process_id(running + ".pid")};
}

std::string stem_of(const Json& options, std::string_view kind, std::string_view path) {
  auto match = match_kind(files(options), kind, path);
  return match ? std::move(match->flow) : std::string();
}

}  // namespace baton::fsm_loop
