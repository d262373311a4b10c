#!/usr/bin/env python3
"""Pushes what a hook asks to a phone through an ntfy server, and says in its place how it has ended.

    ./ask.py          a run of the hook: tells what is asked, and how it has ended
    ./ask.py serve    started by a person: receives the buttons, and answers
"""
import hashlib
import hmac
import http.server
import json
import os
import re
import secrets
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import asks  # noqa: E402

KEY = asks.HOME / "ask-ntfy.key"
WAIT = 90  # seconds; ntfy says every 45 that it is there
MOST = 300  # bytes of an answer


def settings():
    """What HOOK.yaml says under env; a program that a person starts is not given it."""
    text = (asks.HERE / "HOOK.yaml").read_text()
    found = {}
    for key, value in re.findall(r"^  ([A-Z_]+): *(\S.*)?$", text, re.M):
        value = os.path.expandvars((value or "").replace("${env.", "${")).strip()
        found[key] = os.environ.get(key) or (json.loads(value) if value[:1] == '"' else value.strip("'"))
    if not re.fullmatch(r"[-_A-Za-z0-9]{1,56}", found["NTFY_TOPIC"]):
        sys.exit("ask-ntfy: set NTFY_TOPIC in HOOK.yaml: letters, digits, - and _, at most 56")
    found["ANSWERS"] = found["NTFY_URL"].rstrip("/") + "/" + found["NTFY_TOPIC"] + "-answers"
    return found


def key():
    """The secret that makes buttons ours. Runs and the receiver share it."""
    try:
        with open(os.open(KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
    except FileExistsError:
        pass
    text = KEY.read_text()
    if len(text) != 64:
        sys.exit(f"ask-ntfy: {KEY} is no key: remove it")
    return text.encode()


def ticket(ask, button, seen):
    """What a button sends: with Allow also the digest of what the phone shows."""
    text = f"{ask}.{button}.{seen}"
    return text + "." + hmac.new(key(), text.encode(), hashlib.sha256).hexdigest()


def answer(text):
    """Answers by what a button has sent; returns a status and what to say."""
    found = re.fullmatch(r"([0-9A-Z]{26})\.(allow|deny)\.([0-9a-f]*)\.[0-9a-f]{64}", text)
    if not found or not hmac.compare_digest(ticket(found[1], found[2], found[3]), text):
        return 403, "this is no button of this hookd"
    bad = asks.answer(found[1], found[2], "ntfy", found[3])
    print(f"ask-ntfy: {found[2]} {found[1]}: {bad or 'answered'}", flush=True)
    if bad:
        refused(found[1], found[2], bad)
    return (409, bad) if bad else (200, asks.BUTTONS[found[2]])


def refused(ask, button, why):
    """Tells the phone that a button did not count: its press looks as if it had. The message about the ask stays."""
    try:
        push(f"{ask}-{button}", "The answer does not count", [f"{asks.BUTTONS[button]}: {why}"], 4, [])
    except SystemExit as e:  # the receiver goes on
        print(e, file=sys.stderr, flush=True)


def call(request, wait=15):
    token = settings()["NTFY_TOKEN"]
    if token:
        request.add_header("Authorization", "Bearer " + token)
    return urllib.request.urlopen(request, timeout=wait)


def push(ask, title, lines, priority, actions):
    """Publishes a message; one about the same ask takes the place of that before."""
    to = settings()
    body = {"topic": to["NTFY_TOPIC"], "sequence_id": ask, "title": title, "message": "\n".join(lines),
            "priority": priority, "actions": actions}
    request = urllib.request.Request(to["NTFY_URL"], json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with call(request):
            pass
    except urllib.error.HTTPError as e:
        sys.exit(f"ask-ntfy: the server answered {e.code}")
    except (OSError, ValueError) as e:
        sys.exit(f"ask-ntfy: no answer from the server: {e}")


def buttons(event):
    to = settings()
    url = to["RECEIVER_URL"] or to["ANSWERS"]
    headers = {"Authorization": "Bearer " + to["NTFY_TOKEN"]} if to["NTFY_TOKEN"] and not to["RECEIVER_URL"] else {}
    return [{"action": "http", "label": label, "url": url, "method": "POST", "headers": headers, "clear": False,
             "body": ticket(event["id"], name, asks.digest(event, "phone"))}
            for name, label in asks.buttons(event, "phone").items()]


def run():
    """A run of the hook."""
    event = json.load(sys.stdin.buffer)
    ask = str(event.get("id") or "")
    if not re.fullmatch(r"[0-9A-Z]{26}", ask):
        return
    title, lines = asks.asked(event, "phone")
    if event.get("hook_event_name") != "hookd:ask":
        push(ask, asks.ended(event), lines, 2, [])
    elif asks.serving():
        push(ask, title, lines, 5, buttons(event))
    else:
        print(f"ask-ntfy: told without buttons; for those {asks.SERVE}", file=sys.stderr)
        push(ask, title, [*lines, *asks.commands(event, "phone")], 5, [])


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 10  # seconds, for a whole request

    def do_POST(self):
        size = self.headers.get("Content-Length", "")
        known = size.isdigit() and int(size) <= MOST
        status, text = answer(self.rfile.read(int(size)).decode(errors="replace")) if known else (400, "no button")
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", "*")  # for ntfy's page in a browser
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def serve():
    to = settings()
    if not asks.lock():
        sys.exit("ask-ntfy: another one runs")
    key()
    if to["RECEIVER_URL"]:
        host, _, port = to["RECEIVER_LISTEN"].rpartition(":")
        print(f"ask-ntfy: listens on {to['RECEIVER_LISTEN']}", flush=True)
        http.server.ThreadingHTTPServer((host, int(port)), Receiver).serve_forever()
    since = str(int(time.time()))
    while True:
        try:
            with call(urllib.request.Request(to["ANSWERS"] + "/json?since=" + since), WAIT) as stream:
                for text in stream:
                    message = json.loads(text)
                    if message.get("event") == "open":
                        print(f"ask-ntfy: waits for answers on {to['NTFY_URL']}", flush=True)
                    elif message.get("event") == "message":
                        since = str(message.get("id") or since)
                        answer(str(message.get("message"))[:MOST])
        except (OSError, ValueError) as e:
            print(f"ask-ntfy: {asks.line(e)}", file=sys.stderr, flush=True)
        time.sleep(2)


def main():
    if sys.argv[1:] == ["serve"]:
        serve()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        run()


try:
    main()
except KeyboardInterrupt:
    pass
