#!/bin/sh
# A tech lead: reads the program of its group, and approves it or asks for changes.
set -eu
group=$BATON_SUBJECT
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

say() {
  "$BATON_EXE" send techlead_to_dev --root "$BATON_ROOT" \
    "{\"group_id\": \"$group\", \"decision\": \"$1\", \"feedback\": \"$2\"}"
  verdict="{\"decision\": \"$1\", \"feedback\": \"$2\", \"timestamp\": \"$now\"}"
  # One more in the list, or the first of it.
  "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/tech_lead_feedback/-=$verdict" 2>/dev/null ||
    "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/tech_lead_feedback=[$verdict]"
  "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/status=\"$3\"" "/$group/current_agent=\"none\"" \
    "/$group/last_update=\"$now\""
  echo "tech_lead: $group: $1, $2"
}

if grep -q '^# usage:' "$BATON_ROOT/work/$group.sh"; then
  say approved "it does what it says" complete
else
  say changes_requested "say how it is used" changes_requested
fi
