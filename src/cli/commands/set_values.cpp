#include "cli/commands/set_values.h"

#include "base/json/document.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton {

Result<Json> settings(const std::vector<std::string>& words, bool texts) {
  Json all = Json::object();
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Errc::usage, "`" + printable(word, 200) + "` is not NAME=JSON");
    auto value = parse_json(word.substr(equals + 1));
    if (!value && texts && !bad_utf8(word))
      value = Json(word.substr(equals + 1));
    if (!value)
      return fail(Errc::usage,
                  "`" + printable(word, 200) +
                      "`: the value is not JSON: " + value.error().message +
                      "; a string needs double quotes, and the shell a second pair of quotes");
    all.set(word.substr(0, equals), *value);
  }
  return all;
}

}  // namespace baton
