"""Reads JSON texts, one a line, and prints what hookd.commands says of each."""
import json
import sys

import hookd

for text in sys.stdin:
    try:
        said = {"commands": [list(w) for w in hookd.commands(json.loads(text))]}
    except hookd.Unread as e:
        said = {"commands": [list(w) for w in e.commands], "unread": e.reason}
    print(json.dumps(said), flush=True)
