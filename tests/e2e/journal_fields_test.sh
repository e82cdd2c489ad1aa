#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The log of the daemon in the journal of a real systemd: fields, priorities, and what follows if the journal does not
# read.
# usage: journal_fields_test.sh DEB
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/baton.deb"
bash "$here/systemd_box.sh" "$here/journal_fields_steps.sh" "$here/e2e.sh" "$here/service.sh" "$work/baton.deb"
