"""Reads JSON texts, one a line, and prints what hookd.commands says of each."""
import json
import sys

import hookd

for text in sys.stdin:
    try:
        found, said = hookd.commands(json.loads(text)), {}
    except hookd.Unread as e:
        found, said = e.commands, {"unread": e.reason}
    said["commands"], said["computed"] = [list(w) for w in found], [list(w.computed) for w in found]
    print(json.dumps(said), flush=True)
