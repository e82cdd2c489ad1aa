#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs inside the systemd box, as root: what journalctl knows of a daemon and its flows.
set -euo pipefail
cd /box
# shellcheck source=tests/e2e/e2e.sh
source ./e2e.sh
exec 2>&1
: >daemon.log
# shellcheck source=tests/e2e/service.sh
source ./service.sh

unit=baton.service
rm "/etc/systemd/system/$unit.d/test.conf"
project=/srv/project
mkdir -p "$project/tickets" /etc/baton
cat >/etc/baton/config.yaml <<YAML
version: 1
roots: [ $project ]
agents: { worker: { command: [/bin/true] } }
rules: [ { name: t, files: "tickets/{flow}.json", stage: /status, done: [ done ], react: [ { to: ready, run: worker } ] } ]
YAML
chown -R baton: "$project"
ticket() { runuser -u baton -- sh -c "echo '{\"status\": \"$2\"}' >$project/tickets/.x; mv $project/tickets/.x $project/tickets/$1.json"; }
at_end() {
  # shellcheck disable=SC2181  # the exit code of the script
  (($? == 0)) || { echo "--- the journal:"; journalctl -u "$unit" --no-pager -o short-precise | tail -n 30; }
}
# of FIELD MATCH...: that field of each line in the journal
of() { journalctl --no-pager -o json "${@:2}" | python3 -c 'import json, sys
for line in sys.stdin:
    print(json.loads(line).get(sys.argv[1], "-"))' "$1"; }
has() { of "${@:2}" | grep -qx "$1"; }

step "one flow, one run and one kind of event can be asked for"
systemctl daemon-reload
systemctl start "$unit"
ticket a ready
until_true has ended BATON_EVENT BATON_FLOW=rules/t/a
run=$(of BATON_RUN BATON_FLOW=rules/t/a BATON_EVENT=started)
[[ $run =~ ^[0-9a-f]{32}$ ]] || fail "the run is '$run'"
[[ $(of BATON_EVENT "BATON_RUN=$run" | sort -u | tr '\n' ' ') == *"ended started "* ]] || fail "of the run: $(of BATON_EVENT "BATON_RUN=$run")"
[[ $(of BATON_ROLE "BATON_RUN=$run" | sort -u) == worker ]] || fail "role: $(of BATON_ROLE "BATON_RUN=$run")"
[[ $(of BATON_ROOT "BATON_RUN=$run" | sort -u) == "$project" ]] || fail "root: $(of BATON_ROOT "BATON_RUN=$run")"

step "the lines are those of the unit, by their priority"
of MESSAGE -u "$unit" | grep -q '^serving ' || fail "no line about serving: $(of MESSAGE -u "$unit")"
[[ $(of PRIORITY -u "$unit" BATON_EVENT=started) == 6 ]] || fail "started: $(of PRIORITY -u "$unit" BATON_EVENT=started)"
runuser -u baton -- sh -c "echo '{\"status\":' >$project/tickets/bad.json"
until_true has rejected BATON_EVENT -u "$unit" -p warning
! has started BATON_EVENT -u "$unit" -p warning || fail "a start is a warning"
[[ $(of SYSLOG_IDENTIFIER -u "$unit" BATON_EVENT=started) == baton ]] || fail "identifier"

step "the daemon does not wait for a journal that stands still"
systemctl kill -s STOP systemd-journald
for ((count = 0; count < 40; count++)); do
  ticket "still$count" ready
done
all_done() { (($(runuser -u baton -- baton agents --root "$project" --state-dir /var/lib/baton --json --limit 100 | grep -c still) == 40)); }
until_true all_done
systemctl kill -s CONT systemd-journald
systemctl stop "$unit"

echo "all passed"
