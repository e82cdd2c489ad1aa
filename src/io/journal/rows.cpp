// SPDX-License-Identifier: Apache-2.0
#include "io/journal/rows.h"

#include <array>
#include <cstdint>
#include <optional>

#include "base/digest.h"
#include "base/json/document.h"
#include "base/text.h"
#include "io/journal/values.h"

namespace baton::rows {

using sqlite::Blob;
using sqlite::Database;
using sqlite::Statement;

namespace {

FlowId flow_of(Statement& row) {
  FlowId flow;
  flow.dialect = row.text();
  flow.name = row.text();
  return flow;
}

AcceptedRow read_accepted(Statement& row) {
  AcceptedRow accepted;
  accepted.path = row.text();
  accepted.flow = flow_of(row);
  accepted.kind = row.text();
  accepted.part = row.text();
  accepted.digest = read_digest(row);
  accepted.arrival = read_count(row);
  accepted.writer = row.text();
  accepted.present = read_flag(row);
  accepted.size_bytes = read_count(row);
  return accepted;
}

RejectedRow read_rejected(Statement& row) {
  RejectedRow rejected;
  rejected.path = row.text();
  rejected.flow = flow_of(row);
  rejected.digest = read_digest(row);
  rejected.findings = row.text();
  rejected.time = read_time(row);
  return rejected;
}

std::string seal_of(const StageRow& row) {
  const StageState& state = row.state;
  // The lengths are part of the digest, so that two texts cannot be split differently.
  std::string all;
  for (const std::string_view text :
       {std::string_view(row.flow.dialect), std::string_view(row.flow.name),
        std::string_view(row.subject), std::string_view(state.stage),
        std::string_view(state.previous)})
    all.append(std::to_string(text.size())).append(":").append(text);
  // Journals of older versions have seals without it.
  if (!state.earlier.empty())
    all.append(std::to_string(state.earlier.size())).append(":").append(state.earlier);
  for (const std::int64_t number :
       {count(state.generation), count(state.entries), millis(state.since), count(state.arrival)})
    all.append(std::to_string(number)).append(",");
  return hex(digest_of(all + entries_text(row.entries)));
}

StageRow read_unsealed_stage(Statement& row) {
  StageRow stage;
  stage.flow = flow_of(row);
  stage.subject = row.text();
  stage.state.stage = row.text();
  stage.state.previous = row.text();
  stage.state.generation = read_count(row);
  stage.state.entries = read_count(row);
  stage.state.since = read_time(row);
  stage.state.arrival = read_count(row);
  stage.entries = read_entries(row);
  stage.state.earlier = row.text();
  return stage;
}

StageRow read_stage(Statement& row) {
  StageRow stage = read_unsealed_stage(row);
  if (const std::string seal = row.text(); seal != seal_of(stage))
    row.damaged(seal);
  return stage;
}

constexpr std::string_view kStageColumns =
    "dialect, flow, subject, stage, previous, generation, entries, since, arrival, "
    "entries_by_stage, earlier";

Intent read_intent(Statement& row) {
  Intent intent;
  intent.id = read_count(row);
  intent.kind = read_intent_kind(row);
  intent.path = row.text();
  intent.assumes = read_digest(row);
  intent.assumes_bytes = read_count(row);
  intent.after = read_digest(row);
  intent.to = row.text();
  intent.flow = flow_of(row);
  intent.why = row.text();
  intent.bytes = row.blob();
  return intent;
}

ControlRow read_control_row(Statement& row) {
  ControlRow control;
  control.flow = flow_of(row);
  control.control = read_control(row);
  control.reason = row.text();
  control.why = row.text();
  control.since = read_time(row);
  control.resumed_at = read_time(row);
  control.started = read_flag(row);
  return control;
}

}  // namespace

Result<void> write(Database& db, const AcceptedRow& row, std::string_view bytes) {
  auto done = run(db, "INSERT OR REPLACE INTO documents VALUES(?,?,?,?,?,?,?,?,?,?)", row.path,
                  row.flow.dialect, row.flow.name, row.kind, row.part, hex(row.digest),
                  count(row.arrival), row.writer, flag(row.present), Blob{bytes});
  if (done)
    done = run(db, "INSERT OR REPLACE INTO versions VALUES(?,?,?)", row.path, hex(row.digest),
               count(row.arrival));
  if (done)
    done = run(db,
               "DELETE FROM versions WHERE path = ?1 AND arrival <= (SELECT arrival FROM versions "
               "WHERE path = ?1 ORDER BY arrival DESC LIMIT 1 OFFSET ?2)",
               row.path, count(kVersionsKept));
  return done;
}

Result<void> write(Database& db, const RejectedRow& row) {
  return run(db, "INSERT OR REPLACE INTO rejected VALUES(?,?,?,?,?,?)", row.path, row.flow.dialect,
             row.flow.name, hex(row.digest), row.findings, millis(row.time));
}

Result<void> write(Database& db, const StageRow& row) {
  const StageState& state = row.state;
  return run(db, "INSERT OR REPLACE INTO generations VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
             row.flow.dialect, row.flow.name, row.subject, state.stage, state.previous,
             count(state.generation), count(state.entries), millis(state.since),
             count(state.arrival), entries_text(row.entries), seal_of(row), state.earlier);
}

Result<void> write_memo(Database& db, const FlowId& flow, const Json& memo) {
  return run(db, "INSERT OR REPLACE INTO memos VALUES(?,?,?)", flow.dialect, flow.name,
             memo.dump());
}

Result<void> write_notified(Database& db, const FlowId& flow, const Json& notified) {
  if (notified->IsNull())
    return run(db, "DELETE FROM told WHERE dialect=? AND flow=?", flow.dialect, flow.name);
  return run(db, "INSERT OR REPLACE INTO told VALUES(?,?,?)", flow.dialect, flow.name,
             notified.dump());
}

Result<void> write_origin(Database& db, const FlowId& flow, const FlowOrigin& origin) {
  return run(db, "INSERT OR REPLACE INTO origins VALUES(?,?,?)", flow.dialect, flow.name,
             json_of(origin).dump());
}

Result<void> write_logs(Database& db, const FlowId& flow, const FlowLogs& logs) {
  return run(db, "INSERT OR REPLACE INTO logs VALUES(?,?,?)", flow.dialect, flow.name,
             json_of(logs).dump());
}

Result<void> write(Database& db, const Run& row) {
  constexpr std::string_view kSql =
      "INSERT INTO runs "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT(id) DO UPDATE SET state=excluded.state, outcome=excluded.outcome, "
      "why=excluded.why, started=excluded.started, ended=excluded.ended, pid=excluded.pid, "
      "start_ticks=excluded.start_ticks, boot_id=excluded.boot_id, timeout=excluded.timeout, "
      "idle_timeout=excluded.idle_timeout, kill_grace=excluded.kill_grace, "
      "log_cap_bytes=excluded.log_cap_bytes, "
      "claims=excluded.claims, base=excluded.base, stop_why=excluded.stop_why, "
      "exit_code=excluded.exit_code, signal=excluded.signal, reason=excluded.reason, "
      "forgiven=excluded.forgiven, cost_usd=excluded.cost_usd, tokens=excluded.tokens, "
      "purpose=excluded.purpose, stage=excluded.stage, output=excluded.output, "
      "errors=excluded.errors, duration=excluded.duration, agent=excluded.agent, "
      "session=excluded.session, error=excluded.error";
  const Key& key = row.key;
  return run(db, kSql, row.id, key.flow.dialect, key.flow.name, key.role, key.subject,
             count(key.generation), count(key.turn), count(row.attempt), row.purpose, row.stage,
             word(row.state), word(row.outcome), row.why, millis(row.started), millis(row.ended),
             row.pid, count(row.start_ticks), row.boot_id, row.limits.timeout.count(),
             row.limits.idle_timeout.count(), row.limits.kill_grace.count(),
             count(row.limits.log_cap_bytes), claims_text(row.claims), base_text(row.base),
             row.stop_why, optional_count(row.exit_code), std::int64_t{row.signal}, row.reason,
             flag(row.forgiven), row.cost_usd, row.tokens, row.output, row.errors,
             row.duration.count(), row.agent, row.session, row.error);
}

Result<void> write(Database& db, const Intent& intent) {
  return run(db, "INSERT OR REPLACE INTO intents VALUES(?,?,?,?,?,?,?,?,?,?,?)", count(intent.id),
             word(intent.kind), intent.path, hex(intent.assumes), count(intent.assumes_bytes),
             hex(intent.after), intent.to, intent.flow.dialect, intent.flow.name, intent.why,
             Blob{intent.bytes});
}

Result<void> write(Database& db, const ControlRow& row) {
  return run(db, "INSERT OR REPLACE INTO controls VALUES(?,?,?,?,?,?,?,?)", row.flow.dialect,
             row.flow.name, word(row.control), row.reason, row.why, millis(row.since),
             millis(row.resumed_at), flag(row.started));
}

Result<void> write(Database& db, const Request& request) {
  return run(db, "INSERT OR REPLACE INTO requests VALUES(?,?,?,?,?,?,?,?)", request.id,
             request.verb, request.flow.dialect, request.flow.name, request.subject,
             request.arguments.dump(), request.by, millis(request.made));
}

Result<void> write(Database& db, const Reply& reply, Time time) {
  return run(db, "INSERT OR REPLACE INTO replies VALUES(?,?,?,?)", reply.request,
             flag(reply.accepted), reply.message, millis(time));
}

Result<void> write(Database& db, const Event& event) {
  constexpr std::string_view kSql =
      "INSERT INTO events(time, event, dialect, flow, subject, role, run, why) "
      "VALUES(?,?,?,?,?,?,?,?)";
  return run(db, kSql, millis(event.time), event.event, event.flow.dialect, event.flow.name,
             event.subject, event.role, event.run, event.why);
}

Result<void> write_replaced(Database& db, const std::string& path, std::string_view bytes,
                            Time time) {
  return run(db, "INSERT INTO replaced(path, time, bytes) VALUES(?,?,?)", path, millis(time),
             Blob{bytes});
}

Result<void> forget(Database& db, const FlowId& flow) {
  constexpr std::array kSql = {
      // Before documents, whose paths this needs.
      "DELETE FROM replaced WHERE path IN (SELECT path FROM documents WHERE dialect=? AND flow=?)",
      "DELETE FROM versions WHERE path IN (SELECT path FROM documents WHERE dialect=? AND flow=?)",
      "DELETE FROM documents WHERE dialect=? AND flow=?",
      "DELETE FROM rejected WHERE dialect=? AND flow=?",
      "DELETE FROM generations WHERE dialect=? AND flow=?",
      "DELETE FROM memos WHERE dialect=? AND flow=?",
      "DELETE FROM told WHERE dialect=? AND flow=?",
      "DELETE FROM origins WHERE dialect=? AND flow=?",
      "DELETE FROM logs WHERE dialect=? AND flow=?",
      "INSERT OR IGNORE INTO forgotten_runs SELECT id FROM runs WHERE dialect=? AND flow=?",
      "DELETE FROM runs WHERE dialect=? AND flow=?",
      "DELETE FROM intents WHERE dialect=? AND flow=?",
      "DELETE FROM requests WHERE dialect=? AND flow=?",
      "DELETE FROM controls WHERE dialect=? AND flow=?",
      "DELETE FROM events WHERE dialect=? AND flow=?",
  };
  for (const char* sql : kSql) {
    if (auto done = run(db, sql, flow.dialect, flow.name); !done)
      return done;
  }
  return {};
}

std::string_view run_columns() {
  return "id, dialect, flow, role, subject, generation, turn, attempt, purpose, stage, state, "
         "outcome, "
         "why, started, ended, pid, start_ticks, boot_id, timeout, idle_timeout, "
         "kill_grace, log_cap_bytes, claims, base, stop_why, exit_code, signal, reason, forgiven, "
         "cost_usd, "
         "tokens, output, errors, duration, agent, session, error";
}

Run read_run(Statement& row, const std::string& runs) {
  Run run;
  run.id = row.text();
  // The id becomes part of a path.
  if (!safe_name(run.id))
    row.damaged(run.id);
  run.directory = runs + "/" + run.id;
  run.key.flow = flow_of(row);
  run.key.role = row.text();
  run.key.subject = row.text();
  run.key.generation = read_count(row);
  run.key.turn = read_small_count(row);
  run.attempt = read_small_count(row);
  run.purpose = row.text();
  run.stage = row.text();
  run.state = read_run_state(row);
  run.outcome = read_outcome(row);
  run.why = row.text();
  run.started = read_time(row);
  run.ended = read_time(row);
  run.pid = row.integer();
  run.start_ticks = read_count(row);
  run.boot_id = row.text();
  run.limits.timeout = Millis(row.integer());
  run.limits.idle_timeout = Millis(row.integer());
  run.limits.kill_grace = Millis(row.integer());
  run.limits.log_cap_bytes = read_count(row);
  run.claims = read_claims(row);
  run.base = read_base(row);
  run.stop_why = row.text();
  run.exit_code = read_maybe_int(row);
  run.signal = read_maybe_int(row).value_or(0);
  run.reason = row.text();
  run.forgiven = read_flag(row);
  run.cost_usd = row.maybe_real();
  run.tokens = row.maybe_integer();
  run.output = row.text();
  run.errors = row.text();
  run.duration = Millis(row.integer());
  run.agent = row.text();
  run.session = row.text();
  run.error = row.text();
  return run;
}

std::string_view event_columns() {
  return "seq, time, event, dialect, flow, subject, role, run, why";
}

Event read_event(Statement& row) {
  Event event;
  event.seq = read_count(row);
  event.time = read_time(row);
  event.event = row.text();
  event.flow = flow_of(row);
  event.subject = row.text();
  event.role = row.text();
  event.run = row.text();
  event.why = row.text();
  return event;
}

Result<void> each(Database& db, std::string_view table, std::string_view sql,
                  const AddParameters& bind, const ReadRow& read) {
  auto prepared = db.prepare(sql);
  if (!prepared)
    return pass_on(prepared);
  Statement& statement = **prepared;
  if (bind)
    bind(statement);
  for (;;) {
    auto more = statement.step();
    if (!more)
      return pass_on(more);
    if (!*more)
      break;
    read(statement);
    if (!statement.damage().empty()) {
      const std::string damage = statement.damage();
      statement.reset();
      return fail(Errc::io, db.damage_text(std::string(table) + "." + damage));
    }
  }
  statement.reset();
  return {};
}

Result<void> check(Database& db, std::string_view table) {
  std::string fault;
  auto done = each(db, table, "PRAGMA integrity_check(" + std::string(table) + ")", {},
                   [&](Statement& row) {
                     const std::string line = row.text();
                     if (fault.empty() && line != "ok")
                       fault = line;
                   });
  if (!done || fault.empty())
    return done;
  return fail(Errc::io,
              "the journal is damaged: " + std::string(table) + ": " + fault + kBeginAnew);
}

namespace {

Result<void> load_runs(Database& db, Time now, const std::string& runs, Ledger& ledger) {
  const std::string sql =
      "SELECT " + std::string(run_columns()) +
      " FROM runs AS r WHERE state <> 'ended' "
      "OR max(started, ended) > ?1 "
      "OR EXISTS(SELECT 1 FROM generations AS g WHERE g.dialect = r.dialect AND g.flow = r.flow "
      "AND g.subject = r.subject AND g.generation = r.generation "
      "AND (g.stage <> '' OR g.since > ?2)) "
      "OR (reason = ?3 AND forgiven = 0) ORDER BY rowid";
  return each(
      db, "runs", sql,
      [&](Statement& s) {
        s.add(millis(now - kCounted)).add(millis(now - kRemembered)).add(kCouldNotStop);
      },
      [&](Statement& row) { ledger.runs.push_back(read_run(row, runs)); });
}

Result<void> load_all(Database& db, Time now, const std::string& runs, Ledger& ledger) {
  Result<void> done;
  const auto load = [&](std::string_view table, std::string_view sql, const ReadRow& read) {
    if (done)
      done = each(db, table, sql, {}, read);
  };
  load("documents",
       "SELECT path, dialect, flow, kind, part, digest, arrival, writer, present, length(bytes) "
       "FROM documents ORDER BY path",
       [&](Statement& row) { ledger.accepted.push_back(read_accepted(row)); });
  load("rejected", "SELECT path, dialect, flow, digest, findings, time FROM rejected ORDER BY path",
       [&](Statement& row) { ledger.rejected.push_back(read_rejected(row)); });
  load("generations",
       "SELECT " + std::string(kStageColumns) +
           ", seal FROM generations ORDER BY dialect, flow, subject",
       [&](Statement& row) { ledger.stages.push_back(read_stage(row)); });
  load("memos", "SELECT dialect, flow, memo FROM memos ORDER BY dialect, flow",
       [&](Statement& row) {
         FlowId flow = flow_of(row);
         ledger.memos.emplace_back(std::move(flow), read_json(row));
       });
  load("origins", "SELECT dialect, flow, origin FROM origins ORDER BY dialect, flow",
       [&](Statement& row) {
         FlowId flow = flow_of(row);
         ledger.origins.emplace_back(std::move(flow), flow_origin_of(*read_json(row)));
       });
  load("logs", "SELECT dialect, flow, logs FROM logs ORDER BY dialect, flow", [&](Statement& row) {
    FlowId flow = flow_of(row);
    ledger.logs.emplace_back(std::move(flow), flow_logs_of(*read_json(row)));
  });
  // This only prevents repeated notifications, so damage is no reason to refuse the journal.
  load("told", "SELECT dialect, flow, told FROM told ORDER BY dialect, flow", [&](Statement& row) {
    FlowId flow = flow_of(row);
    if (auto notified = maybe_json(row))
      ledger.notified.emplace_back(std::move(flow), *std::move(notified));
    else
      ledger.notified_lost.push_back(std::move(flow));
  });
  if (done)
    done = load_runs(db, now, runs, ledger);
  load("intents",
       "SELECT id, kind, path, assumes, assumes_bytes, after, to_path, dialect, flow, "
       "why, bytes FROM intents ORDER BY id",
       [&](Statement& row) { ledger.intents.push_back(read_intent(row)); });
  load("controls",
       "SELECT dialect, flow, control, reason, why, since, resumed_at, started "
       "FROM controls ORDER BY dialect, flow",
       [&](Statement& row) { ledger.controls.push_back(read_control_row(row)); });
  load("replies", "SELECT request, accepted, message FROM replies ORDER BY request",
       [&](Statement& row) {
         Reply reply;
         reply.request = row.text();
         reply.accepted = read_flag(row);
         reply.message = row.text();
         ledger.replies.emplace_back(reply.request, reply);
       });
  load("meta", "SELECT name, value FROM meta", [&](Statement& row) {
    const std::string name = row.text();
    const std::uint64_t value = read_count(row);
    if (name == "arrival")
      ledger.arrival = value;
    if (name == "intent")
      ledger.intent = value;
  });
  return done;
}

}  // namespace

Result<void> seal_all(Database& db) {
  std::vector<StageRow> all;
  auto done = each(db, "generations", "SELECT " + std::string(kStageColumns) + " FROM generations",
                   {}, [&](Statement& row) { all.push_back(read_unsealed_stage(row)); });
  for (std::size_t i = 0; done && i < all.size(); ++i)
    done = write(db, all[i]);
  return done;
}

Result<Ledger> load(Database& db, Time now, const std::string& runs) {
  // One read transaction, so that all tables show one moment.
  const bool within = db.in_transaction();
  auto begun = within ? Result<void>() : db.execute("BEGIN");
  if (!begun)
    return pass_on(begun);
  Ledger ledger;
  auto done = load_all(db, now, runs, ledger);
  if (!within)
    db.rollback();
  if (!done)
    return pass_on(done);
  return ledger;
}

Result<std::string> bytes(Database& db, const std::string& path) {
  std::optional<std::string> found;
  auto done = each(
      db, "documents", "SELECT bytes FROM documents WHERE path = ?",
      [&](Statement& s) { s.add(path); }, [&](Statement& row) { found = row.blob(); });
  if (!done)
    return pass_on(done);
  if (!found)
    return fail(Errc::not_found, "the journal has no accepted version", path);
  return std::move(*found);
}

Result<bool> was_accepted(Database& db, const std::string& path, const Digest& digest) {
  bool found = false;
  auto done = each(
      db, "versions", "SELECT 1 FROM versions WHERE path = ? AND digest = ?",
      [&](Statement& s) {
        s.add(path);
        s.add(hex(digest));
      },
      [&](Statement& /*row*/) { found = true; });
  if (!done)
    return pass_on(done);
  return found;
}

}  // namespace baton::rows
