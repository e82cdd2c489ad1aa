// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "config/config.h"
#include "zones.h"

namespace baton {
namespace {

std::string said(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings)
    text += describe(finding, "baton.yaml") + " [" + finding.rule + "]\n";
  return text;
}

tl::expected<ParsedConfig, Findings> read(const std::string& text) {
  static const FakeZones zones;
  return parse_config("version: 1\n" + text, Format::yaml, &zones);
}

std::string rule(const std::string& keys) {
  return "agents: { b: { command: [x] } }\nrules:\n  - { name: t, files: \"t/{flow}.json\", stage: "
         "/s, react: [{ to: a, run: b }], " +
         keys + " }\n";
}

}  // namespace

TEST_CASE("hours stand at the top, in an agent and in a rule, as one span or several") {
  const auto config = read(
      "hours: [\"22:00-06:00 Europe/Berlin\", \"12:00-13:00\"]\n"
      "agents: { dev: { command: [x], hours: \"20:00-24:00 UTC\" }, qa: { command: [x] } }\n"
      "rules: [{ name: t, files: a.json, stage: /s, react: [{ to: a, run: qa }], hours: "
      "\"09:00-17:00\" }]\n");
  REQUIRE_MESSAGE(config.has_value(), (config ? "" : said(config.error())));
  const AllHours& hours = config->config.hours;
  CHECK(hours.everything.text == "22:00-06:00 Europe/Berlin, 12:00-13:00");
  REQUIRE(hours.everything.spans.size() == 2);
  CHECK(hours.everything.spans[0] == HourSpan{22 * 60, 6 * 60, "Europe/Berlin"});
  CHECK(hours.everything.spans[1] == HourSpan{12 * 60, 13 * 60, ""});
  REQUIRE(hours.agents.size() == 1);
  CHECK(hours.agents.at("dev").spans[0] == HourSpan{20 * 60, 24 * 60, "UTC"});
  CHECK(hours.rules.at("t").text == "09:00-17:00");
}

TEST_CASE("times that make no sense are faults with their place and the form") {
  struct Row {
    std::string text;
    const char* fault;
  };
  for (const Row& row : {
           Row{"hours: \"22:00-06:00 Europe/Berln\"\n",
               "baton.yaml:2:8: this machine does not know the time zone 'Europe/Berln'; write a "
               "name such as Europe/Berlin"},
           Row{"hours: 22\n", "expected array or string, found the integer 22"},
           Row{"hours: []\n", "baton.yaml:2:8"},
           Row{"hours: [\"22:00-06:00\", 5]\n", "baton.yaml:2:24"},
           Row{"hours: \"22-6\"\n",
               "'22-6' is not a span of hours; write the hours as \"22:00-06:00\""},
           Row{"agents: { a: { command: [x], hours: \"\" } }\n", "baton.yaml:2:37"},
           Row{rule("hours: \"06:00-06:00\""), "begins and ends at the same time"},
           Row{rule("max_entries: -1"), "-1 is not at least 0"},
           Row{rule("max_entries: often"),
               "expected object or integer, found the string \"often\""},
           Row{rule("max_entries: { count: 3 }"), "\"per\""},
           Row{rule("max_entries: { per: 1d }"), "\"count\""},
           Row{rule("max_entries: { count: 3, per: day }"), "'day' is not a duration"},
           Row{rule("max_entries: { count: 3, per: 0s }"),
               "the span must be longer than 0s; write it as 12h, 1d or 7d"},
           Row{rule("max_entries: { count: -1, per: 1d }"), "minimum"},
           Row{rule("max_entries: { count: 3, per: 1d, since: 2d }"), "since"},
           Row{"limits: { max_file: 0B }\n", "`max_file` is at least 1B and at most 1GiB"},
           Row{"limits: { max_file: 2GiB }\n", "`max_file` is at least 1B and at most 1GiB"},
           Row{"limits: { max_file: lots }\n", "'lots' is not a size"},
       }) {
    CAPTURE(row.text);
    const auto config = read(row.text);
    REQUIRE_FALSE(config.has_value());
    const std::string found = said(config.error());
    CAPTURE(found);
    CHECK(found.find(row.fault) != std::string::npos);
  }
}

TEST_CASE("max_entries is a number, a count within a span, or 0 for no limit") {
  const auto limit = [](const std::string& keys) {
    const auto config = read(rule(keys));
    REQUIRE_MESSAGE(config.has_value(), (config ? "" : said(config.error())));
    const std::string text = config->config.dialects.back().second.dump();
    const std::size_t at = text.find("\"max_entries\":");
    return text.substr(at, text.find(",\"breaker\"") - at);
  };
  CHECK(limit("done: [x]") == "\"max_entries\":20");
  CHECK(limit("max_entries: 0") == "\"max_entries\":0");
  CHECK(limit("max_entries: 7") == "\"max_entries\":7");
  CHECK(limit("max_entries: { count: 7, per: 12h }") ==
        "\"max_entries\":{\"count\":7,\"per_ms\":43200000}");
}

TEST_CASE("a document may be as large as max_file, and a flow should have room for it") {
  const auto limits = [](const std::string& keys) {
    const auto config = read("limits: { " + keys + " }\n");
    REQUIRE_MESSAGE(config.has_value(), (config ? "" : said(config.error())));
    return *config;
  };
  CHECK(load_limits(limits("max_running: 2").config) == LoadLimits{});
  CHECK(load_limits(limits("max_file: 1MiB").config).max_bytes == 1U << 20U);
  CHECK(load_limits(limits("max_file: 1MiB").config).max_memory_bytes ==
        LoadLimits{}.max_memory_bytes);
  const ParsedConfig large = limits("max_file: 64MiB");
  CHECK(load_limits(large.config).max_bytes == 64U << 20U);
  CHECK(load_limits(large.config).max_memory_bytes > (64U << 20U) * 3);
  CHECK(said(large.warnings).find("`max_file` is above `max_flow_size`") != std::string::npos);
  CHECK(said(limits("max_file: 64MiB, max_flow_size: 128MiB").warnings).empty());
}

}  // namespace baton
