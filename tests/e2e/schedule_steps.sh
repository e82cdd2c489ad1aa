#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs inside the systemd box, as root: the nightly job of examples/schedule with the real units.
set -euo pipefail
cd /box
# shellcheck source=tests/e2e/e2e.sh
source ./e2e.sh
exec 2>&1
# shellcheck source=tests/e2e/service.sh
source ./service.sh

project=/srv/project
mkdir -p "$project/jobs" /etc/baton/instances
cp agent.sh "$project/"
cp nightly.json "$project/jobs/"
sed "s|\\./agent.sh|$project/agent.sh|" demo.yaml >/etc/baton/instances/srv-project.yaml
chown -R baton: "$project"
unit=baton@srv-project.service
install -m 644 baton-nightly.service baton-nightly.timer /etc/systemd/system/
systemctl daemon-reload

nights() { [[ $(wc -l <"$project/report.txt") == "$1" ]]; }
idle() { grep -q '"idle"' "$project/jobs/nightly.json"; }
night() { # NUMBER
  until_true nights "$1"
  until_true idle
}

step "the units are clean"
systemd-analyze verify --man=no /etc/systemd/system/baton-nightly.timer 2>&1 | tee said
! grep -E 'Unknown (key|section|lvalue)|Failed to parse|Invalid|ignoring' said || fail "they are not"

step "the service makes the job due, and the daemon starts its agent"
systemctl start "$unit"
systemctl start baton-nightly.service
night 1

step "a night with the machine off is made up for when it is on again"
install -d /var/lib/systemd/timers
touch -d '2 days ago' /var/lib/systemd/timers/stamp-baton-nightly.timer
systemctl start baton-nightly.timer
night 2

step "the timer waits for the next night"
[[ $(systemctl show -P NextElapseUSecRealtime baton-nightly.timer) == *01:30:00* ]] ||
  fail "next: $(systemctl show -P NextElapseUSecRealtime baton-nightly.timer)"
[[ $(systemctl show -P Result baton-nightly.service) == success ]] || fail "the service failed"

step "a job that became due without the daemon runs when the daemon is there"
systemctl stop "$unit"
systemctl start baton-nightly.service
grep -q '"due"' "$project/jobs/nightly.json" || fail "it is not due"
systemctl start "$unit"
night 3

step "the line of cron does the same"
read -r minute hour day month weekday user command < <(grep -v '^#' crontab)
[[ "$minute $hour $day $month $weekday" == "30 1 * * *" && $user == baton ]] || fail "crontab: $(cat crontab)"
[[ $command != *%* ]] || fail "cron ends a command at %"
runuser -u "$user" -- env -i HOME=/ SHELL=/bin/sh PATH=/usr/bin:/bin LOGNAME="$user" /bin/sh -c "$command"
night 4

step "more nights than max_entries, which counts between two ends"
for ((number = 5; number <= 25; number++)); do
  systemctl reset-failed baton-nightly.service # so many starts within moments are refused otherwise
  systemctl start baton-nightly.service
  night "$number"
done
runuser -u baton -- sh -c "cd $project; baton status rules/jobs/nightly" | tee said
grep -q 'done' said || fail "the job is not done"
systemctl stop "$unit"
echo "all passed"
