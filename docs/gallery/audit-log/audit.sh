#!/bin/sh
# stdin is one line of JSON: the event's data with its name, id and time. It is
# kept as it is, so there is nothing to quote and nothing to get wrong.
set -eu
umask 077
log=${AUDIT_LOG:-audit.jsonl}
if [ -f "$log" ] && [ "$(wc -c < "$log")" -gt "${AUDIT_MAX_BYTES:-104857600}" ]; then
  mv -f -- "$log" "$log.1"
fi
exec cat >> "$log"
