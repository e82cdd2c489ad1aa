#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Begins sessions with `baton start`, without a daemon and beside one, and sends messages.
# usage: cli_start_test.sh BATON
# shellcheck disable=SC2016,SC2119  # texts with a $ are meant; start_daemon takes options of its own
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
begin "$@"
need jq

cat >agent.sh <<'A'
#!/bin/sh
cat >/dev/null
"$BATON_EXE" set "$BATON_STATE_FILE" '/mode="simple"' '/task_groups=[{"id": "main", "name": "M"}]'
A
chmod 700 agent.sh
cat >baton.yaml <<'Y'
version: 1
agents:
  project_manager: { command: [./agent.sh] }
Y

# What is not listed is not begun.
expect_exit 2 baton start coordination --requirements "a thing"
expect_err "lists no dialect with flows to start"
echo 'dialects: { coordination: {} }' >>baton.yaml
expect_exit 2 baton start coordinaton --requirements "a thing"
expect_err "there is no flow coordinaton"
expect_exit 2 baton start coordination --dialect rules
expect_exit 2 baton start workflow.yaml --dialect coordination
expect_err "a workflow file belongs to the dialect agent_run, not to coordination"
expect_exit 3 baton start coordination --requirements @nowhere.md
: >empty.md
expect_exit 2 baton start coordination --requirements @empty.md
expect_err "empty"
expect_exit 2 baton start coordination --set mode
expect_err "is not NAME=JSON"

# Without a daemon it is recorded; the next one writes the files and starts.
printf 'a thing\nof two lines\n' >wishes.md
expect_exit 0 baton start coordination --requirements @wishes.md
expect_out "recorded"
[[ ! -e coordination ]] || fail "something was written without a daemon"
expect_exit 1 baton run --once
expect_err "coordination/coordination is blocked: role_missing: no agent is configured for the role \`developer\`"
# Those that the session will ask for are missed at once, by name.
for role in developer qa_expert tech_lead; do
  expect_err "no agent plays \`$role\`, which coordination asks for, and there is no \`default\`"
done
[[ $err != *"plays \`project_manager"* ]] || fail "missed, though it is there: $err"
[[ $(jq -r .original_requirements coordination/pm_state.json) == $'a thing\nof two lines' ]] || fail "requirements"
[[ $(jq -r .mode coordination/pm_state.json) == simple ]] || fail "no project manager was started"
for file in group_status orchestrator_state messages/dev_to_qa messages/qa_to_techlead messages/techlead_to_dev; do
  expect_exit 0 baton validate "coordination/$file.json"
done
session=$(jq -r .session_id coordination/pm_state.json)
[[ $(jq -r .session_id coordination/orchestrator_state.json) == "$session" ]] || fail "two sessions"

# Beside a daemon: asking again changes nothing, asking for something else is refused.
start_daemon
before=$(jq -S . coordination/pm_state.json)
expect_exit 0 baton start coordination --requirements @wishes.md
expect_out "as asked for already"
expect_exit 0 baton start coordination/coordination
expect_exit 1 baton start coordination --requirements "another thing"
expect_err "the session has other requirements"
expect_exit 1 baton start coordination --set 'mode="parallel"'
expect_err "not with \`set\`"
[[ $(jq -S . coordination/pm_state.json) == "$before" ]] || fail "the session was changed"

# Messages.
send() { baton send "$@"; }
expect_exit 0 send dev_to_qa '{"group_id": "main", "status": "READY_FOR_QA"}'
expect_exit 0 send coordination/messages/dev_to_qa.json '{"group_id": "main", "status": "READY_FOR_QA", "subject": "again"}'
[[ $(jq -r '.messages | length' coordination/messages/dev_to_qa.json) == 2 ]] || fail "messages: $(cat coordination/messages/dev_to_qa.json)"
[[ $(jq -r '[.messages[].id] | unique | length' coordination/messages/dev_to_qa.json) == 2 ]] || fail "ids are the same"
[[ $(jq -r '.messages[0] | .from + " " + .to + " " + (.read | tostring)' coordination/messages/dev_to_qa.json) == "developer qa_expert false" ]] ||
  fail "the message is not filled in"
expect_exit 2 send dev_to_qq '{"group_id": "main"}'
expect_err "did you mean dev_to_qa?"
expect_exit 2 send pm_state '{"group_id": "main"}'
expect_err "there is no mailbox"
expect_exit 2 send dev_to_qa '{"group_id": "main", "from": "tech_lead"}'
expect_err "\`from\` of dev_to_qa is developer"
expect_exit 2 send dev_to_qa 'hello'
expect_exit 2 send dev_to_qa '{}'
expect_exit 1 send dev_to_qa '{"group_id": "main", "status": 7}'
expect_err "the change would break the file; nothing was changed"
[[ $(jq -r '.messages | length' coordination/messages/dev_to_qa.json) == 2 ]] || fail "a bad message was sent"

# A bad message of somebody else's is not the sender's fault.
cp coordination/messages/dev_to_qa.json "$work/kept"
jq '.messages[0].status = 7' "$work/kept" >coordination/messages/dev_to_qa.json
expect_exit 1 send dev_to_qa '{"group_id": "main", "status": "READY_FOR_QA"}'
expect_err "the file has errors already"
expect_err "/messages/0/status"
expect_err "Fix them first"
cp "$work/kept" coordination/messages/dev_to_qa.json
kill_daemon

# Words others use for the same are understood, and written as they are called here.
expect_exit 0 send techlead_to_dev '{"group_id": "main", "from": "techlead", "decision": "CHANGES_REQUESTED"}'
[[ $(jq -r '.messages[0] | .from + " " + .decision' coordination/messages/techlead_to_dev.json) == "tech_lead changes_requested" ]] ||
  fail "aliases: $(cat coordination/messages/techlead_to_dev.json)"
expect_exit 2 send techlead_to_dev '{"group_id": "main", "from": "pm"}'

# Twenty at once: each arrives once. A mailbox that is missing is made, but not for a message that breaks it.
rm coordination/messages/qa_to_techlead.json
expect_exit 1 send qa_to_techlead '{"group_id": "main", "result": "MAYBE"}'
expect_err "the message would break the mailbox; nothing was written"
expect_err "/messages/0/result"
[[ ! -e coordination/messages/qa_to_techlead.json ]] || fail "a mailbox was made for a bad message"
pids=()
for n in $(seq 20); do
  baton send qa_to_techlead "{\"group_id\": \"main\", \"result\": \"PASS\", \"subject\": \"$n\"}" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a message was refused"; done
[[ $(jq -r '[.messages[].subject] | unique | length' coordination/messages/qa_to_techlead.json) == 20 ]] || fail "a message was lost"
[[ $(jq -r '[.messages[].id] | unique | length' coordination/messages/qa_to_techlead.json) == 20 ]] || fail "two messages share an id"

# A file that was rejected is not written over.
mkdir other
cat >other/baton.yaml <<'Y'
version: 1
dialects: { coordination: { path: bazinga } }
Y
mkdir other/bazinga
echo '{' >other/bazinga/group_status.json
expect_exit 1 baton start bazinga --root other --requirements "x"
expect_err "was rejected"
# It may also be damaged after the start was recorded.
rm other/bazinga/group_status.json
expect_exit 0 baton start bazinga --root other --requirements "x"
expect_out "recorded"
echo '{' >other/bazinga/group_status.json
baton run --once --root other >/dev/null 2>&1 || true
[[ $(cat other/bazinga/group_status.json) == '{' ]] || fail "a damaged file was written over"
[[ ! -e other/bazinga/pm_state.json ]] || fail "a session was begun beside a damaged file"
baton events --root other | grep -q "refused.*was rejected" || fail "nobody was told: $(baton events --root other)"

# What can be no name is told so; it is not looked for.
mkdir named
printf 'version: 1\ndialects: { ml_workflow: {} }\n' >named/baton.yaml
for name in ../wf a/b .wf 'w f' ml_workflow/../wf; do
  expect_exit 2 baton start "$name" --root named --requirements "x"
  expect_err "cannot be the name of a new flow: use at most 200 letters"
done
[[ ! -e named/workflow_states && ! -e wf ]] || fail "a workflow was begun"
