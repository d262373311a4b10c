#!/bin/sh
# {{.Name}}: runs for {{.EventsText}}.
#
# Given: the event's name in $HOOK_EVENT, its data as JSON in $HOOK_EVENT_DATA,
# and one JSON object with both, session_id, cwd and event_id on stdin.
# Exit 0: fine. Exit 2 with a reason on stderr: no, where the event can be
# blocked. Anything else is a failure. `hookd log output RUN` shows what you print.
set -eu

payload=$(cat)
printf '%s: %s\n' "$HOOK_EVENT" "$payload" >&2
