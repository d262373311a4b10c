"""Answers hookd's lines, spawned or persistent: one JSON object in, one out.

    serve.run("my-guard", judge)

judge is given the event and returns an answer, None for no opinion; what it raises is a denial, since a guard that
cannot look does not allow. The same program works with `mode: spawn` and `mode: persistent`.

Python 3.8 or later, standard library only.
"""
import json
import sys


def deny(reason):
    return {"decision": "block", "reason": reason}


def ask(reason):
    return {"hook_specific_output": {"permission_decision": "ask", "permission_decision_reason": reason}}


def run(name, judge, prepare=None):
    if prepare:  # before the first event comes; what is wrong then is said at each event
        try:
            prepare()
        except Exception as e:
            print("%s: %s" % (name, e), file=sys.stderr, flush=True)
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        event = {}
        try:
            event = json.loads(line)
            answer = judge(event) or {}
        except Exception as e:  # whatever it is, the call is not allowed
            answer = deny("%s: cannot check: %s: %s" % (name, type(e).__name__, e))
        out = {"event_id": event.get("event_id")} if isinstance(event, dict) and event.get("event_id") else {}
        out.update(answer)
        if out:  # a spawned hook without an opinion prints nothing
            sys.stdout.write(json.dumps(out) + "\n")
            sys.stdout.flush()
