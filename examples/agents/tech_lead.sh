#!/bin/sh
# A tech lead: reads the program of its group, and approves it or asks for changes.
set -eu
group=$BATON_SUBJECT

state() {
  "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/status=\"$1\"" "/$group/current_agent=\"$2\"" \
    "/$group/last_update=\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
}

feedback() {
  "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/tech_lead_feedback=[{\"decision\": \"$1\", \"feedback\": \"$2\"}]"
}

state tech_review tech_lead
if grep -q '^# usage:' "$BATON_ROOT/work/$group.sh"; then
  echo "tech_lead: $group is approved"
  feedback approved "does what it says"
  state complete none
else
  echo "tech_lead: $group does not say how it is used"
  feedback changes_requested "say how it is used"
  state changes_requested none
fi
