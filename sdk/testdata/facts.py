import json

import hookd


def handle(event):
    said = {
        "commands": event.commands, "computed": [c.computed for c in event.commands],
        "programs": [c.program for c in event.commands], "via": [c.via for c in event.commands],
        "guess": [c.guess for c in event.commands], "env": [e["name"] for c in event.commands for e in c.env],
        "to": [r["target"]["text"] for c in event.commands for r in c.redirects],
        "effects": [[e.kind, e.target, e.certain, e.why, e.command, e.span["from"]] for e in event.effects],
        "doubts": [[d.kind, d.text, d.command, d.span["from"]] for d in event.doubts],
    }
    return hookd.deny(json.dumps(said, separators=(",", ":")))


hookd.run(handle)
