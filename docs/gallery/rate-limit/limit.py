#!/usr/bin/env python3
"""Denies tool calls beyond MAX_CALLS in PER_SECONDS of one session.

Calls come side by side, so the times of a session's calls are kept in a file
of its own, under a lock. Denied calls are not counted. It has no opinion on
past calls (hookd whatif), which do not come in the order of their times.
"""
import fcntl
import hashlib
import os
import pathlib
import sys
import time

sys.dont_write_bytecode = True
import serve  # noqa: E402

STATE = pathlib.Path(__file__).parent / "state"
FORGET_EVERY = 60
_forgotten = [0.0]


def forget_old(now, window):
    if now < _forgotten[0] + FORGET_EVERY:
        return
    _forgotten[0] = now
    for path in STATE.iterdir():
        if path.stat().st_mtime < now - window - 86400:
            path.unlink(missing_ok=True)


def wait(times, now, most, window):
    """The recent times with this call in them, and 0; or the recent times and the seconds to wait."""
    recent = [t for t in times if now - window < t <= now]
    if len(recent) >= most:
        return recent, recent[len(recent) - most] + window - now
    return recent + [now], 0


def counted(whose, most, window):
    STATE.mkdir(mode=0o700, exist_ok=True)
    forget_old(time.time(), window)
    name = hashlib.sha256(whose.encode(errors="replace")).hexdigest()[:32]
    with open(STATE / name, "a+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        recent, seconds = wait(map(float, f.read().split()), time.time(), most, window)
        if not seconds:
            f.seek(0)
            f.truncate()
            f.write("\n".join(map(repr, recent)))
    return seconds


def judge(event):
    most, window = int(os.environ["MAX_CALLS"]), float(os.environ["PER_SECONDS"])
    whose = str(event.get("session_id") or event.get("agent_id") or event.get("agent_name") or "")
    if os.environ.get("HOOKD_WHATIF"):
        return None
    seconds = counted(whose, most, window)
    if seconds:
        return serve.deny(f"rate-limit: more than {most} tool calls in {window:g} s; wait {seconds:.0f} s, "
                          "or do more with each call")
    return None


serve.run("rate-limit", judge)
