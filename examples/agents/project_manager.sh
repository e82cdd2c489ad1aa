#!/bin/sh
# A project manager: plans three groups in two phases, and says the word when all of it is done. Stands in
# for an agent that thinks.
set -eu
file=$BATON_STATE_FILE
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

case $BATON_PURPOSE in
  planning)
    "$BATON_EXE" set "$file" '/mode="parallel"' '/mode_reasoning="two independent programs, and one that uses both"' \
      '/task_groups=[
        {"id": "A", "name": "Addition", "tasks": ["T1"], "files_affected": ["work/A.sh"], "can_parallel": true},
        {"id": "B", "name": "Subtraction", "tasks": ["T2"], "files_affected": ["work/B.sh"], "can_parallel": true},
        {"id": "C", "name": "There and back", "tasks": ["T3"], "files_affected": ["work/C.sh"], "depends_on": ["A", "B"]}]' \
      '/all_tasks=[
        {"id": "T1", "description": "work/A.sh X Y prints X + Y", "group_id": "A", "status": "pending"},
        {"id": "T2", "description": "work/B.sh X Y prints X - Y", "group_id": "B", "status": "pending"},
        {"id": "T3", "description": "work/C.sh X Y adds Y to X, takes it away again and prints X", "group_id": "C", "status": "pending"}]' \
      '/execution_phases=[{"phase_number": 1, "group_ids": ["A", "B"]}, {"phase_number": 2, "group_ids": ["C"]}]' \
      '/pending_groups=["A", "B", "C"]' /iteration=1 "/last_update=\"$now\""
    echo "project_manager: three groups in two phases"
    ;;
  final_check)
    [ "$("$BATON_ROOT/work/A.sh" 40 2)" = 42 ]
    [ "$("$BATON_ROOT/work/B.sh" 44 2)" = 42 ]
    [ "$("$BATON_ROOT/work/C.sh" 42 7)" = 42 ]
    "$BATON_EXE" set "$file" '/completed_groups=["A", "B", "C"]' '/pending_groups=[]' '/in_progress_groups=[]' \
      '/all_tasks/0/status="complete"' '/all_tasks/1/status="complete"' '/all_tasks/2/status="complete"' \
      /completion_percentage=100 /iteration=2 "/last_update=\"$now\""
    echo "project_manager: everything that was asked for is there"
    echo "BAZINGA"
    ;;
  *)
    echo "project_manager: nobody should have asked me for $BATON_PURPOSE" >&2
    exit 1
    ;;
esac
