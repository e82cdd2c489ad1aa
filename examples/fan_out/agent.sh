#!/bin/sh
# Plays every role: the planner writes the parts, a worker counts the letters of its words, the joiner adds them up.
set -eu
job=$(dirname "$BATON_FILE_PLAN")

case $BATON_ROLE in
  planner)
    # First all parts, then the stage that lets the joiner begin: it must not see half of them as the whole.
    mkdir -p "$job/parts"
    for number in $(seq 1 50); do
      echo "{\"status\": \"todo\", \"words\": \"part number $number\"}" >"$job/parts/part-$number.json.tmp"
      mv "$job/parts/part-$number.json.tmp" "$job/parts/part-$number.json"
    done
    "$BATON_EXE" set "$BATON_STATE_FILE" '/status="work"'
    ;;
  worker)
    words=$(sed 's/.*"words": "\([^"]*\)".*/\1/' "$BATON_STATE_FILE" | tr -d ' \n')
    "$BATON_EXE" set "$BATON_STATE_FILE" "/letters=${#words}" '/status="done"'
    ;;
  joiner)
    all=0 count=0
    for part in "$job"/parts/*.json; do
      all=$((all + $(sed 's/.*"letters": \([0-9]*\).*/\1/' "$part")))
      count=$((count + 1))
    done
    echo "$all letters in $count parts" >>"$job/result.txt"
    "$BATON_EXE" set "$BATON_FILE_PLAN" '/status="done"'
    ;;
esac
echo "$BATON_ROLE: $BATON_PURPOSE for $BATON_SUBJECT is done"
