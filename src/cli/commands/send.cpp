// SPDX-License-Identifier: Apache-2.0

// `baton send`: appends a message to a mailbox of a flow.

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands/state_file_edit.h"
#include "io/files/disk.h"
#include "io/system/clock.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/folders.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

struct Mailbox {
  const Dialect* dialect = nullptr;
  std::string kind;
  std::string path;  ///< below the root
};

/// The mailbox with that name, or with that path below the root. Configured dialects come before
/// other known ones.
Result<Mailbox> mailbox_of(const Catalog& catalog, const std::string& named) {
  std::vector<std::string> names;
  for (const Catalog::Entry& entry : catalog.entries()) {
    if (entry.dialect->send == nullptr)
      continue;
    for (const FileKind& kind : entry.kinds) {
      if (kind.pattern.find('{') != std::string::npos)
        continue;
      names.push_back(kind.kind);
      if (kind.kind == named || kind.pattern == named)
        return Mailbox{entry.dialect, kind.kind, kind.pattern};
    }
  }
  const auto near = nearest(named, names);
  return fail(Errc::usage,
              "there is no mailbox " + printable(named, 100) +
                  (near ? "; did you mean " + *near + "?" : "; `baton send --help` lists them"));
}

Result<std::string> with_message(const Mailbox& mailbox, std::string text, const Json& message) {
  const auto document = load_document(std::move(text), Format::json);
  if (!document)
    return fail(Errc::parse,
                "the file is not JSON" + (document.error().findings.empty()
                                              ? std::string()
                                              : ": " + document.error().findings.front().message));
  return mailbox.dialect->send(**document, mailbox.kind, *message, real_clock()->wall());
}

bool is_configured(const Config& config, const Dialect& dialect) {
  return std::any_of(config.dialects.begin(), config.dialects.end(),
                     [&](const auto& each) { return each.first == dialect.name; });
}

/// With several roots: the root that the calling agent works for, or the one around the current
/// folder.
Result<std::string> root_of_mailbox(const Context& context) {
  if (context.roots().size() < 2)
    return context.root();
  std::error_code error;
  const std::string own = variable("BATON_ROOT");
  const std::string here = std::filesystem::current_path(error).string();
  for (const std::string& root : context.roots())
    if (root == own)
      return root;
  for (const std::string& root : context.roots())
    if (root == here || below(root, here))
      return root;
  return fail(Errc::usage, "the mailbox may be on " + join(context.roots(), " or on ") +
                               "; choose one with --root");
}

ExitCode send(const Places& places, const std::string& named, const std::string& text) {
  const auto message = parse_json(text);
  if (!message) {
    complain("`" + printable(text, 200) + "` is not JSON: " + message.error().message);
    return ExitCode::usage;
  }
  const auto context = Context::open_active(places);
  if (!context)
    return complain(context.error());
  const auto dialects = known_dialects(context->config());
  if (!dialects)
    return complain(dialects.error());
  const Catalog catalog = Catalog::of(*dialects);
  const auto mailbox = mailbox_of(catalog, named);
  if (!mailbox)
    return complain(mailbox.error());
  const auto root = root_of_mailbox(*context);
  if (!root)
    return complain(root.error());
  auto disk = real_disk(*root);
  if (!disk)
    return complain(disk.error());
  if (const auto there = (*disk)->read(mailbox->path, load_limits(context->config()).max_bytes);
      !there && there.error().code == Errc::not_found) {
    if (!is_configured(context->config(), *mailbox->dialect)) {
      complain("nothing was sent: " + mailbox->path +
               " does not exist, and no configuration of this root lists the dialect " +
               std::string(mailbox->dialect->name) + ", so nobody would read it");
      return ExitCode::usage;
    }
    const auto first = with_message(*mailbox, "{}", *message);
    if (!first)
      return complain(first.error());
    Schemas schemas(schemas_below(context->folder()));
    const DocumentCheck checked = check_document(*catalog.match(mailbox->path), mailbox->path,
                                                 *first, schemas, load_limits(context->config()));
    if (!checked.accepted()) {
      std::string faults = "the message would break the mailbox; nothing was written\n";
      for (const Finding& finding : checked.findings)
        faults += finding_text(mailbox->path, finding);
      faults.pop_back();
      complain(faults);
      return ExitCode::failed;
    }
    // If another process created the mailbox first, the message is appended below.
    const auto made = (*disk)->create(mailbox->path, *first);
    if (made)
      return ExitCode::fine;
    if (made.error().code != Errc::changed)
      return complain(made.error());
  }
  Places there = places;
  there.root = *root;
  auto file = StateFileEdit::open(*root + "/" + mailbox->path, there);
  if (!file)
    return complain(file.error());
  return rewrite(*file,
                 [&](const std::string& now) { return with_message(*mailbox, now, *message); });
}

}  // namespace

ExitCode send_command(Words words) {
  Places places;
  std::string mailbox;
  std::string message;
  Options options(
      "send",
      "Appends a message to a mailbox that others write too. baton locks the mailbox, checks\n"
      "the result and replaces the file at once. It fills in missing members: id, from, to,\n"
      "timestamp, read. Works without a daemon.\n"
      "\n"
      "  baton send dev_to_qa '{\"group_id\": \"A\", \"status\": \"READY_FOR_QA\"}'",
      {{ExitCode::fine, "sent"},
       {ExitCode::failed,
        "the mailbox is damaged, or the message would break it; nothing was changed"},
       {ExitCode::usage, "wrong usage or configuration; no such mailbox, or not a message"},
       {ExitCode::unreachable,
        "the mailbox cannot be read or written, or another process keeps it locked"}});
  options.word("MAILBOX", mailbox,
               "dev_to_qa, qa_to_techlead or techlead_to_dev, or the path of the mailbox");
  options.word("JSON", message, "The message: an object with at least a group_id");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  return finish(send(places, mailbox, message));
}

}  // namespace baton
