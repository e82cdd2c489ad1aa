#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs inside the systemd box, as root: agents as transient units.
set -euo pipefail
cd /box
# shellcheck source=tests/e2e/e2e.sh
source ./e2e.sh
exec 2>&1
: >daemon.log
# shellcheck source=tests/e2e/service.sh
source ./service.sh

# of PERSON: makes a root and its configuration
make_root() {
  mkdir -p "$project/tickets"
  cat >"$project/agent.sh" <<'AGENT'
#!/bin/sh
setsid env -i sleep 1001 </dev/null >/dev/null 2>&1 &
echo "$BATON_FLOW $$ $!" >>agents.log
[ "$BATON_FLOW" != rules/t/eats ] || exec python3 -c 'x = [b"x" * (1 << 20) for _ in range(4096)]'
exec sleep 1000
AGENT
  chmod 755 "$project/agent.sh"
  cat >"$project/baton.yaml" <<YAML
version: 1
backend: { type: systemd }
limits: { kill_grace: 1s }
state_dir: $state
agents: { worker: { command: [ ./agent.sh ], memory_max: 300MiB, tasks_max: 50, timeout: 100s } }
rules: [ { name: t, files: "tickets/{flow}.json", stage: /status, done: [ done ], react: [ { to: ready, run: worker } ] } ]
YAML
}
ticket() { echo "{\"status\": \"$2\"}" >"$project/tickets/.x"; mv "$project/tickets/.x" "$project/tickets/$1.json"; }
scopes() { "${manager[@]}" list-units --plain --no-legend 'baton-*.scope' | cut -d' ' -f1; }
scope_of() { scopes | grep -- "-$1-worker-"; }
agent_of() { [[ $(grep -c "^rules/t/$1 " "$project/agents.log") == "${2:-1}" ]] && agent=$(sed -n "s|^rules/t/$1 \([0-9]*\) .*|\1|p" "$project/agents.log" | tail -n 1) && hidden=$(sed -n "s|^rules/t/$1 [0-9]* ||p" "$project/agents.log" | tail -n 1); }
none_of() { ! scope_of "$1" >/dev/null; }
gone() { for each in "$@"; do ! kill -0 "$each" 2>/dev/null || return 1; done; }
serve() { "${as[@]}" baton run --root "$project" --act-on-existing >>daemon.log 2>&1 & daemon=$!; until_true grep -q "serving $project" daemon.log; }
leave() { kill "$daemon"; wait "$daemon" || fail "the daemon ended with $?"; : >daemon.log; }

step "an agent of root is a unit, with its limits"
systemctl daemon-reload
as=(env)
project=/srv/project state=/srv/state
make_root
mkdir -m 700 "$state"
serve
baton doctor --root "$project" | grep -q "agents are transient units below /sys/fs/cgroup/baton.slice" || fail "doctor: $(baton doctor --root "$project")"
ticket a ready
until_true agent_of a
unit=$(scope_of a)
is ActiveState active || fail "$unit is $(property ActiveState)"
is Slice baton.slice || fail "slice: $(property Slice)"
is MemoryMax $((300 << 20)) || fail "memory: $(property MemoryMax)"
is TasksMax 50 || fail "tasks: $(property TasksMax)"
is RuntimeMaxUSec 6min\ 41s || fail "time: $(property RuntimeMaxUSec)"
grep -q "^0::/baton.slice/$unit/run-" "/proc/$agent/cgroup" || fail "the agent is in $(cat "/proc/$agent/cgroup")"

step "it goes on when the daemon ends, and is adopted"
leave
kill -0 "$agent" || fail "the agent ended with the daemon"
serve
grep -q "takes up 1 run" daemon.log || fail "it was not adopted"
kill -9 "$daemon"
wait "$daemon" || true
: >daemon.log
serve
agent_of a || fail "it was started again"

step "everything in the unit ends with the run, also what has left session and environment"
kill -0 "$hidden" || fail "the hidden child is not there"
baton stop rules/t/a --root "$project"
until_true gone "$agent" "$hidden"
until_true none_of a

step "what stands behind a killed shim is ended, too"
ticket b ready
until_true agent_of b
kill -9 "$(sed -n 's/^PPid:\t//p' "/proc/$agent/status")"
until_true gone "$agent" "$hidden"
baton stop rules/t/b --root "$project"
until_true none_of b

step "an agent that eats the memory is ended alone"
if grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
  ticket beside ready
  until_true agent_of beside
  beside=$agent
  ticket eats ready
  until_true grep -q "ended rules/t/eats .*memory" daemon.log
  kill -0 "$beside" || fail "the other agent was ended, too"
  kill -0 "$daemon" || fail "the daemon was ended, too"
  baton stop --all --root "$project"
  baton resume --all --root "$project"
else
  echo "skipped: limits of memory: this kernel has them in cgroups of version 1"
  # shellcheck disable=SC2016  # no expansion is meant
  baton doctor --root "$project" | grep -qF '`memory_max` is not enforced: the cgroup /sys/fs/cgroup has no controller `memory`' ||
    fail "doctor does not say it: $(baton doctor --root "$project")"
fi

step "the name of the unit is a second lock: an old journal starts nothing that still runs"
leave
cp -a "$state" /srv/state.before
serve
ticket c ready
until_true agent_of c
leave
# Everything that the daemon knows of it is lost.
rm -r "$state"
cp -a /srv/state.before "$state"
serve
until_true grep -q "unit_refused" daemon.log
agent_of c || fail "it was started twice"
kill -0 "$agent" || fail "the agent was ended"
baton stop --all --root "$project"
leave
systemctl stop "$(scope_of c)"
until_true gone "$agent" "$hidden"

step "a service of root can use it, if it may write cgroups; else it says so"
mkdir -p /etc/systemd/system/baton.service.d /srv/service/tickets
project=/srv/service state=/var/lib/baton
make_root
sed -i '/^state_dir/d; s|\./agent|/srv/service/agent|' "$project/baton.yaml"
mv "$project/baton.yaml" /etc/baton/config.yaml
echo 'roots: [ /srv/service ]' >>/etc/baton/config.yaml
printf '[Service]\nUser=root\nStandardError=append:/box/daemon.log\n' >/etc/systemd/system/baton.service.d/root.conf
systemctl daemon-reload
: >daemon.log
systemctl start baton
grep -q 'agents are started as processes: .*ProtectControlGroups=no' daemon.log || fail "the log does not say it"
systemctl stop baton
printf '[Service]\nProtectControlGroups=no\n' >/etc/systemd/system/baton.service.d/cgroups.conf
systemctl daemon-reload
: >daemon.log
systemctl start baton
! grep -q 'started as processes' daemon.log || fail "it cannot be used"
ticket s ready
until_true agent_of s
grep -q "^0::/baton.slice/$(scope_of s)/run-" "/proc/$agent/cgroup" || fail "the agent is in $(cat "/proc/$agent/cgroup")"
kill -9 "$(sed -n 's/^PPid:\t//p' "/proc/$agent/status")"
until_true gone "$agent" "$hidden"
baton stop --all --root "$project"
systemctl stop baton

step "a manager that does not answer keeps nothing at work: stop ends what waits for it"
project=/srv/project state=/srv/state
: >daemon.log
# Else these would wait for a unit, too, and nothing but SIGKILL ends what waits.
for each in a b c; do ticket "$each" 'done'; done
serve
baton resume --all --root "$project"
cp /usr/bin/systemd-run systemd-run.real
printf '#!/bin/sh\nexec sleep 3000\n' >systemd-run.fake
chmod 755 systemd-run.fake
mount --bind systemd-run.fake /usr/bin/systemd-run
ticket h ready
until_true grep -q "started rules/t/h" daemon.log
baton stop rules/t/h --root "$project"
until_true grep -q "ended rules/t/h .*did not run" daemon.log
umount /usr/bin/systemd-run
! grep -q "^rules/t/h " "$project/agents.log" || fail "its agent was started"
baton stop --all --root "$project"
leave

step "an agent of a person is a unit of that person's manager"
useradd --create-home --uid 4711 person
project=/home/person/project state=/home/person/state
make_root
mkdir -m 700 "$state"
chown -R person: /home/person
install -d -o person -m 700 /run/user/4711
systemd-run --quiet --unit=person --uid=person --property=Delegate=yes --setenv=XDG_RUNTIME_DIR=/run/user/4711 \
  --setenv=HOME=/home/person /lib/systemd/systemd --user
as=(setpriv --reuid person --regid person --clear-groups env HOME=/home/person)
manager=("${as[@]}" XDG_RUNTIME_DIR=/run/user/4711 systemctl --user)
until_true "${manager[@]}" show -P Version
serve
ticket a ready
until_true agent_of a
unit=$(scope_of a)
is ActiveState active || fail "$unit is $(property ActiveState)"
is TasksMax 50 || fail "tasks: $(property TasksMax)"
grep -q "/baton.slice/$unit/run-" "/proc/$agent/cgroup" || fail "the agent is in $(cat "/proc/$agent/cgroup")"
leave
serve
grep -q "takes up 1 run" daemon.log || fail "it was not adopted"
"${as[@]}" baton stop --all --root "$project"
until_true gone "$agent" "$hidden"
leave

step "without a manager, agents are processes, and log and doctor say so"
systemctl kill --signal=KILL person
systemctl stop person
rm -rf /run/user/4711
serve
grep -q 'cannot be used, so agents are started as processes: .*loginctl enable-linger' daemon.log || fail "the log does not say it"
"${as[@]}" baton doctor --root "$project" | grep -q 'cannot be used now, so a daemon that starts now starts agents as processes' || fail "doctor does not say it"
"${as[@]}" baton resume --all --root "$project"
ticket d ready
until_true agent_of d
! grep -q baton.slice "/proc/$agent/cgroup" || fail "it is in a unit"
"${as[@]}" baton stop --all --root "$project"
until_true gone "$agent"
leave

echo "all passed"
