#!/usr/bin/env bash
# The daemon as a service of a real systemd, of the system and of a person. usage: service_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# In the box all files lie in one folder, and both units are called baton.service.
cp "$here/../../systemd/user/baton.service" "$work/user-baton.service"
bash "$here/systemd_box.sh" "$here/service_steps.sh" "$here/e2e.sh" "$1" "$2" \
  "$here/../../systemd/baton.service" "$here/../../systemd/baton@.service" "$here/../../systemd/sysusers.conf" \
  "$work/user-baton.service"
