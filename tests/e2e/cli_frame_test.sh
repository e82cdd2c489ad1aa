#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The frame of the command line: help, exit codes, suggestions, what is looked for where.
# usage: cli_frame_test.sh BATON
# shellcheck disable=SC2016,SC2119  # texts with a $ are meant; start_daemon takes options of its own
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
begin "$@"

expect_exit 2 baton
expect_exit 0 baton --help
commands=$(sed -n '/^Commands:/,/^$/p' "$work/out" | awk '/^  / { print $1 }')
(($(wc -w <<<"$commands") >= 20)) || fail "the list of commands is short: $commands"
table=$(sed -n '/^Exit codes:/,$p' "$work/out" | grep -oE '^  [0-9]+' | tr -d ' ' | paste -sd ' ')
[[ $table == "0 1 2 3 75 124 130" ]] || fail "the table of exit codes is $table"
for code in $table; do
  grep -Eq "^  $code +[a-zA-Z]" "$work/out" || fail "exit code $code is not in the table"
done
for command in $commands; do
  expect_exit 0 baton "$command" --help
  expect_out "Usage: baton $command"
  expect_out "Exit codes:"
  # Only codes of the table, in its order, each once.
  codes=$(sed -n '/^Exit codes:/,$p' "$work/out" | grep -oE '^  [0-9]+' | tr -d ' ' | paste -sd ' ')
  expected=
  for code in $table; do
    if [[ " $codes " == *" $code "* ]]; then expected+="$code "; fi
  done
  [[ $codes == "${expected% }" ]] || fail "$command --help has the exit codes $codes"
  [[ $codes == 0\ * && " $codes " == *" 2 "* ]] || fail "$command --help leaves out 0 or 2: $codes"
  expect_exit 0 baton help "$command"
  expect_exit 2 baton "$command" --no-such-option
  expect_err "unknown option --no-such-option"
  expect_no_out
done

expect_exit 2 baton statsu
expect_err 'did you mean `status`?'
# Words of other programs.
expect_exit 2 baton ps
expect_err 'did you mean `agents`?'
expect_exit 2 baton list
expect_err 'did you mean `status`?'
# What is wrong with a configuration, and what to write instead.
mkdir "$work/slips"
: >"$work/slips/baton.yaml"
expect_exit 2 baton validate --root "$work/slips"
expect_err 'the file is empty; `baton init` writes a configuration'
printf 'version 1\nagents: {}\n' >"$work/slips/baton.yaml"
expect_exit 2 baton validate --root "$work/slips"
expect_err 'perhaps the line before has no `:`'
printf 'version: 1\nagents: { a: { command: claude -p } }\n' >"$work/slips/baton.yaml"
expect_exit 2 baton validate --root "$work/slips"
expect_err "write its words as a list: [claude, -p]"
# A message that nobody would read.
printf 'version: 1\nagents: { a: { command: ["true"] } }\n' >"$work/slips/baton.yaml"
expect_exit 2 baton send --root "$work/slips" dev_to_qa '{"group_id": "A"}'
expect_err "nobody would read it"
[[ ! -e $work/slips/coordination ]] || fail "a folder was made"
rm -r "$work/slips"
expect_exit 2 baton frobnicate
expect_err "baton --help"
# A script's unset variable is no place.
for command in "status --root" "run --root" "doctor --config" "validate --schema"; do
  # shellcheck disable=SC2086  # two words
  expect_exit 2 baton $command ""
  expect_err "${command#* }: is empty, and names no "
done
# Nor is it everything.
for command in "status" "stop --all" "validate x.json --as" "agents" "events --flow" "explain" "init" "wait"; do
  # shellcheck disable=SC2086  # words on purpose
  expect_exit 2 baton $command ""
  expect_err ": is empty, and names no "
done
expect_exit 2 baton validate --schmea x
expect_err "did you mean --schema?"
expect_exit 2 baton prompt
expect_exit 2 baton prompt a b
expect_err "too many arguments"

expect_exit 0 baton --version
expect_out "baton "
expect_exit 0 baton --version --json
expect_out '"rules"]'

for shell in bash zsh fish; do
  expect_exit 0 baton completions $shell
  expect_out "baton __complete $shell"
done
expect_exit 0 baton __complete zsh baton wait --until ""
for word in running waiting blocked failed stopped paused 'done' idle gone; do
  expect_out "$word"
done
baton completions bash | bash -n || fail "the completions for bash are no bash"
expect_exit 2 baton completions tcsh

expect_exit 0 baton schema --list
names=$out
for name in $names; do
  expect_exit 0 baton schema "$name"
  case $name in
    *.md) expect_exit 0 test -n "$out" ;;
    *) expect_out '$schema' ;;
  esac
done
expect_exit 2 baton schema confgi
expect_err "did you mean config?"
expect_exit 2 baton schema
expect_exit 2 baton schema config --list
expect_err "exclude each other"
expect_exit 2 baton status --names --json
expect_exit 2 baton agents --names --json

# A full disk or a closed reader is not a success.
for command in --help --version "schema --list" "completions bash" "doctor --json" "status --check"; do
  # shellcheck disable=SC2086  # words on purpose
  expect_exit 3 bash -c '"$@" >/dev/full' - "$baton_binary" $command
done

# What is looked for where: --config, $BATON_CONFIG, the root, the user's, in this order.
config() { printf 'version: 1\nrules:\n  - { name: %s, files: a.json, stage: /s, react: [{ to: x, notify: true }] }\n' "$1"; }
rule() { baton validate --as nothing - </dev/null 2>&1 | grep -oE '(, |are )[a-z_]+(,|$)' | grep -oE '[a-z_]+' | tail -n 1 || true; }  # the kind without a dialect
mkdir -p "$XDG_CONFIG_HOME/baton" below/deep
echo '{"s": "x"}' >a.json
expect_exit 0 baton validate
expect_out "0 files checked"
config user >"$XDG_CONFIG_HOME/baton/config.yaml"
[[ $(rule) == "user" ]] || fail "the user's configuration is not found: $(rule)"
config root >baton.yaml
[[ $(rule) == "root" ]] || fail "the root's configuration is not found: $(rule)"
[[ $(cd below/deep && rule) == "root" ]] || fail "the root is not looked for upwards"
config env >env.yaml
[[ $(BATON_CONFIG=$PWD/env.yaml rule) == "env" ]] || fail "BATON_CONFIG does not count"
config option >option.yaml
expect_exit 2 env BATON_CONFIG="$PWD/env.yaml" "$baton_binary" validate --as nothing --config option.yaml -
expect_err "option"

# A wrong configuration: every fault with its place; nothing is run with it.
printf 'version: 1\nlimts: {}\nagents: { a: { comand: [x] } }\n' >bad.yaml
expect_exit 0 baton status --config bad.yaml
expect_err "bad.yaml:2:1:"
expect_err "limits"
expect_exit 2 baton run --config bad.yaml
expect_exit 2 baton status --config missing.yaml
expect_exit 3 baton status --root nowhere
chmod 666 bad.yaml
expect_exit 0 baton status --config bad.yaml
expect_err "not to be trusted"

# A placeholder nothing will be put in for is said before anything is due.
printf 'version: 1\nagents: { a: { command: ["true", "${subjct}"] } }\n' >slip.yaml
expect_exit 1 baton doctor --config slip.yaml
expect_out 'did you mean `${subject}`'

# init never overwrites, and what it writes is valid.
mkdir fresh "$work/bin"
printf '#!/bin/sh\necho "2.1.293 (Claude Code)"\n' >"$work/bin/claude"
chmod 755 "$work/bin/claude"
expect_exit 0 baton init fresh
expect_out "wrote fresh/baton.yaml"
expect_exit 0 baton status --root fresh
cp fresh/baton.yaml kept
expect_exit 0 baton init fresh
expect_err "left as it is"
cmp -s fresh/baton.yaml kept || fail "init has overwritten a configuration"
expect_exit 0 baton init --dialect coordination team
expect_exit 0 baton validate --root team
# Asked again it writes what is missing and leaves the rest.
rm team/coordination/messages/dev_to_qa.json
expect_exit 0 baton init --dialect coordination team
expect_out "wrote team/coordination/messages/dev_to_qa.json"
expect_err "team/coordination/pm_state.json exists and is left as it is"
expect_exit 0 baton init --dialect coordination fresh
expect_err "does not name the dialect coordination"
cmp -s fresh/baton.yaml kept || fail "init has overwritten a configuration"
# A folder that is configured is where the files go.
mkdir named
printf 'version: 1\ndialects: { coordination: { path: bazinga/ } }\n' >named/baton.yaml
expect_exit 0 baton init --dialect coordination named
expect_out "wrote named/bazinga/pm_state.json"
[[ ! -e named/coordination ]] || fail "init has written beside the configured folder"
expect_exit 0 baton validate --root named
printf 'version: 1\ndialects: [\n' >named/baton.yaml
expect_exit 2 baton init --dialect coordination named
expect_exit 2 baton init named
expect_err "named/baton.yaml:"
printf 'version: 1\ndialects:\n  coordinaton: {}\n' >named/baton.yaml
expect_exit 2 baton init --dialect coordination named
expect_err 'did you mean `coordination`'
expect_exit 2 baton init named
expect_err 'named/baton.yaml: this baton has no dialect'
expect_exit 2 baton run --once --root named
expect_err "named/baton.yaml:3:3: this baton has no dialect"
expect_exit 0 baton validate --schema coordination/pm_state team/coordination/pm_state.json
expect_exit 0 baton init --dialect rules other
# Of several layouts each finds its roles, and each is told how it begins.
for dialect in coordination fsm_loop ccw_loop agent_run ml_workflow; do
  expect_exit 0 baton init --dialect $dialect "one_$dialect"
  expect_out "$dialect: "
  expect_exit 0 env PATH="$work/bin:$PATH" "$baton_binary" doctor --root "one_$dialect"
  [[ $out != *"no agent plays"* ]] || fail "$dialect: $out"
done
expect_exit 0 baton init --root all --dialect coordination --dialect fsm_loop --dialect ccw_loop --dialect agent_run --dialect ml_workflow
for command in "start coordination" "start NAME" "create --title" "start workflow.yaml" "--dialect ml_workflow"; do
  expect_out "$command"
done
expect_exit 0 env PATH="$work/bin:$PATH" "$baton_binary" doctor --root all
for role in project_manager developer qa_expert tech_lead agent judge executor architect reviewer planner validator programmer; do
  expect_out "agent: $role: "
done
sed -i '/^  planner:/,+2d' all/baton.yaml
expect_exit 0 env PATH="$work/bin:$PATH" "$baton_binary" doctor --root all
expect_out 'no agent plays `planner`, which ml_workflow asks for'
expect_exit 0 baton init --root twice --dialect coordination --dialect rules --dialect coordination
expect_exit 0 baton validate --root twice
expect_exit 2 baton init --root all all
# For each adapter a configuration that works, once its program is there.
for adapter in aider amp claude codex copilot crush cursor-agent gemini goose kimi opencode qwen; do
  expect_exit 0 baton schema adapter $adapter
  expect_out "name: $adapter"
  expect_exit 0 baton init --adapter $adapter "by_$adapter"
  expect_out "wrote by_$adapter/prompts/developer.md"
  [[ $adapter == claude ]] || cp "$work/bin/claude" "$work/bin/$adapter"
  expect_exit 0 env PATH="$work/bin:$PATH" "$baton_binary" doctor --root "by_$adapter"
  expect_out "agent: developer: $work/bin/$adapter"
  expect_out "$adapter 2.1.293"
  expect_exit 0 baton init --adapter $adapter --dialect coordination "team_$adapter"
  grep -q "adapter: $adapter" "team_$adapter/baton.yaml" || fail "init has not written $adapter"
  [[ ! -e team_$adapter/prompts ]] || fail "init has written a prompt for tickets that are none"
done
expect_exit 2 baton init --adapter cluade third
expect_err "there is no adapter cluade; did you mean claude?"
expect_exit 2 baton schema adapter cluade
expect_err "did you mean claude?"
expect_exit 2 baton schema config claude
expect_err "only \`adapter\` takes a second name"
expect_exit 2 baton init --dialect coordinatoin third
expect_err "did you mean coordination?"
[[ ! -e third ]] || fail "a wrong call has written something"

# Rules that no file fits: a slip in the pattern, or nothing to do yet.
mkdir -p lost/here
printf 'version: 1\nrules:\n  - { name: a, files: "nowhere/{flow}.json", stage: /s, react: [{ to: x, notify: true }] }\n  - { name: b, files: "here/{flow}.json", stage: /s, react: [{ to: [x, y], notify: true }] }\n' >lost/baton.yaml
expect_exit 0 baton doctor --root lost
expect_out "the folder nowhere below $work/root/lost does not exist, but baton looks there for nowhere/{flow}.json"
expect_out "no file below $work/root/lost matches here/{flow}.json yet"
expect_exit 0 baton status --root lost
expect_out "files are looked for as nowhere/{flow}.json, here/{flow}.json"
echo '{"s": "X"}' >lost/here/one.json
echo '{"s": "x"}' >lost/here/two.yaml
expect_exit 0 baton doctor --root lost
[[ $out != *"fits here"* ]] || fail "a file fits: $out"
expect_exit 0 baton status --root lost --json
[[ $out == *'no reaction of the rule b is for `X`; it has some for x, y'* ]] || fail "why idle: $out"
expect_exit 2 baton explain --root lost lost/here/two.yaml
expect_err "files are looked for as nowhere/{flow}.json, here/{flow}.json"
expect_exit 2 baton explain --root lost nope.json
expect_err "there is no file nope.json"

# A file that belongs to a dialect never comes to a rule.
mkdir -p both/coordination
printf 'version: 1\ndialects: { coordination: {} }\nrules:\n  - { name: a, files: coordination/group_status.json, stage: "/{subject}/status", react: [{ to: x, notify: true }] }\n' >both/baton.yaml
echo '{}' >both/coordination/group_status.json
expect_exit 0 baton doctor --root both
expect_out "rule a: coordination/group_status.json is a file of the dialect coordination, which comes first"
[[ $out != *"rule a: no file"* ]] || fail "doctor has not seen the file: $out"

# Subjects that have their stage elsewhere; of none at all nothing is said.
mkdir apart
printf 'version: 1\nrules:\n  - { name: a, files: a.json, stage: "/{subject}/state", react: [{ to: x, notify: true }] }\n' >apart/baton.yaml
echo '{"A": {"status": "x"}}' >apart/a.json
expect_exit 0 baton status --root apart --json
[[ $out == *'nothing stands at /{subject}/state of a.json, where the rule a looks for the stage'* ]] || fail "why idle: $out"
echo '{}' >apart/a.json
expect_exit 0 baton status --root apart --json
[[ $out != *'nothing stands'* ]] || fail "why idle: $out"

# doctor names what is missing, and ends with 1 for it.
cat >baton.yaml <<'Y'
version: 1
agents:
  good: { command: [sh, -c, "true"] }
  bad: { command: [no-such-program-here] }
  dumb: { command: [sh], prompt: missing.md }
  lost: { command: [sh], cwd: nodir }
Y
expect_exit 1 baton doctor
expect_out "no-such-program-here"
expect_out "missing.md"
expect_out "root/nodir is not there"
expect_out "inotify watches"
sed -i '/bad:/d; /dumb:/d; /lost:/d' baton.yaml
expect_exit 0 baton doctor --json
expect_out '"schema":"baton/doctor/v1"'
[[ -z $(ls "$work/state") ]] || fail "looking has made a state folder"

# One that lies above and is about other roots is not used.
mkdir -p above/root above/other
for text in 'roots: [other]' 'roots: ['; do
  printf 'version: 1\n%s\n' "$text" >above/baton.yaml
  expect_exit 2 env XDG_CONFIG_HOME="$PWD/nowhere" "$baton_binary" run --once --root above/root
  expect_err "no configuration for $PWD/above/root: looked for "
done
echo "the frame holds"
