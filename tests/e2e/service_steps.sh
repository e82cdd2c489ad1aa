#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs inside the systemd box, as root: the services of the installed package, each with an agent that goes on through all
# that may happen to its daemon.
set -euo pipefail
cd /box
# shellcheck source=tests/e2e/e2e.sh
source ./e2e.sh
exec 2>&1
# shellcheck source=tests/e2e/service.sh
source ./service.sh

# --- what is true of each unit ---

install -d /opt/agents
cat >/opt/agents/worker <<'AGENT'
#!/bin/sh
setsid env -i sleep 1001 </dev/null >/dev/null 2>&1 &
echo "$HOME" >home.log
echo "$BATON_RUN_ID $$ $!" >>agents.log
exec sleep 1000
AGENT
# Asks for more memory than the unit will have.
cat >/opt/agents/hungry <<'AGENT'
#!/bin/sh
head -c 400M /dev/zero | tail >/dev/null
AGENT
cat >/opt/agents/reader <<'AGENT'
#!/bin/sh
for moment in begin stopped started; do
  while [ $moment != begin ] && [ ! -e $moment ]; do sleep 0.1; done
  echo "$moment $KEY $(cat "$CREDENTIALS_DIRECTORY/key" 2>/dev/null)" >>keys.log
done
AGENT
# What agents may want to do, a line for each that works. The unit leaves them the first three.
cat >/opt/agents/probe <<'AGENT'
#!/bin/bash
tried() { name=$1; shift; "$@" >/dev/null 2>&1 && echo "$name" >>probe.new; }
: >probe.new
tried sandbox unshare -Urmpnf --mount-proc true
tried jit python3 -c 'import mmap; mmap.mmap(-1, 4096, prot=7)'
tried node node -e 'require("os").networkInterfaces(); new (require("worker_threads").Worker)("1", { eval: true })'
tried more_namespaces unshare -Uriu true
tried affinity taskset -c 0 true
tried home ls /home
mv probe.new probe.log
AGENT
chmod 755 /opt/agents/*

# Makes the folder of a project. `owner` is the user of the daemon, `home` the home of that user.
make_project() {  # PROJECT
  project=$1
  mkdir -p "$project/tickets"
  chown -R "$owner:" "$project"
}
# Writes the configuration of the unit, with more reactions where some are given.
configure() {  # [REACTION]...
  mkdir -p "${configuration%/*}"
  cat >"$configuration" <<YAML
version: 1
$([[ $unit == baton@* ]] || echo "roots: [$project]")
agents:
  worker: { command: [/opt/agents/worker] }
  hungry: { command: [/opt/agents/hungry] }
  probe: { command: [/opt/agents/probe] }
  reader: { command: [/opt/agents/reader], env: { allow: [KEY, CREDENTIALS_DIRECTORY] } }
rules:
  - name: t
    files: "tickets/{flow}.json"
    stage: /status
    done: [done]
    react: [ { to: ready, run: worker }$(printf ', %s' "$@") ]
YAML
}
as_owner() { runuser -u "$owner" -- env HOME="$home" "$@"; }
ask() { (cd "$project" && as_owner baton "$@"); }
ticket() {  # NAME STATUS
  as_owner sh -c "echo '{\"status\": \"$2\"}' >$project/tickets/.$1; mv $project/tickets/.$1 $project/tickets/$1.json"
}
adopted() { [[ $(property StatusText) == 1\ running* ]]; }
agent_lives() { kill -0 "$agent" && [[ $(wc -l <"$project/agents.log") == 1 ]]; }
serves_with_agent() {
  until_true is ActiveState active
  until_true adopted
  agent_lives || fail "the agent did not survive"
}
# The memory of the unit is limited from now on. With cgroup v1 systemd cannot do that, so the processes of the unit get a
# group of memory here.
limit_memory() {
  if grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
    "${manager[@]}" set-property --runtime "$unit" MemoryMax=128M MemorySwapMax=0
    memory=/sys/fs/cgroup$(property ControlGroup)
    memory_events=$memory/memory.events
    return
  fi
  mkdir -p /box/memory
  mountpoint -q /box/memory || mount -t cgroup -o memory cgroup /box/memory || return
  memory=/box/memory/systemd-box.$$
  memory_events=$memory/memory.oom_control
  mkdir "$memory"
  echo 128M >"$memory/memory.limit_in_bytes"
  local pid
  while read -r pid; do
    echo "$pid" >"$memory/cgroup.procs"
  done < <(find "/sys/fs/cgroup$(property ControlGroup)" -name cgroup.procs -exec cat {} +)
}
unlimit_memory() {
  if [[ $memory != /box/* ]]; then
    "${manager[@]}" set-property --runtime "$unit" MemoryMax=infinity MemorySwapMax=infinity
    return
  fi
  local pid
  while read -r pid; do
    echo "$pid" >/box/memory/cgroup.procs 2>/dev/null || true
  done <"$memory/cgroup.procs"
  until_true rmdir "$memory"
}
ran_out() { grep -q '^oom_kill [1-9]' "$memory_events"; }
hungry_ended() { ask agents --json | grep -F '"role":"hungry"' | grep -qF '"outcome":"failed"'; }

# Starts the unit and one agent, and takes both through everything. Sets `agent` to the process of the agent and `hidden` to
# a child of it that has left its session and environment.
goes_on_through_everything() {
  local name=$1 daemon before
  step "$name: starts and says so"
  rm -f "$project/agents.log"
  configure
  "${manager[@]}" start "$unit" || fail "it does not start"
  is ActiveState active || fail "not active"
  [[ -n $(property StatusText) ]] || fail "no STATUS"
  [[ $(readlink "/proc/$(property MainPID)/exe") == /usr/bin/baton ]] || fail "it is $(readlink "/proc/$(property MainPID)/exe")"

  step "$name: runs an agent, and doctor finds no problem"
  ticket x ready
  until_true grep -q . "$project/agents.log"
  read -r _ agent hidden <"$project/agents.log"
  serves_with_agent
  [[ $(stat -c %U "/proc/$agent") == "$owner" ]] || fail "the agent is one of $(stat -c %U "/proc/$agent")"
  grep -qx "$agent_home" "$project/home.log" || fail "its home is $(cat "$project/home.log")"
  ask doctor >doctor.log || { cat doctor.log; fail "doctor finds a problem"; }
  # A person's agents may always do what that person may, and doctor says so.
  [[ $owner == person ]] || ! grep '^warning' doctor.log || fail "doctor warns"

  step "$name: is started again after kill -9"
  before=$(property NRestarts)
  "${manager[@]}" kill -s KILL --kill-whom=main "$unit"
  until_true above NRestarts "$before"
  serves_with_agent

  step "$name: is ended by the watchdog when it hangs, and started again"
  before=$(property NRestarts)
  "${manager[@]}" kill -s STOP --kill-whom=main "$unit"
  until_true above NRestarts "$before"
  serves_with_agent

  step "$name: keeps its configuration over a reload with a wrong one"
  daemon=$(property MainPID)
  cp "$configuration" good.yaml
  echo 'versoin: 1' >"$configuration"
  ! "${manager[@]}" reload "$unit" 2>/dev/null || fail "a wrong configuration was taken"
  serves_with_agent
  grep -q 'the configuration in force stays' "$log" || fail "it does not say so"

  step "$name: takes a good one"
  configure "{ to: greedy, run: hungry }"
  "${manager[@]}" reload "$unit" || fail "a good configuration was refused"
  serves_with_agent
  is MainPID "$daemon" || fail "a reload has ended the daemon"

  step "$name: goes on when an agent uses up the memory"
  is OOMPolicy continue || fail "OOMPolicy is $(property OOMPolicy)"
  if limit_memory; then
    before=$(property NRestarts)
    ticket greedy greedy
    until_true ran_out
    until_true hungry_ended
    ticket greedy "done"
    serves_with_agent
    is MainPID "$daemon" || fail "the daemon was ended for memory"
    is NRestarts "$before" || fail "the daemon was started again"
    unlimit_memory
  else
    echo "skipped: the memory of a unit cannot be limited here"
  fi

  step "$name: adopts the agent after a restart"
  "${manager[@]}" restart "$unit"
  serves_with_agent

  step "$name: adopts the agent after an upgrade of the package"
  install_package older.deb
  upgrade baton.deb
  serves_with_agent
  ! is MainPID "$daemon" || fail "the old daemon still serves"
  [[ $(readlink "/proc/$(property MainPID)/exe") == /usr/bin/baton ]] || fail "it is $(readlink "/proc/$(property MainPID)/exe")"

  step "$name: leaves the agent running when it is stopped, and finds it again"
  "${manager[@]}" stop "$unit"
  is ActiveState inactive || fail "stop left it $(property ActiveState)"
  is Result success || fail "stop gave $(property Result)"
  agent_lives || fail "stop ended the agent"
  "${manager[@]}" start "$unit"
  serves_with_agent
}
# With a file of variables and a credential in a drop-in: what an agent reads at its begin, when the unit was stopped, and
# when it was started again. This is the table of the page.
reads_keys() {  # DROP-IN MOMENT...
  local drop_in=$1 moment pid
  shift
  step "$unit of $owner: an agent reads a key at these moments: $*"
  (umask 077; echo KEY=from-a-file >/box/environment; echo from-a-credential >/box/credential)
  chown "$owner" /box/environment /box/credential
  mkdir -p "$drop_in"
  printf '[Service]\nEnvironmentFile=/box/environment\nLoadCredential=key:/box/credential\n' >"$drop_in/keys.conf"
  configure "{ to: reading, run: reader }"
  "${manager[@]}" daemon-reload
  "${manager[@]}" restart "$unit"
  serves_with_agent
  ticket reader reading
  until_true grep -q ^begin "$project/keys.log"
  "${manager[@]}" stop "$unit"
  as_owner touch "$project/stopped"
  until_true grep -q ^stopped "$project/keys.log"
  "${manager[@]}" start "$unit"
  as_owner touch "$project/started"
  until_true grep -q ^started "$project/keys.log"
  ticket reader "done"
  rm -r "$drop_in/keys.conf"
  "${manager[@]}" daemon-reload
  "${manager[@]}" restart "$unit"
  for moment in "$@"; do
    echo "$moment from-a-file from-a-credential"
  done | diff - <(grep -F from-a-credential "$project/keys.log") || fail "it read $(cat "$project/keys.log")"
}
# The package restarts services of the system. Those of people it cannot find.
upgrade() {
  daemon=$(property MainPID)
  install_package "$1"
  if [[ ${manager[0]} != systemctl ]]; then
    "${manager[@]}" daemon-reload
    "${manager[@]}" restart "$unit"
  fi
}

# --- one project on a server ---
owner=baton
home=/var/lib/baton-home
agent_home=$home
instances=/etc/baton/instances
configuration=$instances/srv-project.yaml
unit="baton@srv-project.service"
make_project /srv/project
goes_on_through_everything template
[[ $(stat -c '%a %U' /var/lib/baton) == "750 baton" ]] || fail "state folder: $(stat -c '%a %U' /var/lib/baton)"
[[ $(stat -c '%a %U' /var/lib/baton-home) == "750 baton" ]] || fail "home: $(stat -c '%a %U' /var/lib/baton-home)"

step "leaves no core dump, and listens to nobody but the daemon"
grep -Eq '^Max core file size +0 +0 ' "/proc/$(property MainPID)/limits" || fail "the daemon may dump its core"
is NotifyAccess main || fail "an agent could speak for the daemon"

step "keeps its agent in the sandbox"
grep -q '^NoNewPrivs:.*1' "/proc/$agent/status" || fail "the agent could gain privileges"
for each in CapInh CapPrm CapEff CapBnd CapAmb; do
  grep -qx "$each:	0000000000000000" "/proc/$agent/status" || fail "the agent has $(grep "$each" "/proc/$agent/status")"
done
is ProtectProc default || fail "ProtectProc is $(property ProtectProc)"

step "keeps the configuration from the agent"
for place in "$instances" "$configuration"; do
  ! nsenter --mount --target "$agent" setpriv --reuid baton --regid baton --clear-groups test -w "$place" ||
    fail "the agent can write $place"
done

step "is found by commands in the project and below it"
for folder in "$project" "$project/tickets"; do
  runuser -u baton -- sh -c "cd $folder; baton doctor" | grep -qF "fine    configuration: $configuration" ||
    fail "doctor in $folder: $(runuser -u baton -- sh -c "cd $folder; baton doctor" | head -3)"
done

# Runs the probe, and says what works of what works for the user outside of the unit.
probe() {
  local each
  rm -f "$project/probe.log"
  ticket probe "$1"
  until_true test -e "$project/probe.log"
  while read -r each; do
    ! grep -qx "$each" outside.log || echo -n "$each "
  done <"$project/probe.log"
}
(cd "$project" && as_owner /opt/agents/probe && mv probe.log /box/outside.log)

step "leaves agents sandboxes of their own, just-in-time compilers and node"
configure "{ to: probe, run: probe }" "{ to: again, run: probe }"
systemctl reload "$unit"
for each in sandbox jit node; do
  grep -qx "$each" outside.log || echo "skipped: user baton has no $each here"
done
[[ $(probe probe) == "$(grep -xE 'sandbox|jit|node' outside.log | tr '\n' ' ')" ]] || fail "it leaves $(cat "$project/probe.log")"

step "gives agents back what the page says"
cat >"/etc/systemd/system/baton@.service.d/wider.conf" <<'UNIT'
[Service]
ProtectHome=read-only
RestrictNamespaces=no
SystemCallFilter=@resources
UNIT
systemctl daemon-reload
systemctl restart "$unit"
serves_with_agent
[[ $(probe again) == "$(tr '\n' ' ' <outside.log)" ]] || fail "it leaves $(cat "$project/probe.log")"
rm "/etc/systemd/system/baton@.service.d/wider.conf"
systemctl daemon-reload
systemctl restart "$unit"
ticket probe "done"
serves_with_agent

reads_keys /etc/systemd/system/baton@.service.d begin stopped started

step "gives the agent a cgroup of its own"
grep -q "^0::$(property ControlGroup)/run-" "/proc/$agent/cgroup" || fail "it is in $(cat "/proc/$agent/cgroup")"
[[ $(run_groups | wc -l) == 1 ]] || fail "cgroups: $(run_groups)"

step "ends what stands behind a killed shim, also what has left session and environment"
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

cp "$configuration" project.yaml
mkdir -p /opt/other
chown daemon /opt/other
# What to spoil, what the daemon says of it. It has to say so once, and to be left alone.
while IFS='|' read -r spoil says; do
  step "is not started again: $spoil"
  : >"$log"
  bash -ec "$spoil" - "$configuration"
  ! systemctl start "$unit" 2>/dev/null || fail "it serves"
  is ExecMainStatus 2 || fail "ended with $(property ExecMainStatus)"
  is Result exit-code || fail "Result is $(property Result)"
  is SubState failed || fail "it is $(property SubState)"
  is NRestarts 0 || fail "was started again"
  [[ $(grep -c "$says" "$log") == 1 ]] || fail "it does not say so once"
  rm -rf "$configuration"
  install -m 644 project.yaml "$configuration"
  systemctl start "$unit" || fail "it does not serve when that is mended"
  systemctl stop "$unit"
done <<'TABLE'
rm "$1"|: there is no such configuration$
chmod 600 "$1"|: cannot be opened: Permission denied$
chmod 666 "$1"|not to be trusted: can be written by everybody
chown daemon "$1"|not to be trusted: .*belongs to user
echo 'versoin: 1' >"$1"|the configuration cannot be used$
echo 'state_dir: /opt/other' >>"$1"|/opt/other: belongs to user 1 (daemon); name a folder of your own
echo 'state_dir: /opt/readonly' >>"$1"|Read-only file system$
TABLE

step "names the drop-in that a project in a home needs"
install -d -o baton /home/shop
cp project.yaml "$instances/home-shop.yaml"
: >"$log"
unit=baton@home-shop.service
! systemctl start "$unit" 2>/dev/null || fail "it serves"
is ExecMainStatus 2 || fail "ended with $(property ExecMainStatus)"
is NRestarts 0 || fail "was started again"
grep -q '^baton: /home/shop: .* ProtectHome=read-only' "$log" || fail "it does not say so"
mkdir "/etc/systemd/system/$unit.d"
printf '[Service]\nProtectHome=read-only\n' >"/etc/systemd/system/$unit.d/home.conf"
systemctl daemon-reload
systemctl start "$unit" || fail "it does not serve with the drop-in"
systemctl stop "$unit"

step "waits for the volume of its project"
late="/srv/late project"
cp -a "$project" /srv/volume
rm /srv/volume/agents.log /srv/volume/tickets/*
mkdir "$late"
unit="baton@$(systemd-escape --path "$late").service"
cp project.yaml "$instances/$(systemd-escape --path "$late").yaml"
systemctl start "$unit"
mount --bind /srv/volume "$late"
# With a group of its own, too, which RestrictSUIDSGID= lets nobody pass on.
groupadd --system readers
chgrp readers /var/lib/baton/late_project-*
systemctl restart "$unit"
systemctl reload "$unit"
runuser -u baton -- sh -c "cd '$late'; echo '{\"status\": \"ready\"}' >tickets/.x; mv tickets/.x tickets/x.json"
until_true grep -q . "$late/agents.log"
until_true runuser -u baton -- sh -c "cd '$late'; baton status | grep running"
[[ -n $(run_groups) ]] || fail "the agent has no cgroup of its own"
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
grep -q 'the journal is damaged: .* move the state folder away' "$log" || fail "it does not say what to do"
rm -r "${state[0]}"
until_true is ActiveState active
until_true run_groups_there
runuser -u baton -- sh -c "cd '$late'; baton stop --all"
until_true no_groups
systemctl stop "$unit"
umount "$late"
unit="baton@$(systemd-escape --path "$project").service"

step "finds a full disk at its very first start, and serves when there is room"
mount -t tmpfs -o size=256k,mode=750,uid="$(id -u baton)",gid="$(id -g baton)" tmpfs /var/lib/baton
dd if=/dev/zero of=/var/lib/baton/filler bs=4k 2>/dev/null && fail "the disk is not full"
: >"$log"
systemctl start --no-block "$unit"
# More often than systemd's own limit allows.
until_true above NRestarts 12
until_true is ExecMainStatus 3
grep -q 'No space left on device; free some room' "$log" || fail "it does not say what to do"
mount -o remount,size=64m /var/lib/baton
until_true is ActiveState active
until_true run_groups_there
ask stop --all
until_true no_groups
systemctl stop "$unit"
umount /var/lib/baton

# --- several projects on a server ---
unit=baton.service
configuration=/etc/baton/config.yaml
step "a service with the configuration of the package acts on nothing"
! systemctl start "$unit" 2>/dev/null || fail "it serves $(property StatusText)"
is ExecMainStatus 2 || fail "ended with $(property ExecMainStatus)"
is NRestarts 0 || fail "was started again"
grep -q "^baton: $configuration: .*roots:" "$log" || fail "it does not say what is missing"
make_project /srv/several
goes_on_through_everything system
runuser -u baton -- sh -c "cd $project; baton stop --all"
until_true nothing_behind
systemctl stop "$unit"

# --- the unit of one person, whose manager is a systemd of that person's own ---
useradd --create-home --uid 4711 person
owner=person
home=/home/person
agent_home=$home
log=$home/daemon.log
configuration=$home/.config/baton/config.yaml
mkdir -p /etc/systemd/user/baton.service.d
printf '[Service]\nWatchdogSec=2\nRestartSec=100ms\nStandardError=append:%%h/daemon.log\n' >/etc/systemd/user/baton.service.d/test.conf
install -d -o person -m 700 /run/user/4711 "$home/.config" "$home/.config/baton" "$home/project"
systemd-run --quiet --unit=person --uid=person --property=Delegate=yes --setenv=XDG_RUNTIME_DIR=/run/user/4711 \
  --setenv=HOME="$home" /lib/systemd/systemd --user
manager=(runuser -u person -- env XDG_RUNTIME_DIR=/run/user/4711 systemctl --user)
until_true "${manager[@]}" show -P Version
make_project "$home/project"
goes_on_through_everything user
reads_keys /etc/systemd/user/baton.service.d begin started
[[ -d $home/.local/state/baton ]] || fail "its state lies somewhere else"
ask stop --all
until_true nothing_behind
"${manager[@]}" stop "$unit"
[[ $(wc -l <"$project/agents.log") == 1 ]] || fail "the agent was started again"

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
configuration=$instances/srv-project.yaml
log=/box/daemon.log
for block in page-system-*.sh; do
  rm -f "$configuration"
  cp project.yaml /srv/project/baton.yaml
  step "$(sed -n '1s/^# //p' "$block"), as root"
  # shellcheck disable=SC2016  # expanded by the inner shell
  PATH=/box/bin:$PATH bash -ec 'source "$1"' - "/box/$block" || fail "the block ended with $?"
  is ActiveState active || fail "the unit is not active"
  systemctl disable --now "$unit"
done

echo "all passed"
