#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# `backend: { type: systemd }` with a real systemd: for root, for a person, and where it cannot be used.
# usage: backend_test.sh DEB
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/baton.deb"
bash "$here/systemd_box.sh" "$here/backend_steps.sh" "$here/e2e.sh" "$here/service.sh" "$work/baton.deb"
