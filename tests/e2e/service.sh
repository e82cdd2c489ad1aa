# shellcheck shell=bash
# What the scripts in the systemd box share: the units installed as they are shipped, and questions to systemd. To be
# sourced in the box, after e2e.sh. The script sets `unit`.
at_end() {
  # shellcheck disable=SC2181  # the exit code of the script
  (($? == 0)) || { echo "--- the daemon said:"; tail -n 30 daemon.log; }
}
trap at_end EXIT
step() { echo "- $*"; }
manager=(systemctl)
property() { "${manager[@]}" show -P "$1" "$unit"; }
is() { [[ $(property "$1") == "$2" ]]; }
above() { (($(property "$1") > $2)); }
run_groups() { find "/sys/fs/cgroup$(property ControlGroup)" -mindepth 1 -type d -name 'run-*'; }
no_groups() { [[ -z $(run_groups) ]]; }

install -D baton /usr/local/bin/baton
install -D baton-shim /usr/local/libexec/baton/baton-shim
install -D -m 644 sysusers.conf /usr/local/lib/sysusers.d/baton.conf
install -m 644 baton.service baton@.service /etc/systemd/system/
systemd-sysusers /usr/local/lib/sysusers.d/baton.conf
# Short intervals, so that the test need not wait for a watchdog of 30 s.
for name in baton.service baton@.service; do
  mkdir -p "/etc/systemd/system/$name.d"
  printf '[Service]\nWatchdogSec=2\nRestartSec=100ms\nStandardError=append:/box/daemon.log\n' >"/etc/systemd/system/$name.d/test.conf"
done
