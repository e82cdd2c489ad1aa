// SPDX-License-Identifier: Apache-2.0
#include "engine/perform/write_settlement.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "engine/perform/pending_writes.h"
#include "fakes.h"

namespace baton {
namespace {

using testing::Deeds;
using testing::FakeDisk;
using testing::Fuse;

Intent line(const std::string& bytes) {
  Intent write;
  write.id = 1;
  write.kind = Intent::Kind::append;
  write.path = "x.jsonl";
  write.assumes_bytes = kAtEnd;
  write.bytes = bytes;
  return write;
}

/// What stands in the file after a daemon found `there` and the write in its journal.
std::string recovered(const std::string& there, const Intent& write) {
  Fuse fuse;
  Deeds deeds;
  FakeDisk disk(fuse, deeds);
  disk.write(write.path, there);
  PendingWrites pending_writes(disk);
  (void)pending_writes.recover({write}, 1U << 20U);
  return *disk.file(write.path);
}

}  // namespace

TEST_CASE("of an append that was torn by a power cut only the rest is written") {
  const Intent write = line("{\"event\":\"a\",\"seq\":3}\n{\"event\":\"b\",\"seq\":4}\n");
  for (const std::string before :
       {"", "{\"event\":\"a\",\"seq\":1}\n{\"event\":\"a\",\"seq\":2}\n"})
    for (std::size_t cut = 0; cut <= write.bytes.size(); ++cut) {
      CAPTURE(cut);
      CHECK(recovered(before + write.bytes.substr(0, cut), write) == before + write.bytes);
    }
  // Somebody has gone on behind it: it was there.
  const std::string more = write.bytes + "{\"event\":\"c\",\"seq\":5}\n";
  CHECK(recovered(more, write) == more);
}

TEST_CASE("a line that its writer left without an end does not swallow the next one") {
  CHECK(recovered("{\"event\": \"torn", line("{\"seq\":1}\n")) ==
        "{\"event\": \"torn\n{\"seq\":1}\n");
}

TEST_CASE("a move that was made is not made again for what was written in its place since") {
  Fuse fuse;
  Deeds deeds;
  FakeDisk disk(fuse, deeds);
  Intent write;
  write.id = 1;
  write.kind = Intent::Kind::move;
  write.path = "report.json";
  write.to = "archive/report.json";
  write.assumes = write.after = digest_of("{\"status\":\"DONE\"}");
  // The next agent has said the same, in the same words.
  disk.write(write.to, "{\"status\":\"DONE\"}");
  disk.write(write.path, "{\"status\":\"DONE\"}");
  PendingWrites pending_writes(disk);
  CHECK(pending_writes.recover({write}, 1U << 20U) == std::set<std::string>{write.path});
  CHECK(pending_writes.empty());
  CHECK(disk.file(write.path) != nullptr);

  disk.write(write.to, "something else");
  pending_writes.recover({write}, 1U << 20U);
  CHECK_FALSE(pending_writes.empty());
}

TEST_CASE("a file that is missing because the root is away does not let a write give way") {
  Fuse fuse;
  Deeds deeds;
  FakeDisk disk(fuse, deeds);
  Intent write;
  write.id = 1;
  write.path = "state.json";
  write.to = "archive/state.json";
  write.assumes = digest_of("old");
  write.bytes = "new";
  for (const auto kind : {Intent::Kind::replace, Intent::Kind::move}) {
    write.kind = kind;
    write.after = digest_of(kind == Intent::Kind::move ? "old" : "new");
    disk.write(write.path, "old");
    disk.unreadable[write.path] = Errc::not_found;
    disk.unwritable[write.path] = Errc::busy;
    PendingWrites pending_writes(disk);
    CHECK(pending_writes.recover({write}, 1U << 20U).empty());
    CHECK_FALSE(pending_writes.empty());
    disk.unreadable.clear();
    disk.unwritable.clear();
    CHECK(pending_writes.perform({}, Time(Millis(2000)), 1U << 20U).unfit.empty());
    CHECK(pending_writes.empty());
    CHECK(*disk.file(kind == Intent::Kind::move ? write.to : write.path) ==
          (kind == Intent::Kind::move ? "old" : "new"));
  }
}

}  // namespace baton
