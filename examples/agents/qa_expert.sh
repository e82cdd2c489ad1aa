#!/bin/sh
# A QA expert: runs the program of its group and says whether it does what it should.
set -eu
group=$BATON_SUBJECT

case $group in
  A) set -- 40 2 ;;
  B) set -- 44 2 ;;
  *) set -- 42 7 ;;
esac
result=$("$BATON_ROOT/work/$group.sh" "$1" "$2")

report() {
  "$BATON_EXE" send qa_to_techlead --root "$BATON_ROOT" \
    "{\"group_id\": \"$group\", \"subject\": \"$group says $result\", \"result\": \"$1\"}"
  "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/status=\"$2\"" "/$group/current_agent=\"none\"" \
    "/$group/test_results={\"unit_tests\": {\"total\": 1, \"passed\": $3, \"failed\": $4}}" \
    "/$group/last_update=\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
  echo "qa_expert: $1: $group makes $result of $5 and $6, which should be 42"
}

if [ "$result" = 42 ]; then
  report PASS waiting_review 1 0 "$@"
else
  report FAIL qa_failed 0 1 "$@"
fi
