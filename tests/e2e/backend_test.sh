#!/usr/bin/env bash
# `backend: { type: systemd }` with a real systemd: for root, for a person, and where it cannot be used.
# usage: backend_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/systemd_box.sh" "$here/backend_steps.sh" "$here/e2e.sh" "$here/service.sh" "$1" "$2" \
  "$here/../../systemd/baton.service" "$here/../../systemd/baton@.service" "$here/../../systemd/sysusers.conf"
