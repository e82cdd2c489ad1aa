// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>

#include "base/text.h"
#include "engine/decide/explanation.h"
#include "engine/intake/document_check.h"
#include "io/files/disk.h"
#include "io/journal/reader.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/config_warnings.h"
#include "workspace/folders.h"
#include "workspace/inspection.h"
#include "workspace/kind_choice.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

struct ExplainArguments {
  Places places;
  std::string what;
  std::string as;
  bool json = false;
  bool replaced = false;
  bool last_good = false;
};

/// Whether this version is the accepted one, even if the schema has changed.
bool counts(const Rehearsal& rehearsal, const FlowId& flow, const std::string& path,
            const Digest& digest) {
  const FlowRecord* const record = rehearsal.record(flow);
  return record != nullptr && record->accepted.contains(path) &&
         record->accepted.at(path).digest == digest;
}

/// Of a log the lines that were read count. The journal says which of them cannot be read.
DocumentReport report_of_log(const Rehearsal& rehearsal, const Catalog::Match& match,
                             const std::string& path) {
  DocumentReport document{path, match.kind->kind, DocumentVerdict::absent, {}};
  const FlowRecord* const record = rehearsal.record(match.flow);
  if (record == nullptr)
    return document;
  if (const auto row = record->accepted.find(path);
      row != record->accepted.end() && row->second.present)
    document.verdict = DocumentVerdict::accepted;
  if (record->rejected.contains(path))
    document.verdict = DocumentVerdict::rejected;
  if (const auto log = record->logs.files.find(path); log != record->logs.files.end())
    for (const LogFault& fault : log->second.last_faults)
      document.findings.push_back({.severity = Severity::warning,
                                   .rule = "json",
                                   .message = fault.where + " is skipped: " + fault.why});
  return document;
}

DocumentReport report(const Rehearsal& rehearsal, const Catalog::Match& match,
                      const std::string& path, Schemas& schemas, const LoadLimits& load) {
  if (match.kind->log != LogReading::whole)
    return report_of_log(rehearsal, match, path);
  DocumentReport document{path, match.kind->kind, DocumentVerdict::absent, {}};
  auto file = rehearsal.read(path);
  if (!file && file.error().code == Errc::not_found)
    return document;
  if (!file && file.error().code == Errc::away) {
    // The root is unavailable, so show what the journal says about the file.
    const FlowRecord* const record = rehearsal.record(match.flow);
    if (record != nullptr && record->rejected.contains(path))
      document.verdict = DocumentVerdict::rejected;
    else if (record != nullptr && record->accepted.contains(path) &&
             record->accepted.at(path).present)
      document.verdict = DocumentVerdict::accepted;
    return document;
  }
  if (!file) {
    document.findings.push_back({.rule = "file", .message = file.error().message});
    document.verdict = DocumentVerdict::rejected;
    return document;
  }
  const Digest digest = file->digest;
  const std::string bytes = std::move(file->bytes);
  DocumentCheck checked = check_document(match, path, bytes, schemas, load);
  document.verdict = checked.accepted() ? DocumentVerdict::accepted : DocumentVerdict::rejected;
  document.findings = std::move(checked.findings);
  // Faults that stop the flow although baton accepts the file, as `baton validate` reports them.
  if (checked.accepted()) {
    Findings more =
        check_document(match, path, bytes, schemas.of(*match.kind), load, real_clock()->wall())
            .findings;
    std::copy_if(more.begin(), more.end(), std::back_inserter(document.findings),
                 [](const Finding& each) { return each.severity == Severity::error; });
  }
  if (document.verdict == DocumentVerdict::accepted || !counts(rehearsal, match.flow, path, digest))
    return document;
  document.verdict = DocumentVerdict::accepted;
  for (Finding& finding : document.findings) {
    finding.severity = Severity::warning;
    finding.message.insert(0,
                           "accepted by an earlier version of the schema, so it counts until it "
                           "changes; the schema now says: ");
  }
  return document;
}

/// The documents of a flow: those in the journal, the named one, and those with a fixed path.
std::vector<DocumentReport> reports(const Context& context, const Rehearsal& rehearsal,
                                    const FlowId& flow, const std::string& named,
                                    Schemas& schemas) {
  std::set<std::string> paths;
  if (!named.empty())
    paths.insert(named);
  if (const FlowRecord* const record = rehearsal.record(flow)) {
    for (const auto& [path, row] : record->accepted)
      paths.insert(path);
    for (const auto& [path, row] : record->rejected)
      paths.insert(path);
  }
  // A kind without placeholders has one path, known even without a file.
  if (const Catalog::Entry* const entry = rehearsal.catalog().entry(flow.dialect))
    for (const FileKind& kind : entry->kinds)
      if (kind.pattern.find('{') == std::string::npos && kind.flow == flow.name)
        paths.insert(kind.pattern);
  std::vector<DocumentReport> documents;
  for (const std::string& path : paths)
    if (const auto match = rehearsal.catalog().match(path))
      documents.push_back(report(rehearsal, *match, path, schemas, load_limits(context.config())));
  return documents;
}

ExitCode show(const ExplainArguments& arguments, const Context& context, const Rehearsal& rehearsal,
              const FlowId& flow, const std::string& named) {
  Schemas schemas(schemas_below(context.folder()));
  FlowRecord none;
  none.id = flow;
  const FlowRecord* const record = rehearsal.record(flow);
  Explanation explanation =
      explain(record == nullptr ? none : *record, rehearsal.plan(), rehearsal.root_control(),
              reports(context, rehearsal, flow, named, schemas));
  // With --as, the file was checked as if it were at its usual path. Show the user's path.
  if (!arguments.as.empty())
    for (DocumentReport& document : explanation.documents)
      if (document.path == named)
        document.path = arguments.what;
  if (arguments.json)
    print_line(explanation_json(explanation));
  else
    print_text(explanation_text(explanation));
  return finish();
}

ExitCode explain_alone(const ExplainArguments& arguments, const Context& context) {
  auto dialects = known_dialects(context.config());
  if (!dialects)
    return complain(dialects.error());
  const Catalog catalog = Catalog::of(*dialects);
  auto choice = KindChoice::named(catalog, arguments.as);
  if (!choice)
    return complain(choice.error());
  auto text = read_file(arguments.what, load_limits(context.config()).max_bytes);
  if (!text)
    return complain(text.error());
  const std::string path = path_in_pattern(choice->kind().pattern, arguments.what);
  const auto rehearsal = Rehearsal::of_document(context, *choice, path, *text);
  if (!rehearsal)
    return complain(rehearsal.error());
  const auto match = (*rehearsal)->catalog().match(path);
  if (!match) {
    complain("a file of this kind cannot be explained on its own");
    return ExitCode::usage;
  }
  return show(arguments, context, **rehearsal, match->flow, path);
}

/// The path below the root, reached without links, as the daemon reaches it.
std::optional<std::string> path_below(const Context& context, const std::string& what) {
  const std::string& root = context.root();
  const LinkPath way = resolve_outside(what, [&](const std::string& folder) {
    return folder == root || below(root, folder).has_value();
  });
  return below(root, way.path);
}

struct KnownPath {
  std::string path;
  FlowId flow;
};
/// The path below the root and its flow. The configuration says which flow it is, else the journal.
std::optional<KnownPath> known_path(const Context& context, const Rehearsal& rehearsal,
                                    const std::string& what) {
  const auto path = path_below(context, what);
  if (!path)
    return std::nullopt;
  if (const auto match = rehearsal.catalog().match(*path);
      match && rehearsal.ignored(*path).empty())
    return KnownPath{*path, match->flow};
  for (const auto& [flow, record] : rehearsal.records())
    if (record.accepted.contains(*path) || record.rejected.contains(*path))
      return KnownPath{*path, flow};
  return std::nullopt;
}

/// Warns when the daemon does not act on what is explained here.
void warn(const Context& context, const Rehearsal& rehearsal) {
  const auto difference = context.difference();
  // A broken configuration was reported when it was read.
  if (!difference.why.empty() && context.broken_configuration().empty())
    complain("warning: " + difference.why);
  else if (context.configuration().empty() && context.broken_configuration().empty())
    complain("warning: " + without_configuration(rehearsal.daemon()));
  if (!rehearsal.recorded().empty())
    complain("warning: " + recorded_text(rehearsal.recorded()));
}

/// Why an existing file belongs to no flow.
std::string no_flow_reason(const std::vector<RehearsedRoot>& roots, const std::string& what) {
  for (const auto& [on_root, rehearsal] : roots) {
    if (!on_root.broken_configuration().empty() && !on_root.follows_daemon())
      return "may belong to a flow, but the configuration, which would say so, cannot be used; "
             "`baton doctor` says why";
    const auto path = path_below(on_root, what);
    const Catalog& catalog = rehearsal->catalog();
    if (path && !catalog.known_other(*path).empty())
      return "is " + catalog.known_other(*path) + ": baton knows it and leaves it alone";
    const std::string ignored = path ? rehearsal->ignored(*path) : "";
    if (!ignored.empty())
      return "is " + ignored + ": baton ignores it";
    if (path && !catalog.unfit(*path).empty())
      return catalog.unfit(*path);
  }
  std::string text = "belongs to no flow";
  for (const auto& [on_root, rehearsal] : roots)
    text += "; below " + printable(on_root.root()) + " " +
            configured_patterns(on_root, rehearsal->catalog());
  return text + "; use --as to explain it on its own";
}

Result<std::vector<ReplacedVersion>> replaced(const Context& context, const std::string& path) {
  const auto folder = context.state_folder();
  auto journal = folder ? read_journal(*folder)
                        : Result<std::unique_ptr<JournalReader>>(tl::unexpected(folder.error()));
  auto versions =
      journal ? (*journal)->replaced(path) : Result<std::vector<ReplacedVersion>>(pass_on(journal));
  if (!versions && versions.error().code == Errc::not_found)
    return std::vector<ReplacedVersion>();
  return versions;
}

/// The bytes unchanged. On a terminal, control characters are made visible.
std::string shown(const std::string& bytes) {
  if (!on_terminal())
    return bytes + (bytes.ends_with('\n') ? "" : "\n");
  return for_terminal(bytes) + "\n";
}

/// Prints the version of a file that is in force: that of the journal, whatever stands there now.
ExitCode show_last_good(const ExplainArguments& arguments, const Context& context) {
  const auto seen = rehearse_seen(context);
  if (!seen)
    return complain(seen.error());
  for (const auto& [on_root, rehearsal] : *seen) {
    const auto known = known_path(on_root, *rehearsal, arguments.what);
    if (!known)
      continue;
    const auto folder = on_root.state_folder();
    auto journal = folder ? read_journal(*folder)
                          : Result<std::unique_ptr<JournalReader>>(tl::unexpected(folder.error()));
    auto bytes = journal ? (*journal)->bytes(known->path) : Result<std::string>(pass_on(journal));
    if (!bytes && bytes.error().code != Errc::not_found)
      return complain(bytes.error());
    if (!bytes) {
      complain("no version of " + printable(known->path) + " was ever accepted");
      return ExitCode::failed;
    }
    print(on_terminal() ? for_terminal(*bytes) + "\n" : *bytes);
    return finish();
  }
  return complain(Error{Errc::usage, "belongs to no flow; --last-good needs the path of a file",
                        arguments.what});
}

ExitCode print_replaced(const Context& context, const std::vector<std::string>& paths) {
  bool none = true;
  for (const std::string& path : paths) {
    const auto versions = replaced(context, path);
    if (!versions)
      return complain(versions.error());
    for (const ReplacedVersion& version : *versions)
      print("== " + printable(path) + ", " + iso_time(version.time) + ", " +
            std::to_string(version.bytes.size()) + " bytes\n" + shown(version.bytes));
    none = none && versions->empty();
  }
  if (none)
    complain("no version of " + printable(join(paths, ", ")) + " is kept");
  return finish();
}

/// Prints old versions of a file, or of all files of a flow, that were kept when they were
/// overwritten.
ExitCode show_replaced(const ExplainArguments& arguments, const Context& context) {
  for (const Context& on_root : context.each()) {
    const auto path = path_below(on_root, arguments.what);
    const auto versions = path ? replaced(on_root, *path) : std::vector<ReplacedVersion>();
    std::error_code error;
    const auto kind = fs::status(on_root.root() + "/" + path.value_or(""), error).type();
    // A folder may have the name of a flow.
    if (path && (!versions || !versions->empty() ||
                 (kind != fs::file_type::not_found && kind != fs::file_type::directory)))
      return print_replaced(on_root, {*path});
  }
  const auto seen = rehearse_seen(context);
  if (!seen)
    return complain(seen.error());
  for (const auto& [on_root, rehearsal] : *seen)
    if (const auto known = known_path(on_root, *rehearsal, arguments.what))
      return print_replaced(on_root, {known->path});
  const auto place = choose_flow(arguments.what, *seen);
  if (!place)
    return complain(place.error());
  const auto& [on_root, rehearsal] = (*seen)[place->root];
  const FlowRecord* const record = rehearsal->record(place->flow);
  std::vector<std::string> paths;
  if (record != nullptr)
    for (const auto& [path, row] : record->accepted)
      paths.push_back(path);
  return print_replaced(on_root, paths);
}

}  // namespace

ExitCode explain_command(Words words) {
  ExplainArguments arguments;
  Options options(
      "explain",
      "Explains why something was or was not started: the dialect and kind of a file,\n"
      "whether it is valid, what should run, what was done, and what stands in the way.\n"
      "Works without a daemon. With --as, the file is explained on its own, as if there\n"
      "were no other files.",
      {{ExitCode::fine, "explained"},
       {ExitCode::failed, "--last-good: no version of the file was ever accepted"},
       {ExitCode::usage, "wrong usage or configuration; neither a file nor a flow"},
       {ExitCode::unreachable, "the file, the root or its state cannot be read"}});
  options.word("PATH|FLOW", arguments.what,
               "A file, or a flow: dialect/name, or the name alone if it is unique");
  options.value("--as", arguments.as, "KIND",
                "The kind of a file outside its usual place: DIALECT/KIND, or the name of a rule");
  options.flag("--replaced", arguments.replaced,
               "Print the old versions of the file, or of the flow's files, oldest first");
  options.flag("--last-good", arguments.last_good,
               "Print the version of the file that is in force, as it was accepted last");
  options.flag("--json", arguments.json, "Print one JSON object, baton/explain/v1");
  options.places(arguments.places);
  options.exclude("--replaced", {"--json", "--as"});
  options.exclude("--last-good", {"--json", "--as", "--replaced"});
  if (const auto over = options.parse(words))
    return *over;
  const auto context = arguments.replaced || arguments.last_good
                           ? Context::open_anyway(arguments.places)
                           : Context::open_to_show(arguments.places);
  if (!context)
    return complain(context.error());
  if (arguments.replaced)
    return show_replaced(arguments, *context);
  if (arguments.last_good)
    return show_last_good(arguments, *context);
  if (!arguments.as.empty())
    return explain_alone(arguments, *context);
  const auto seen = rehearse_seen(*context);
  if (!seen)
    return complain(seen.error());
  for (const auto& [on_root, rehearsal] : *seen)
    warn(on_root, *rehearsal);
  for (const auto& [on_root, rehearsal] : *seen)
    if (const auto known = known_path(on_root, *rehearsal, arguments.what))
      return show(arguments, on_root, *rehearsal, known->flow, known->path);
  const auto place = choose_flow(arguments.what, *seen);
  if (place) {
    const auto& [on_root, rehearsal] = (*seen)[place->root];
    return show(arguments, on_root, *rehearsal, place->flow, "");
  }
  std::error_code error;
  if (fs::exists(arguments.what, error))
    return complain(Error{
        Errc::usage, printable(arguments.what) + " " + no_flow_reason(*seen, arguments.what), ""});
  const bool file = arguments.what.ends_with(".json") || arguments.what.ends_with(".jsonl") ||
                    arguments.what.ends_with(".yaml") || arguments.what.ends_with(".yml");
  if (file)
    complain("there is no file " + printable(arguments.what));
  return complain(place.error());
}

}  // namespace baton
