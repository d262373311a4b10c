"""What programs share that tell a person what a hook asks, and take the answer.

An answer from a run of a hook does not count. So a run only tells what is asked, and a person starts the program that
takes answers, `./ask.py serve`, once: in a terminal, or as a service of their own.
"""
import fcntl
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
HOME = next((p.parent for p in HERE.parents if p.name in ("hooks", "packs")), None)  # hookd's, which the folder is in
if HOME is None:
    HOME = pathlib.Path(os.environ.get("LIBREFANG_HOME") or "~/.librefang").expanduser()
HOOKD = os.environ.get("HOOKD") or "hookd"
SERVE = f"type `{HERE}/ask.py serve` in a terminal, or `systemctl --user enable --now {HERE}/{HERE.name}.service`"
BUTTONS = {"allow": "Allow", "session": "Allow for this session", "deny": "Deny"}


def line(text, most=300):
    """One line without control characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(text or "")).split())
    return text if len(text) <= most else text[:most] + " …"


def asked(event):
    """The title and the lines that tell what is asked."""
    call = line(event.get("tool") or "a tool") + ": " + line(event.get("subject"))
    where = [f"in {line(event['cwd'])}"] if event.get("cwd") else []
    return f"{line(event.get('agent'))}: {line(event.get('hook'))} asks", [call, line(event.get("reason")), *where]


def ended(event):
    """How an ask has ended, in words."""
    answered = event.get("answered") or {}
    by = line((answered.get("from") or {}).get("user") or "a person")
    return {
        "person": f"{line(answered.get('answer'))} by {by}",
        "timeout": "no answer came in time",
        "restart": "hookd ended before an answer came",
        "gone": "the agent ended before an answer came",
    }.get(answered.get("by"), "it has ended")


def lock():
    """Takes the place of the one program that takes answers; False where another one has it."""
    global _lock
    _lock = open(HOME / f"{HERE.name}.lock", "a")
    try:
        fcntl.flock(_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def serving():
    """Whether a program takes answers."""
    with open(HOME / f"{HERE.name}.lock", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def answer(ask, button, door):
    """Answers an ask; returns what hookd said of it, "" where the answer counts."""
    command = [HOOKD, "deny-ask" if button == "deny" else "allow-ask", ask, "--door", door]
    if button == "session":
        command += ["--for", "session"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        return line(e)
    return "" if done.returncode == 0 else line(done.stdout.decode(errors="replace")) or "hookd refused it"
