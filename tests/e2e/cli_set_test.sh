#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# `baton set`: nothing lost with many writers, nothing broken, nothing changed on refusal.
# usage: cli_set_test.sh BATON
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
begin "$@"

text='{ "status" : "a",  "n": 1.50, "list": [1], "o": {"x": null} }'
echo "$text" >s.json
chmod 640 s.json
expect_exit 0 baton set s.json '/status="b"'
expect_file s.json '{ "status" : "b",  "n": 1.50, "list": [1], "o": {"x": null} }'
[[ $(stat -c %a s.json) == 640 ]] || fail "the mode has changed"
expect_no_out
expect_exit 0 baton set s.json '/list/-=2' '/o/y={"z": "="}' /n=2
[[ $(jq -c . s.json) == '{"status":"b","n":2,"list":[1,2],"o":{"x":null,"y":{"z":"="}}}' ]] ||
  fail "several changes at once: $(cat s.json)"

# Numbers stay as they are spelled, also those that no computer's number is; by their digits they are compared, too.
echo '{}' >n.json
expect_exit 0 baton set n.json '/id=123456789012345678901234567891' '/v= 1.10 ' '/w=[0.1000000000000000055511151231257827]'
[[ $(tr -d ' \n' <n.json) == '{"id":123456789012345678901234567891,"v":1.10,"w":[0.1000000000000000055511151231257827]}' ]] ||
  fail "numbers are spelled otherwise: $(cat n.json)"
expect_exit 1 baton set n.json /x=1 --expect /id=123456789012345678901234567890
expect_err "/id is 123456789012345678901234567891, not 123456789012345678901234567890"
expect_exit 1 baton set n.json /x=1 --expect '/w=[0.1]'
expect_exit 0 baton set n.json /x=1 --expect /id=1.23456789012345678901234567891e29 --expect /v=1.1
expect_exit 0 baton set n.json /x=0.09007199254740993
expect_exit 1 baton set n.json /x=1 --expect /x=0.09007199254740992
expect_exit 0 baton set n.json /x=1 --expect /x=9007199254740993e-17

# Refused: the file stays byte for byte, and no litter lies beside it.
cp s.json kept
# Nobody knows what the file has to be where the configuration cannot be read.
expect_exit 2 baton set s.json /n=3 --config typo.yaml
expect_err "baton cannot tell what the file is, so nothing was changed"
BATON_CONFIG=/nope expect_exit 2 baton set s.json /n=3
ln -s gone.yaml baton.yaml
expect_exit 2 baton set s.json /n=3
rm baton.yaml
cmp s.json kept
expect_exit 2 baton set s.json /status=waiting_qa
expect_err '/status="waiting_qa"'
expect_exit 2 baton set s.json $'/a\xff=1'
expect_err 'is not UTF-8'
expect_exit 2 baton set s.json status=1
expect_exit 2 baton set s.json /status
expect_exit 2 baton set s.json /status=
expect_exit 2 baton set s.json '=3'
expect_err "/status=..."
expect_exit 2 baton set s.json $'/a\xff=1'
expect_err "is not UTF-8"
expect_exit 2 baton set s.json
printf 's: a\n' >s.yaml
expect_exit 1 baton set s.yaml '/s="b"'
expect_err "cannot change YAML"
expect_file s.yaml 's: a'
printf '{"s": "a"}\n' >s.jsonl
expect_exit 2 baton set s.jsonl '/s="b"'
expect_err "append a line"
expect_file s.jsonl '{"s": "a"}'
expect_exit 1 baton set s.json /no/such/place=1
expect_err "/no/such/place cannot be set: there is no /no"
expect_exit 1 baton set s.json /list/5=3
expect_err "the list /list has 2 items"
expect_exit 2 baton set s.json '/status="x"' '/status="y"'
expect_err "/status is set twice"
expect_exit 2 baton set s.json /~2=1
expect_err "write ~ as ~0"
mkdir -p sub
expect_exit 3 baton set sub/none.json /a=1
expect_err "sub/none.json: "
expect_exit 1 baton set s.json '/status="c"' --expect '/status="a"'
expect_err '/status is "b", not "a"'
expect_exit 1 baton set s.json '/status="c"' --expect /nothing=1
expect_err "/nothing does not exist"
expect_exit 3 baton set missing.json /a=1
echo '{"torn' >torn.json
expect_exit 1 baton set torn.json /a=1
expect_file torn.json '{"torn'
cmp -s s.json kept || fail "a refusal has changed the file"
expect_exit 0 baton set s.json '/status="c"' --expect '/status="b"' --expect /n=2
ln -s s.json link.json
expect_exit 3 baton set link.json '/status="d"'
expect_err "link.json: is a symbolic link"
[[ -L link.json && $(jq -r .status s.json) == c ]] || fail "a link was followed or replaced"

# Where the schema is known, the result has to fit.
mkdir -p tickets
echo '{"A": {"status": "pending"}}' >tickets/a.json
cat >baton.yaml <<'Y'
version: 1
rules:
  - name: tickets
    files: "tickets/{flow}.json"
    schema: t.schema.json
    stage: "/{subject}/status"
    react: [{ to: pending, notify: true }]
Y
echo '{"additionalProperties": {"properties": {"status": {"enum": ["pending", "done"]}}}}' >t.schema.json
expect_exit 1 baton set tickets/a.json '/A/status="dnoe"'
expect_err "would break the file"
expect_exit 0 baton set tickets/a.json '/A/status="done"'
cd tickets
expect_exit 1 baton set a.json '/A/status="x"'
cd /
expect_exit 1 baton set "$work/root/tickets/a.json" '/A/status="x"'
cd "$work/root"
# Below a root no link leads on, as for the daemon; how one comes to the root does not matter.
mkdir "$work/beside"
echo '{"A": {"status": "pending"}}' >"$work/beside/a.json"
ln -s "$work/beside" linked
ln -s "$work/root" "$work/way"
expect_exit 3 baton set linked/a.json '/A/status="done"'
expect_err "$work/root/linked: is a symbolic link"
expect_exit 3 baton set "$work/way/linked/a.json" '/A/status="done"' --root "$work/way"
expect_file "$work/beside/a.json" '{"A": {"status": "pending"}}'
expect_exit 0 baton set "$work/way/tickets/a.json" '/A/status="pending"'
[[ $(jq -r .A.status tickets/a.json) == pending ]] || fail "set over a link to the root"

# What a file has to be is not known where its schema is missing: that is not the file's fault.
mkdir -p "$work/without/t"
echo '{"status": "a"}' >"$work/without/t/a.json"
cat >"$work/without/baton.yaml" <<'EOF'
version: 1
rules:
  - {name: t, files: "t/{flow}.json", schema: gone.json, stage: /status, react: [{to: ready, notify: true}]}
EOF
expect_exit 2 baton set "$work/without/t/a.json" '/status="b"' --root "$work/without" --config "$work/without/baton.yaml"
expect_err "the schema of the file cannot be used, so nothing was changed"
expect_file "$work/without/t/a.json" '{"status": "a"}'

# What was accepted counts, also when its schema has become stricter since, and `explain` says both.
echo '{"type": "object"}' >"$work/without/gone.json"
there=(--root "$work/without" --config "$work/without/baton.yaml")
expect_exit 0 baton run --once "${there[@]}"
echo '{"type": "object", "required": ["more"]}' >"$work/without/gone.json"
expect_exit 0 baton explain t/a "${there[@]}"
expect_out "t/a.json (t): accepted"
expect_out "accepted by an earlier version of the schema, so it counts until it changes"

# Many writers at once: no update is lost, readers never see a broken file.
writers=8
each=${BATON_SETS:-25}
jq -nc --argjson n $writers '[range($n) | {key: "w\(.)", value: 0}] | from_entries' >count.json
writer() {
  local i
  for ((i = 1; i <= each; i++)); do
    "$baton_binary" set count.json "/w$1=$i" --expect "/w$1=$((i - 1))" || exit 1
  done
}
pids=()
for ((w = 0; w < writers; w++)); do
  writer "$w" 2>>"$work/lost" &
  pids+=($!)
done
for pid in "${pids[@]}"; do
  wait "$pid" || fail "a writer has lost an update: $(head -3 "$work/lost")"
done
[[ $(jq -c '[.[]] | unique' count.json) == "[$each]" ]] || fail "updates are lost: $(cat count.json)"
[[ -z $(find . -name '.*.tmp') ]] || fail "litter: $(find . -name '.*.tmp')"
echo "$((writers * each)) sets, none lost"
