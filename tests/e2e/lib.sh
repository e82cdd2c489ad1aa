# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# Helpers for tests that call `baton` with real files; to be sourced. Every check that fails ends the
# test, so that a test which comes to its end has checked everything.
# Use: source lib.sh; begin "$@"   (the first argument is the binary)

# shellcheck source=tests/e2e/e2e.sh
source "$(dirname "${BASH_SOURCE[0]}")/e2e.sh"
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
started=()

begin() {
  baton_binary=$(realpath "$1")
  [[ -x $baton_binary ]] || fail "there is no binary $1"
  work=$(mktemp -d "${TMPDIR:-/tmp}/baton-test.XXXXXX")
  trap end EXIT
  # Nothing of the user's own may count.
  export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config BATON_STATE_DIR=$work/state
  unset BATON_CONFIG STATE_DIRECTORY BATON_RUN_ID
  export TZ=UTC NO_COLOR=1
  mkdir -p "$HOME" "$work/state" "$work/root"
  cd "$work/root" || fail "no folder to work in"
}

# Ends only what the test itself has started.
end() {
  local code=$? pid
  for pid in "${started[@]}"; do
    kill -KILL "$pid" 2>/dev/null || true
  done
  if [[ -d $work/state && -f $work/root/baton.yaml ]]; then
    timeout 60 "$baton_binary" stop --all --root "$work/root" >/dev/null 2>&1 || true
  fi
  cd /
  rm -rf "$work"
  exit "$code"
}

baton() { "$baton_binary" "$@"; }

# expect_exit CODE COMMAND...: runs it and keeps what it said in $out and $err.
expect_exit() {
  local wanted=$1 got=0
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
  out=$(<"$work/out")
  err=$(<"$work/err")
  ((got == wanted)) || fail "\`$*\` ended with $got, not $wanted
stdout: $out
stderr: $err"
}

# In what the last command said.
expect_out() { [[ $out == *"$1"* ]] || fail "stdout lacks \`$1\`: $out"; }
expect_err() { [[ $err == *"$1"* ]] || fail "stderr lacks \`$1\`: $err"; }
expect_no_out() { [[ -z $out ]] || fail "stdout should be empty: $out"; }
expect_file() { [[ $(<"$1") == "$2" ]] || fail "$1 holds \`$(<"$1")\`, not \`$2\`"; }

# shows TEXT COMMAND...: for until_true.
shows() {
  local text=$1
  shift
  [[ $("$@" 2>/dev/null) == *"$text"* ]]
}

# expect_golden NAME: stdout of the last command is golden/NAME. BATON_UPDATE_GOLDEN=1 rewrites it.
expect_golden() {
  local golden=$tests/golden/$1
  if [[ ${BATON_UPDATE_GOLDEN:-} == 1 ]]; then
    mkdir -p "$(dirname "$golden")"
    cp "$work/out" "$golden"
  fi
  diff -u "$golden" "$work/out" || fail "output differs from golden/$1 (BATON_UPDATE_GOLDEN=1 rewrites it)"
}

# expect_fits SCHEMA: stdout of the last command, JSON lines, at least one.
expect_fits() {
  local lines=$work/lines.jsonl
  cp "$work/out" "$lines"
  [[ -s $lines ]] || fail "there is no line to be checked against $1"
  "$baton_binary" validate --schema "$1" "$lines" >"$work/fit" 2>&1 ||
    fail "output does not fit $1: $(head -5 "$work/fit")"
}
# The same for one JSON document.
expect_document_fits() {
  cp "$work/out" "$work/document.json"
  "$baton_binary" validate --schema "$1" "$work/document.json" >"$work/fit" 2>&1 ||
    fail "output does not fit $1: $(head -5 "$work/fit")"
}

# Starts a daemon on the root; `daemon` is its pid.
start_daemon() {
  # Emptied here: what the daemon before has said must not be taken for this one's.
  : >"$work/daemon.err"
  # Commands are not asked for leaks (CMakeLists.txt), daemons are.
  env -u ASAN_OPTIONS "$baton_binary" run "$@" >"$work/daemon.out" 2>"$work/daemon.err" &
  daemon=$!
  started+=("$daemon")
  until_true grep -q serving "$work/daemon.err"
}
kill_daemon() {
  kill "-${1:-TERM}" "$daemon"
  local code=0
  wait "$daemon" || code=$?
  if [[ ${1:-TERM} == TERM ]] && ((code != 0)); then
    fail "the daemon ended with $code: $(tail -5 "$work/daemon.err")"
  fi
}
