// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include "dialects/ccw_loop/ccw_loop.h"

namespace baton::ccw_loop {

namespace {

/// Whether a printed line fits the schema of debug.log.
bool is_record(std::string_view line) {
  const auto parsed = line.starts_with('{') ? parse_json(std::string(line)) : Result<Json>(Json());
  if (!parsed || !json::text(**parsed, "hid"))
    return false;
  const Value* const ts = json::child(**parsed, "ts");
  const Value* const func = json::child(**parsed, "func");
  return (ts == nullptr || ts->IsNumber()) && (func == nullptr || func->IsString());
}

std::string records(std::string_view printed, std::string_view known) {
  std::string found;
  while (!printed.empty()) {
    const auto end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (is_record(line) && known.find(line) == std::string_view::npos)
      found += std::string(line) + "\n";
  }
  return found;
}

}  // namespace

std::optional<Append> debug_log_lines(Snapshot& snapshot) {
  if (!snapshot.options.tee_debug || snapshot.memo.debug_log_done)
    return std::nullopt;
  const auto run =
      std::find_if(snapshot.view.runs.begin(), snapshot.view.runs.end(),
                   [&](const Run& each) { return each.id == snapshot.memo.run && !each.live(); });
  if (run == snapshot.view.runs.end())
    return std::nullopt;
  snapshot.memo.debug_log_done = true;
  const std::string path =
      snapshot.options.path + "/" + snapshot.view.flow.name + ".progress/debug.log";
  const auto stands = snapshot.view.docs.find(path);
  const std::string known = stands == snapshot.view.docs.end() ||
                                    stands->second.document == nullptr || !stands->second.present
                                ? std::string()
                                : stands->second.document->text();
  std::string lines = records(run->output, known) + records(run->errors, known);
  if (lines.empty())
    return std::nullopt;
  return Append{path, kAtEnd, std::move(lines), "the executor printed it (tee_debug)"};
}

}  // namespace baton::ccw_loop
