#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The systemd units of the Debian package are clean and keep their sandbox. usage: units_test.sh PACKAGE
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/e2e/e2e.sh
source "$here/tests/e2e/e2e.sh"
need systemd-analyze dpkg-deb

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work
dpkg-deb -x "$1" "$work/package"
units=$work/package/usr/lib/systemd

# `verify` wants programs that exist; and it exits with 0 on keys it does not know, so its words count.
# systemd before 254 does not know these, and goes on without them.
later='^$'
version=$(systemd-analyze --version | awk 'NR == 1 { print int($2) }')
((version >= 254)) || later='^(DelegateSubgroup|RestartSteps|RestartMaxDelaySec)='
lint() {  # MANAGER UNIT NAME
  sed "/^Exec/s|=/usr/bin/baton |=$work/package/usr/bin/baton |" "$units/$2" | grep -vE "$later" >"$work/$3"
  systemd-analyze "--$1" verify --man=no "$work/$3" >"$work/said" 2>&1 || true
  if [[ -s $work/said ]]; then
    cat "$work/said"
    fail "$2 is not clean"
  fi
}
# Most exposure that a unit may have, in tenths.
sealed() {  # MANAGER NAME TENTHS
  systemd-analyze "--$1" security --offline=true --threshold="$3" "$work/$2" >"$work/said" ||
    { tail -n 1 "$work/said"; fail "$2 lost some of its sandbox"; }
  tail -n 1 "$work/said"
}
lint system system/baton.service baton.service
sealed system baton.service 25
lint system system/baton@.service baton@srv-project.service
sealed system baton@srv-project.service 25
lint user user/baton.service baton.service
# A service of a person has no more rights than that person, which the analysis does not know of.
sed -i '/^\[Service\]/a User=daemon\nCapabilityBoundingSet=' "$work/baton.service"
sealed user baton.service 45
[[ $(systemd-escape --path /srv/project) == srv-project ]] || fail "README names a wrong instance"

# With the drop-in that systemd 253 and later know, an older one says no more than that.
drop_in=$work/package/usr/share/doc/baton/examples/systemd/notify-reload.conf
for unit in system/baton.service system/baton@.service user/baton.service; do
  name=baton.service
  [[ $unit != *@* ]] || name=baton@srv-project.service
  lint "${unit%%/*}" "$unit" "$name"
  mkdir -p "$work/$name.d"
  cp "$drop_in" "$work/$name.d/"
  systemd-analyze "--${unit%%/*}" verify --man=no "$work/$name" >"$work/said" 2>&1 || true
  rm -r "$work/$name.d"
  ((version >= 253)) || { grep -q 'notify-reload' "$work/said" && sed -i '/Failed to parse service type.*notify-reload/d' "$work/said"; } ||
    fail "the drop-in of $unit was not read"
  [[ ! -s $work/said ]] || { cat "$work/said"; fail "$unit is not clean with the drop-in"; }
done

# A process with hidden memory is hidden from its own user under these, and nothing starts.
if grep -nE "^ProtectProc=(invisible|noaccess)" "$units"/*/*.service; then
  fail "a unit hides the daemon from itself"
fi

# A person's systemd can set up the filters of system calls.
filters() { grep -E '^(SystemCall|Restrict|LockPersonality|NoNewPrivileges)' "$units/$1" | sort; }
diff <(filters system/baton.service) <(filters user/baton.service) || fail "the unit of a person has other filters"

# What service_test shows of one is true of the other: that agents survive it, its watchdog, its sandbox.
same() {  # UNIT
  grep -vE '^(#|Description=|ExecStart=|ExecReload=|ReadWritePaths=)' "$units/system/$1"
}
diff <(same baton.service) <(same baton@.service) || fail "the two system units differ in more than what they serve"

# The lint itself notices what it is for.
mkdir -p "$work/other/"
sed 's/^KillMode=.*/KillMoed=process/' "$units/system/baton.service" >"$work/other/wrong.service"
units=$work/other
if (lint system wrong.service wrong.service) >/dev/null 2>&1; then
  fail "an unknown key goes unnoticed"
fi
echo "units are clean"
