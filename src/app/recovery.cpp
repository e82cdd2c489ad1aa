#include "app/recovery.h"

#include <utility>

namespace baton {

/// A file that is there and in force is not rebuilt.
Result<void> Recovery::needed(const std::string& path, const FlowBook& book) {
  const auto there = ports_.disk.read(path, limits_.max_bytes);
  const auto row = book.accepted.find(path);
  if (there && row != book.accepted.end() && row->second.digest == there->digest)
    return fail(Errc::usage, path + " is there and in force; nothing is to be recovered");
  if (!there && there.error().code != Errc::not_found)
    return fail(Errc::usage,
                "what stands in the place cannot be replaced: " + describe(there.error()));
  return {};
}

Result<Rebuilt> Recovery::rebuilt(const FlowBook& book, const Library::Documents& fresh, Time now,
                                  Time wall) {
  const Catalog::Entry* const entry = catalog_.entry(book.id.dialect);
  if (entry == nullptr || entry->dialect->rebuild == nullptr)
    return fail(Errc::usage, "nothing is rebuilt in the dialect " + book.id.dialect);
  auto docs = ports_.library.open(book, *entry, fresh);
  if (!docs)
    return pass_on(docs);
  const std::vector<Request> none;
  const View view{book.id, *docs,          book.stages,  book.runs, book.memo,
                  none,    entry->options, environment_, now,       wall};
  std::string faults;
  for (Create& candidate : entry->dialect->rebuild(view)) {
    const auto match = catalog_.match(candidate.path);
    if (!match || match->flow != book.id)
      continue;
    if (auto asked = needed(candidate.path, book); !asked)
      return pass_on(asked);
    Verdict verdict = judge(*match, candidate.path, candidate.text, ports_.schemas, limits_);
    if (verdict.accepted())
      return Rebuilt{candidate.path, std::move(candidate.text), std::move(candidate.why),
                     std::move(verdict.document)};
    for (const Finding& finding : verdict.findings)
      if (finding.severity == Severity::error && faults.empty())
        faults = "; " + candidate.why + ": " + finding.pointer + ": " + finding.message;
  }
  return fail(Errc::usage, "there is nothing left to rebuild it from" + faults);
}

Result<Reply> Recovery::perform(const Request& request, Draft& draft) {
  const auto refuse = [&](std::string why) { return Reply{request.id, false, std::move(why)}; };
  if (draft.find(request.flow) == nullptr)
    return refuse("there is no flow " + text(request.flow) + "; `baton status` lists them");
  FlowBook& book = draft.touch(request.flow);
  if (book.live())
    return refuse("agents of it are running; `baton stop " + text(book.id) + "` first");
  auto found = rebuilt(book, draft.documents, draft.now, draft.wall);
  if (!found && found.error().code == Errc::io)
    return pass_on(found);
  if (!found)
    return refuse(found.error().message);
  const auto match = catalog_.match(found->path);
  if (const auto there = ports_.disk.read(found->path, limits_.max_bytes)) {
    draft.write_over(book, found->path, *there, found->text, found->why);
  } else {
    Intent fresh;
    fresh.kind = Intent::Kind::create;
    fresh.path = found->path;
    fresh.after = digest_of(found->text);
    fresh.bytes = found->text;
    fresh.flow = book.id;
    fresh.why = found->why;
    draft.plan_write(std::move(fresh));
  }
  draft.accept(book,
               AcceptedRow{found->path, book.id, match->kind->kind, match->part,
                           found->document->digest(), ++draft.arrival, "baton", true},
               found->document);
  const std::string done = found->path + " was rebuilt " + found->why;
  draft.event("recovered", book.id, done);
  return Reply{request.id, true, done};
}

}  // namespace baton
