#include "cli/commands/doctor.h"

#include <algorithm>

#include "base/text.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

std::string_view word(Diagnosis::Level level) {
  switch (level) {
    case Diagnosis::Level::fine:
      return "fine";
    case Diagnosis::Level::warning:
      return "warning";
    case Diagnosis::Level::error:
      return "error";
  }
  return "";
}

Colour colour_of(Diagnosis::Level level) {
  switch (level) {
    case Diagnosis::Level::fine:
      return Colour::green;
    case Diagnosis::Level::warning:
      return Colour::yellow;
    case Diagnosis::Level::error:
      return Colour::red;
  }
  return Colour::grey;
}

void print_text(const Diagnoses& all) {
  constexpr std::size_t kWidth = 8;
  for (const Diagnosis& each : all) {
    std::string level(word(each.level));
    const std::string gap(kWidth - level.size(), ' ');
    print(paint(colour_of(each.level), std::move(level)) + gap + each.check + ": " +
          printable(each.message, 4096) + "\n");
    if (!each.advice.empty())
      print(std::string(kWidth, ' ') + "-> " + printable(each.advice, 4096) + "\n");
  }
}

void print_json(const Diagnoses& all) {
  Json findings = Json::array();
  for (const Diagnosis& each : all)
    findings.push(Json::object({{"level", word(each.level)},
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
      "  0  no error (warnings are fine)\n  1  an error\n  2  wrong usage");
  options.flag("--json", as_json, "Print one JSON object");
  options.places(places);
  if (const auto over = options.parse(words))
    return *over;
  Diagnoses all;
  const auto context = Context::open_to_examine(places);
  std::int64_t daemon = 0;
  if (context) {
    daemon = take_daemon_path(*context, all);
    examine_configuration(*context, all);
    for (const std::string& root : context->missing_roots())
      all.push_back({Diagnosis::Level::warning, "root", root + ": there is no such folder",
                     "create it; a running daemon serves it as soon as it exists"});
    examine_places(*context, all);
  } else {
    all.push_back({Diagnosis::Level::error, "configuration", describe(context.error()),
                   "see docs/configuration.md; `baton schema config` prints the schema"});
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
