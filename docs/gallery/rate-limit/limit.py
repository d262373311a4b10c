#!/usr/bin/env python3
"""Denies tool calls beyond MAX_CALLS in PER_SECONDS of one session.

Calls come side by side, so the times of a session's calls are kept in a file
of its own, under a lock. Denied calls are not counted.
"""
import fcntl
import hashlib
import json
import os
import pathlib
import sys
import time

STATE = pathlib.Path(__file__).parent / "state"


def forget_old(now, window):
    for path in STATE.iterdir():
        if path.stat().st_mtime < now - window - 86400:
            path.unlink(missing_ok=True)


def admit(f, now, most, window):
    """Returns 0 and counts the call, or the seconds to wait."""
    recent = [t for t in map(float, f.read().split()) if now - window < t <= now]
    if len(recent) >= most:
        return recent[len(recent) - most] + window - now
    f.seek(0)
    f.truncate()
    f.write("\n".join(map(repr, recent + [now])))
    return 0


def main():
    event = json.load(sys.stdin.buffer)
    most, window = int(os.environ["MAX_CALLS"]), float(os.environ["PER_SECONDS"])
    whose = event.get("session_id") or event.get("agent_id") or event.get("agent_name") or ""
    STATE.mkdir(mode=0o700, exist_ok=True)
    now = time.time()
    forget_old(now, window)
    name = hashlib.sha256(str(whose).encode(errors="replace")).hexdigest()[:32]
    with open(STATE / name, "a+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        wait = admit(f, time.time(), most, window)
    if wait:
        print(f"rate-limit: more than {most} tool calls in {window:g} s; wait {wait:.0f} s, or do more with each call", file=sys.stderr)
        return 2
    return 0


try:
    sys.exit(main())
except Exception as e:  # a guard that cannot look does not allow
    print(f"rate-limit: cannot count: {type(e).__name__}: {e}", file=sys.stderr)
    sys.exit(2)
