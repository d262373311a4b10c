#!/usr/bin/env python3
"""Shows a notification on the desktop, by notify-send or macOS's own means.

Arguments of a program can be seen by every user of the machine, so nothing of
what the agent said is shown: only who, where, how, and how long.
"""
import json
import os
import shutil
import subprocess
import sys

APPLESCRIPT = ["-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e",
               "end run"]


def plain(text):
    """One line without control characters, as an argument may be."""
    return "".join(c if c.isprintable() else " " for c in str(text))[:120]


def describe(event):
    who = plain(event.get("agent_name") or "Agent")
    where = plain(os.path.basename((event.get("cwd") or "").rstrip("/")))
    took = event.get("duration_ms")
    if event.get("hook_event_name") == "notification":
        title, facts = f"{who} wants you", []
    else:
        title, facts = f"{who} finished", [plain(event.get("status") or "ok")]
        if took is not None:
            facts.append(f"{float(took) / 1000:.0f} s")
    return title, ", ".join(facts + ([f"in {where}"] if where else []))


def show(title, body):
    if sys.platform == "darwin":
        return ["osascript", *APPLESCRIPT, title, body]
    if not shutil.which("notify-send"):
        sys.exit("desktop-notify: install notify-send (libnotify-bin or libnotify)")
    # The body may hold markup.
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        body = body.replace(char, name)
    return ["notify-send", "--app-name=hookd", "--", title, body]


def main():
    event = json.load(sys.stdin.buffer)
    took = event.get("duration_ms")
    if took is not None and float(took) < 1000 * float(os.environ.get("MIN_SECONDS") or 0):
        return
    bus = f"/run/user/{os.getuid()}/bus"  # what a service may not have been told
    if "DBUS_SESSION_BUS_ADDRESS" not in os.environ and os.path.exists(bus):
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + bus
    sys.exit(subprocess.run(show(*describe(event)), check=False).returncode)


main()
