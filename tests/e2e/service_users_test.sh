#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The system units of the Debian package with agents of other users (`user:` of a role), in a real systemd.
# usage: service_users_test.sh PACKAGE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/baton.deb"
bash "$here/systemd_box.sh" "$here/service_users_steps.sh" "$here/e2e.sh" "$here/service.sh" "$work/baton.deb"
