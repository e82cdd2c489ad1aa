#!/bin/sh
# Plays every step of workflow.yaml: does a little work and writes the report that baton waits for. The review
# is content with the second draft.
set -eu

now() {
  date -u +%Y-%m-%dT%H:%M:%SZ
}

began=$(now)
gate=false
cd "$REPO_DIR"
case $STEP_ID in
  "plan") made=PLAN.md said='planned one page' && echo 'one page' >PLAN.md ;;
  "write") made=page.txt said="wrote the page${LOOP_BACK_REASON:+ anew}" && echo "draft: ${LOOP_BACK_REASON:-none}" >page.txt ;;
  "review")
    made=review.txt said='the page is fine'
    if grep -q 'draft: none' page.txt; then
      gate=true said='the page says nothing yet'
    fi
    echo "$said" >review.txt
    ;;
  *) made=CHANGELOG.md said='wrote down what is new' && echo 'a page' >CHANGELOG.md ;;
esac

cat >"$REPORT_PATH" <<REPORT
{"schema": "run_report@v0", "run_id": "$RUN_ID", "step_id": "$STEP_ID", "agent": "$AGENT_ID",
 "status": "COMPLETED", "started_at": "$began", "ended_at": "$(now)",
 "artifacts": ["$made"], "logs": ["$said"], "gate_failure": $gate}
REPORT
echo "$AGENT_ID: $said"
