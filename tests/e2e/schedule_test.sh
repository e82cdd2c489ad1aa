#!/usr/bin/env bash
# examples/schedule under a real systemd: a timer, a night that was missed, and the line of cron.
# usage: schedule_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
example=$here/../../examples/schedule
bash "$here/systemd_box.sh" "$here/schedule_steps.sh" "$here/e2e.sh" "$here/service.sh" "$1" "$2" \
  "$here/../../systemd/baton.service" "$here/../../systemd/baton@.service" "$here/../../systemd/sysusers.conf" \
  "$example"/{demo.yaml,agent.sh,crontab,baton-nightly.service,baton-nightly.timer} "$example/jobs/nightly.json"
