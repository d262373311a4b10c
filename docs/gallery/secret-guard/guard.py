#!/usr/bin/env python3
"""Keeps secrets out of tool calls and out of what tools return.

A seat belt, not a sandbox: a command that builds a path out of pieces gets by.
"""
import json
import pathlib
import re
import sys

SECRETS = re.compile(r"""(?x)
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[^-]*(?:-----END\ [A-Z ]*PRIVATE\ KEY-----)?
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
  | \bgh[oprsu]_[A-Za-z0-9]{36,}\b | \bgithub_pat_[A-Za-z0-9_]{50,}\b
  | \bglpat-[A-Za-z0-9_-]{20,}
  | \bxox[abeprs]-[A-Za-z0-9-]{10,}
  | \bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}
  | \bsk_live_[A-Za-z0-9]{16,}
  | \bAIza[0-9A-Za-z_-]{35}
  | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
""")

# Arguments that are text to be written or read by somebody, and so may speak of .env without opening it.
PROSE = {"content", "contents", "description", "edits", "new_source", "new_string", "old_string", "prompt", "text", "todos"}


def protected_paths():
    lines = (pathlib.Path(__file__).parent / "protected-paths.txt").read_text().splitlines()
    rules = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    start = r"(?:/|(?<![\w.-]))"
    return [re.compile(start + r[1:] if r.startswith("/") else r) for r in rules]


def strings(value, key=""):
    """Every string in a tool's input, with the argument that it is in."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield key, name
            yield from strings(inner, key or name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def objection(tool_input):
    paths = protected_paths()
    for key, text in strings(tool_input):
        if SECRETS.search(text):
            return f"the argument {key!r} holds a secret; refer to it by an environment variable instead"
        if key in PROSE:
            continue
        bare = text.replace('"', "").replace("'", "").replace("\\", "")  # .e"n"v is .env to a shell
        for rule in paths:
            found = rule.search(bare)
            if found:
                return f"{found.group(0)!r} is a file with secrets; ask the user for what you need from it"
    return None


def main():
    event = json.load(sys.stdin.buffer)
    if event["hook_event_name"] == "transform_tool_result":
        output = event.get("tool_output")
        if isinstance(output, str) and SECRETS.search(output):
            print(json.dumps({"tool_output": SECRETS.sub("[secret]", output)}))
        return 0
    reason = objection(event.get("tool_input"))
    if reason:
        print("secret-guard: " + reason, file=sys.stderr)
    return 2 if reason else 0


try:
    sys.exit(main())
except Exception as e:  # a guard that cannot look does not allow
    print(f"secret-guard: cannot check: {type(e).__name__}: {e}", file=sys.stderr)
    sys.exit(2)
