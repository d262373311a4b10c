"""What programs share that tell a person what a hook asks, and take the answer.

hookd's card says all that is shown of an ask; where that does not have the whole call, there is no Allow.
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
BUTTONS = {"allow": "Allow once", "deny": "Deny"}


def line(text, most=300):
    """One line without control characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(text or "")).split())
    return text if len(text) <= most else text[:most] + " …"


def asked(event, place):
    """The title, and the lines of the card that fit a place: phone, desktop or chat."""
    title, card = f"{line(event.get('agent'))}: {line(event.get('hook'))} asks", event.get("card")
    if not card:  # it has ended
        call = line(event.get("tool") or "a tool") + ": " + line(event.get("subject"))
        return title, [call, line(event.get("reason"))]
    return title, [*card["small"][place]["lines"], *(f"{said['name']}: {said['text']}" for said in card["says"])]


def digest(event, place):
    """What an allow carries; "" where the whole call was not shown in that place."""
    card = event.get("card") or {}
    return card["digest"] if card.get("digest") and card["small"][place]["allow"] else ""


def commands(event, place):
    """What a person types."""
    return [line(event.get(name)) for name in (("allow" if digest(event, place) else "show"), "deny")]


def buttons(event, place):
    return {name: label for name, label in BUTTONS.items() if name != "allow" or digest(event, place)}


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


def answer(ask, button, door, seen):
    """Answers an ask, of which a person has seen all with a digest; returns what hookd said of it, "" where the answer
    counts."""
    command = [HOOKD, "deny-ask", ask, "--door", door]
    if button == "allow":
        command = [HOOKD, "allow-ask", ask, "--digest", seen, "--door", door]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        return line(e)
    return "" if done.returncode == 0 else line(done.stdout.decode(errors="replace")) or "hookd refused it"
