#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# `baton validate` on real files, good and bad. usage: cli_validate_test.sh BATON
# shellcheck disable=SC2016,SC2119  # texts with a $ are meant; start_daemon takes options of its own
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
begin "$@"
need jq

cat >baton.yaml <<'Y'
version: 1
rules:
  - name: tickets
    files: "tickets/{flow}.json"
    schema: ticket.schema.json
    stage: /status
    react: [{ to: ready, notify: true }]
Y
cat >ticket.schema.json <<'J'
{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["status"],
 "properties": {"status": {"enum": ["ready", "done"]}, "points": {"type": "integer"}}}
J
mkdir tickets
echo '{"status": "ready"}' >tickets/good.json
printf '{\n  "status": "redy",\n  "points": 1.5\n}\n' >tickets/wrong.json

expect_exit 0 baton validate tickets/good.json
expect_out "1 file checked: 0 errors"
expect_exit 1 baton validate
expect_golden validate/tree.txt
expect_exit 1 baton validate --json
expect_golden validate/tree.json
expect_document_fits output/validate
expect_exit 1 baton validate tickets
expect_exit 1 baton validate "$PWD/tickets/wrong.json" tickets/good.json
expect_out "2 files checked"
cd tickets
expect_exit 1 baton validate wrong.json
expect_golden validate/one.txt
cd ..

# Bad input of every kind is a finding with a place, or not readable; never a crash.
bad() {  # NAME BYTES PLACE
  printf '%b' "$2" >"tickets/$1.json"
  expect_exit 1 baton validate "tickets/$1.json"
  expect_out "tickets/$1.json:$3: error:"
  rm "tickets/$1.json"
}
bad empty '' 1:1
bad torn '{"status": "rea' 1:16
bad twice '{"status": "ready",\n "status": "done"}' 2:2
bad utf8 '{"status": "\xff"}' 1:13
bad comment '{"status": "ready"} // no' 1:21
bad list '[1]' 1:1
bad nul '{"a": 1}\x00' 1:9
bad deep "$(printf '[%.0s' {1..5000})" 1:129
head -c 100000 /dev/zero | tr '\0' ' ' >tickets/big.json
expect_exit 1 baton validate --max-size 10KiB tickets/big.json
expect_out "more than 10240 bytes"
expect_exit 2 baton validate --max-size much tickets/big.json
rm tickets/big.json
mkfifo tickets/pipe.json
expect_exit 3 baton validate tickets/pipe.json
expect_exit 1 baton validate
expect_exit 1 baton validate tickets
expect_out "tickets/pipe.json:1:1: error: is not a regular file"
rm tickets/pipe.json
ln -s /etc/passwd tickets/link.json
expect_exit 1 baton validate
rm tickets/link.json
# A link, a FIFO, a device, a folder in the place of a file: a finding, as for the daemon.
unfit() {  # PATH MESSAGE
  expect_exit 3 baton validate "$1"
  expect_out "$1:1:1: error: $2"
  expect_exit 3 baton validate --json "$1"
  expect_document_fits output/validate
  [[ $(jq -r '.findings[] | "\(.path) \(.line) \(.column) \(.rule) \(.severity)"' "$work/out") == "$1 1 1 file error" ]] ||
    fail "finding: $out"
}
ln -s good.json tickets/link.json
unfit tickets/link.json "is a symbolic link"
unfit "$PWD/tickets/link.json" "is a symbolic link"
expect_exit 1 baton validate --json
expect_document_fits output/validate
[[ $(jq -r '.findings[] | select(.rule == "file") | .path' "$work/out") == tickets/link.json ]] || fail "the tree: $out"
rm tickets/link.json
mkfifo tickets/pipe.json
unfit tickets/pipe.json "is not a regular file"
rm tickets/pipe.json
mkdir tickets/folder.json
unfit tickets/folder.json "is a folder where a file belongs"
rmdir tickets/folder.json
mv tickets kept
ln -s kept tickets
unfit tickets/good.json "leads over a symbolic link"
rm tickets
mv kept tickets
ln -s "$PWD" "$work/way"
expect_exit 0 baton validate "$work/way/tickets/good.json"
if mknod tickets/null.json c 1 3 2>/dev/null; then
  unfit tickets/null.json ""
  rm tickets/null.json
fi
expect_exit 3 baton validate tickets/missing.json
expect_err "tickets/missing.json"
# 2 before 3 before 1.
expect_exit 3 baton validate tickets/missing.json tickets/wrong.json
cp ticket.schema.json kept.json
echo '{"type": 5}' >ticket.schema.json
expect_exit 2 baton validate tickets/missing.json tickets/wrong.json
cp kept.json ticket.schema.json

# Files outside their place.
echo '{"status": "ready"}' >elsewhere.json
expect_exit 0 baton validate --skip-unknown elsewhere.json
expect_out "1 of no known kind skipped"
expect_err "use --as to say what kind they are"
expect_exit 1 baton validate elsewhere.json
expect_out "elsewhere.json:1:1: error: it was not checked"
mkdir nothing_here
echo text >nothing_here/notes.txt
expect_exit 1 baton validate nothing_here
expect_out "nothing in this folder was checked"
expect_exit 0 baton validate --skip-unknown nothing_here
# Some are known by their content: a configuration, a workflow, a loop, an adapter.
mkdir known
printf 'version: 1\nagents: { a: { command: 3 } }\n' >known/settings.yaml
expect_exit 1 baton validate known/settings.yaml
expect_out "known/settings.yaml:2:25: error: /agents/a/command: expected array"
printf 'version: 1\nagents: { a: { command: ["true"] } }\n' >known/settings.yaml
expect_exit 0 baton validate known/settings.yaml
printf 'version: 1\nagnts: {}\nagents: {}\n' >known/settings.yaml
expect_exit 1 baton validate known/settings.yaml
expect_out "did you mean agents?"
printf 'name: w\nsteps:\n  - { id: a, agent: x, prompt: p.md, needs: [b] }\n' >known/flow.yaml
expect_exit 1 baton validate known/flow.yaml
expect_out "known/flow.yaml:3"
printf 'name: x\ninitial: b\nstates:\n  a: { action: "true", next: d }\n  d: { terminal: true }\n' >known/loop.yaml
expect_exit 1 baton validate known/loop.yaml
expect_out "fsm_loop/S1"
baton schema adapter claude | sed 's/^provider:/provder: x\nprovider:/' >known/own.yaml
expect_exit 1 baton validate known/own.yaml
expect_out "provder"
for adapter in aider amp codex; do
  baton schema adapter $adapter >known/own.yaml
  expect_exit 0 baton validate known/own.yaml
done
# Files of other programs that look a little like it are of no known kind.
echo '{"name": "p", "version": "1.2.0", "agents": ["./a.md"]}' >known/plugin.json
printf 'version: 2\nrules: [{ x: 1 }]\n' >known/ci.yaml
printf 'steps:\n  - { prompt: Go, key: a }\n' >known/pipeline.yml
echo '{"initial": "a", "states": {"a": {"on": {"X": "a"}}}}' >known/machine.json
for file in plugin.json ci.yaml pipeline.yml machine.json; do
  expect_exit 1 baton validate known/$file
  expect_out "it was not checked"
  expect_exit 0 baton validate --skip-unknown known/$file
done
# A syntax error is said.
printf 'name: w\nsteps: [\n' >known/flow.yaml
expect_exit 1 baton validate known/flow.yaml
expect_out "known/flow.yaml:"
[[ $(<"$work/out") != *"no known kind;"* ]] || fail "the fault is not named"
# --as takes every name of `baton schema --list`.
echo '{}' >known/empty.json
while read -r name; do
  code=0
  baton validate --as "$name" known/empty.json >/dev/null 2>&1 || code=$?
  [[ $code == 0 || $code == 1 ]] || fail "--as $name ended with $code"
done < <(baton schema --list)
expect_exit 1 baton validate --as config known/empty.json
printf '%s\n' 'Do ${nothing}.' >known/prompt.md
expect_exit 1 baton validate --as coordination/prompts/developer.md known/prompt.md
expect_out "nothing"
expect_exit 2 baton validate --as coordination/prompts/devloper.md known/prompt.md
expect_err "did you mean"
rm -r known nothing_here
expect_exit 0 baton validate --as tickets elsewhere.json
expect_exit 1 baton validate --as tickets tickets/wrong.json
expect_exit 2 baton validate --as ticket elsewhere.json
expect_err "did you mean tickets?"
expect_exit 0 baton validate --schema ticket.schema.json elsewhere.json
expect_exit 1 baton validate --schema coordination/pm_state elsewhere.json
expect_exit 2 baton validate --schema nothing.json elsewhere.json
expect_exit 2 baton validate --schema ticket.schema.json --as tickets elsewhere.json
expect_exit 2 baton validate --format sarif --json elsewhere.json
expect_err "exclude each other"
expect_exit 2 baton validate --format xml elsewhere.json
expect_exit 0 bash -c 'echo "{\"status\": \"done\"}" | "$1" validate --as tickets -' - "$baton_binary"
expect_exit 1 bash -c 'echo "{\"status\": 1}" | "$1" validate --as tickets -' - "$baton_binary"
expect_out "-:1:12: error:"

# Schemas that are named by URI lie where --map says, below that folder, and come from nowhere else.
mkdir -p "$work/vendor/parts"
echo '{"enum": ["ready", "done"]}' >"$work/vendor/parts/status.json"
echo '{"properties": {"status": {"$ref": "https://example.org/schemas/parts/status.json"}}}' >remote.json
expect_exit 2 baton validate --schema remote.json elsewhere.json
expect_err "remote.json:1:36: the reference \"https://example.org/schemas/parts/status.json\" leads nowhere"
expect_err "--map URI-PREFIX=DIR"
expect_exit 0 baton validate --schema remote.json --map https://example.org/schemas/="$work/vendor" elsewhere.json
expect_exit 0 baton validate --schema remote.json --map https://example.org/schemas="$work/vendor" elsewhere.json
expect_exit 1 baton validate --schema remote.json --map https://example.org/="$work" --map https://example.org/schemas/="$work/vendor" tickets/wrong.json
expect_exit 2 baton validate --schema remote.json --map https://example.org/sch="$work/vendor" elsewhere.json
expect_exit 2 baton validate --schema remote.json --map https://example.org/schemas/=nowhere elsewhere.json
expect_err "there is no folder nowhere"
expect_exit 2 baton validate --map here elsewhere.json
echo '{"$ref": "https://example.org/a/%2e%2e/%2e%2e/x.json"}' >out.json
echo '{}' >"$work/x.json"
expect_exit 2 baton validate --schema out.json --map https://example.org/a="$work/vendor" elsewhere.json

# What can be doubted about a schema is a warning; with --strict an error.
echo '{"propertees": {}, "properties": {"at": {"format": "date-tiem"}}}' >doubtful.json
expect_exit 0 baton validate --schema doubtful.json elsewhere.json
expect_out 'doubtful.json:1:2: warning: /propertees: the keyword "propertees" is not known; did you mean properties? [schema/lint]'
expect_out "doubtful.json:1:42: warning:"
expect_exit 1 baton validate --strict --schema doubtful.json elsewhere.json
expect_out "doubtful.json:1:2: error:"
expect_exit 1 baton validate --warnings-as-errors --schema doubtful.json elsewhere.json
echo '{"$schema": "https://json-schema.org/draft/2099-12/schema"}' >newer.json
expect_exit 2 baton validate --schema newer.json elsewhere.json
expect_err "newer.json:1:13:"
expect_err "draft-04, draft-06, draft-07, draft 2019-09, draft 2020-12"
rm remote.json out.json doubtful.json newer.json

# References between files: upwards, blanks, and never out of the folder; a fault is told in its own file.
mkdir -p "schemas/of mine/parts"
echo '{"properties": {"status": {"$ref": "../common.json#/definitions/a~1b%25"}}}' >"schemas/of mine/ticket.json"
echo '{"definitions": {"a/b%": {"$ref": "of%20mine/parts/status.json"}}}' >schemas/common.json
echo '{"type": "integer"}' >"schemas/of mine/common.json"  # is not meant
echo '{"enum": ["ready", "done"]}' >"schemas/of mine/parts/status.json"
expect_exit 0 baton validate --schema "schemas/of mine/ticket.json" elsewhere.json
expect_exit 1 baton validate --schema "schemas/of mine/ticket.json" tickets/wrong.json
cd schemas
expect_exit 1 baton validate --schema "$PWD/of mine/ticket.json" ../tickets/wrong.json
expect_out '../tickets/wrong.json:2:13: error: /status: "redy" is not one of "ready", "done"'
cd ..
ln -s /etc/passwd "schemas/of mine/parts/link.json"
echo '{"properties": {"status": {"$ref": "parts/link.json"}}}' >"schemas/of mine/ticket.json"
expect_exit 2 baton validate --schema "schemas/of mine/ticket.json" elsewhere.json
expect_err "is a link that leads out of"
echo '{"properties": {"status": {"$ref": "../../../outside.json"}}}' >"schemas/of mine/ticket.json"
echo '{}' >"$work/outside.json"
echo '{}' >outside.json  # is not meant
expect_exit 2 baton validate --schema "schemas/of mine/ticket.json" elsewhere.json
expect_err "schemas/of mine/ticket.json:1:36: the reference"
expect_err "leads out of $PWD, below which schemas lie"
rm "$work/outside.json" outside.json
printf '{"allOf": [{"$ref": "../common.json"}]}' >"schemas/of mine/ticket.json"
printf '{\n"type": ' >schemas/common.json
expect_exit 2 baton validate --schema "schemas/of mine/ticket.json" elsewhere.json
expect_err "schemas/common.json:2:9: the text ends in the middle of an object that begins in line 1 (referred to at schemas/of mine/ticket.json:1:21)"
printf '{\n"type": "strng"}' >schemas/common.json
expect_exit 2 baton validate --schema "schemas/of mine/ticket.json" elsewhere.json
expect_err "schemas/common.json:2:9: not a JSON Schema:"
# Our own schemas by their $id; a file comes before one of ours that has its path.
printf '{"$ref": "urn:baton:schema:coordination:pm_state"}' >own.json
expect_exit 1 baton validate --schema own.json elsewhere.json
expect_out 'elsewhere.json:1:1: error: the member "session_id" is missing [schema/required]'
mkdir schemas/coordination
echo '{"$ref": "group_status.schema.json"}' >schemas/coordination/pm_state.schema.json
echo '{}' >schemas/coordination/group_status.schema.json
expect_exit 0 baton validate --schema schemas/coordination/pm_state.schema.json elsewhere.json
# One call may have files of several formats, and a schema any name.
cp ticket.schema.json 'a #%20 é:b?.json'
mkdir 'schemas/100%25 #1'
cp ticket.schema.json 'schemas/100%25 #1/a b.json'
echo '{"$ref": "a%20b.json"}' >'schemas/100%25 #1/b.json'
expect_exit 0 baton validate --schema 'schemas/100%25 #1/b.json' elsewhere.json
printf '{"status": "ready"}\n{"status": "done"}\n' >log.jsonl
echo 'status: ready' >log.yaml
for schema in ticket.schema.json 'a #%20 é:b?.json'; do
  expect_exit 0 baton validate --schema "$schema" elsewhere.json log.jsonl log.yaml elsewhere.json
  expect_exit 0 baton validate --schema "$schema" log.yaml elsewhere.json log.jsonl
  expect_exit 1 baton validate --schema "$schema" tickets/wrong.json log.jsonl
  expect_out 'tickets/wrong.json:2:13: error: /status:'
done
rm -r schemas own.json log.jsonl log.yaml 'a #%20 é:b?.json'

# Nothing is checked in silence.
expect_exit 2 baton validate --schema ticket.schema.json
expect_err "--schema needs files to check: name files or folders, or - for standard input"
expect_exit 2 baton validate --as tickets
expect_exit 2 baton validate --schema nothing.json elsewhere.json
expect_err "--schema: there is no file nothing.json, and \`baton schema --list\` has no such name"
expect_exit 3 bash -c '"$1" validate --as tickets - <&-' - "$baton_binary"
expect_err "-: the standard input cannot be read"
expect_exit 3 bash -c '"$1" validate --as tickets - </' - "$baton_binary"

# A name that looks like an option, and rules about names from wherever a file is named.
cp tickets/good.json ./-x.json
expect_exit 0 baton validate --as tickets -- -x.json
rm ./-x.json

# A folder that may not be read is told, and everything else is still checked.
if [[ $(id -u) != 0 ]]; then as_nobody() { "$@"; }; else as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }; fi
mkdir -p deep/coordination deep/closed
echo 5 >deep/coordination/pm_state.json
chmod 755 "$work" "$work/root" deep
chmod 0 deep/closed
cp "$baton_binary" "$work/baton"
expect_exit 3 as_nobody "$work/baton" validate deep
expect_err "deep/closed: "
expect_out "deep/closed:1:1: error:"
expect_out "deep/coordination/pm_state.json:1:1: error:"
rm -r deep

# JSON Lines: each record has to fit; a torn last line is a warning.
printf '{"status": "ready"}\n{"status": "wrong"}\n' >log.jsonl
expect_exit 1 baton validate --schema ticket.schema.json log.jsonl
expect_out "log.jsonl:2:12: error:"
printf '{"status": "ready"}\n{"sta' >log.jsonl
expect_exit 0 baton validate --schema ticket.schema.json log.jsonl
expect_out "warning"
expect_exit 1 baton validate --warnings-as-errors --schema ticket.schema.json log.jsonl

# Both together, and in the order of the file; YAML with its own places.
printf '{"status": "wrong"}\n{"status"\n"ready"\n{"sta' >log.jsonl
expect_exit 1 baton validate --schema ticket.schema.json log.jsonl
expect_golden validate/lines.txt
printf 'status: wrong\npoints: [1, 2\n' >bad.yaml
expect_exit 1 baton validate --schema ticket.schema.json bad.yaml
expect_out "bad.yaml:3:1: error:"
printf 'status: ready\npoin' >bad.yaml
expect_exit 1 baton validate --schema ticket.schema.json bad.yaml
expect_out "bad.yaml:2:1: error: a ':' is missing after this key [json]"
printf 'points: 1\nstatus: "ready\n' >bad.yaml
expect_exit 1 baton validate --schema ticket.schema.json bad.yaml
expect_out 'bad.yaml:2:9: error: the quotation that begins here has no end'
printf '# a comment\nstatus: wrong\nstatus: ready\n' >bad.yaml
expect_exit 1 baton validate --schema ticket.schema.json bad.yaml
expect_out 'bad.yaml:3:1: error: /status: the key "status" appears twice [json]'
printf '# a comment\nstatus: redy\npoints: many\n' >bad.yaml
expect_exit 1 baton validate --schema ticket.schema.json bad.yaml
expect_out 'bad.yaml:2:9: error: /status: "redy" is not one of "ready", "done"; did you mean ready? [schema/enum]'
expect_out 'bad.yaml:3:9: error: /points: expected integer, found the string "many" [schema/type]'

# A bad schema is refused with its place; other files and other faults do not hide behind it.
refused() {  # SCHEMA PLACE MESSAGE
  printf '%s' "$1" >bad.schema.json
  expect_exit 2 baton validate --schema bad.schema.json elsewhere.json
  expect_err "bad.schema.json:$2: "
  expect_err "$3"
}
refused '{"type": ' 1:10 "ends in the middle"
refused '{"type": "strng"}' 1:10 'strng'
refused '{"$ref": "nowhere.json"}' 1:10 "leads nowhere"
refused '{"properties": {"a": {"$ref": "#/definitions/none"}}}' 1:31 "there is nothing at #/definitions/none"
refused '{"$ref": "#"}' 1:10 "leads back to itself"
refused '{"definitions": {"a": {"allOf": [{"$ref": "#/definitions/a"}]}}, "$ref": "#/definitions/a"}' 1:23 "without end"
refused '{"pattern": "("}' 1:13 ""
echo '{"properties": {"status": {"pattern": "^(a+)+$"}}}' >bad.schema.json
printf '{\n"status": "%s!"}' "$(printf 'a%.0s' {1..2000})" >slow.json
echo '{"status": "b"}' >next.json
expect_exit 1 baton validate --schema bad.schema.json slow.json next.json
expect_out "slow.json:2:11: error: /status: the pattern"
expect_out "next.json:1:12: error: /status:"
# One rule's schema is bad: its files cannot be judged, all others are.
cat >>baton.yaml <<'Y'
  - name: broken
    files: "broken/{flow}.json"
    schema: broken.schema.json
    stage: /status
    react: [{ to: ready, notify: true }]
Y
mkdir -p broken
echo '{}' >broken/x.json
echo '{"type": 5}' >broken.schema.json
expect_exit 2 baton validate broken/x.json tickets/wrong.json
expect_err "broken.schema.json:1:10"
expect_out "tickets/wrong.json:2:13: error:"
rm -r broken broken.schema.json bad.schema.json slow.json next.json bad.yaml

# Sizes are bytes, or with a unit.
echo '{}' >any.schema.json
for size in 1000 1000B 1kB; do
  expect_exit 0 baton validate --schema any.schema.json --max-size "$size" elsewhere.json
done
expect_exit 1 baton validate --schema any.schema.json --max-size 1 elsewhere.json
expect_out "has more than 1 bytes"
for size in 0 -1 1.5 x 10X 1e3 99999999999999999999; do
  expect_exit 2 baton validate --schema any.schema.json --max-size="$size" elsewhere.json
  expect_err "--max-size takes a size such as 512KiB, 16MiB or a number of bytes"
done
# Who reads larger files has the memory for them, and the steps.
python3 -c '
import json, sys
json.dump([{"id": i, "status": "ready", "tags": ["a", "b"], "at": "2026-01-01T00:00:00Z"} for i in range(280000)],
          open("large.json", "w"))'
echo '{"items": {"oneOf": [{"required": ["id"], "properties": {"status": {"enum": ["ready"]}, "at": {"format": "date-time"}}},
  {"required": ["none"]}]}}' >large.schema.json
expect_exit 1 baton validate --schema large.schema.json large.json
expect_exit 0 baton validate --schema large.schema.json --max-size 64MiB large.json
# Many tiny records under many alternatives take more steps than usual, also of a small file.
python3 -c '
import json
json.dump([{"kind": i % 10} for i in range(130000)], open("large.json", "w"))
json.dump({"items": {"oneOf": [{"required": ["kind"], "properties": {"kind": {"const": i}}} for i in range(10)]}},
          open("large.schema.json", "w"))'
expect_exit 1 baton validate --schema large.schema.json large.json
expect_out "large.json:1:1: error: the validation was stopped after too many steps; use a smaller document"
expect_exit 0 baton validate --schema large.schema.json --max-size 64MiB large.json
# What loses digits is told where one is strict.
printf '[1,\n 18446744073709551616]' >wide.json
expect_exit 0 baton validate --schema any.schema.json wide.json
expect_out "0 errors, 0 warnings"
expect_exit 0 baton validate --schema any.schema.json --strict wide.json
expect_out "wide.json:2:2: warning: the integer 18446744073709551616 does not fit into 64 bits"
expect_exit 1 baton validate --schema any.schema.json --strict --warnings-as-errors wide.json
# So have they more members.
python3 -c 'import json; json.dump({f"k{i}": i for i in range(10001)}, open("wide.json", "w"))'
expect_exit 1 baton validate --schema any.schema.json wide.json
expect_out "an object with more than 10000 members"
expect_exit 0 baton validate --schema any.schema.json --max-size 17MiB wide.json
# Two schemas of one $id are both named.
echo '{"$id": "http://x.example/s.json", "properties": {"p": {"$ref": "b.json#/definitions/q"}}}' >a.schema.json
echo '{"$id": "http://x.example/s.json", "definitions": {"q": {}}}' >b.json
expect_exit 2 baton validate --schema a.schema.json --map http://x.example=. elsewhere.json
expect_err 'two schemas are called "http://x.example/s.json": at a.schema.json:1:9 and at http://x.example/b.json:1:9'
rm any.schema.json large.json large.schema.json wide.json a.schema.json b.json
# A loop of several files: what does not show in one of them alone is told with its place.
mkdir -p "$work/loops/.loops/lib"
cd "$work/loops"
cat >.loops/base.yaml <<'Y'
name: base
initial: check
states:
  check: {action: mypy, on_success: done, on_failure: fix}
  fix: {fragment: fixer, next: check}
  done: {terminal: true}
Y
echo 'fragments: {fixer: {action: /fix}}' >.loops/lib/fixers.yaml
printf 'from: base\nname: child\nimport: [lib/fixers.yaml]\n' >.loops/child.yaml
sed -i '1i import: [lib/fixers.yaml]' .loops/base.yaml
expect_exit 0 baton validate
expect_out "2 files checked: 0 errors"
printf 'from: base\nname: child\nstates:\n  fix:\n    on_error: dome\n' >.loops/child.yaml
expect_exit 0 baton validate .loops/child.yaml
expect_exit 1 baton validate
expect_out ".loops/child.yaml:5:15: error:"
expect_out "did you mean done?"
expect_exit 1 baton validate .loops
printf 'from: bass\nname: child\n' >.loops/child.yaml
expect_exit 1 baton validate
expect_out '.loops/child.yaml:1:7: error: /from: no file found for "bass"'
printf 'from: base\nname: child\n' >.loops/child.yaml
echo 'fragments: [' >.loops/lib/fixers.yaml
expect_exit 1 baton validate
expect_out ".loops/lib/fixers.yaml:2:1: error:"

# What a loop names and its own folder lacks may lie in a library outside of the root.
mkdir -p "$work/library/lib" "$work/borrows/.loops"
cd "$work/borrows"
printf 'fragments:\n  probe: {action: "test -e far"}\n' >../library/lib/probes.yaml
printf 'version: 1\ndialects:\n  fsm_loop:\n    library: [../library]\n' >baton.yaml
cat >.loops/far.yaml <<'Y'
name: far
initial: look
import: [lib/probes.yaml]
states:
  look: {fragment: probe, on_yes: done, on_no: make, on_error: done}
  make: {action: touch far, next: look}
  done: {terminal: true}
Y
expect_exit 0 baton validate
expect_out "1 file checked: 0 errors, 0 warnings"
expect_exit 0 baton start far
expect_exit 0 baton run --once
[[ -e far ]] || fail "the loop did not run"
chmod 777 ../library
expect_exit 2 baton run --once
expect_err "the library is not to be trusted"
chmod 755 ../library
mv ../library/lib/probes.yaml ../library/lib/other.yaml
expect_exit 1 baton validate
expect_out '.loops/far.yaml:3:10: error: /import/0: no file found for "lib/probes.yaml": neither .loops/lib/probes.yaml nor '
mv ../library ../lent
expect_exit 2 baton validate
expect_err "baton.yaml:4:5: \`library\` names $work/library, which is no folder that can be read"

# What the daemon ignores as a copy is no state file here either. A copy that was changed is one, and so is a named one.
mkdir -p "$work/copies/t"
cd "$work/copies"
printf 'version: 1\nrules: [{name: t, files: "t/{flow}.json", stage: /s, react: [{to: go, notify: true}]}]\n' >baton.yaml
echo '{"s": "go"}' >t/a.json
cp t/a.json "t/a (copy).json"
echo '{"s": ' >t/a.old.json
echo '{"s": ' >t/b.old.json
expect_exit 1 baton validate
expect_out "t/a.old.json:1:1: warning: is a copy (.old) of t/a.json: no state file"
expect_out "t/a (copy).json:1:1: warning: is a copy of t/a.json: no state file"
expect_out "t/b.old.json:2:1: error"
expect_exit 1 baton validate t
expect_out "t/a.old.json:1:1: warning: is a copy (.old) of t/a.json: no state file"
rm t/b.old.json
expect_exit 0 baton validate
expect_exit 1 baton validate t/a.old.json
echo '{"s": 1' >"t/a (copy).json"
expect_exit 1 baton validate

# A configuration that no daemon would take is no green light.
mkdir "$work/slip"
cd "$work/slip"
printf 'version: 1\ndialects: { coordinaton: { path: bazinga } }\n' >baton.yaml
echo '{}' >x.json
expect_exit 2 baton validate
expect_err 'did you mean `coordination`?'
expect_exit 2 baton set x.json /a=1
expect_err "nothing was changed"
expect_file x.json '{}'

# Without any configuration it works just the same.
mkdir "$work/bare"
cd "$work/bare"
echo '{}' >x.json
expect_exit 1 baton validate x.json
expect_exit 0 baton validate --skip-unknown x.json
expect_exit 1 baton validate --schema coordination/pm_state x.json
echo "validate checks"
