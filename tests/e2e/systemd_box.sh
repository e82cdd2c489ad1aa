#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Boots a real systemd as PID 1 in fresh namespaces, over an overlay of / that is thrown away, runs a script
# in it and powers off: half a second. Nothing of the host is changed.
# usage: systemd_box.sh SCRIPT [FILE]...     the files lie beside the script, in /box
# Exit codes: 0 the script's own success; 77 cannot be done here, and why, or the script succeeded without a step,
# for which it said `skipped: WHY`; 1 anything else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/e2e.sh
source "$here/e2e.sh"

((EUID == 0)) || skip "the systemd box needs root"
need unshare mount ip
[[ -x /lib/systemd/systemd ]] || skip "there is no systemd (scripts/install-deps brings it)"
unshare --pid --fork --mount --cgroup --ipc --uts --net true 2>/dev/null ||
  skip "no namespaces may be made here"

box=$(mktemp -d /tmp/systemd-box.XXXXXX)
root=$box/layers/merged
cgroup=
tear_down() {
  if [[ -n $cgroup ]]; then
    echo 1 >"$cgroup/cgroup.kill" 2>/dev/null || true
    for ((tries = 0; tries < 100; tries++)); do
      find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null && break
      sleep 0.05
    done
  fi
  umount -R -l "$root" 2>/dev/null || true
  umount -l "$box/layers" 2>/dev/null || true
  rm -rf --one-file-system "$box"
}
trap tear_down EXIT

mkdir "$box/layers"
mount -t tmpfs -o size=512m tmpfs "$box/layers" || skip "cannot mount a tmpfs"
mkdir "$box"/layers/{upper,work,merged}
mount -t overlay overlay "$root" \
  -o "lowerdir=/,upperdir=$box/layers/upper,workdir=$box/layers/work" || skip "cannot mount an overlay"

# The systemd in the box gets a cgroup of its own in the unified hierarchy.
for unified in /sys/fs/cgroup/unified /sys/fs/cgroup; do
  if [[ -e $unified/cgroup.procs && $(stat -f -c %T "$unified") == cgroup2fs ]]; then
    cgroup=$unified/systemd-box.$$
    break
  fi
done
if [[ -z $cgroup ]] || ! mkdir "$cgroup" 2>/dev/null; then
  cgroup=
  skip "no cgroup v2 may be made here"
fi

# --- what stands in the box ---
units=$root/etc/systemd/system
rm -f "$units"/*.wants/*
mkdir -p "$units" "$root/box"
: >"$root/etc/fstab"
: >"$root/etc/machine-id"
# Units that deal with hardware, consoles or the host.
for unit in systemd-{udevd,udev-trigger,timesyncd,logind,resolved,networkd,remount-fs,modules-load,sysctl,random-seed,update-utmp,firstboot,hwdb-update,binfmt}.service \
  getty.target console-getty.service dev-hugepages.mount dev-mqueue.mount sys-kernel-{debug,tracing}.mount \
  sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount; do
  ln -sf /dev/null "$units/$unit"
done
script=$1
shift
cp "$script" "$root/box/script"
((!$#)) || cp "$@" "$root/box/"
cat >"$units/box.target" <<'UNIT'
[Unit]
Requires=basic.target
Wants=box.service
After=basic.target
AllowIsolate=yes
UNIT
cat >"$units/box.service" <<'UNIT'
[Unit]
After=basic.target
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/bash /box/script
WorkingDirectory=/box
StandardOutput=file:/box/log
StandardError=inherit
TimeoutStartSec=180
UNIT
cat >"$box/init" <<INIT
mount --make-rprivate /
mount --rbind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys 2>/dev/null || mount --rbind /sys sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for node in null zero full random urandom tty kmsg; do
  touch "dev/\$node"
  mount --bind "/dev/\$node" "dev/\$node"
done
mkdir -p dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir -p .old
pivot_root . .old
umount -l /.old
mount --make-rshared /
ip link set lo up 2>/dev/null
exec env -i container=box PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=box.target --log-target=console --log-level=notice \
  --show-status=0 </dev/null
INIT

result=0
# shellcheck disable=SC2016  # expanded by the inner shell
timeout -k 5 240 bash -c 'echo $$ >"$1/cgroup.procs"
  exec unshare --pid --fork --kill-child --mount --cgroup --ipc --uts --net bash "$2"' \
  - "$cgroup" "$box/init" >"$box/console" 2>&1 || result=$?
cat "$root/box/log" 2>/dev/null || { cat "$box/console"; fail "the box did not come up"; }
if ((result != 0)) || ! grep -qx 'all passed' "$root/box/log"; then
  tail -n 40 "$box/console"
  fail "the script in the box ended with $result"
fi
without=$(sed -n 's/^skipped: //p' "$root/box/log")
[[ -z $without ]] || skip "of this test only: ${without//$'\n'/; }"
