#!/bin/sh
# A developer: writes the program of its group, or mends it, and hands it to QA. Stands in for an agent
# that thinks: its first draft of B has a bug, and its first draft of C says nothing about its use.
# shellcheck disable=SC2016  # a text with a $ is another script
set -eu
group=$BATON_SUBJECT
program=$BATON_ROOT/work/$group.sh
usage="# usage: $group.sh X Y"

case $group in
  A) body='echo $(($1 + $2))' ;;
  B) body='echo $(($1 - $2))' ;;
  *) body='here=$(dirname "$0"); "$here/B.sh" "$("$here/A.sh" "$1" "$2")" "$2"' ;;
esac
if [ "$group$BATON_PURPOSE" = Bimplement ]; then body='echo $(($1 + $2))'; fi
if [ "$group$BATON_PURPOSE" = Cimplement ]; then usage=; fi

mkdir -p "$BATON_ROOT/work"
printf '#!/bin/sh\n%s\n%s\n' "$usage" "$body" >"$program"
chmod +x "$program"
echo "developer: $group is written ($BATON_PURPOSE)"

"$BATON_EXE" send dev_to_qa --root "$BATON_ROOT" \
  "{\"group_id\": \"$group\", \"subject\": \"$group is written\", \"status\": \"READY_FOR_QA\"}"
"$BATON_EXE" set "$BATON_STATE_FILE" "/$group/status=\"waiting_qa\"" "/$group/current_agent=\"none\"" \
  "/$group/files_modified=[\"work/$group.sh\"]" "/$group/last_update=\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
