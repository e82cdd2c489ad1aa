#include "base/json/json.h"
#include "config/registry.h"
#include "workspace/command.h"
#include "workspace/options.h"
#include "workspace/output.h"

namespace baton {

ExitCode version_command(Words words) {
  bool as_json = false;
  Options options("version", "Prints the version.", "  0  printed");
  options.flag("--json", as_json, "As one object: version, dialects");
  if (const auto over = options.parse(words))
    return *over;
  if (!as_json) {
    print("baton " BATON_VERSION "\n");
    return finish();
  }
  Json names = Json::array();
  for (const Dialect* const dialect : dialects())
    names.push(Json(dialect->name));
  print_line(Json::object(
      {{"schema", "baton/version/v1"}, {"version", BATON_VERSION}, {"dialects", names}}));
  return finish();
}

}  // namespace baton
