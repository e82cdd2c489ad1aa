#!/bin/sh
# Plays every role: does the step, writes what it made below artifacts/, and fills in its entry of step_history.
# The first plan forgets the missing values, and the first code its test; the validator notices.
set -eu
made=$ML_WORKFLOW_ARTIFACTS
above=$(dirname "$made")

# Steps come one after the other here, so the entry is the last one. Where both validators work at once, it is
# the one with this step_number and this template.
entry=/step_history/$(($(grep -o '"step_number"' "$BATON_STATE_FILE" | wc -l) - 1))

# With an output, and scores where there is something to judge.
finish() {
  "$BATON_EXE" set "$BATON_STATE_FILE" "$entry/output={\"made\": \"$1\"}" "$entry/validation_scores=${2:-null}" \
    "$entry/status=\"completed\""
}

judge() {
  finish "$2" "{\"alignment_score\": $1, \"standardization_score\": 9, \"compatibility_score\": 8.5}"
}

case $ML_WORKFLOW_STEP in
  1) echo 'one column per month' >"$made/plan.md" && finish plan.md ;;
  2)
    plan=$above/step_1/plan.md
    if [ -e "$above/step_3/plan.md" ]; then plan=$above/step_3/plan.md; fi
    if grep -q missing "$plan"; then judge 9.5 'the plan says it all'; else judge 8 'missing values are missing'; fi
    ;;
  3) echo 'one column per month; missing values are zero' >"$made/plan.md" && finish plan.md ;;
  4) echo 'SELECT month, count(*)' >"$made/churn.sql" && finish churn.sql ;;
  5a) judge 9.5 'the code follows the plan' ;;
  5b) judge 8.5 'it has no test' ;;
  6) echo 'SELECT 1' >"$made/test.sql" && finish test.sql ;;
  7a | 7b) judge 9.5 'nothing is left to say' ;;
esac
echo "$BATON_ROLE: step $ML_WORKFLOW_STEP is done"
