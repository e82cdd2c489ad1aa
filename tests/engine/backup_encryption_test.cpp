// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/backup_encryption.h"

#include <doctest/doctest.h>

#include "dialects/dialects.h"
#include "fakes.h"

namespace baton {
namespace {

using testing::Deeds;
using testing::FakeDisk;
using testing::Fuse;

constexpr std::string_view kSeal = R"({"backups": {"encrypt": ["seal"]}})";

Catalog catalog_with(std::string_view options) {
  return Catalog::of({{&ml_workflow_dialect(), *parse_json(options)}});
}

Intent copy(std::uint64_t id) {
  Intent intent;
  intent.id = id;
  intent.kind = Intent::Kind::backup;
  intent.path = "backups/" + std::to_string(id);
  intent.bytes = "plain " + std::to_string(id);
  intent.flow = FlowId{"ml_workflow", "wf"};
  intent.why = "the backup after step 1";
  return intent;
}

/// A setup whose program is at work until `left` is zero, and then gives what `out` makes of it.
struct Seals {
  int started = 0;
  int left = 0;
  std::function<Result<std::string>(const std::string&)> out = [](const std::string& bytes) {
    return "sealed " + bytes;
  };
  Setup setup() {
    Setup setup;
    setup.filter = [this](const std::vector<std::string>&, std::string_view bytes) -> Filtering {
      ++started;
      return [this, text = std::string(bytes)](bool) -> std::optional<Result<std::string>> {
        return left > 0 ? std::nullopt : std::optional(out(text));
      };
    };
    return setup;
  }
};

struct Place {
  Fuse fuse;
  Deeds deeds;
  FakeDisk disk{fuse, deeds};
  FlowRecords records;
  BackupEncryption encryption{disk};

  std::vector<std::string> notified() const {
    Draft next(records, 0, 0, Time{}, Time{});
    encryption.tell(next);
    std::vector<std::string> all;
    for (const Event& event : next.commit.events)
      all.push_back(event.event + " " + event.why);
    return all;
  }
};

}  // namespace

TEST_CASE("copies wait for their program without anybody waiting, and a few are at work at once") {
  Place place;
  Seals seals;
  seals.left = 1;
  const Setup setup = seals.setup();
  const Catalog catalog = catalog_with(kSeal);
  CHECK(!place.encryption.wake(Time{}));
  for (std::uint64_t id = 1; id <= 6; ++id)
    place.encryption.without_its_own({copy(id)});
  place.encryption.tend(setup, catalog);
  place.encryption.tend(setup, catalog);
  CHECK(seals.started == 4);
  CHECK(place.disk.files().empty());
  CHECK(place.encryption.done().empty());
  CHECK(place.encryption.wake(Time{}));
  seals.left = 0;
  place.encryption.tend(setup, catalog);
  CHECK(place.encryption.done() == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(place.encryption.busy());
  place.encryption.tend(setup, catalog);
  CHECK(place.encryption.done().size() == 6);
  CHECK(!place.encryption.busy());
  CHECK(*place.disk.file("backups/6") == "sealed plain 6");
  CHECK(place.notified().empty());
  place.encryption.noted();
  CHECK(place.encryption.done().empty());
}

TEST_CASE(
    "a copy that comes to nothing is told about until that is noted; one that is there is done") {
  Place place;
  Seals seals;
  const Setup setup = seals.setup();
  place.disk.write("backups/1", "sealed before the daemon was killed");
  place.encryption.without_its_own({copy(1)});
  place.encryption.tend(setup, catalog_with(kSeal));
  place.encryption.tend(setup, catalog_with(kSeal));
  CHECK(place.encryption.done() == std::vector<std::uint64_t>{1});
  CHECK(*place.disk.file("backups/1") == "sealed before the daemon was killed");
  CHECK(place.notified().empty());
  seals.out = [](const std::string&) -> Result<std::string> {
    return fail(Errc::busy, "did not end within 10s", "seal");
  };
  place.encryption.without_its_own({copy(2)});
  place.encryption.tend(setup, catalog_with(kSeal));
  place.encryption.tend(setup, catalog_with(kSeal));
  CHECK(place.encryption.done() == std::vector<std::uint64_t>{1, 2});
  const std::vector<std::string> expected = {
      "not_written backups/2 (the backup after step 1): seal: did not end within 10s"};
  CHECK(place.notified() == expected);
  place.encryption.noted();
  CHECK(place.notified().empty());
}

TEST_CASE("nothing is written in the clear where the program was taken out of the configuration") {
  Place place;
  Seals seals;
  place.encryption.without_its_own({copy(1)});
  place.encryption.tend(seals.setup(), catalog_with("{}"));
  CHECK(seals.started == 0);
  CHECK(place.disk.files().empty());
  CHECK(place.notified().size() == 1);
}

}  // namespace baton
