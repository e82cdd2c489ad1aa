// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

struct LevelRow {
  std::string_view word;
  Colour colour;
};
/// In the order of Diagnosis::Level.
constexpr std::array kLevels = {LevelRow{"fine", Colour::green},
                                LevelRow{"warning", Colour::yellow},
                                LevelRow{"error", Colour::red}};

const LevelRow& row_of(const Diagnosis& diagnosis) {
  return kLevels.at(static_cast<std::size_t>(diagnosis.level));
}

void print_text(const Diagnoses& all) {
  constexpr std::size_t kWidth = 8;
  for (const Diagnosis& each : all) {
    const auto& [word, colour] = row_of(each);
    print(paint(colour, std::string(word)) + std::string(kWidth - word.size(), ' ') + each.check +
          ": " + printable(each.message, 4096) + "\n");
    if (!each.advice.empty())
      print(std::string(kWidth, ' ') + "-> " + printable(each.advice, 4096) + "\n");
  }
}

void print_json(const Diagnoses& all) {
  Json findings = Json::array();
  for (const Diagnosis& each : all)
    findings.push(Json::object({{"level", row_of(each).word},
                                {"check", each.check},
                                {"message", each.message},
                                {"advice", each.advice}}));
  print(Json::object({{"schema", "baton/doctor/v1"}, {"findings", findings}}).dump() + "\n");
}

}  // namespace

ExitCode doctor_command(Words words) {
  Places places;
  bool as_json = false;
  Options options(
      "doctor",
      "Checks what baton needs: configuration, agent programs (with the PATH of the\n"
      "daemon, if one runs), schemas, system limits, file systems, permissions, state.\n"
      "Says what to do about each problem. Changes nothing.",
      {{ExitCode::fine, "no error; warnings are fine"},
       {ExitCode::failed, "an error, also in the configuration"},
       {ExitCode::usage, "wrong usage"},
       {ExitCode::unreachable, "stdout did not take the result"}});
  options.flag("--json", as_json, "Print one JSON object");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  Diagnoses all;
  const auto context = Context::open_to_examine(places);
  std::int64_t daemon = 0;
  if (context) {
    daemon = take_daemon_path(*context, all);
    examine_configuration(*context, daemon, all);
    for (const std::string& root : context->missing_roots()) {
      std::error_code error;
      if (std::filesystem::exists(std::filesystem::symlink_status(root, error)))
        diagnose(all, Diagnosis::Level::warning, "root",
                 root + " is no folder, so it cannot be a root", "correct `roots:`");
      else
        diagnose(all, Diagnosis::Level::warning, "root", root + ": there is no such folder",
                 "create it; a running daemon serves it as soon as it exists");
    }
    examine_places(*context, all);
  } else {
    // Below a folder that is not there, or that nobody may read, is no configuration to correct.
    const bool wrong = exit_code_of(context.error().code) == ExitCode::usage;
    all.push_back(
        {Diagnosis::Level::error, "configuration", describe(context.error()),
         wrong
             ? kCorrect
             : "put it there and let this user read it, or name another with --config or --root"});
  }
  examine_system(daemon, all);
  if (as_json)
    print_json(all);
  else
    print_text(all);
  const bool bad = std::any_of(all.begin(), all.end(), [](const Diagnosis& each) {
    return each.level == Diagnosis::Level::error;
  });
  return finish(bad ? ExitCode::failed : ExitCode::fine);
}

}  // namespace baton
