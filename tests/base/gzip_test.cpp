// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#include <string>

#include <doctest/doctest.h>

#include "core/backup.h"

namespace baton {

TEST_CASE("what is packed comes out again, and is the same each time") {
  std::string large;
  for (int i = 0; i < 40'000; ++i)
    large += std::to_string(i * 7919 % 1000);
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(300'000, 'x'), large}) {
    const auto packed = gzip(text);
    REQUIRE(packed);
    CHECK(*packed == *gzip(text));
    const auto back = gunzip(*packed, 1U << 20U);
    REQUIRE(back);
    CHECK(*back == text);
  }
  CHECK(gunzip(*gzip(std::string(1000, 'x')), 999).error().code == Errc::too_large);
}

TEST_CASE("a packed file that is cut or changed anywhere gives nothing or the same") {
  const std::string text = R"({"workflow_id": "wf", "step_history": [1, 2, 3]})";
  const std::string packed = *gzip(text);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(gunzip(packed.substr(0, i), 1000));
    std::string flipped = packed;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    // The header's time and system say nothing of what is inside.
    if (const auto out = gunzip(flipped, 1000))
      CHECK(*out == text);
  }
  CHECK(gunzip(packed + "x", 1000).error().code == Errc::parse);
  CHECK(gunzip(text, 1000).error().code == Errc::parse);
}

TEST_CASE("the name of a backup says when it was made") {
  const Time at = *parse_time("2026-01-22T10:00:00.123Z");
  CHECK(backup_name("state_step4", at, false) == "state_step4_20260122T100000.123Z.json.gz");
  for (const bool filtered : {false, true}) {
    const std::string name = backup_name("state_step4", at, filtered);
    CHECK(backup_time(name) == at);
    CHECK(backup_filtered(name) == filtered);
  }
  for (const char* const name :
       {"state.json", "state_step4.json.gz", "state_step4_20261322T100000.123Z.json.gz",
        "_.json.gz", "20260122T100000.123Z.json.gz", "state_step4_20260122T100000.123Z.json", "",
        ".enc"}) {
    CAPTURE(name);
    CHECK_FALSE(backup_time(name));
  }
  BackupPlan plan;
  plan.folder = "workflow_states/{flow}/backups";
  CHECK(backup_folder(plan, "wf") == "workflow_states/wf/backups");
}

}  // namespace baton
