#include <optional>
#include <string>

#include "base/time.h"
#include "dialects/findings.h"
#include "dialects/fsm_loop/check.h"
#include "dialects/fsm_loop/places.h"

namespace baton::fsm_loop {
namespace {

std::optional<Time> time(const Value& root, std::string_view name) {
  const auto text = json::text(root, name);
  return text ? parse_time(*text) : std::nullopt;
}

}  // namespace

Findings check_state(const Value& root, const std::string& stem) {
  FindingList findings("fsm_loop");
  const auto started = time(root, "started_at");
  const auto updated = time(root, "updated_at");
  if (started && updated && *updated < *started)
    findings.warning("S40", "/updated_at", "updated_at is before started_at",
                     {.found = std::string(*json::text(root, "updated_at")),
                      .expected = "not before " + std::string(*json::text(root, "started_at"))});
  if (json::text(root, "status") == "awaiting_continuation" &&
      json::text(root, "continuation_prompt").value_or("").empty())
    findings.warning("S41", "/status",
                     "a loop that awaits its continuation has no continuation_prompt");
  const auto name = json::text(root, "loop_name");
  if (name && !stem.empty() && stem != *name && loop_of_instance(stem) != *name)
    findings.warning(
        "S42", "/loop_name",
        "loop_name is " + quoted_word(*name) + ", but the file is named " + quoted_word(stem),
        {.found = std::string(*name), .expected = stem});
  return findings.take();
}

Findings check_events(const Value& lines) {
  FindingList findings("fsm_loop");
  for (rapidjson::SizeType i = 0; i < lines.Size(); ++i) {
    if (json::text(lines[i], "event") != "loop_complete")
      continue;
    for (const char* const key : {"iterations", "terminated_by"})
      if (json::child(lines[i], key) == nullptr)
        findings.warning("S43", item_pointer("", i), std::string("loop_complete lacks ") + key,
                         {.expected = key});
  }
  return findings.take();
}

Findings check_lock(const Value& root) {
  FindingList findings("fsm_loop");
  if (const auto scope = json::text(root, "scope"))
    findings.warning("S44", "/scope", "scope is one text and is taken for a list of one",
                     {.found = std::string(*scope), .expected = "a list"});
  return findings.take();
}

}  // namespace baton::fsm_loop
