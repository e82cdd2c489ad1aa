# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# What the scripts in the systemd box share: the Debian package, installed as on any machine, and questions to systemd. To
# be sourced in the box, after e2e.sh. The script sets `unit`.
at_end() {
  # shellcheck disable=SC2181  # the exit code of the script
  (($? == 0)) || { echo "--- the daemon said:"; tail -n 30 "$log"; }
}
trap at_end EXIT
log=/box/daemon.log
step() { echo "- $*"; }
manager=(systemctl)
property() { "${manager[@]}" show -P "$1" "$unit"; }
is() { [[ $(property "$1") == "$2" ]]; }
above() { (($(property "$1") > $2)); }
run_groups() { find "/sys/fs/cgroup$(property ControlGroup)" -mindepth 1 -type d -name 'run-*'; }
run_groups_there() { [[ -n $(run_groups) ]]; }
no_groups() { [[ -z $(run_groups) ]]; }
# Triggers belong to other packages, such as the index of manual pages.
install_package() { dpkg --force-unsafe-io --no-triggers -i "$1" >dpkg.log 2>&1 || { cat dpkg.log; fail "$1 cannot be installed"; }; }

# The machine itself may have one.
! dpkg -s baton >/dev/null 2>&1 || dpkg --no-triggers --purge baton >/dev/null
install_package baton.deb
# Short intervals, so that the test need not wait for a watchdog of 30 s.
for name in baton.service baton@.service; do
  mkdir -p "/etc/systemd/system/$name.d"
  printf '[Service]\nWatchdogSec=2\nRestartSec=100ms\nStandardError=append:%s\n' "$log" >"/etc/systemd/system/$name.d/test.conf"
done
systemctl daemon-reload
