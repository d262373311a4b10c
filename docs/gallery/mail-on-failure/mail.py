#!/usr/bin/env python3
"""Sends a mail when an agent ended with a failure."""
import email.message
import email.utils
import json
import os
import pathlib
import smtplib
import ssl
import sys
import time

STATE = pathlib.Path(__file__).parent / "state"
LOCAL = ("localhost", "127.0.0.1", "::1")


def setting(name):
    return os.environ.get(name, "")


def plain(value, most):
    """One line: a subject with a line break would be a header that an agent chooses."""
    return "".join(c if c.isprintable() else " " for c in str(value))[:most].strip()


def failure(event):
    """What went wrong, or "" when nothing did."""
    if event["hook_event_name"] == "on_error":
        return event.get("notification_message") or event.get("error_message") or "an error"
    status = event.get("status") or "ok"
    return "" if status == "ok" else f"the run ended with status {status}"


def letter(event, what, left_out):
    who = plain(event.get("agent_name") or event.get("agent_id") or "an agent", 60)
    mail = email.message.EmailMessage()
    mail["From"], mail["To"] = setting("MAIL_FROM"), setting("MAIL_TO")
    mail["Subject"] = plain(f"[hookd] {who}: {what}", 120)
    mail["Date"] = email.utils.localtime()
    mail["Message-ID"] = email.utils.make_msgid(domain="hookd.invalid")
    lines = [str(what), ""]
    for key in ("timestamp", "agent_name", "agent_id", "session_id", "cwd", "response_preview", "event_id"):
        if event.get(key):
            lines.append(f"{key}: {plain(event[key], 300)}")
    if left_out:
        lines += ["", f"{left_out} more since the last mail: hookd log runs"]
    mail.set_content("\n".join(lines).encode(errors="replace").decode(), cte="quoted-printable")
    return mail


def send(mail):
    host, port, how = setting("SMTP_HOST"), int(setting("SMTP_PORT")), setting("SMTP_SECURITY")
    user = setting("SMTP_USER")
    if user and how == "plain" and host not in LOCAL:
        sys.exit("mail-on-failure: a password over a plain connection: set SMTP_SECURITY to starttls or tls")
    trust = ssl.create_default_context()
    server = smtplib.SMTP_SSL(host, port, timeout=30,
                              context=trust) if how == "tls" else smtplib.SMTP(host, port, timeout=30)
    with server:
        if how == "starttls":
            server.starttls(context=trust)
        if user:
            server.login(user, pathlib.Path(setting("SMTP_PASSWORD_FILE")).expanduser().read_text().rstrip("\n"))
        server.send_message(mail)


def main():
    event = json.load(sys.stdin.buffer)
    what = failure(event)
    if not what:
        return
    if not setting("MAIL_TO"):
        sys.exit("mail-on-failure: set MAIL_TO in HOOK.yaml")
    last, left_out = map(float, STATE.read_text().split()) if STATE.exists() else (0, 0)
    if last <= time.time() < last + float(setting("MAIL_EVERY") or 0):
        STATE.write_text(f"{last} {left_out + 1}")
        return
    try:
        send(letter(event, what, int(left_out)))
    except (OSError, smtplib.SMTPException) as e:
        sys.exit(f"mail-on-failure: cannot send: {type(e).__name__}: {e}")
    STATE.write_text(f"{time.time()} 0")


main()
