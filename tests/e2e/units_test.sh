#!/usr/bin/env bash
# The systemd units are clean and keep their sandbox. usage: units_test.sh BATON
set -euo pipefail
baton=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/e2e/e2e.sh
source "$here/tests/e2e/e2e.sh"
need systemd-analyze

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work

# `verify` wants programs that exist; and it exits with 0 on keys it does not know, so its words count.
# systemd before 254 does not know this one, and goes on without it.
later='^$'
[[ $(systemd-analyze --version | awk 'NR == 1 { print int($2) }') -ge 254 ]] || later='^DelegateSubgroup='
lint() {  # MANAGER UNIT NAME
  sed "/^Exec/s|=baton |=$baton |" "$here/systemd/$2" | grep -v "$later" >"$work/$3"
  systemd-analyze "--$1" verify --man=no "$work/$3" 2>&1 | tee "$work/said"
  if grep -E 'Unknown (key|section|lvalue)|Failed to parse|Invalid|not executable|ignoring' "$work/said"; then
    fail "$2 is not clean"
  fi
}
lint system baton.service baton.service
systemd-analyze security --offline=true --threshold=34 "$work/baton.service" >"$work/said" ||
  { tail -n 1 "$work/said"; fail "baton.service lost some of its sandbox"; }
lint system baton@.service baton@srv-project.service
lint user user/baton.service baton.service
[[ $(systemd-escape --path /srv/project) == srv-project ]] || fail "README names a wrong instance"

# A process with hidden memory is hidden from its own user under these, and nothing starts.
if grep -nE "^ProtectProc=(invisible|noaccess)" "$here"/systemd/{,user/}*.service; then
  fail "a unit hides the daemon from itself"
fi

# What service_test shows of one is true of the other: that agents survive it, its watchdog, its sandbox.
same() {  # UNIT
  grep -vE '^(#|Description=|ExecStart=|ExecReload=|ReadWritePaths=)' "$here/systemd/$1"
}
diff <(same baton.service) <(same baton@.service) || fail "the two system units differ in more than what they serve"

# The lint itself notices what it is for.
mkdir -p "$work/other/systemd"
sed 's/^KillMode=.*/KillMoed=process/' "$here/systemd/baton.service" >"$work/other/systemd/wrong.service"
here=$work/other
if (lint system wrong.service wrong.service) >/dev/null 2>&1; then
  fail "an unknown key goes unnoticed"
fi
echo "units are clean"
