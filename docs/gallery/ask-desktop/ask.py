#!/usr/bin/env python3
"""Shows what a hook asks on the desktop, by notify-send or macOS's own means.

    ./ask.py          a run of the hook: shows what is asked, and the command to type
    ./ask.py serve    started by a person: shows it with buttons, and answers
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import asks  # noqa: E402

SHOWN = asks.HOME / "ask-desktop"  # ids of notifications that runs have shown
SCRIPT = "on run argv\n%s\nend run"
DIALOG = SCRIPT % ('return button returned of (display dialog (item 2 of argv) with title (item 1 of argv) '
                   'buttons {%s, "Later"} default button "Later")')
NOTE = SCRIPT % "display notification (item 2 of argv) with title (item 1 of argv)"


def describe(event):
    title, lines = asks.asked(event, "desktop")
    if show_call() != "yes":
        lines = [asks.line(event.get("cwd"))]
    return title, lines


def buttons(event):
    """Without the whole call there is no Allow."""
    return asks.buttons(event, "desktop") if show_call() == "yes" else {"deny": asks.BUTTONS["deny"]}


def show_call():
    """The setting of HOOK.yaml, which a program that a person starts is not given."""
    found = re.search(r"^  SHOW_CALL: *[\"']?(\w*)", (asks.HERE / "HOOK.yaml").read_text(), re.M)
    return os.environ.get("SHOW_CALL") or (found[1] if found else "no")


def notify(title, lines, *options):
    """The command that shows a notification: its body may hold markup."""
    body = "\n".join(lines)
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        body = body.replace(char, name)
    return ["notify-send", "--app-name=hookd", "--urgency=critical", *options, "--", title, body]


class Shown:
    """One ask on the desktop, until it has ended."""

    def __init__(self, ask):
        self.ask, self.id = ask, ""
        title, lines = describe(ask)
        if shutil.which("osascript"):
            labels = ", ".join(f'"{label}"' for label in reversed(buttons(ask).values()))
            command = ["osascript", "-e", DIALOG % labels, title, "\n".join(lines)]
        else:
            actions = [f"--action={name}={label}" for name, label in buttons(ask).items()]
            command = notify(title, lines, "--print-id", "--wait", *actions)
        self.output, output = os.openpty()  # into a pipe notify-send would write at its end
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)
        os.close(output)
        threading.Thread(target=self.wait, daemon=True).start()

    def wait(self):
        """Reads the number of the notification, then which button was pressed."""
        with open(self.output, errors="replace") as output:
            try:
                for text in output:
                    word = text.strip().lower().removesuffix(" once")
                    if word.isdigit():
                        self.id = word
                    elif word in buttons(self.ask):
                        self.press(word)
            except OSError:  # how the end of a terminal reads
                pass
        self.process.wait()

    def press(self, button):
        bad = asks.answer(self.ask["id"], button, "desktop", asks.digest(self.ask, "desktop"))
        if bad:
            print(f"ask-desktop: {bad}", file=sys.stderr, flush=True)
            tell("The answer does not count", [bad])

    def end(self, event):
        """Says in its place how the ask has ended, or withdraws it."""
        if self.process.poll() is not None:  # the notification is gone
            return
        if self.id:
            tell(asks.ended(event), describe(event)[1], f"--replace-id={self.id}", "--expire-time=5000")
            self.process.terminate()
        else:
            self.process.send_signal(signal.SIGINT)


def tell(title, lines, *options):
    """Shows a notification without buttons; returns what the program printed, None where it failed."""
    if shutil.which("osascript"):
        command = ["osascript", "-e", NOTE, title, "\n".join(lines)]
    else:
        command = notify(title, lines, *options)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=20, check=True,
                              text=True)
    except (OSError, subprocess.SubprocessError) as e:
        print(f"ask-desktop: the desktop shows no notification: {asks.line(e)}", file=sys.stderr, flush=True)
        return None
    return done.stdout.strip()


def serve():
    """Follows what is asked, for as long as it runs, also across restarts of hookd."""
    if not asks.lock():
        sys.exit("ask-desktop: another one runs")
    said = False  # that hookd does not answer
    while True:
        shown = {}
        follow = subprocess.Popen([asks.HOOKD, "asks", "-f", "-o", "json", "--answers"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if said else None)
        try:
            for text in follow.stdout:
                said = False
                record = json.loads(text)
                if record["type"] == "open":  # all that wait follow
                    withdraw(shown)
                elif record["type"] == "ask":
                    shown[record["id"]] = Shown(record)
                elif record["id"] in shown:
                    shown.pop(record["id"]).end(record)
        finally:
            follow.terminate()  # while it follows, hookd takes it for an approver
            follow.wait()
            withdraw(shown)
        said = True
        time.sleep(2)


def withdraw(shown):
    for left in shown.values():
        left.end(left.ask)
    shown.clear()


def run():
    """A run of the hook. Where a program serves, that one shows it."""
    event = json.load(sys.stdin.buffer)
    ask = str(event.get("id") or "")
    if not re.fullmatch(r"[0-9A-Z]{26}", ask):
        return
    need_tool()
    note = SHOWN / ask
    if event.get("hook_event_name") == "hookd:ask":
        if asks.serving():
            return
        print(f"ask-desktop: shown without buttons; for those {asks.SERVE}", file=sys.stderr)
        title, lines = describe(event)
        commands = asks.commands(event, "desktop") if "allow" in buttons(event) else [asks.line(event.get("show"))]
        number = tell(title, [*lines, *commands], "--print-id")
        if number is None:
            sys.exit(1)
        SHOWN.mkdir(mode=0o700, exist_ok=True)
        note.write_text(number)
    elif note.exists():
        number = note.read_text()
        note.unlink()
        tell(asks.ended(event), describe(event)[1], *([f"--replace-id={number}"] if number.isdigit() else []),
             "--expire-time=5000")


def need_tool():
    if not shutil.which("osascript") and not shutil.which("notify-send"):
        sys.exit("ask-desktop: install notify-send (libnotify-bin or libnotify)")


def main():
    bus = f"/run/user/{os.getuid()}/bus"  # what a service may not have been told
    if "DBUS_SESSION_BUS_ADDRESS" not in os.environ and os.path.exists(bus):
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + bus
    if sys.argv[1:] == ["serve"]:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        need_tool()
        serve()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        run()


try:
    main()
except KeyboardInterrupt:
    pass
