// SPDX-License-Identifier: Apache-2.0

// `baton recover`: rebuilds a lost or damaged document.

#include <iostream>
#include <string>

#include <unistd.h>

#include "base/text.h"
#include "cli/submit_request.h"
#include "workspace/command.h"
#include "workspace/context.h"
#include "workspace/environment.h"
#include "workspace/options.h"
#include "workspace/output.h"
#include "workspace/rehearsal.h"

namespace baton {
namespace {

struct RecoverWish {
  Places places;
  std::string flow;
  bool write = false;
  bool no_wait = false;
};

/// Asks the user; without a terminal the answer is no.
bool agreed() {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0)
    return false;
  std::cerr << "write it? [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

/// Prints the document to stdout as it would be in the file, everything else to stderr.
ExitCode recover(const RecoverWish& wish) {
  const auto context = Context::open_anyway(wish.places);
  if (!context)
    return complain(context.error());
  const auto roots = rehearse(*context);
  if (!roots)
    return complain(roots.error());
  const auto place = choose_flow(wish.flow, *roots);
  if (!place)
    return complain(place.error());
  const auto& root = (*roots)[place->root];
  const auto rebuilt = root.rehearsal->rebuilt(place->flow);
  if (!rebuilt && rebuilt.error().code == Errc::usage) {
    complain("refused: " + printable(rebuilt.error().message));
    return ExitCode::failed;
  }
  if (!rebuilt)
    return complain(rebuilt.error());
  print(rebuilt->text);
  complain(printable(rebuilt->path) + " would be rebuilt " + printable(rebuilt->why));
  if (!wish.write && !agreed()) {
    complain("nothing was written; use --write to write it");
    return finish();
  }
  return submit(root.context, {.verb = "recover", .flow = place->flow, .arguments = Json::object()},
                !wish.no_wait);
}

}  // namespace

ExitCode recover_command(Words words) {
  RecoverWish wish;
  Options options("recover",
                  "Rebuilds a document of a flow that was lost or damaged: from the last accepted\n"
                  "version, from a backup, or from the files beside it. Prints it, and writes it\n"
                  "only with --write or after you agree. The journal keeps the version\n"
                  "that is replaced. A rebuilt loop of .workflow/.loop runs only after\n"
                  "`baton resume`.",
                  {{ExitCode::fine, "written, recorded, or printed only"},
                   {ExitCode::failed, "refused; the message says why and what to do"},
                   {ExitCode::usage, "wrong usage or configuration; no such flow"},
                   {ExitCode::unreachable,
                    "the root or its state cannot be reached, or the daemon does not answer"}});
  options.word("FLOW", wish.flow, "dialect/name, or the name alone if it is unique");
  options.flag("--write,--yes", wish.write, "Write it without asking");
  options.flag("--no-wait", wish.no_wait, "Do not wait for the daemon's answer");
  options.places(wish.places);
  if (const auto over = options.parse(words))
    return *over;
  return recover(wish);
}

}  // namespace baton
