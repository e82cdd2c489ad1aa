#!/usr/bin/env bash
# The system units with agents of other users (`user:` of a role), in a real systemd.
# usage: service_users_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
units=$here/../../systemd
bash "$here/systemd_box.sh" "$here/service_users_steps.sh" "$here/e2e.sh" "$here/service.sh" "$1" "$2" \
  "$units/baton.service" "$units/baton@.service" "$units/sysusers.conf" "$units/users.conf"
