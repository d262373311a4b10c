"""Answers hookd's lines, spawned or persistent: one JSON object in, one out.

    serve.run("my-guard", judge)

judge is given the event and returns an answer, None for no opinion; what it raises is a denial, since a guard that
cannot look does not allow. The same program works with `mode: spawn` and `mode: persistent`.

    serve.run("my-guard", judge, serve.LINES)

judges these shell lines first, and answers nothing: what a first call loads and compiles is then there before it comes.

Python 3.8 or later, standard library only.
"""
import gc
import json
import sys

# Most of what a shell line can have.
LINES = ["ls -la src", "cd a && FOO=1 git -C b log --oneline -3 \"$x\" 'y z' | tail -20 > out.txt 2>&1",
         "for f in *.go; do sudo cat \"$f\"; done; bash -c 'x=$(ls ~/a | wc -l)'; sed -i s/a/b/ c/../d"]


def deny(reason):
    return {"decision": "block", "reason": reason}


def ask(reason):
    return {"hook_specific_output": {"permission_decision": "ask", "permission_decision_reason": reason}}


def warm(name, judge, lines):
    for line in lines:
        event = {"hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": line}}
        try:
            json.dumps(judge(json.loads(json.dumps(event))))
        except Exception as e:  # said at each event, too
            print("%s: %s" % (name, e), file=sys.stderr, flush=True)
            break
    gc.collect()
    gc.freeze()  # rules stay: they are not looked through again and again
    gc.set_threshold(50000)  # what a call leaves behind has few cycles


def run(name, judge, lines=()):
    if lines:
        warm(name, judge, lines)
    for line in sys.stdin.buffer:
        text = answered(name, judge, line) if line.strip() else ""
        if text:  # a spawned hook without an opinion prints nothing
            sys.stdout.write(text)
            sys.stdout.flush()


def answered(name, judge, line):
    """The line that answers a line, "" for none."""
    event = {}
    try:
        event = json.loads(line)
        answer = judge(event)
    except Exception as e:  # whatever it is, the call is not allowed
        answer = deny("%s: cannot check: %s: %s" % (name, type(e).__name__, e))
    event_id = event.get("event_id") if isinstance(event, dict) else None
    if not answer:
        return '{"event_id": %s}\n' % json.dumps(event_id) if event_id else ""
    return json.dumps(dict({"event_id": event_id} if event_id else {}, **answer)) + "\n"
