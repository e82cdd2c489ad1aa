#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# examples/schedule under a real systemd: a timer, a night that was missed, and the line of cron.
# usage: schedule_test.sh PACKAGE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
example=$here/../../examples/schedule
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/baton.deb"
bash "$here/systemd_box.sh" "$here/schedule_steps.sh" "$here/e2e.sh" "$here/service.sh" "$work/baton.deb" \
  "$example"/{demo.yaml,agent.sh,crontab,baton-nightly.service,baton-nightly.timer} "$example/jobs/nightly.json"
