#!/usr/bin/env bash
# The daemon as a service of a real systemd, of the system and of a person. usage: service_test.sh BATON SHIM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# In the box all files lie in one folder, and both units are called baton.service.
cp "$here/../../systemd/user/baton.service" "$work/user-baton.service"
# The blocks of the pages that need a systemd: page-WHO-NUMBER.sh.
(cd "$here/../.." && awk -v out="$work/page" '
  FNR == 1 { who = ""; inside = 0 }
  /^<!-- test: service, [a-z]+ -->$/ { who = $4; next }
  who && /^```sh$/ { inside = 1; into = out "-" who "-" ++blocks ".sh"; print "# " FILENAME ":" FNR >into; next }
  /^```$/ { who = ""; inside = 0 }
  inside { print >into }
' README.md docs/*.md docs/dialects/*.md systemd/README.md examples/README.md CONTRIBUTING.md)
blocks=("$work"/page-*.sh)
((${#blocks[@]} >= 5)) || { echo "FAILED: only ${#blocks[@]} blocks of pages need systemd" >&2; exit 1; }
bash "$here/systemd_box.sh" "$here/service_steps.sh" "$here/e2e.sh" "$here/service.sh" "$1" "$2" \
  "$here/../../systemd/baton.service" "$here/../../systemd/baton@.service" "$here/../../systemd/sysusers.conf" \
  "$work/user-baton.service" "${blocks[@]}"
