// SPDX-License-Identifier: Apache-2.0
#include "core/ignored_names.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/catalog.h"

namespace baton {
namespace {

constexpr const char* kName = "t/{flow}.json";  // the usual pattern
constexpr const char* kWhole = "t/{flow}";      // takes any suffix

/// Matches the name against the pattern first, as the catalog does.
std::optional<IgnoredName> judged(const std::string& pattern, const std::string& path,
                                  const IgnoredNames& names = {}) {
  // Names of editors match no pattern; their values are given here.
  const auto match = match_pattern(pattern, path);
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string suffix = pattern.substr(pattern.rfind('}') + 1);
  const std::string flow =
      match ? match->flow : name.substr(0, name.size() - std::min(name.size(), suffix.size()));
  return ignored_name(names, pattern, path, flow, match ? match->part : "");
}

TEST_CASE("temporary files, backups and conflicts are ignored whatever lies beside them") {
  struct Row {
    std::string pattern;
    std::string name;
    std::string sign;
  };
  const std::vector<Row> rows = {
      {kName, "~a.json", "~"},
      {kWhole, "#a.json#", "#"},
      {kWhole, "a.json~", "~"},
      {kWhole, "a.json.swp", ".swp"},
      {kWhole, "a.swo", ".swo"},
      {kWhole, "a.swx", ".swx"},
      {kWhole, "a.json.kate-swp", ".kate-swp"},
      {kName, "tmp.json", "tmp."},
      {kName, "tmp.Xa12.json", "tmp."},
      {kName, "TMP.1.json", "tmp."},
      {kName, "a.tmp.json", ".tmp"},
      {kName, "a.TMP.json", ".tmp"},
      {kName, "a.temp.json", ".temp"},
      {kWhole, "a.json.tmp", ".tmp"},
      {kWhole, "a.tmp.json", ".tmp"},
      {kWhole, "a.json.partial", ".partial"},
      {kWhole, "a.json.crdownload", ".crdownload"},
      {kWhole, "a.json.part", ".part"},
      {kName, "a.bak.json", ".bak"},
      {kWhole, "a.json.bak", ".bak"},
      {kName, "a.backup.json", ".backup"},
      {kName, "a.orig.json", ".orig"},
      {kWhole, "a.json.orig", ".orig"},
      {kWhole, "a.json.rej", ".rej"},
      {kName, "a_BACKUP_1234.json", "_backup_"},
      {kName, "a_BASE_1.json", "_base_"},
      {kName, "a_LOCAL_22.json", "_local_"},
      {kName, "a_REMOTE_22.json", "_remote_"},
      {kName, "a.sync-conflict-20240102-101112-ABCDEFG.json", ".sync-conflict-"},
      {kName, "~syncthing~a.json", "~"},
      {kName, "a (Joe's conflicted copy 2024-01-02).json", "conflicted copy"},
      {kName, "a_conflict-20240102-101112.json", "_conflict-"},
      {"r/{flow}/state.json", "r/a.bak/state.json", ".bak"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const std::string path = row.name.find('/') == std::string::npos ? "t/" + row.name : row.name;
    const auto found = judged(row.pattern, path);
    REQUIRE(found);
    CHECK(found->beside.empty());
    CHECK(found->why.find(row.sign) != std::string::npos);
    // People can do without the list, and name others.
    CHECK_FALSE(judged(row.pattern, path, {.usual = false, .patterns = {}}));
  }
}

TEST_CASE("copies are ignored only beside the file that they are a copy of") {
  struct Row {
    std::string pattern;
    std::string name;
    std::string beside;
    bool while_equal;
  };
  const std::vector<Row> rows = {
      {kName, "a.new.json", "t/a.json", false},
      {kName, "a.old.json", "t/a.json", false},
      {kWhole, "a.json.new", "t/a.json", false},
      {kWhole, "a.json.aB3xYz", "t/a.json", false},
      {kWhole, "a.json.2718281828", "t/a.json", false},
      {kName, "a-copy.json", "t/a.json", true},
      {kName, "a copy.json", "t/a.json", true},
      {kName, "a (copy).json", "t/a.json", true},
      {kName, "a (copy 2).json", "t/a.json", true},
      {kName, "a - Copy.json", "t/a.json", true},
      {kName, "a - Copy (2).json", "t/a.json", true},
      {kWhole, "a-copy.json", "t/a.json", true},
      {"{flow}.json", "a-copy.json", "a.json", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto found = judged(row.pattern, (row.pattern[0] == 't' ? "t/" : "") + row.name);
    REQUIRE(found);
    CHECK(found->beside == row.beside);
    CHECK(found->while_equal == row.while_equal);
  }
}

TEST_CASE("names of people's files are not ignored, nor what the pattern itself spells") {
  struct Row {
    std::string pattern;
    std::string path;
  };
  const std::vector<Row> rows = {
      {kName, "t/a.json"},
      {kName, "t/template.json"},
      {kName, "t/attempt.json"},
      {kName, "t/original.json"},
      {kName, "t/backup.json"},
      {kName, "t/bak.json"},
      {kName, "t/temp.json"},
      {kName, "t/new.json"},
      {kName, "t/photocopy.json"},
      {kName, "t/copy.json"},
      {kName, "t/a.b.json"},
      {kName, "t/v1.2.3.json"},
      {kName, "t/a_BASE_x.json"},
      {kName, "t/resolve_conflict-now.json"},
      {kName, "t/BUG-123456.json"},
      {kName, "t/release.2024010203.json"},
      {kWhole, "t/a.json"},
      {kWhole, "t/partial"},
      {kWhole, "t/a.feature"},
      {"t/{flow}.tmp.json", "t/a.tmp.json"},
      {"t/{flow}.bak", "t/a.bak"},
      {"t/tmp.{flow}.json", "t/tmp.a.json"},
      {"bak.bak/{flow}.json", "bak.bak/a.json"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK_FALSE(judged(row.pattern, row.path));
  }
}

TEST_CASE("names that the configuration lists are ignored, by shell patterns") {
  const IgnoredNames names{.usual = true, .patterns = {"*.draft.json", "README*", "[ab]?.json"}};
  CHECK(judged(kName, "t/x.draft.json", names)->why ==
        "ignored by the configuration (`*.draft.json`)");
  CHECK(judged(kName, "t/README.json", names));
  CHECK(judged(kName, "t/a1.json", names));
  CHECK_FALSE(judged(kName, "t/c1.json", names));
  struct Row {
    std::string pattern;
    std::string name;
    bool matches;
  };
  const std::vector<Row> rows = {
      {"*", "", true},        {"*", "a.json", true},     {"a*c", "abbc", true},
      {"a*c", "abcd", false}, {"*.json", "json", false}, {"?", "Ü", true},
      {"[Ä-Ü]x", "Öx", true}, {"[!a]x", "bx", true},     {"[!a]x", "ax", false},
      {"[^a]x", "bx", true},  {"a[", "a[", true},        {"a\\*", "a*", true},
      {"a\\*", "ab", false},  {"**b", "aab", true},      {"[]]", "]", true},
      {"", "", true},         {"", "a", false},          {"a?", "a", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern + " " + row.name);
    CHECK(matches_shell_pattern(row.pattern, row.name) == row.matches);
  }
}

}  // namespace
}  // namespace baton
