#!/usr/bin/env python3
"""{{.Name}}: runs for {{.EventsText}}.

Given: one JSON object on stdin with the event's data, hook_event_name,
session_id, cwd and event_id; the name and the data also in HOOK_EVENT and
HOOK_EVENT_DATA. Exit 0: fine. Exit 2 with a reason on stderr: no, where the
event can be blocked. Anything else is a failure. `hookd logs RUN` shows what
you print.
"""
import json
import sys


def main() -> int:
    payload = json.load(sys.stdin)
    print(f"{payload['hook_event_name']}: {json.dumps(payload)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
