#include <algorithm>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "base/text.h"
#include "cli/commands/schema_catalog.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

constexpr std::string_view kFolder = "schemas/";
constexpr std::string_view kSuffix = ".schema.json";

}  // namespace

ExitCode schema_command(Words words) {
  std::string name;
  std::string base;
  bool list = false;
  bool catalog = false;
  Options options("schema",
                  "Prints one of the schemas that are part of this binary: of the state files, of\n"
                  "baton.yaml (config), and of what the commands print with --json (output/...).",
                  "  0  printed\n  2  there is no such schema");
  options.word("NAME", name, "As --list names it, for example config", false);
  options.flag("--list", list, "Print the names, one per line");
  options.flag("--catalog", catalog,
               "Print which files each schema is for, as editors read it (SchemaStore)");
  options.value("--base", base, "URL", "What the catalogue puts in front of the schemas' names");
  if (const auto over = options.parse(words))
    return *over;
  if (!name.empty() && (list || catalog)) {
    complain("a NAME and " + std::string(list ? "--list" : "--catalog") + " exclude each other");
    return ExitCode::usage;
  }
  const auto names = schema_names();
  if (catalog) {
    print(schema_catalog(base).pretty());
    return finish();
  }
  if (list) {
    for (const std::string& each : names)
      print(each + "\n");
    return finish();
  }
  if (name.empty()) {
    complain("which schema? `baton schema --list` names them");
    return ExitCode::usage;
  }
  const auto* bytes = embedded_file(std::string(kFolder) + name + std::string(kSuffix));
  // A prompt of a dialect has no suffix of a schema: `coordination/prompts/developer.md`.
  if (bytes == nullptr)
    bytes = embedded_file(std::string(kFolder) + name);
  if (bytes == nullptr)
    bytes = embedded_file(name);
  if (bytes == nullptr) {
    const auto near = nearest(name, names);
    complain("there is no schema " + printable(name, 80) +
             (near ? "; did you mean " + *near + "?" : "; `baton schema --list` names them"));
    return ExitCode::usage;
  }
  print(*bytes);
  return finish();
}

}  // namespace baton
