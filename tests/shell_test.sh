#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Every shell script is clean under shellcheck.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/e2e/e2e.sh
source tests/e2e/e2e.sh
need shellcheck git
mapfile -t scripts < <(git grep -lE '^#!/(usr/bin/env bash|bin/(ba)?sh)' -- . ':!*.md' ':!*.py')
((${#scripts[@]} > 5)) || fail "found only ${#scripts[@]} scripts"
shellcheck -x "${scripts[@]}"
echo "${#scripts[@]} scripts are clean"
