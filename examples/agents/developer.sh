#!/bin/sh
# A developer: writes the program of its group, or mends it, and hands it to QA. Stands in for an agent
# that thinks: its first draft of B has a bug, and its first draft of C says nothing about its use.
set -eu
group=$BATON_SUBJECT
program=$BATON_ROOT/work/$group.sh

state() {
  "$BATON_EXE" set "$BATON_STATE_FILE" "/$group/status=\"$1\"" "/$group/current_agent=\"$2\"" \
    "/$group/last_update=\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
}

state dev_working developer
mkdir -p "$BATON_ROOT/work"
case $BATON_PURPOSE in
  qa_failed) sum=+ ;;
  *) if [ "$group" = B ]; then sum=- ; else sum=+ ; fi ;;
esac
case $BATON_PURPOSE in
  changes_requested | qa_failed) comment="# usage: $group.sh A B    prints the sum" ;;
  *) if [ "$group" = C ]; then comment= ; else comment="# usage: $group.sh A B    prints the sum" ; fi ;;
esac
cat >"$program" <<PROGRAM
#!/bin/sh
$comment
echo \$((\$1 $sum \$2))
PROGRAM
chmod +x "$program"
echo "developer: $group is written"
state waiting_qa none
