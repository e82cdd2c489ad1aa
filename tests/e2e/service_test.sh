#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The Debian package under a real systemd: the services of the system and of a person. usage: service_test.sh PACKAGE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/baton.deb"
# The same with a lower version, which an upgrade replaces.
dpkg-deb -R "$1" "$work/older"
sed -i 's/^Version: .*/Version: 0.0.1/' "$work/older/DEBIAN/control"
dpkg-deb --root-owner-group -Znone -b "$work/older" "$work/older.deb" >/dev/null
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
bash "$here/systemd_box.sh" "$here/service_steps.sh" "$here/e2e.sh" "$here/service.sh" "$work/baton.deb" "$work/older.deb" \
  "${blocks[@]}"
