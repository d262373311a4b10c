import os

import hookd

try:
    first = hookd.emit("my:own", {"a": "\ud800\u2028"}, id=str(os.getpid()))["event_id"]
    print(first == hookd.emit("my:own", {"a": "\ud800\u2028"}, id=str(os.getpid()))["event_id"])
    for command in ("ls", "sudo ls"):
        verdict = hookd.decide("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}}, seconds=30)
        print(verdict["allowed"], verdict.get("message", ""))
    records = hookd.subscribe("my:*", since=0)
    print(any(r["type"] == "event" and r["event_id"] == first for r in records))
    hookd.emit("a b")
except hookd.Refused as e:
    print(e.code)
except hookd.Error as e:
    print(type(e).__name__)
