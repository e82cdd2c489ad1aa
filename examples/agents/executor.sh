#!/bin/sh
# An executor of a loop: does one action and leaves. Stands in for an agent that thinks: its work is a file
# with one line for each task, and its test looks for those lines.
set -eu
work=$BATON_ROOT/work.txt
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

set_state() {
  "$BATON_EXE" set "$BATON_STATE_FILE" "$@"
}

case $CCW_LOOP_ACTION in
  "init")
    set_state '/skill_state={"current_action": null, "last_action": null, "completed_actions": [],
      "mode": "auto", "develop": {"total": 2, "completed": 0, "current_task": null, "tasks": [
        {"id": "task-001", "description": "login", "status": "pending"},
        {"id": "task-002", "description": "logout", "status": "pending"}], "last_progress_at": null},
      "debug": {"active_bug": null, "hypotheses_count": 0, "hypotheses": [], "confirmed_hypothesis": null,
        "iteration": 0, "last_analysis_at": null},
      "validate": {"pass_rate": null, "coverage": 0, "test_results": [], "passed": false,
        "failed_tests": [], "last_run_at": null}, "errors": []}'
    ;;
  develop)
    task=0
    grep -q login "$work" 2>/dev/null && task=1
    if [ "$task" = 0 ]; then echo login >>"$work"; else echo logout >>"$work"; fi
    set_state "/skill_state/develop/tasks/$task/status=\"completed\"" \
      "/skill_state/develop/completed=$((task + 1))" "/skill_state/develop/last_progress_at=\"$now\"" \
      '/skill_state/last_action="DEVELOP"'
    ;;
  validate)
    grep -q login "$work" && grep -q logout "$work" && passed=true || passed=false
    set_state "/skill_state/validate/passed=$passed" '/skill_state/validate/pass_rate=100' \
      "/skill_state/validate/last_run_at=\"$now\"" '/skill_state/last_action="VALIDATE"'
    ;;
  complete)
    set_state '/skill_state/last_action="COMPLETE"' '/status="completed"' "/completed_at=\"$now\""
    ;;
esac
echo "executor: $CCW_LOOP_ACTION is done"
