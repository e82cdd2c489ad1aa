#!/bin/sh
# Plays both roles: the developer writes down which card it worked on; the reviewer sends `Login page` back once.
set -eu
card=$(basename "$BATON_STATE_FILE" .json)

cat >/dev/null
echo "$BATON_ROLE: $card" >>"$BATON_ROOT/work.log"
case $BATON_ROLE in
  developer) "$BATON_EXE" set "$BATON_STATE_FILE" '/column="review"' ;;
  reviewer)
    if [ "$card" = "Login page" ] && [ "$(grep -c "reviewer: $card" "$BATON_ROOT/work.log")" = 1 ]; then
      "$BATON_EXE" set "$BATON_STATE_FILE" '/column="todo"' '/comment="The form has no label."'
    else
      "$BATON_EXE" set "$BATON_STATE_FILE" '/column="done"'
    fi
    ;;
esac
