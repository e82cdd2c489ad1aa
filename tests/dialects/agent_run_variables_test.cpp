// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "dialects/agent_run/variables.h"

namespace baton::agent_run {

TEST_CASE("variables that steer programs are told from those that only carry a value") {
  for (const char* const name : {"LD_PRELOAD",
                                 "LD_LIBRARY_PATH",
                                 "LD_AUDIT",
                                 "PATH",
                                 "BASH_ENV",
                                 "ENV",
                                 "SHELLOPTS",
                                 "BASHOPTS",
                                 "PS4",
                                 "IFS",
                                 "HOME",
                                 "GIT_SSH_COMMAND",
                                 "GIT_CONFIG_COUNT",
                                 "PYTHONPATH",
                                 "PYTHONSTARTUP",
                                 "PERL5OPT",
                                 "PERL5LIB",
                                 "RUBYOPT",
                                 "NODE_OPTIONS",
                                 "NODE_PATH",
                                 "JAVA_TOOL_OPTIONS",
                                 "_JAVA_OPTIONS",
                                 "BATON_CONFIG",
                                 "BATON_RUN_ID",
                                 "GCONV_PATH",
                                 "XDG_CONFIG_HOME",
                                 "HTTPS_PROXY",
                                 "https_proxy",
                                 "ANTHROPIC_BASE_URL",
                                 "PAGER",
                                 "SHELL",
                                 "GLIBC_TUNABLES",
                                 "BASH_FUNC_ls",
                                 "CODEX_HOME",
                                 "CLAUDE_CONFIG_DIR",
                                 "CLAUDE_CODE_SHELL_PREFIX",
                                 "GEMINI_CLI_HOME",
                                 "OPENCODE_CONFIG",
                                 "XDG_DATA_HOME",
                                 "GH_CONFIG_DIR",
                                 "AWS_CONFIG_FILE",
                                 "AWS_SHARED_CREDENTIALS_FILE",
                                 "GOOGLE_APPLICATION_CREDENTIALS",
                                 "KUBECONFIG",
                                 "SOME_TOOL_CONFIG",
                                 "SOME_TOOL_CONFIG_HOME",
                                 "GRADLE_USER_HOME",
                                 "GNUPGHOME",
                                 "OPENSSL_CONF",
                                 "CC",
                                 "CXX",
                                 "CFLAGS",
                                 "RUSTFLAGS",
                                 "CPLUS_INCLUDE_PATH",
                                 "PIP_INDEX_URL",
                                 "GRADLE_OPTS",
                                 "GOTOOLCHAIN",
                                 "GH_BROWSER",
                                 "SUDO_ASKPASS",
                                 "SYSTEMD_EDITOR",
                                 "path"}) {
    CAPTURE(name);
    CHECK(steers_programs(name));
  }
  for (const char* const name :
       {"ISSUE_NUMBER",       "BRANCH",      "TICKET", "MY_PATH",
        "ENVIRONMENT",        "HOMEPAGE",    "REPORT", "A",
        "GITHUB_ISSUE",       "PATHS",       "NODE",   "CONFIG",
        "HOME_TOWN",          "CCS",         "LDAP",   "ISSUE_MARKDOWN_PATH",
        "ISSUE_MARKDOWN_DIR", "REPORT_PATH", "RUN_ID", "COLOUR"}) {
    CAPTURE(name);
    CHECK_FALSE(steers_programs(name));
  }
  CHECK(is_variable("_A1"));
  for (const char* const name : {"", "1A", "A-B", "A=B", "BASH_FUNC_x%%"}) {
    CAPTURE(name);
    CHECK_FALSE(is_variable(name));
  }
}

}  // namespace baton::agent_run
