#!/usr/bin/env python3
"""{{.Name}}: runs for {{.EventsText}}, in a process that is kept.

Given: one line of JSON for each event on stdin, with the event's data,
hook_event_name, session_id, cwd and event_id. Answer each with one line of JSON
that has the same event_id, and a verdict where the event can be decided, such
as "decision": "block", "reason": "...". Print nothing else to stdout; what goes
to stderr is in `hookd logs RUN`. An exception is a failure: the event is given
again, once, to a new process. With `mode: spawn` this works as well.
"""
import json
import sys


def handle(event: dict) -> dict:
    print(f"{event['hook_event_name']}: {json.dumps(event)}", file=sys.stderr)
    return {}


for line in sys.stdin:
    event = json.loads(line)
    answer = {**handle(event), "event_id": event["event_id"]}
    print(json.dumps(answer), flush=True)
