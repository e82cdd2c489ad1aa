// SPDX-License-Identifier: Apache-2.0
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
    Steering{kWhole, "LOCALDOMAIN"}, Steering{kBegin, "OPENSSL_"}, Steering{kBegin, "TERMINFO"},
    // shells
    Steering{kBegin, "BASH"}, Steering{kWhole, "ENV"}, Steering{kWhole, "SHELL"},
    Steering{kWhole, "SHELLOPTS"}, Steering{kWhole, "PS4"}, Steering{kWhole, "IFS"},
    Steering{kWhole, "PROMPT_COMMAND"}, Steering{kWhole, "CDPATH"}, Steering{kWhole, "GLOBIGNORE"},
    Steering{kWhole, "ZDOTDIR"}, Steering{kWhole, "FPATH"}, Steering{kWhole, "INPUTRC"},
    // where programs look for programs and settings
    Steering{kWhole, "PATH"}, Steering{kWhole, "HOME"}, Steering{kWhole, "USER"},
    Steering{kWhole, "LOGNAME"}, Steering{kWhole, "TMPDIR"}, Steering{kBegin, "XDG_"},
    Steering{kEnd, "EDITOR"}, Steering{kWhole, "VISUAL"}, Steering{kEnd, "PAGER"},
    Steering{kEnd, "BROWSER"}, Steering{kEnd, "_ASKPASS"}, Steering{kWhole, "VIMINIT"},
    Steering{kWhole, "EXINIT"}, Steering{kBegin, "GH_"}, Steering{kBegin, "LESS"},
    Steering{kBegin, "GIT_"}, Steering{kBegin, "SSH_"}, Steering{kBegin, "MAKE"},
    Steering{kBegin, "DOCKER_"},
    // where programs, above all those of agents, have their settings
    Steering{kEnd, "_HOME"}, Steering{kEnd, "_CONFIG"}, Steering{kEnd, "_CONFIG_DIR"},
    Steering{kEnd, "_CONFIG_FILE"}, Steering{kEnd, "_CONFIG_PATH"}, Steering{kEnd, "_CONF"},
    Steering{kEnd, "_CREDENTIALS_FILE"}, Steering{kEnd, "_CREDENTIALS"},
    Steering{kWhole, "KUBECONFIG"}, Steering{kWhole, "GNUPGHOME"}, Steering{kWhole, "WGETRC"},
    Steering{kWhole, "NETRC"}, Steering{kBegin, "CLAUDE_"}, Steering{kBegin, "ANTHROPIC_"},
    Steering{kBegin, "CODEX_"}, Steering{kBegin, "OPENAI_"}, Steering{kBegin, "GEMINI_"},
    Steering{kBegin, "OPENCODE_"}, Steering{kBegin, "CURSOR_"}, Steering{kBegin, "COPILOT_"},
    Steering{kBegin, "AIDER_"}, Steering{kBegin, "QWEN_"},
    // compilers and build tools
    Steering{kWhole, "CC"}, Steering{kWhole, "CXX"}, Steering{kWhole, "CPP"},
    Steering{kWhole, "LD"}, Steering{kWhole, "AR"}, Steering{kWhole, "AS"}, Steering{kWhole, "FC"},
    Steering{kWhole, "CFLAGS"}, Steering{kWhole, "CXXFLAGS"}, Steering{kWhole, "CPPFLAGS"},
    Steering{kWhole, "LDFLAGS"}, Steering{kWhole, "RUSTFLAGS"}, Steering{kBegin, "CMAKE_"},
    Steering{kBegin, "CCACHE_"}, Steering{kBegin, "PKG_CONFIG"}, Steering{kEnd, "LIBRARY_PATH"},
    Steering{kEnd, "INCLUDE_PATH"}, Steering{kWhole, "CPATH"}, Steering{kWhole, "COMPILER_PATH"},
    // interpreters
    Steering{kBegin, "PYTHON"}, Steering{kBegin, "VIRTUAL_ENV"}, Steering{kBegin, "PERL"},
    Steering{kBegin, "RUBY"}, Steering{kBegin, "GEM_"}, Steering{kBegin, "BUNDLE_"},
    Steering{kBegin, "NODE_"}, Steering{kBegin, "NPM_"}, Steering{kBegin, "JAVA_"},
    Steering{kBegin, "_JAVA_"}, Steering{kBegin, "JDK_JAVA_"}, Steering{kWhole, "CLASSPATH"},
    Steering{kBegin, "LUA_"}, Steering{kBegin, "PHP"}, Steering{kBegin, "DOTNET_"},
    Steering{kBegin, "CARGO_"}, Steering{kBegin, "RUSTC"}, Steering{kWhole, "GOFLAGS"},
    Steering{kWhole, "GOENV"}, Steering{kWhole, "GOROOT"}, Steering{kWhole, "GOPATH"},
    Steering{kWhole, "GOTOOLCHAIN"}, Steering{kWhole, "GOPROXY"}, Steering{kBegin, "RUSTUP_"},
    Steering{kBegin, "DENO_"}, Steering{kBegin, "BUN_"}, Steering{kBegin, "ELECTRON_"},
    Steering{kBegin, "YARN_"}, Steering{kBegin, "PNPM_"}, Steering{kBegin, "COREPACK_"},
    Steering{kBegin, "PIP_"}, Steering{kBegin, "UV_"}, Steering{kBegin, "POETRY_"},
    Steering{kBegin, "CONDA_"}, Steering{kBegin, "JULIA_"}, Steering{kBegin, "R_PROFILE"},
    Steering{kBegin, "R_ENVIRON"}, Steering{kBegin, "R_LIBS"}, Steering{kEnd, "_OPTS"},
    // with whom programs talk
    Steering{kEnd, "_PROXY"}, Steering{kEnd, "_BASE_URL"}, Steering{kEnd, "_ENDPOINT_URL"},
    Steering{kBegin, "SSL_"}, Steering{kWhole, "KUBERNETES_SERVICE_HOST"},
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
