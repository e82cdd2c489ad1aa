#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Reading and controlling, without a daemon, beside one, and after it was killed.
# usage: cli_control_test.sh BATON
# shellcheck disable=SC2016,SC2119  # texts with a $ are meant; start_daemon takes options of its own
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
begin "$@"
need jq

cat >agent.sh <<'A'
#!/bin/sh
cat >/dev/null
echo "$BATON_ROLE $BATON_SUBJECT"
echo "trouble" >&2
[ "$BATON_ROLE" = quick ] || sleep 300
A
chmod 700 agent.sh
cat >baton.yaml <<'Y'
version: 1
limits: { kill_grace: 1s, backoff: 100ms }
agents:
  slow: { command: [./agent.sh] }
  quick: { command: [./agent.sh] }
rules:
  - name: groups
    files: groups.json
    stage: "/{subject}/status"
    react:
      - { to: pending, run: slow }
      - { to: quick, run: quick }
  - name: other
    files: "other/{flow}.json"
    stage: /status
    react: [{ to: never, run: nobody }]
Y
mkdir other
echo '{"A": {"status": "pending"}, "B": {"status": "new"}}' >groups.json
echo '{"status": "new"}' >other/one.json
echo '{"status": "new"}' >other/two.json

# Without a daemon and without any state: looking makes nothing.
expect_exit 0 baton status
expect_out "no daemon serves this root"
expect_exit 0 baton status --json
expect_fits output/status
[[ $(jq -r 'select(.flow == "rules/groups") | .condition + " " + .reason' "$work/out") == "waiting no_daemon" ]] ||
  fail "status: $out"
expect_exit 0 baton status groups --names
[[ $out == rules/groups ]] || fail "names: $out"
expect_exit 2 baton status grups
expect_err "did you mean groups?"
expect_exit 2 baton status zzzzzzzzzzzzzz
expect_err "rules/other/one"
expect_exit 0 baton explain groups.json --json
expect_document_fits output/explain
[[ $(jq -r '.desired[0].role + " " + .desired[0].subject + " " + .holds[0].reason' "$work/out") == "slow A no_daemon" ]] ||
  fail "explain: $out"
expect_exit 0 baton explain rules/other/one
expect_out "other/one.json (other): accepted"
expect_out 'no reaction of the rule other is for `new`; it has some for never'
expect_exit 2 baton explain agent.sh
expect_err "--as"
ln -s one.json other/link.json
expect_exit 0 baton explain other/link.json
expect_out "symbolic link"
cp other/one.json "other/-a.json"
expect_exit 2 baton explain "other/-a.json"
expect_err "would be a state file but for its name"
rm other/link.json "other/-a.json"
cp groups.json elsewhere.json
expect_exit 0 baton explain --as groups "$PWD/elsewhere.json" --json
[[ $(jq -r '.starts[0].role + " " + .documents[0].path' "$work/out") == "slow $PWD/elsewhere.json" ]] || fail "explain --as: $out"
echo '{}' >pm.json
expect_exit 0 baton explain --as coordination/pm_state pm.json --json
[[ $(jq -c '[.documents[] | select(.path == "pm.json") | .kind]' "$work/out") == '["pm_state"]' ]] ||
  fail "explain --as of one of several documents: $out"
rm pm.json
echo '{"A": ' >elsewhere.json
expect_exit 0 baton explain --as groups elsewhere.json --json
[[ $(jq -r '.documents[0].verdict' "$work/out") == rejected ]] || fail "explain --as of a torn file: $out"
expect_exit 0 baton events
expect_no_out
expect_exit 0 baton agents
expect_exit 3 baton logs 00
expect_exit 0 baton run --dry-run
expect_out "would start slow for rules/groups A"
expect_exit 0 baton run --dry-run --json
expect_fits output/dry_run
[[ $(jq -c '[.starts, .role, .attempt]' "$work/out") == '[true,"slow",1]' ]] || fail "dry run: $out"
expect_exit 2 baton run --json
expect_err "needs --dry-run"
expect_exit 0 baton --version --json
expect_document_fits output/version
# Of all roots, once each, as they are named or configured.
mkdir "$work/second"
cp groups.json "$work/second"
expect_exit 0 baton run --dry-run --root "$work/root" --root "$work/second" --root . --config baton.yaml
expect_out "would start slow for rules/groups A on $work/root,"
expect_out "would start slow for rules/groups A on $work/second,"
[[ $(grep -c "would start" "$work/out") == 2 ]] || fail "dry run: $out"
{ cat baton.yaml && echo "roots: [., ../second]"; } >two.yaml
expect_exit 0 baton run --dry-run --config two.yaml
[[ $(grep -c "would start" "$work/out") == 2 ]] || fail "dry run: $out"
rm -r two.yaml "$work/second"
# What would be refused anyway is told also while nothing at all may start.
cp groups.json before.json
echo '{"--help": {"status": "pending"}, "B": {"status": "pending"}}' >groups.json
sed -i 's#slow: { command: \[./agent.sh\] }#slow: { command: [./agent.sh, "${subject}"] }#' baton.yaml
expect_exit 0 baton explain groups --json
[[ $(jq -r '[.holds[] | .subject + " " + .reason] | sort | join(", ")' "$work/out") == "--help cannot_launch, B no_daemon" ]] ||
  fail "explain without a daemon: $out"
expect_exit 0 baton status
expect_out "taken for an option"
expect_out "no daemon serves this root"
sed -i 's#, "${subject}"\]#]#' baton.yaml
mv before.json groups.json
expect_exit 3 baton wait groups --until idle
[[ -z $(ls "$work/state") ]] || fail "looking has made a state folder"

# Control without a daemon acts at once; resume is recorded.
expect_exit 2 baton pause
expect_exit 2 baton pause groups --all
expect_exit 0 baton pause groups
expect_out "paused"
expect_exit 0 baton status groups --json
[[ $(jq -r '.condition + " " + .reason' "$work/out") == "paused operator" ]] || fail "not paused: $out"
expect_exit 1 baton retry groups
expect_err "no ended attempt"
expect_exit 1 baton forget groups
expect_err "still there"
expect_exit 0 baton resume groups
expect_out 'recorded; no daemon serves this root: run `baton run`'
expect_exit 0 baton drain
# Nobody reads the configuration then, but whether it is good is told.
expect_exit 0 baton reload
expect_out "the configuration is good"
{ cat baton.yaml && echo 'limitz: 1'; } >slip.yaml
expect_exit 2 baton reload --config slip.yaml
expect_err "did you mean 'limits'?"
expect_exit 0 baton status --config slip.yaml
expect_out 'slip.yaml cannot be used; `baton doctor` says why'
# Beside what is wrong nothing that is merely doubtful is called an error.
sed -e 's/run: quick/run: quik/' -e '$a limitz: 1' baton.yaml >slip.yaml
expect_exit 1 baton doctor --json --config slip.yaml
[[ $(jq -c '[.findings[] | select(.check == "configuration" and .level == "error")] | length' "$work/out") == 1 ]] ||
  fail "a warning counts as an error: $out"
rm slip.yaml
expect_exit 2 baton prune --older-than 0s
expect_err "use 1s to remove all history, and all runs that ended more than an hour ago"
# doctor refuses what run refuses, and says what to do about every line that is not fine.
for command in doctor "run --once"; do
  # shellcheck disable=SC2086  # words on purpose
  expect_exit "$([[ $command == doctor ]] && echo 1 || echo 2)" baton $command --state-dir "$PWD/inside"
  grep -q "inside the root $work/root" "$work/out" "$work/err" || fail "$command: $out $err"
done
expect_exit 1 baton doctor --json --state-dir "$PWD/inside"
expect_document_fits output/doctor
[[ $(jq '[.findings[] | select(.level != "fine" and .advice == "")] | length' "$work/out") == 0 ]] || fail "doctor: $out"
[[ ! -e inside ]] || fail "looking has made the state folder"

# Beside a daemon.
start_daemon
expect_exit 0 baton wait groups --until running --timeout 20s
expect_exit 0 baton costs --json
expect_fits output/costs
expect_exit 0 baton agents --json
expect_fits output/agents
run=$(jq -r 'select(.state == "running") | .run' "$work/out")
[[ $run =~ ^[0-9a-f]{32}$ ]] || fail "agents: $out"
until_true shows slow baton logs "$run"
expect_exit 0 baton logs "${run:0:12}" --stderr
[[ $out == trouble ]] || fail "stderr: $out"
expect_exit 0 baton prompt "$run"
expect_out '"$BATON_EXE" set'
expect_exit 2 baton logs ffffffffffffffffffffffffffffffff
expect_exit 0 baton status groups --json
expect_fits output/status
[[ $(jq -r '.condition + " " + .reason + " " + (.agents | tostring)' "$work/out") == "running agent 1" ]] || fail "status: $out"
expect_exit 0 baton explain groups --json
expect_document_fits output/explain
expect_exit 124 baton wait groups --until idle --timeout 300ms
expect_exit 0 baton pause groups
expect_out "1 agent may finish"
expect_exit 0 baton stop groups
until_true shows '"stopped"' baton status groups --json
expect_exit 1 baton wait groups --until idle
expect_exit 0 baton logs "$run" -f
folder=$(echo "$work"/state/*/runs/"$run")
mv "$folder/stderr.log" "$folder/kept"
mkfifo "$folder/stderr.log"
expect_exit 3 timeout 20 "$baton_binary" logs "$run" --stderr
expect_err "is not a regular file"
mv "$folder/kept" "$folder/stderr.log"
expect_exit 1 baton retry groups A
expect_err "no attempt has failed; \`baton resume rules/groups\` lets it go on"
expect_exit 0 baton resume --all --no-wait
# Nobody has waited for it to be heard, and who waits for a stopped flow is told that it is stopped.
until_true shows running baton status groups
expect_exit 0 baton wait groups --until running --timeout 20s
expect_exit 0 baton reload
expect_exit 0 baton doctor
expect_out "process $daemon serves $work/root since"
expect_exit 75 baton run
expect_err "$daemon"
expect_exit 0 baton set groups.json '/B/status="quick"'
until_true shows quick baton agents --json
expect_exit 0 baton events --json
expect_fits output/events
[[ $(jq -s 'map(.seq) == (map(.seq) | sort | unique)' "$work/out") == true ]] || fail "events are not in order"
expect_exit 0 baton events --flow groups --since 1h
expect_out "started"
expect_exit 0 baton events --since 2100-01-01T00:00:00Z
expect_no_out
expect_exit 2 baton events --since yesterday
timeout 3 "$baton_binary" events -f >"$work/followed" || true
grep -q started "$work/followed" || fail "events -f showed nothing"

# A broken configuration does not take away the sight of what runs, nor the way to stop it.
cp baton.yaml kept.yaml
looks() {  # WARNING
  local words
  for words in "status groups" "agents" "events" "logs $run" "prompt $run" "explain groups" \
    "pause groups" "resume groups" "stop groups" "resume --all"; do
    # shellcheck disable=SC2086  # several words
    expect_exit 0 baton $words
    expect_err "warning: "
    expect_err "$1"
  done
  expect_exit 124 baton wait groups --until idle --timeout 300ms
}
expect_exit 0 baton stop groups
until_true shows '"stopped"' baton status groups --json
sed -i 's/^limits:/limitz:/' baton.yaml
looks "did you mean 'limits'?"
printf 'version: 1\n  rules: [\n' >baton.yaml
looks "the daemon goes on with the last good one"
sed 's/^rules:/dialects: { fsm_lop: {} }\nrules:/' kept.yaml >baton.yaml
expect_exit 0 baton pause groups
expect_exit 0 baton resume groups
sed 's|    files: groups.json|&\n    schema: missing.schema.json|' kept.yaml >baton.yaml
expect_exit 0 baton status groups
expect_out 'was changed after the daemon read it; `baton reload`'
expect_exit 0 baton stop groups
expect_exit 1 baton doctor
expect_out "missing.schema.json"
echo 'limitz: 1' >>kept.yaml
cp kept.yaml baton.yaml
expect_exit 2 baton run --dry-run
expect_exit 2 baton validate
expect_exit 1 baton doctor
expect_exit 1 baton reload
# Where its state lies is read from it all the same.
{ echo "state_dir: $work/state" && cat kept.yaml; } >baton.yaml
expect_exit 0 env -u BATON_STATE_DIR "$baton_binary" agents --running --names
expect_err "the daemon goes on with the last good one"
sed -i '/^limitz/d' kept.yaml
cp kept.yaml baton.yaml
rm kept.yaml
expect_exit 0 baton reload
expect_exit 0 baton resume --all
expect_exit 0 baton wait groups --until running --timeout 20s

# After the daemon was killed the agent goes on, is shown, and is ended without one.
kill_daemon KILL
expect_exit 3 baton wait groups --until idle
expect_exit 0 baton agents --running --names
alive=$out
[[ -n $alive ]] || fail "the agent should still run"
cp baton.yaml kept.yaml
echo 'limitz: 1' >>baton.yaml
expect_exit 0 baton stop --all
expect_err "did you mean 'limits'?"
expect_exit 0 baton agents --running --names
expect_no_out
mv kept.yaml baton.yaml
if grep -slz "BATON_RUN_ID=${alive%%$'\n'*}" /proc/[0-9]*/environ | grep -q .; then
  fail "something of the agent is left"
fi
expect_exit 0 baton prune --older-than 1d
expect_out "removed 0"
mv groups.json "$work/away.json"
expect_exit 0 baton status groups --json
[[ $(jq -r '.condition + " " + .reason' "$work/out") == "gone files" ]] || fail "a flow without its file: $out"
mv "$work/away.json" groups.json
# One that was idle leaves the list.
rm other/one.json
expect_exit 0 baton status other/one --json
[[ $(jq -r '.condition + " " + .reason' "$work/out") == "idle no_reaction" ]] || fail "an idle flow without its file: $out"
expect_exit 0 baton status --names
[[ $out != *rules/other/one* ]] || fail "an idle flow without its file is listed: $out"
expect_exit 0 baton status --names --all
expect_out rules/other/one
expect_exit 2 baton forget
expect_err "--gone"
expect_exit 2 baton forget other/one --gone
expect_exit 0 baton forget --gone
expect_out "1 flow whose files are gone is forgotten"
expect_exit 2 baton status other/one

# answer is for people, and for flows that ask something. who_asks_test.py has what agents may.
expect_exit 1 baton answer rules/groups --comment "go on"
expect_err "means nothing"

# --wait is for one flow, and ends as the flow does.
expect_exit 2 baton resume --all --wait
expect_exit 2 baton retry groups --wait --no-wait
expect_exit 2 baton retry groups --timeout 5s
expect_err "--timeout needs --wait"
expect_exit 2 baton retry groups --wait --timeout soon
expect_err "a duration such as"
expect_exit 3 baton resume other/two --wait
expect_err "so the flow will not change"
expect_exit 0 baton resume --all
echo '{"A": {"status": "done"}}' >groups.json
cat >worker.sh <<'A'
#!/bin/sh
cat >/dev/null
"$BATON_EXE" set "$BATON_STATE_FILE" "/status=\"$BATON_PURPOSE\""
A
chmod 700 worker.sh
cat >>baton.yaml <<'Y'
  - name: work
    files: "work/{flow}.json"
    stage: /status
    limits: { max_attempts: 1 }
    react:
      - { to: ready, run: worker, purpose: finished }
      - { to: hopeless, run: nobody, purpose: hopeless }
Y
sed -i 's#^agents:#agents:\n  worker: { command: [./worker.sh] }\n  nobody: { command: ["false"] }#' baton.yaml
mkdir work
echo '{"status": "ready"}' >work/good.json
echo '{"status": "hopeless"}' >work/bad.json
expect_exit 0 baton pause work/good
expect_exit 0 baton pause work/bad
start_daemon
expect_exit 0 baton resume work/good --wait
[[ $(jq -r .status work/good.json) == finished ]] || fail "not waited for: $(cat work/good.json)"
expect_exit 1 baton resume work/bad --wait
expect_err "rules/work/bad is failed"
expect_exit 1 baton retry work/bad --wait
expect_exit 1 baton retry work/good --wait
kill_daemon

# drain ends a daemon that has nothing to do.
expect_exit 0 baton resume --all
start_daemon
expect_exit 0 baton drain
code=0
wait "$daemon" || code=$?
((code == 0)) || fail "drained, but ended with $code"
echo "reading and controlling work"
