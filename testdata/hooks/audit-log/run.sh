#!/bin/sh
# A line is the time, the event and its payload. A line break between the
# parts of a JSON object is only white space.
set -eu
payload=$(printf '%s' "$HOOK_EVENT_DATA" | tr '\r\n' '  ')
printf '%s %s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$HOOK_EVENT" "$payload" >> "${AUDIT_LOG_FILE:-audit.log}"
