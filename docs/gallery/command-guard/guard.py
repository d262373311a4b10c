#!/usr/bin/env python3
"""Judges a shell command by the rules in deny.txt and ask.txt.

A seat belt, not a sandbox: text that a shell puts together while it runs is
not seen. For a judgement by a shell parser see the built-in safer_shell.
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
COMMAND = r"(?:^|[;&|({`] ?|\b(?:then|do|else|exec|env|time|nohup|command|doas|xargs(?: -\S+)*|sudo(?: -\S+)*) | -c )(?:\S*/)?"


def rules(name):
    for line in (HERE / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            reason, _, pattern = line.partition(" = ")
            yield reason, re.compile(pattern.replace("{cmd}", COMMAND), re.IGNORECASE)


def spelled(command):
    """The command without what a shell takes away: r\\m and "rm" are rm."""
    command = re.sub(r"[\"'\\]", "", command.replace("\\\n", ""))
    return re.sub(r"\s+", " ", re.sub(r"\s*\n\s*", " ; ", command)).strip()


def broken(name, command):
    return next((reason for reason, rule in rules(name) if rule.search(command)), None)


def main():
    tool_input = json.load(sys.stdin.buffer).get("tool_input")
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if not isinstance(command, str):
        raise ValueError("the call has no command")
    command = spelled(command)
    denied = broken("deny.txt", command)
    if denied:
        print(f"command-guard: {denied} is not allowed here", file=sys.stderr)
        return 2
    asked = broken("ask.txt", command)
    if asked:
        print(json.dumps({"hook_specific_output": {
            "permission_decision": "ask",
            "permission_decision_reason": f"command-guard: {asked}",
        }}))
    return 0


try:
    sys.exit(main())
except Exception as e:  # a guard that cannot look does not allow
    print(f"command-guard: cannot check: {type(e).__name__}: {e}", file=sys.stderr)
    sys.exit(2)
