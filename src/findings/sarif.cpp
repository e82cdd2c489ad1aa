// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <utility>

#include "base/digest.h"
#include "base/json/json.h"
#include "base/schema/uri.h"
#include "findings/report.h"

namespace baton {
namespace {

/// A path as a URI reference (RFC 3986). A name with a colon would look like a scheme.
std::string uri_of(const std::string& path) {
  return (path.starts_with('/') ? "file://" : "") + percent_encoded(path);
}

Json region_of(const Span& span) {
  Json region = Json::object({{"startLine", span.begin.line}, {"startColumn", span.begin.column}});
  if (span.end.line > span.begin.line ||
      (span.end.line == span.begin.line && span.end.column > span.begin.column)) {
    region.set("endLine", span.end.line);
    region.set("endColumn", span.end.column);
  }
  return region;
}

/// An identity for a finding that stays the same when lines move and values change: its pointer and
/// rule. `same` numbers the findings with the same pointer and rule.
std::string fingerprint(const std::string& path, const Finding& finding, std::size_t same) {
  return hex(
      digest_of(path + '\n' + finding.pointer + '\n' + finding.rule + '\n' + std::to_string(same)));
}

Json result_of(const std::string& path, const Finding& finding, std::size_t same) {
  const Json location = Json::object(
      {{"physicalLocation",
        Json::object({{"artifactLocation", Json::object({{"uri", uri_of(path)}})},
                      {"region", region_of(finding.span)}})},
       {"logicalLocations",
        Json::array({Json::object({{"fullyQualifiedName", "#" + finding.pointer}})})}});
  return Json::object(
      {{"ruleId", finding.rule},
       {"level", severity_word(finding)},
       {"message", Json::object({{"text", sentence(finding)}})},
       {"locations", Json::array({location})},
       {"partialFingerprints", Json::object({{"baton/v1", fingerprint(path, finding, same)}})},
       {"properties", Json::object({{"schema_pointer", finding.schema_pointer},
                                    {"found", finding.found},
                                    {"expected", finding.expected}})}});
}

std::string rule_text(const std::string& rule) {
  if (rule == "json")
    return "The file is not what its format demands.";
  if (rule == "file")
    return "The file cannot be read as a regular file.";
  const std::size_t slash = rule.find('/');
  const std::string family = rule.substr(0, slash);
  const std::string name = slash == std::string::npos ? rule : rule.substr(slash + 1);
  return family == "schema" ? "The keyword " + name + " of the schema does not hold."
                            : "The rule " + name + " of the dialect " + family + " is broken.";
}

}  // namespace

std::string report_sarif(const Report& report, std::string_view version) {
  Json results = Json::array();
  std::set<std::string> rules;
  for (const Inspected& file : report.files) {
    std::map<std::pair<std::string, std::string>, std::size_t> seen;
    for (const Finding& finding : file.findings) {
      const std::size_t same = seen[{finding.pointer, finding.rule}]++;
      results.push(result_of(file.path, finding, same));
      rules.insert(finding.rule);
    }
  }
  Json described = Json::array();
  for (const std::string& rule : rules)
    described.push(Json::object(
        {{"id", rule}, {"shortDescription", Json::object({{"text", rule_text(rule)}})}}));
  const Json driver =
      Json::object({{"name", "baton"}, {"version", Json(version)}, {"rules", described}});
  const Json run = Json::object({{"tool", Json::object({{"driver", driver}})},
                                 {"columnKind", "unicodeCodePoints"},
                                 {"results", results}});
  return Json::object({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                       {"version", "2.1.0"},
                       {"runs", Json::array({run})}})
      .pretty();
}

}  // namespace baton
