// SPDX-License-Identifier: Apache-2.0
#include "io/journal/daemon_db.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "io/journal/daemon_file.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"
#include "io/journal/values.h"

namespace baton {
namespace {

using rows::flag;
using rows::millis;
using rows::read_flag;
using rows::read_small_count;
using rows::read_time;
using sqlite::Statement;

Parked read_parked(Statement& row) {
  Parked parked;
  parked.whose.provider = row.text();
  parked.whose.account = row.text();
  parked.whose.model = row.text();
  parked.login = read_flag(row);
  parked.since = read_time(row);
  if (const auto until = row.maybe_integer())
    parked.until = Time(Millis(*until));
  parked.times = read_small_count(row);
  parked.run = row.text();
  parked.why = row.text();
  return parked;
}

class DaemonDb : public Providers {
 public:
  /// An empty path: there is no file.
  DaemonDb(std::string path, bool read_only) : file_(std::move(path), read_only) {}

  Result<std::vector<Parked>> parked() override {
    if (auto fresh = file_.explained(refresh()); !fresh)
      return pass_on(fresh);
    if (!file_.read_only())
      return rows_;
    std::vector<Parked> all = rows_;
    for (const auto& [row, is_parked] : supposed_)
      apply(row, is_parked, all);
    return all;
  }

  Result<void> park(const Parked& row) override {
    if (file_.read_only()) {
      supposed_.emplace_back(row, true);
      return {};
    }
    return write(row);
  }

  Result<void> release(const Parked& row) override {
    if (file_.read_only()) {
      supposed_.emplace_back(row, false);
      return {};
    }
    return file_.is_there() ? erase(row) : Result<void>();
  }

 private:
  Result<void> write(const Parked& row) {
    file_.wrote();
    return file_.transaction([&] {
      return rows::run(
          file_.db(), "INSERT OR REPLACE INTO parked VALUES(?,?,?,?,?,?,?,?,?)", row.whose.provider,
          row.whose.account, row.whose.model, flag(row.login), millis(row.since),
          row.until ? std::optional(millis(*row.until)) : std::optional<std::int64_t>(),
          std::int64_t{row.times}, row.run, row.why);
    });
  }

  Result<void> erase(const Parked& row) {
    file_.wrote();
    return file_.transaction([&] {
      return rows::run(file_.db(),
                       "DELETE FROM parked WHERE provider=? AND account=? AND model=? AND login=?",
                       row.whose.provider, row.whose.account, row.whose.model, flag(row.login));
    });
  }

  static void apply(const Parked& row, bool is_parked, std::vector<Parked>& rows) {
    std::erase_if(rows, [&](const Parked& each) {
      return each.whose == row.whose && each.login == row.login;
    });
    if (is_parked)
      rows.push_back(row);
  }

  /// Reads the rows if another connection, or this one, has changed them.
  Result<void> refresh() {
    if (!file_.is_there()) {
      rows_.clear();
      return {};
    }
    if (auto opened = file_.open(false); !opened)
      return opened;
    auto changed = file_.changed();
    if (!changed)
      return pass_on(changed);
    if (!*changed)
      return {};
    std::vector<Parked> fresh;
    auto done = rows::each(file_.db(), "parked",
                           "SELECT provider, account, model, login, since, until, times, run, why "
                           "FROM parked ORDER BY provider, account, model, login",
                           {}, [&](Statement& row) { fresh.push_back(read_parked(row)); });
    if (done)
      rows_ = std::move(fresh);
    else
      file_.wrote();
    return done;
  }

  DaemonFile file_;
  std::vector<Parked> rows_;
  /// Parked (true) or released by a command that only looks.
  std::vector<std::pair<Parked, bool>> supposed_;
};

}  // namespace

std::unique_ptr<Providers> make_providers(const std::string& state_folder, bool read_only) {
  return std::make_unique<DaemonDb>(daemon_db_path(state_folder), read_only);
}

std::unique_ptr<Providers> no_providers() {
  return std::make_unique<DaemonDb>("", true);
}

}  // namespace baton
