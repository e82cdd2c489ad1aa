// SPDX-License-Identifier: Apache-2.0
#include "io/system/backup_prune.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "temp_folder.h"

namespace baton {

using baton::test::TempFolder;

TEST_CASE("old backups go, the newest of each flow and everything else stays") {
  const TempFolder root;
  const std::string a = "flows/a/backups/";
  const std::string b = "flows/b/backups/";
  const std::string old = "s_20260101T000000.000Z.json.gz";
  const std::string older = "s_20250101T000000.000Z.json.gz.enc";
  const std::string fresh = "s_20260120T000000.000Z.json.gz";
  for (const std::string& path :
       {a + old, a + older, a + fresh, b + old, b + older, "flows/a/" + older, "flows/" + older,
        "flows/a/backups/deep/" + older, "other/a/backups/" + older, a + "mine.json.gz"})
    test::write(root / path, "x");
  BackupPlan plan;
  plan.folder = "flows/{flow}/backups";
  const Time now = *parse_time("2026-01-22T00:00:00Z");
  CHECK(prune_backups(root.path(), plan, now).value() == 0);  // kept for ever
  plan.keep = std::chrono::hours(24 * 7);
  CHECK(prune_backups(root.path(), plan, now).value() == 3);
  CHECK(prune_backups(root.path(), plan, now).value() == 0);
  for (const std::string& path :
       {a + fresh, b + old, "flows/a/" + older, "flows/" + older, "flows/a/backups/deep/" + older,
        "other/a/backups/" + older, a + "mine.json.gz"}) {
    CAPTURE(path);
    CHECK(std::filesystem::exists(root / path));
  }
  CHECK_FALSE(std::filesystem::exists(root / (a + old)));
  plan.folder = "nowhere/{flow}/backups";
  CHECK(prune_backups(root.path(), plan, now).value() == 0);
}

TEST_CASE("a folder of backups that is a link is not followed") {
  const TempFolder root;
  const TempFolder elsewhere;
  const std::string old = "s_20250101T000000.000Z.json.gz";
  for (const char* const name : {"1", "2"})
    test::write(elsewhere / (name + old), "x");
  test::write(root / "flows/a/state.json", "{}");
  std::filesystem::create_symlink(elsewhere.path(), root / "flows/a/backups");
  BackupPlan plan;
  plan.folder = "flows/{flow}/backups";
  plan.keep = std::chrono::hours(1);
  CHECK(prune_backups(root.path(), plan, *parse_time("2026-01-22T00:00:00Z")).value() == 0);
  CHECK(std::filesystem::exists(elsewhere / ("1" + old)));
}

}  // namespace baton
