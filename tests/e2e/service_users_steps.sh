#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs inside the systemd box, as root: the system units as they are shipped, with the drop-in users.conf and a role with
# `user:`. What the agents are, that they outlive the daemon, and that each way to end one ends all of it.
set -euo pipefail
cd /box
# shellcheck source=tests/e2e/e2e.sh
source ./e2e.sh
exec 2>&1
# shellcheck source=tests/e2e/service.sh
source ./service.sh

groupadd agents
usermod --append --groups agents baton
useradd --no-create-home --groups agents guest
useradd --no-create-home stranger
for name in baton.service baton@.service; do
  install -m 644 /usr/share/baton/systemd/users.conf "/etc/systemd/system/$name.d/users.conf"
done
systemctl daemon-reload

# Each leaves a child that has neither its session, nor its environment, nor its parent. The line that names both is the
# last that it does.
install -d /opt/agents
cat >/opt/agents/agent <<'AGENT'
#!/bin/sh
exec 3>&1
hidden=$(setsid env -i sh -c 'echo $$; exec sleep 1001 >/dev/null 2>&1' </dev/null 3>&- &)
ls /var/lib/baton >"$BATON_ROOT/sees.$1" 2>&1
kill -0 "$PPID" >>"$BATON_ROOT/sees.$1" 2>&1
echo "$$ $hidden" >"$BATON_ROOT/$1.new"
mv "$BATON_ROOT/$1.new" "$BATON_ROOT/pids.$1"
exec sleep 1000
AGENT
chmod 755 /opt/agents/agent

as_baton() { runuser -u baton -- "$@"; }
ask() { (cd "$project" && as_baton baton "$@"); }
ticket() {  # NAME STAGE
  as_baton sh -c "umask 007; echo '{\"status\": \"$2\"}' >$project/tickets/.$1; mv $project/tickets/.$1 $project/tickets/$1.json"
}
# Sets `agent` and `hidden` to the processes of the run for that role.
begun() {  # ROLE
  until_true test -s "$project/pids.$1"
  read -r agent hidden <"$project/pids.$1"
  rm "$project/pids.$1"
}
lives() { [[ -e /proc/$1 && $(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status") != Z ]]; }
# Prints the processes of a user.
processes_of() { find /proc -mindepth 1 -maxdepth 1 -user "$1" -name '[0-9]*'; }
both_live() { lives "$agent" && lives "$hidden"; }
both_gone() { ! lives "$agent" && ! lives "$hidden"; }
line() { sed -n "s/^$2:\t//p" "/proc/$1/status"; }
without_rights() {  # PID USER
  local each id
  id=$(id -u "$2")
  [[ $(line "$1" Uid) == "$id	$id	$id	$id" ]] || fail "process $1 has the uids $(line "$1" Uid)"
  id=$(id -g "$2")
  [[ $(line "$1" Gid) == "$id	$id	$id	$id" ]] || fail "process $1 has the gids $(line "$1" Gid)"
  for each in CapInh CapPrm CapEff CapAmb; do
    [[ $(line "$1" "$each") == 0000000000000000 ]] || fail "process $1 has $each $(line "$1" "$each")"
  done
  [[ $(line "$1" NoNewPrivs) == 1 ]] || fail "process $1 could gain privileges"
}
outcome() { ask agents --json | grep -F "\"flow\":\"rules/t/$1\"" | grep -qF "\"outcome\":\"$2\""; }
adopted() { [[ $(property StatusText) == "$1 running"* ]]; }

serve() {  # UNIT PROJECT CONFIGURATION
  unit=$1
  project=$2
  install -d -o baton -g agents -m 2770 "$project" "$project/tickets"
  mkdir -p "${3%/*}"
  cat >"$3" <<YAML
version: 1
$([[ $unit == baton@* ]] || echo "roots: [$project]")
limits: { max_attempts: 1, kill_grace: 1s }
agents:
  other: { command: [/opt/agents/agent, other], user: guest }
  slow: { command: [/opt/agents/agent, slow], user: guest, timeout: 2s }
  own: { command: [/opt/agents/agent, own] }
rules:
  - name: t
    files: "tickets/{flow}.json"
    stage: /status
    react: [ { to: a, run: other }, { to: b, run: slow }, { to: c, run: own } ]
YAML

  step "$unit: starts under its sandbox, with three capabilities"
  systemctl start "$unit"
  is ActiveState active || fail "not active"
  is ProtectProc default || fail "ProtectProc is $(property ProtectProc)"
  is NoNewPrivileges yes || fail "NoNewPrivileges is $(property NoNewPrivileges)"
  is ProtectSystem strict || fail "ProtectSystem is $(property ProtectSystem)"
  local daemon each
  daemon=$(property MainPID)
  for each in CapPrm CapEff CapBnd; do
    [[ $(line "$daemon" "$each") == 00000000000000e0 ]] || fail "the daemon has $each $(line "$daemon" "$each")"
  done
  ask doctor >doctor.log || { cat doctor.log; fail "doctor finds errors"; }
  grep -qxF "fine    agent: other: /opt/agents/agent" doctor.log || { cat doctor.log; fail "doctor finds something"; }

  step "runs an agent as its user, which has no rights"
  ticket x a
  begun other
  without_rights "$agent" guest
  without_rights "$hidden" guest
  grep -q 'Permission denied' "$project/sees.other" || fail "it sees the state: $(cat "$project/sees.other")"
  grep -q 'not permitted' "$project/sees.other" || fail "it can signal its shim: $(cat "$project/sees.other")"
  local shim
  shim=$(line "$agent" PPid)
  [[ $(line "$shim" Uid) == "$(line "$daemon" Uid)" ]] || fail "the shim has the uids $(line "$shim" Uid)"
  grep -q "/run-[^/]*$" "/proc/$agent/cgroup" || fail "it is in $(cat "/proc/$agent/cgroup")"
  cmp -s "/proc/$agent/cgroup" "/proc/$hidden/cgroup" || fail "its child is in $(cat "/proc/$hidden/cgroup")"
  local other=$agent other_hidden=$hidden

  step "runs one of the daemon's own user without rights"
  ticket own c
  begun own
  without_rights "$agent" baton
  without_rights "$hidden" baton
  ask stop rules/t/own >stop.log || { cat stop.log; fail "it cannot be stopped"; }
  until_true both_gone
  agent=$other hidden=$other_hidden

  step "adopts it after a restart, kill -9, and stop and start"
  systemctl restart "$unit"
  until_true is ActiveState active
  until_true adopted 1
  both_live || fail "the agent did not survive the restart"
  local before
  before=$(property NRestarts)
  systemctl kill -s KILL --kill-whom=main "$unit"
  until_true above NRestarts "$before"
  until_true is ActiveState active
  until_true adopted 1
  both_live || fail "the agent did not survive kill -9"
  systemctl stop "$unit"
  is Result success || fail "stop gave $(property Result)"
  both_live || fail "stop ended the agent"
  systemctl start "$unit"
  until_true adopted 1

  step "ends the adopted one on baton stop, with all that it left"
  ask stop rules/t/x >stop.log || { cat stop.log; fail "it cannot be stopped"; }
  until_true both_gone
  until_true outcome x stopped
  until_true no_groups

  step "ends one that takes too long, with all that it left"
  ticket y b
  begun slow
  without_rights "$agent" guest
  until_true both_gone
  until_true outcome y timed_out
  until_true no_groups

  step "ends what stands behind a killed shim"
  ticket z a
  begun other
  kill -9 "$(line "$agent" PPid)"
  until_true both_gone
  until_true no_groups

  step "ends an adopted one behind a shim that was killed without a daemon"
  ticket w a
  begun other
  systemctl stop "$unit"
  both_live || fail "stop ended the agent"
  kill -9 "$(line "$agent" PPid)"
  systemctl start "$unit"
  until_true both_gone
  until_true no_groups

  step "leaves nothing after baton stop --all and systemctl stop"
  ticket v a
  begun other
  ask stop --all >stop.log || { cat stop.log; fail "stop --all failed"; }
  until_true both_gone
  until_true no_groups
  systemctl stop "$unit"
  is Result success || fail "stop gave $(property Result)"
  [[ ! $(processes_of guest) ]] || fail "left of guest: $(processes_of guest)"
  [[ ! $(processes_of baton) ]] || fail "left of baton: $(processes_of baton)"
}

serve baton@srv-project.service /srv/project /etc/baton/instances/srv-project.yaml
serve baton.service /srv/several /etc/baton/config.yaml

step "refuses such a role without the drop-in, and says why"
rm /etc/systemd/system/baton.service.d/users.conf
systemctl daemon-reload
: >daemon.log
systemctl start "$unit" && fail "started without capabilities"
is ExecMainStatus 2 || fail "ended with $(property ExecMainStatus)"
grep -q 'lacks CAP_KILL, CAP_SETGID, CAP_SETUID' daemon.log || fail "it does not say why"

echo "all passed"
