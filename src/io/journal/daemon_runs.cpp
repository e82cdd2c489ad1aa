// SPDX-License-Identifier: Apache-2.0
#include "io/journal/daemon_runs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "core/reported.h"
#include "io/journal/daemon_file.h"
#include "io/journal/rows.h"
#include "io/journal/sqlite.h"
#include "io/journal/values.h"

namespace baton {
namespace {

using rows::flag;
using rows::millis;
using rows::read_flag;
using rows::read_time;
using sqlite::Statement;

/// How often old rows are removed.
constexpr Millis kSweepEvery = std::chrono::hours(1);
constexpr const char* kColumns =
    "run, root, flow, configuration, role, agent, rule, dialect, provider, shell, started, ended, "
    "cost, "
    "tokens";

std::optional<std::int64_t> maybe_millis(const std::optional<Time>& time) {
  return time ? std::optional(millis(*time)) : std::nullopt;
}

CountedRun read_run(Statement& row) {
  CountedRun run;
  run.id = row.text();
  run.root = row.text();
  run.flow = row.text();
  run.configuration = row.text();
  run.role = row.text();
  run.agent = row.text();
  run.rule = row.text();
  run.dialect = row.text();
  run.provider = row.text();
  run.shell = read_flag(row);
  run.started = read_time(row);
  if (const auto ended = row.maybe_integer())
    run.ended = Time(Millis(*ended));
  run.cost_usd = row.maybe_real();
  // No program may spend less than nothing, whoever wrote the row.
  if (run.cost_usd && !(*run.cost_usd >= 0 && *run.cost_usd <= kMostCost))
    run.cost_usd.reset();
  run.tokens = row.maybe_integer();
  if (run.tokens && *run.tokens < 0)
    run.tokens.reset();
  return run;
}

std::optional<CapRaise> read_raise(Statement& row) {
  CapRaise raise;
  raise.configuration = row.text();
  const auto scope = parse_cap_scope(row.text());
  raise.place.name = row.text();
  const auto key = parse_cap_key(row.text());
  raise.by = row.maybe_real().value_or(0);
  raise.who = row.text();
  raise.since = read_time(row);
  if (!scope || !key || !(raise.by > 0) || !std::isfinite(raise.by))
    return std::nullopt;
  raise.place.scope = *scope;
  raise.key = *key;
  return raise;
}

bool is_folder(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

class DaemonRuns : public Spending {
 public:
  /// An empty path: there is no file.
  DaemonRuns(const std::string& path, std::string root, bool read_only)
      : file_(path, read_only), root_(std::move(root)), kept_(!path.empty()) {
    counted_.root = root_;
  }

  Result<const Counted*> counted(Time now) override {
    if (auto done = keep(); !done)
      return pass_on(done);
    if (auto done = refresh(); !done)
      return pass_on(done);
    if (auto done = sweep(now); !done)
      return pass_on(done);
    return &counted_;
  }

  Result<void> begin(const std::vector<CountedRun>& runs) override {
    if (runs.empty())
      return {};
    if (auto done = keep(); !done)
      return done;
    if (writes()) {
      auto done = file_.transaction([&]() -> Result<void> {
        for (const CountedRun& run : runs)
          if (auto written = write(run); !written)
            return written;
        return {};
      });
      if (!done)
        return done;
    }
    for (CountedRun run : runs) {
      run.root = root_;
      put(std::move(run));
    }
    return {};
  }

  void end(const CountedRun& run) override {
    const auto known = places_.find(run.id);
    if (known == places_.end())
      return;
    CountedRun row = counted_.runs[known->second];
    row.ended = run.ended;
    row.cost_usd = run.cost_usd;
    row.tokens = run.tokens;
    if (row == counted_.runs[known->second])
      return;
    put(row);
    changes_[run.id] = std::move(row);
  }

  void drop(const RunId& run) override {
    // After a failed sync a row may be in the file that is not known here.
    if (!places_.contains(run) && !writes())
      return;
    erase([&](const CountedRun& row) { return row.id == run; });
    changes_[run] = std::nullopt;
  }

  void flush() override { (void)keep(); }

  std::uint64_t file() override {
    (void)file_.is_there();
    return file_.number();
  }

  Result<std::vector<CountedRun>> open_runs() override {
    if (auto done = keep(); !done)
      return pass_on(done);
    if (auto done = refresh(); !done)
      return pass_on(done);
    std::vector<CountedRun> open;
    std::copy_if(counted_.runs.begin(), counted_.runs.end(), std::back_inserter(open),
                 [&](const CountedRun& run) { return run.root == root_ && !run.ended; });
    return open;
  }

 private:
  bool writes() const { return kept_ && !file_.read_only(); }

  void put(CountedRun run) {
    ++counted_.version;
    const auto [place, fresh] = places_.try_emplace(run.id, counted_.runs.size());
    if (fresh)
      counted_.runs.push_back(std::move(run));
    else
      counted_.runs[place->second] = std::move(run);
  }

  template <class Wanted>
  void erase(const Wanted& wanted) {
    if (std::erase_if(counted_.runs, wanted) == 0)
      return;
    ++counted_.version;
    places_.clear();
    for (std::size_t i = 0; i < counted_.runs.size(); ++i)
      places_.emplace(counted_.runs[i].id, i);
  }

  Result<void> write(const CountedRun& run) {
    return rows::run(file_.db(), "INSERT OR REPLACE INTO runs VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     run.id, root_, run.flow, run.configuration, run.role, run.agent, run.rule,
                     run.dialect, run.provider, flag(run.shell), millis(run.started),
                     maybe_millis(run.ended), run.cost_usd, run.tokens);
  }

  /// Writes what is not written yet.
  Result<void> keep() {
    if (changes_.empty() || !writes())
      return {};
    auto done = file_.transaction([&]() -> Result<void> {
      for (const auto& [id, row] : changes_) {
        auto written =
            row ? rows::run(file_.db(), "UPDATE runs SET ended=?, cost=?, tokens=? WHERE run=?",
                            maybe_millis(row->ended), row->cost_usd, row->tokens, id)
                : rows::run(file_.db(), "DELETE FROM runs WHERE run=?", id);
        if (!written)
          return written;
      }
      return {};
    });
    if (done)
      changes_.clear();
    return done;
  }

  /// Reads all rows if another connection, or a failed call of this one, may have changed them.
  Result<void> refresh() {
    if (!kept_)
      return {};
    if (!file_.is_there()) {
      file_.close();
      erase([](const CountedRun&) { return true; });
      if (!counted_.raises.empty())
        ++counted_.version;
      counted_.raises.clear();
      return {};
    }
    if (auto opened = file_.open(false); !opened)
      return opened;
    auto changed = file_.changed();
    if (!changed)
      return pass_on(changed);
    if (!*changed)
      return {};
    auto read = read_all();
    if (!read)
      file_.wrote();
    return read;
  }

  Result<void> read_all() {
    Counted fresh;
    fresh.root = root_;
    for (const char* const table : {"runs", "raises"}) {
      auto there = file_.has(table);
      if (!there)
        return pass_on(there);
      if (!*there)
        continue;
      const bool runs = std::string_view(table) == "runs";
      auto done = rows::each(
          file_.db(), table,
          runs ? "SELECT " + std::string(kColumns) + " FROM runs ORDER BY started, run"
               : "SELECT configuration, scope, name, key, amount, who, since FROM raises "
                 "ORDER BY since",
          [](Statement&) {},
          [&](Statement& row) {
            if (runs)
              fresh.runs.push_back(read_run(row));
            else if (auto raise = read_raise(row))
              fresh.raises.push_back(*std::move(raise));
          });
      if (!done)
        return done;
    }
    if (fresh.runs == counted_.runs && fresh.raises == counted_.raises)
      return {};
    fresh.version = counted_.version + 1;
    counted_ = std::move(fresh);
    places_.clear();
    for (std::size_t i = 0; i < counted_.runs.size(); ++i)
      places_.emplace(counted_.runs[i].id, i);
    return {};
  }

  /// Removes rows that no window reaches any more, and raises that are over. Of a state folder that
  /// is gone nobody will settle the rows without end. Times ahead of the clock become now.
  Result<void> sweep(Time now) {
    if (!writes() || !file_.is_there() || (swept_ && now < *swept_ + kSweepEvery && now >= *swept_))
      return {};
    std::vector<std::string> gone;
    for (const CountedRun& run : counted_.runs)
      if (!run.ended && run.root != root_ &&
          std::find(gone.begin(), gone.end(), run.root) == gone.end() && !is_folder(run.root))
        gone.push_back(run.root);
    auto done = file_.transaction([&]() -> Result<void> {
      auto each =
          rows::run(file_.db(), "DELETE FROM runs WHERE ended < ?", millis(now - kCountedFor));
      for (const std::string& root : gone)
        if (each)
          each = rows::run(file_.db(), "DELETE FROM runs WHERE ended IS NULL AND root = ?", root);
      for (const char* const column : {"started", "ended"})
        if (each)
          each = rows::run(
              file_.db(),
              "UPDATE runs SET " + std::string(column) + " = ?1 WHERE " + column + " > ?1",
              millis(now));
      if (each)
        each =
            rows::run(file_.db(), "DELETE FROM raises WHERE since < ?", millis(now - kCountedFor));
      return each;
    });
    if (!done)
      return done;
    swept_ = now;
    file_.wrote();
    return refresh();
  }

  DaemonFile file_;
  const std::string root_;
  const bool kept_;  ///< there is a file; else all is in memory
  Counted counted_;
  std::unordered_map<RunId, std::size_t> places_;  ///< of each run in `counted_`
  /// Ends that are not written yet; nothing: the row is to be removed.
  std::map<RunId, std::optional<CountedRun>> changes_;
  std::optional<Time> swept_;
};

}  // namespace

std::unique_ptr<Spending> make_spending(const std::string& state_folder, bool read_only) {
  return std::make_unique<DaemonRuns>(daemon_db_path(state_folder), state_folder, read_only);
}

std::unique_ptr<Spending> no_spending() {
  return std::make_unique<DaemonRuns>("", "", true);
}

Result<void> add_raise(const std::string& state_folder, const CapRaise& raise) {
  DaemonFile file(daemon_db_path(state_folder), false);
  return file.transaction([&] {
    return rows::run(file.db(), "INSERT INTO raises VALUES(?,?,?,?,?,?,?)", raise.configuration,
                     word(raise.place.scope), raise.place.name, word(raise.key),
                     std::optional<double>(raise.by), raise.who, millis(raise.since));
  });
}

}  // namespace baton
