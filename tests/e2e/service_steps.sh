#!/bin/bash
# Runs inside the systemd box, as root: the units with the real daemon, user and state folder.
set -euo pipefail
cd /box
# shellcheck source=tests/e2e/e2e.sh
source ./e2e.sh
exec 2>&1
# shellcheck source=tests/e2e/service.sh
source ./service.sh

project=/srv/project
mkdir -p "$project/tickets"
cat >"$project/agent.sh" <<'AGENT'
#!/bin/sh
setsid env -i sleep 1001 </dev/null >/dev/null 2>&1 &
unshare -Urm true >own_sandbox.log 2>&1 && echo fine >own_sandbox.log
echo "$BATON_RUN_ID $$ $!" >>agents.log
echo "$HOME" >home.log
exec sleep 1000
AGENT
chmod 755 "$project/agent.sh"
instances=/etc/baton/instances
configuration=$instances/$(systemd-escape --path "$project").yaml
mkdir -p "$instances"
cat >"$configuration" <<YAML
version: 1
agents: { worker: { command: [$project/agent.sh] } }
rules: [ { name: t, files: "tickets/{flow}.json", stage: /status, react: [ { to: ready, run: worker } ] } ]
YAML
chown -R baton: "$project"
unit="baton@$(systemd-escape --path "$project").service"
systemctl daemon-reload

step "starts and says so"
systemctl start "$unit"
is ActiveState active || fail "not active"
[[ -n $(property StatusText) ]] || fail "no STATUS"
echo "  status: $(property StatusText)"
[[ $(stat -c '%a %U' /var/lib/baton) == "750 baton" ]] || fail "state folder: $(stat -c '%a %U' /var/lib/baton)"

step "leaves no core dump, and listens to nobody but the daemon"
grep -Eq '^Max core file size +0 +0 ' "/proc/$(property MainPID)/limits" || fail "the daemon may dump its core"
is NotifyAccess main || fail "an agent could speak for the daemon"

step "starts an agent in the sandbox"
runuser -u baton -- sh -c "echo '{\"status\": \"ready\"}' >$project/tickets/.x; mv $project/tickets/.x $project/tickets/x.json"
until_true grep -q . "$project/agents.log"
agent=$(cut -d' ' -f2 "$project/agents.log")
agent_lives() { kill -0 "$agent" && [[ $(wc -l <"$project/agents.log") == 1 ]]; }
running() { baton status --root "$project" --state-dir /var/lib/baton | grep -q running; }
adopted() { [[ $(property StatusText) == 1\ running* ]]; }
until_true adopted
grep -q '^NoNewPrivs:.*1' "/proc/$agent/status" || fail "the agent could gain privileges"
for each in CapInh CapPrm CapEff CapBnd CapAmb; do
  grep -qx "$each:	0000000000000000" "/proc/$agent/status" || fail "the agent has $(grep "$each" "/proc/$agent/status")"
done
is ProtectProc default || fail "ProtectProc is $(property ProtectProc)"

step "keeps the agent's home apart from the state, and the configuration from the agent"
grep -qx /var/lib/baton-home "$project/home.log" || fail "its home is $(cat "$project/home.log")"
[[ $(stat -c '%a %U' /var/lib/baton-home) == "750 baton" ]] || fail "home: $(stat -c '%a %U' /var/lib/baton-home)"
for place in "$instances" "$configuration"; do
  ! nsenter --mount --target "$agent" setpriv --reuid baton --regid baton --clear-groups test -w "$place" ||
    fail "the agent can write $place"
done

step "is found by commands in the project and below it"
for folder in "$project" "$project/tickets"; do
  runuser -u baton -- sh -c "cd $folder; baton doctor" | grep -qF "fine    configuration: $configuration" ||
    fail "doctor in $folder: $(runuser -u baton -- sh -c "cd $folder; baton doctor" | head -3)"
done

step "leaves the agent sandboxes of its own"
if runuser -u baton -- unshare -Urm true; then
  grep -qx fine "$project/own_sandbox.log" || fail "the agent has none: $(cat "$project/own_sandbox.log")"
else
  echo "skipped: user baton may have no user namespaces here"
fi

step "gives the agent a cgroup of its own"
grep -q "^0::$(property ControlGroup)/run-" "/proc/$agent/cgroup" || fail "it is in $(cat "/proc/$agent/cgroup")"
[[ $(run_groups | wc -l) == 1 ]] || fail "cgroups: $(run_groups)"

step "is started again after kill -9, and adopts the agent"
systemctl kill -s KILL --kill-whom=main "$unit"
until_true above NRestarts 0
until_true is ActiveState active
until_true adopted
agent_lives || fail "the agent did not survive"

step "is ended by the watchdog when it hangs"
before=$(property NRestarts)
systemctl kill -s STOP --kill-whom=main "$unit"
until_true above NRestarts "$before"
until_true is ActiveState active
until_true adopted
agent_lives || fail "the agent did not survive the watchdog"

step "keeps the agent over a restart"
systemctl restart "$unit"
until_true is ActiveState active
until_true adopted
agent_lives || fail "the agent did not survive the restart"

step "keeps the agent when stopped, and finds it again"
systemctl stop "$unit"
is ActiveState inactive || fail "stop left it $(property ActiveState)"
is Result success || fail "stop gave $(property Result)"
agent_lives || fail "stop ended the agent"
systemctl start "$unit"
until_true adopted

step "ends what stands behind a killed shim, also what has left session and environment"
hidden=$(cut -d' ' -f3 "$project/agents.log")
kill -0 "$hidden" || fail "the agent's hidden child is not there"
kill -9 "$(sed -n 's/^PPid:\t//p' "/proc/$agent/status")"
nothing_behind() { ! kill -0 "$agent" 2>/dev/null && ! kill -0 "$hidden" 2>/dev/null; }
until_true nothing_behind
second() { [[ $(wc -l <"$project/agents.log") == 2 ]]; }
until_true second
read -r _ agent hidden < <(tail -n 1 "$project/agents.log")

step "ends every agent on baton stop --all"
runuser -u baton -- baton stop --all --root "$project" --state-dir /var/lib/baton
agent_ended() { ! kill -0 "$agent"; }
until_true agent_ended
until_true nothing_behind
until_true no_groups
systemctl stop "$unit"

step "is not started again for a wrong configuration"
cp "$configuration" good.yaml
echo 'versoin: 1' >"$configuration"
systemctl start "$unit" && fail "started with a wrong configuration"
is ExecMainStatus 2 || fail "ended with $(property ExecMainStatus)"
is NRestarts 0 || fail "was started again"
cp good.yaml "$configuration"

step "waits for its configuration, and for the volume of its project"
late="/srv/late project"
cp -a "$project" /srv/volume
rm /srv/volume/agents.log /srv/volume/tickets/*
mkdir "$late"
unit="baton@$(systemd-escape --path "$late").service"
systemctl start --no-block "$unit"
until_true above NRestarts 2
until_true is ExecMainStatus 3
late_configuration=$instances/$(systemd-escape --path "$late").yaml
grep -qF "$late_configuration: " daemon.log || fail "it does not say what it waits for"
cp good.yaml "$late_configuration"
until_true is ActiveState active
mount --bind /srv/volume "$late"
# With a group of its own, too, which RestrictSUIDSGID= lets nobody pass on.
groupadd --system readers
chgrp readers /var/lib/baton/late_project-*
systemctl restart "$unit"
systemctl reload "$unit"
runuser -u baton -- sh -c "cd '$late'; echo '{\"status\": \"ready\"}' >tickets/.x; mv tickets/.x tickets/x.json"
until_true grep -q . "$late/agents.log"
until_true runuser -u baton -- sh -c "cd '$late'; baton status | grep running"
runuser -u baton -- sh -c "cd '$late'; baton stop --all"

step "stays down after baton drain"
runuser -u baton -- sh -c "cd '$late'; baton drain"
until_true is ActiveState inactive
is Result success || fail "drain gave $(property Result)"

step "says what to do about a damaged journal, and serves when it is put right"
state=(/var/lib/baton/late_project-*)
echo damaged >"${state[0]}/journal.db"
systemctl start --no-block "$unit"
until_true above NRestarts 1
until_true is ExecMainStatus 3
grep -q 'the journal is damaged: .* move the state folder away' daemon.log || fail "it does not say what to do"
rm -r "${state[0]}"
until_true is ActiveState active
systemctl stop "$unit"
umount "$late"
unit="baton@$(systemd-escape --path "$project").service"

step "finds a full disk at its very first start, and serves when there is room"
systemctl reset-failed "$unit"
mount -t tmpfs -o size=256k,mode=750,uid="$(id -u baton)",gid="$(id -g baton)" tmpfs /var/lib/baton
dd if=/dev/zero of=/var/lib/baton/filler bs=4k 2>/dev/null && fail "the disk is not full"
: >daemon.log
systemctl start --no-block "$unit"
# More often than systemd's own limit allows.
until_true above NRestarts 12
until_true is ExecMainStatus 3
grep -q 'No space left on device; free some room' daemon.log || fail "it does not say what to do"
mount -o remount,size=64m /var/lib/baton
until_true is ActiveState active
systemctl stop "$unit"
umount /var/lib/baton

step "serves several roots from /etc/baton/config.yaml"
unit=baton.service
mkdir -p /etc/baton
printf 'version: 1\nroots: [%s]\nagents: { worker: { command: [/bin/true] } }\nrules: [ { name: t, files: "tickets/{flow}.json", stage: /status, react: [ { to: ready, run: worker } ] } ]\n' "$project" >/etc/baton/config.yaml
systemctl start "$unit"
is ActiveState active || fail "not active"
systemctl reload "$unit"
systemctl stop "$unit"

# --- the unit of one person, whose manager is a systemd of that person's own ---
step "serves a person"
useradd --create-home --uid 4711 person
home=/home/person
project=$home/project
install -D -m 644 user-baton.service /etc/systemd/user/baton.service
mkdir -p /etc/systemd/user/baton.service.d
printf '[Service]\nRestartSec=100ms\n' >/etc/systemd/user/baton.service.d/test.conf
install -d -o person -m 700 /run/user/4711 "$home/.config" "$home/.config/baton" "$project" "$project/tickets"
cat >"$project/agent.sh" <<'AGENT'
#!/bin/sh
echo "$HOME $$" >>agents.log
exec sleep 1000
AGENT
chmod 755 "$project/agent.sh"
cat >"$home/.config/baton/config.yaml" <<YAML
version: 1
roots: [$project]
agents: { worker: { command: [$project/agent.sh] } }
rules: [ { name: t, files: "tickets/{flow}.json", stage: /status, react: [ { to: ready, run: worker } ] } ]
YAML
chown -R person: "$home"
systemd-run --quiet --unit=person --uid=person --property=Delegate=yes --setenv=XDG_RUNTIME_DIR=/run/user/4711 \
  --setenv=HOME="$home" /lib/systemd/systemd --user
manager=(runuser -u person -- env XDG_RUNTIME_DIR=/run/user/4711 systemctl --user)
unit=baton.service
until_true "${manager[@]}" show -P Version
"${manager[@]}" start "$unit" || { journalctl -n 20 2>/dev/null || true; fail "the user unit does not start"; }
is ActiveState active || fail "not active"
[[ -d $home/.local/state/baton ]] || fail "its state lies somewhere else"
runuser -u person -- sh -c "echo '{\"status\": \"ready\"}' >$project/tickets/.x; mv $project/tickets/.x $project/tickets/x.json"
until_true grep -q . "$project/agents.log"
read -r agent_home agent <"$project/agents.log"
[[ $agent_home == "$home" ]] || fail "the agent has no HOME of that person: $agent_home"
[[ $(stat -c %U "/proc/$agent") == person ]] || fail "the agent is not of that person"
until_true adopted

step "adopts the person's agent after kill -9, restart and stop"
"${manager[@]}" kill -s KILL --kill-whom=main "$unit"
until_true above NRestarts 0
until_true is ActiveState active
until_true adopted
"${manager[@]}" restart "$unit"
until_true adopted
"${manager[@]}" reload "$unit"
"${manager[@]}" stop "$unit"
is Result success || fail "stop gave $(property Result)"
agent_lives || fail "the person's agent did not survive"
"${manager[@]}" start "$unit"
until_true adopted
runuser -u person -- env HOME="$home" baton stop --all --root "$project"
until_true agent_ended
"${manager[@]}" stop "$unit"

# --- what the pages say, block by block ---
# No journal and no logins are kept in the box: these two say what they were asked.
mkdir -p /box/bin
for name in loginctl journalctl; do printf '#!/bin/sh\necho "not in the box: %s $*"\n' "$name" >"/box/bin/$name"; done
printf '#!/bin/sh\ncat >/dev/null\necho "{\\"type\\": \\"result\\", \\"is_error\\": false}"\n' >/box/bin/claude
chmod 755 /box/bin/*
rm -r "$home/.config/baton"
mkdir -p /home/me/shop/tickets
chown -R person: /home/me
for block in page-person-*.sh; do
  step "$(sed -n '1s/^# //p' "$block"), as a person"
  # shellcheck disable=SC2016  # expanded by the inner shell
  runuser -u person -- env HOME="$home" XDG_RUNTIME_DIR=/run/user/4711 PATH=/box/bin:/usr/local/bin:/usr/bin:/bin \
    bash -ec 'cd; source "$1"' - "/box/$block" || fail "the block ended with $?"
  is ActiveState active || fail "the unit is not active"
  "${manager[@]}" disable --now "$unit"
done
manager=(systemctl)
unit="baton@srv-project.service"
for block in page-system-*.sh; do
  rm -f "$configuration"
  cp good.yaml /srv/project/baton.yaml
  step "$(sed -n '1s/^# //p' "$block"), as root"
  # shellcheck disable=SC2016  # expanded by the inner shell
  PATH=/box/bin:$PATH bash -ec 'source "$1"' - "/box/$block" || fail "the block ended with $?"
  is ActiveState active || fail "the unit is not active"
  systemctl disable --now "$unit"
done

echo "all passed"
