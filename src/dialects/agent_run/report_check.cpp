#include <algorithm>
#include <array>
#include <string>

#include "base/time.h"
#include "dialects/agent_run/check.h"
#include "dialects/agent_run/text.h"
#include "dialects/agent_run/words.h"
#include "dialects/findings.h"
#include "dialects/tables.h"

namespace baton::agent_run {
namespace {

/// Phrases of the templates that agents are to fill in, in upper case. Several templates are in
/// use; these are what they have in common.
constexpr std::array<std::string_view, 6> kArtifactPhrases = {
    "LIST OF CREATED FILE PATHS",         "REPLACE WITH ACTUAL ARTIFACT",
    "RELATIVE PATH TO EACH CREATED FILE", "RELATIVE PATH TO THE ARTIFACT YOU PRODUCED",
    "RELATIVE PATH FOR EACH ARTIFACT",    "RELATIVE PATH TO EACH ARTIFACT",
};
constexpr std::array<std::string_view, 6> kLogPhrases = {
    "SUMMARY OF WHAT YOU ACCOMPLISHED",  "REPLACE WITH ACTUAL LOG ENTRY",
    "CONCISE SUMMARY OF WORK PERFORMED", "CONCISE BULLET SUMMARIZING WORK",
    "REPLACE WITH A CONCISE SUMMARY",    "REPLACE WITH A SHORT SUMMARY",
};
constexpr std::array<std::string_view, 2> kStampPhrases = {
    "REPLACE WITH UTC TIMESTAMP WHEN YOU FINISH",
    "INSERT COMPLETION TIMESTAMP",
};

template <std::size_t kSize>
bool holds(std::string_view text, const std::array<std::string_view, kSize>& phrases) {
  const std::string whole = upper(text);
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return whole.find(phrase) != std::string::npos;
  });
}

class ReportCheck {
 public:
  ReportCheck(const Value& root, const Place& place) : root_(root), place_(place) {}

  Findings run() {
    schema();
    names();
    status();
    stamps();
    collections();
    artifacts();
    logs();
    memory();
    return findings_.take();
  }

 private:
  std::string text(std::string_view key) const {
    return std::string(json::text(root_, key).value_or(""));
  }

  void schema() {
    if (text("schema") != "run_report@v0")
      findings_.warning("S41", "/schema", "the schema is called " + quoted_word(text("schema")),
                        {.found = text("schema"), .expected = "run_report@v0"});
  }

  /// A report of another step would be taken for this one's.
  void names() {
    expect("run_id", text("run_id"), place_.run);
    expect("step_id", file_part(text("step_id")), place_.step);
  }

  void expect(std::string_view key, const std::string& found, const std::string& expected) {
    if (!expected.empty() && found != expected)
      findings_.error("S42", member_pointer("", key),
                      std::string(key) + " is " + quoted_word(text(key)) +
                          ", but the file is that of " + quoted_word(expected),
                      {.found = text(key), .expected = expected});
  }

  void status() {
    const std::string word = upper(text("status"));
    const auto words = words_of(kReport);
    if (row_of(kReport, word) == nullptr)
      findings_.error("S40", "/status",
                      "the status " + quoted_word(text("status")) + " ends no step",
                      {.found = text("status"),
                       .expected = any_of_words(words) + ", in any case",
                       .suggestion = near_word(word, words)});
  }

  void stamps() {
    for (const char* const key : {"started_at", "ended_at"}) {
      if (holds(text(key), kStampPhrases))
        left_in(member_pointer("", key), text(key));
      else if (!parse_time(text(key)))
        findings_.warning("S44", member_pointer("", key),
                          std::string(key) + " is no date and time with a time zone",
                          {.found = text(key), .expected = "2026-01-15T14:51:02Z"});
    }
    const auto started = parse_time(text("started_at"));
    const auto ended = parse_time(text("ended_at"));
    if (started && ended && *ended < *started)
      findings_.warning(
          "S44", "/ended_at", "ended_at is before started_at",
          {.found = text("ended_at"), .expected = "not before " + text("started_at")});
  }

  void left_in(const std::string& pointer, const std::string& found) {
    findings_.warning("S43", pointer, "the text of the template was left in place",
                      {.found = found});
  }

  void collections() {
    for (const char* const key :
         {"artifacts", "metrics", "logs", "next_suggested_steps", "memory_updates"})
      if (const Value* const value = json::child(root_, key); value != nullptr && value->IsNull())
        findings_.warning("S46", member_pointer("", key),
                          std::string(key) + " is null and is taken for empty", {.found = "null"});
  }

  void artifacts() {
    const Value* const list = json::child(root_, "artifacts");
    if (list == nullptr || !list->IsArray())
      return;
    for (rapidjson::SizeType i = 0; i < list->Size(); ++i) {
      const std::string path(json::text((*list)[i]).value_or(""));
      const std::string pointer = item_pointer("/artifacts", i);
      if (holds(path, kArtifactPhrases))
        left_in(pointer, path);
      else if (leaves(path))
        findings_.warning("S47", pointer, "an artifact is a path below the repository",
                          {.found = path, .expected = "a relative path without .."});
    }
  }

  void logs() {
    const Value* const list = json::child(root_, "logs");
    if (list == nullptr || !list->IsArray())
      return;
    if (list->Empty())
      findings_.warning("S43", "/logs", "the logs are empty", {.expected = "at least one line"});
    for (rapidjson::SizeType i = 0; i < list->Size(); ++i) {
      const std::string line(json::text((*list)[i]).value_or(""));
      if (holds(line, kLogPhrases))
        left_in(item_pointer("/logs", i), line);
    }
  }

  /// Notes are written into the repository.
  void memory() {
    const Value* const list = json::child(root_, "memory_updates");
    if (list == nullptr || !list->IsArray())
      return;
    for (rapidjson::SizeType i = 0; i < list->Size(); ++i) {
      const std::string scope(json::text((*list)[i], "scope").value_or(""));
      if (leaves(scope))
        findings_.error("S45", item_pointer("/memory_updates", i) + "/scope",
                        "the scope " + quoted_word(scope) + " leaves the repository",
                        {.found = scope, .expected = "a folder of the repository"});
    }
  }

  const Value& root_;
  const Place& place_;
  FindingList findings_{"agent_run"};
};

}  // namespace

Findings check_report(const Value& root, const Place& place) {
  return ReportCheck(root, place).run();
}

}  // namespace baton::agent_run
