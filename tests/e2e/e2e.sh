# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# For the tests of the whole program that are shell scripts; to be sourced.

# A test that cannot be run here says why and is counted as skipped, never as passed.
skip() {
  echo "skipped: $*"
  exit 77
}

fail() {
  echo "failed: $*" >&2
  exit 1
}

need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || skip "there is no $command (scripts/install-deps brings it)"
  done
}

# Asks again and again until the command succeeds. The limit only ends a test that has failed.
until_true() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if "$@" >/dev/null 2>&1; then
      return 0
    fi
    sleep 0.1
  done
  fail "never came true: $*"
}
