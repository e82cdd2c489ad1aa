#include "app/deliberation.h"

#include <algorithm>
#include <utility>

namespace baton {
namespace {

constexpr int kMaxRounds = 8;

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

bool essential(const Catalog::Entry& entry, const std::string& kind) {
  const auto found = std::find_if(entry.kinds.begin(), entry.kinds.end(),
                                  [&](const FileKind& k) { return k.kind == kind; });
  return found == entry.kinds.end() || found->essential;
}

/// The first error across documents that the dialect leaves to the engine.
std::string first_error(const std::map<std::string, Findings>& conflicts,
                        std::span<const std::string_view> tolerated) {
  const auto matters = [&](const Finding& finding) {
    return finding.severity == Severity::error &&
           std::find(tolerated.begin(), tolerated.end(), finding.rule) == tolerated.end();
  };
  for (const auto& [path, findings] : conflicts)
    for (const Finding& finding : findings)
      if (matters(finding))
        return path + "#" + finding.pointer + ": " + finding.message + " [" + finding.rule + "]";
  return {};
}

/// A notice is level like everything else: it is said when it becomes true, not each time it is.
void say_once(const FlowBook& book, std::vector<Notice>& said, Draft& draft) {
  const auto has = [](const std::vector<Notice>& notices, const Notice& notice) {
    return std::find(notices.begin(), notices.end(), notice) != notices.end();
  };
  for (const Notice& notice : book.decision.notices) {
    if (has(said, notice))
      continue;
    if (!has(book.notices, notice))
      draft.event(notice.event, book.id, notice.why, notice.subject);
    said.push_back(notice);
  }
}

}  // namespace

Result<void> Deliberation::decide(const FlowId& flow, Draft& draft,
                                  const std::vector<Request>& requests) {
  if (draft.find(flow) == nullptr)
    return {};
  FlowBook& book = draft.touch(flow);
  const Catalog::Entry* const entry = catalog_.entry(flow.dialect);
  if (entry == nullptr) {
    // No longer configured: its agents are looked after, nothing is started.
    book.decision = Decision{};
    book.decision.control = Control::idle;
    book.held.reset();
    return {};
  }
  auto opened = library_.open(book, *entry, draft.documents);
  if (!opened)
    return pass_on(opened);
  FlowState docs = std::move(*opened);
  const Dialect& dialect = *entry->dialect;
  const View view{book.id,  docs,           book.stages,  book.runs, book.memo,
                  requests, entry->options, environment_, draft.now, draft.wall};
  std::string trouble;
  std::vector<Notice> said;
  for (int round = 0;; ++round) {
    check(book, *entry, docs, draft);
    if (dialect.stages != nullptr)
      advance(book, dialect.stages(view), draft);
    book.decision = dialect.decide(view);
    draft.memo(book, book.decision.memo);
    say_once(book, said, draft);
    for (const Reply& reply : book.decision.replies)
      draft.reply(reply);
    if (book.decision.updates.empty())
      break;
    if (round == kMaxRounds) {
      trouble = "the flow's own writes lead to further writes without end (stopped after " +
                std::to_string(kMaxRounds) + " rounds)";
      break;
    }
    for (const Update& update : book.decision.updates) {
      auto applied = apply(book, docs, update, draft);
      if (!applied && trouble.empty())
        trouble = "a write of baton's own was refused: " + describe(applied.error());
    }
    if (!trouble.empty())
      break;
  }
  book.notices = std::move(said);
  const std::optional<Hold> before = book.held;
  hold(book, *entry, draft.now);
  if (!trouble.empty()) {
    book.held = Hold{"", "", "own_write", trouble};
    if (before != book.held)
      draft.event("held", book.id, trouble);
  }
  forget_old_runs(book, draft.now);
  library_.keep(flow, std::move(docs));
  return {};
}

void Deliberation::check(FlowBook& book, const Catalog::Entry& entry, const FlowState& docs,
                         Draft& draft) {
  if (entry.dialect->check == nullptr)
    return;
  auto findings = entry.dialect->check(docs, entry.options, Scope::flow);
  const std::string before = first_error(book.conflicts, entry.dialect->tolerated);
  book.conflicts = std::move(findings);
  const std::string after = first_error(book.conflicts, entry.dialect->tolerated);
  if (after != before)
    draft.event(after.empty() ? "resolved" : "conflict", book.id,
                after.empty() ? "the documents fit together again" : after);
}

void Deliberation::hold(FlowBook& book, const Catalog::Entry& entry, Time now) {
  book.held.reset();
  const auto gone = std::find_if(book.accepted.begin(), book.accepted.end(), [&](const auto& row) {
    return !row.second.present && essential(entry, row.second.kind);
  });
  if (const std::string conflict = first_error(book.conflicts, entry.dialect->tolerated);
      !conflict.empty())
    book.held = Hold{"", "", "conflict", conflict};
  else if (gone != book.accepted.end())
    book.held = Hold{"", "", "gone", gone->first + " is gone"};
  else if (now < book.calm_at)
    book.held = Hold{"", "", "rate_breaker",
                     "a file changes too often; held until " + iso_time(book.calm_at)};
}

bool Deliberation::advance(FlowBook& book, const Stages& stages, Draft& draft) {
  bool changed = false;
  const auto enter = [&](const Subject& subject, const Word& stage) {
    StageState& state = book.stages[subject];
    if (state.stage == stage)
      return;
    changed = true;
    auto& entries = book.entries[subject];
    state.previous = state.stage;
    state.stage = stage;
    state.since = draft.now;
    state.arrival = ++draft.arrival;
    if (!stage.empty()) {
      ++state.generation;
      state.entries = ++entries[stage];
    }
    std::erase_if(draft.commit.stages, [&](const StageRow& row) {
      return row.flow == book.id && row.subject == subject;
    });
    draft.commit.stages.push_back(StageRow{book.id, subject, state, entries});
    draft.event(
        "stage", book.id,
        (state.previous.empty() ? "" : state.previous + " -> ") + (stage.empty() ? "gone" : stage),
        subject);
  };
  for (const auto& [subject, stage] : stages)
    enter(subject, stage);
  std::vector<Subject> vanished;
  for (const auto& [subject, state] : book.stages)
    if (!stages.contains(subject))
      vanished.push_back(subject);
  for (const Subject& subject : vanished)
    enter(subject, "");
  return changed;
}

Result<void> Deliberation::put(FlowBook& book, FlowState& docs, const std::string& path,
                               std::string text, Draft& draft) {
  const auto match = catalog_.match(path);
  if (!match || match->flow != book.id)
    return {};  // a file nobody reads back: a log, an archive
  Verdict verdict = judge(*match, path, std::move(text), schemas_, limits_);
  if (!verdict.accepted())
    return fail(Errc::schema,
                verdict.findings.empty() ? "not acceptable" : verdict.findings.front().message,
                path);
  const AcceptedRow row{
      path,    book.id, match->kind->kind, match->part, verdict.document->digest(), ++draft.arrival,
      "baton", true};
  docs[path] = Accepted{verdict.document, row.kind, row.part, row.arrival, row.writer, true};
  draft.accept(book, row, verdict.document);
  return {};
}

Result<void> Deliberation::apply(FlowBook& book, FlowState& docs, const Update& update,
                                 Draft& draft) {
  const auto current = [&](const std::string& path) -> const Document* {
    const auto found = docs.find(path);
    return found == docs.end() ? nullptr : found->second.document.get();
  };
  const auto write = [&](Intent::Kind kind, const std::string& path, const Digest& assumes,
                         std::string bytes, const std::string& why) {
    Intent intent;
    intent.kind = kind;
    intent.path = path;
    intent.assumes = assumes;
    intent.after = digest_of(bytes);
    intent.bytes = std::move(bytes);
    intent.flow = book.id;
    intent.why = why;
    draft.plan_write(std::move(intent));
  };
  const auto replace = [&](const std::string& path, const Digest& assumes, std::string text,
                           const std::string& why) -> Result<void> {
    const Document* const now = current(path);
    if (now == nullptr || now->digest() != assumes)
      return fail(Errc::changed, "the file is not what the update assumes", path);
    if (now->text() == text)
      return {};
    if (auto put_result = put(book, docs, path, text, draft); !put_result)
      return put_result;
    write(Intent::Kind::replace, path, assumes, std::move(text), why);
    return {};
  };
  return std::visit(
      Overload{
          [&](const SetMembers& set) -> Result<void> {
            const Document* const now = current(set.path);
            if (now == nullptr)
              return fail(Errc::changed, "there is no such document", set.path);
            auto text = json::splice(now->text(), set.edits);
            if (!text)
              return pass_on(text);
            return replace(set.path, set.assumes, std::move(*text), set.why);
          },
          [&](const Replace& whole) -> Result<void> {
            return replace(whole.path, whole.assumes, whole.text, whole.why);
          },
          [&](const Append& lines) -> Result<void> {
            const Document* const now = current(lines.path);
            const std::string before = now == nullptr ? std::string() : now->text();
            if (auto put_result = put(book, docs, lines.path, before + lines.text, draft);
                !put_result)
              return put_result;
            Intent intent;
            intent.kind = Intent::Kind::append;
            intent.path = lines.path;
            intent.assumes_bytes = lines.assumes_bytes;
            intent.bytes = lines.text;
            intent.flow = book.id;
            intent.why = lines.why;
            draft.plan_write(std::move(intent));
            return {};
          },
          [&](const Create& create) -> Result<void> {
            if (current(create.path) != nullptr)
              return fail(Errc::changed, "the file exists already", create.path);
            if (auto put_result = put(book, docs, create.path, create.text, draft); !put_result)
              return put_result;
            write(Intent::Kind::create, create.path, {}, create.text, create.why);
            return {};
          },
          [&](const Move& moved) -> Result<void> { return move(book, docs, moved, draft); },
      },
      update);
}

Result<void> Deliberation::move(FlowBook& book, FlowState& docs, const Move& update, Draft& draft) {
  Intent intent;
  intent.kind = Intent::Kind::move;
  intent.path = update.from;
  intent.assumes = update.assumes;
  intent.after = update.assumes;
  intent.to = update.to;
  intent.flow = book.id;
  intent.why = update.why;
  draft.plan_write(std::move(intent));
  const auto found = docs.find(update.from);
  if (found == docs.end())
    return {};
  std::string text = found->second.document->text();
  docs.erase(found);
  book.accepted.erase(update.from);
  draft.commit.moved_away.push_back(update.from);
  return put(book, docs, update.to, std::move(text), draft);
}

}  // namespace baton
