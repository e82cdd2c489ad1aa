#!/usr/bin/env bash
# The daemon as a service of a real systemd. usage: service_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec bash "$here/systemd_box.sh" "$here/service_steps.sh" "$here/e2e.sh" "$1" "$2" \
  "$here/../../systemd/baton.service" "$here/../../systemd/baton@.service" "$here/../../systemd/sysusers.conf"
