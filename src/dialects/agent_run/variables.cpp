#include "dialects/agent_run/variables.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace baton::agent_run {
namespace {

enum class Part { whole, begin, end };

struct Steering {
  Part part;
  std::string_view text;  ///< in upper case
};

constexpr Part kWhole = Part::whole;
constexpr Part kBegin = Part::begin;
constexpr Part kEnd = Part::end;

constexpr std::array kSteering = {
    // the loader and the C library
    Steering{kBegin, "LD_"}, Steering{kBegin, "DYLD_"}, Steering{kBegin, "GLIBC_"},
    Steering{kBegin, "MALLOC_"}, Steering{kWhole, "GCONV_PATH"}, Steering{kWhole, "LOCPATH"},
    Steering{kWhole, "NLSPATH"}, Steering{kWhole, "HOSTALIASES"}, Steering{kWhole, "RES_OPTIONS"},
    Steering{kWhole, "LOCALDOMAIN"},
    // shells
    Steering{kBegin, "BASH"}, Steering{kWhole, "ENV"}, Steering{kWhole, "SHELL"},
    Steering{kWhole, "SHELLOPTS"}, Steering{kWhole, "PS4"}, Steering{kWhole, "IFS"},
    Steering{kWhole, "PROMPT_COMMAND"}, Steering{kWhole, "CDPATH"}, Steering{kWhole, "GLOBIGNORE"},
    Steering{kWhole, "ZDOTDIR"}, Steering{kWhole, "FPATH"},
    // where programs look for programs and settings
    Steering{kWhole, "PATH"}, Steering{kWhole, "HOME"}, Steering{kWhole, "USER"},
    Steering{kWhole, "LOGNAME"}, Steering{kWhole, "TMPDIR"}, Steering{kBegin, "XDG_"},
    Steering{kWhole, "EDITOR"}, Steering{kWhole, "VISUAL"}, Steering{kEnd, "PAGER"},
    Steering{kWhole, "BROWSER"}, Steering{kBegin, "LESS"}, Steering{kBegin, "GIT_"},
    Steering{kBegin, "SSH_"}, Steering{kBegin, "MAKE"}, Steering{kBegin, "DOCKER_"},
    // interpreters
    Steering{kBegin, "PYTHON"}, Steering{kBegin, "VIRTUAL_ENV"}, Steering{kBegin, "PERL"},
    Steering{kBegin, "RUBY"}, Steering{kBegin, "GEM_"}, Steering{kBegin, "BUNDLE_"},
    Steering{kBegin, "NODE_"}, Steering{kBegin, "NPM_"}, Steering{kBegin, "JAVA_"},
    Steering{kBegin, "_JAVA_"}, Steering{kBegin, "JDK_JAVA_"}, Steering{kWhole, "CLASSPATH"},
    Steering{kBegin, "LUA_"}, Steering{kBegin, "PHP"}, Steering{kBegin, "DOTNET_"},
    Steering{kBegin, "CARGO_"}, Steering{kBegin, "RUSTC"}, Steering{kWhole, "GOFLAGS"},
    // with whom programs talk
    Steering{kEnd, "_PROXY"}, Steering{kEnd, "_BASE_URL"}, Steering{kBegin, "SSL_"},
    Steering{kEnd, "_CA_BUNDLE"},
    // baton's own
    Steering{kBegin, "BATON_"}};

bool matches(const Steering& row, std::string_view name) {
  switch (row.part) {
    case Part::whole:
      return name == row.text;
    case Part::begin:
      return name.starts_with(row.text);
    case Part::end:
      return name.ends_with(row.text);
  }
  return false;
}

}  // namespace

bool is_variable(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool steers_programs(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return std::any_of(kSteering.begin(), kSteering.end(),
                     [&](const Steering& row) { return matches(row, upper); });
}

}  // namespace baton::agent_run
