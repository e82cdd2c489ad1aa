// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "base/embedded.h"
#include "base/text.h"
#include "cli/commands/schema_catalog.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {
namespace {

constexpr const char* kFolder = "schemas/";
constexpr const char* kSuffix = ".schema.json";

ExitCode print_adapter(const std::string& schema, const std::string& name) {
  if (schema != "adapter") {
    complain("only `adapter` takes a second name, as in `baton schema adapter claude`");
    return ExitCode::usage;
  }
  const std::vector<std::string> known = adapter_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const auto near = nearest(name, known);
    complain("there is no adapter " + printable(name, 80) +
             (near ? "; did you mean " + *near + "?" : "; there are " + join(known, ", ")));
    return ExitCode::usage;
  }
  print(adapter_text(name));
  return finish();
}

}  // namespace

ExitCode schema_command(Words words) {
  std::string name;
  std::string adapter;
  std::string base;
  bool list = false;
  bool catalog = false;
  Options options(
      "schema",
      "Prints a JSON schema that is built into baton: of the state files, of baton.yaml\n"
      "(config), of adapters (adapter), or of the --json output of the commands\n"
      "(output/...). Also prints the prompts of the dialects\n"
      "(coordination/prompts/developer.md), and the adapters (adapter claude).",
      {{ExitCode::fine, "printed"},
       {ExitCode::usage, "wrong usage; there is no such schema or adapter"},
       {ExitCode::unreachable, "stdout did not take it"}});
  options.word("NAME", name, "A name from --list, for example config", false);
  options.word("ADAPTER", adapter,
               "After `adapter`: print this adapter, as a beginning for one of your own", false);
  options.flag("--list", list, "Print the names, one per line");
  options.flag("--catalog", catalog,
               "Print which files each schema is for, as editors read it (SchemaStore)");
  options.value("--base", base, "URL",
                "The URL that the catalog puts in front of the names of the schemas");
  options.exclude("NAME", {"--list", "--catalog"});
  if (const auto over = options.parse(words))
    return *over;
  std::vector<std::string> names = schema_names();
  for (std::string& each : prompt_names())
    names.push_back(std::move(each));
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
    complain("name a schema; `baton schema --list` lists them");
    return ExitCode::usage;
  }
  if (!adapter.empty())
    return print_adapter(name, adapter);
  // NAME may also be another file below schemas/, such as `coordination/prompts/developer.md`.
  const std::string_view* bytes = nullptr;
  for (const std::string& path : {kFolder + name + kSuffix, kFolder + name, name})
    if (bytes == nullptr)
      bytes = embedded_file(path);
  if (bytes == nullptr) {
    const auto near = nearest(name, names);
    complain("there is no schema " + printable(name, 80) +
             (near ? "; did you mean " + *near + "?" : "; `baton schema --list` lists them"));
    return ExitCode::usage;
  }
  print(*bytes);
  return finish();
}

}  // namespace baton
