#!/bin/sh
# Plays the developer: writes down which story it worked on, and says that the story passes.
set -eu

cat >/dev/null
echo "$BATON_SUBJECT" >>"$BATON_ROOT/progress.txt"
"$BATON_EXE" set "$BATON_STATE_FILE" '/userStories/{subject}/passes=true'
