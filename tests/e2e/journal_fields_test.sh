#!/usr/bin/env bash
# The log of the daemon in the journal of a real systemd: fields, priorities, and what follows if the journal does not
# read. usage: journal_fields_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bash "$here/systemd_box.sh" "$here/journal_fields_steps.sh" "$here/e2e.sh" "$here/service.sh" "$1" "$2" \
  "$here/../../systemd/baton.service" "$here/../../systemd/baton@.service" "$here/../../systemd/sysusers.conf"
