#!/usr/bin/env python3
"""Prints what an agent should know of the project when it starts."""
import json
import os
import subprocess
import sys


def git(root, *args):
    """What git says, or "" outside of a repository. It takes no locks."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    done = subprocess.run(["git", "-c", "core.fsmonitor=false", "-C", root, *args],
                          env={**clean, "GIT_OPTIONAL_LOCKS": "0"}, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


def sections(root):
    yield "Branch and changes", git(root, "status", "--short", "--branch")
    yield "Last commits", git(root, "log", "-5", "--format=%h %ad %s", "--date=short")
    for name in filter(None, os.environ.get("CONTEXT_FILES", "").split(":")):
        path = os.path.realpath(os.path.join(root, name))
        if path.startswith(os.path.join(os.path.realpath(root), "")) and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                yield name, f.read(100_000).strip()


def main():
    root = json.load(sys.stdin.buffer).get("cwd") or ""
    if not os.path.isdir(root):
        return
    most = int(os.environ.get("CONTEXT_MAX") or 8000)
    text = "\n\n".join(f"## {title}\n{body}" for title, body in sections(root) if body)
    if len(text) > most:
        text = text[:most] + "\n(cut off here)"
    if text:  # as JSON: text of the project must not be taken for an answer
        print(json.dumps({"hook_specific_output": {"additional_context": text}}))


main()
