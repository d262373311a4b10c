#!/usr/bin/env python3
"""Tells a Slack channel what a hook asks, and changes the message when that has ended."""
import json
import os
import pathlib
import re
import sys
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


def escape(text):
    """Slack's own three characters: without this, text could mention @channel."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line(text, most=300):
    text = escape(" ".join(str(text or "").replace("`", "'").split()))
    return text if len(text) <= most else text[:most] + " …"


def asks(event):
    call = f"{event.get('tool') or 'a tool'}: {event.get('subject') or ''}"
    return "\n".join([
        f"*{line(event.get('agent'))}* waits: hook {line(event.get('hook'))} asks",
        f"> {line(event.get('reason'))}",
        f"`{line(call)}`" + (f" in {line(event['cwd'])}" if event.get("cwd") else ""),
    ])


def waiting(event):
    return "\n".join([
        asks(event),
        f"until {line(event.get('until'))}, on that machine:",
        f"```{line(event.get('allow'))}\n{line(event.get('deny'))}```",
    ])


def ended(event):
    answered = event.get("answered") or {}
    by = (answered.get("from") or {}).get("user") or "a person"
    words = {
        "person": f"{answered.get('answer')} by {by}",
        "timeout": "no answer came in time",
        "restart": "hookd ended before an answer came",
        "gone": "the agent ended before an answer came",
    }.get(answered.get("by"), "it has ended")
    return asks(event) + f"\n*{line(words)}*"


def call(method, body):
    api = os.environ.get("SLACK_API") or "https://slack.com/api"
    request = urllib.request.Request(f"{api}/{method}", json.dumps(body).encode(), {
        "Content-Type": "application/json; charset=utf-8",
        "Authorization": "Bearer " + os.environ.get("SLACK_TOKEN", ""),
    })
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as e:
        sys.exit(f"ask-slack: Slack answered {e.code}")
    except (OSError, ValueError) as e:
        sys.exit(f"ask-slack: no answer from Slack: {e}")
    if not answer.get("ok"):
        sys.exit(f"ask-slack: Slack refused {method}: {answer.get('error')}")
    return answer


def main():
    event = json.load(sys.stdin.buffer)
    ask = str(event.get("id") or "")
    if not re.fullmatch(r"[0-9A-Z]{26}", ask):
        return
    if not os.environ.get("SLACK_TOKEN") or not os.environ.get("SLACK_CHANNEL"):
        sys.exit("ask-slack: set SLACK_TOKEN and SLACK_CHANNEL in HOOK.yaml")
    folder = HERE / "messages"
    message = folder / ask
    if event.get("hook_event_name") == "hookd:ask":
        sent = call("chat.postMessage", {"channel": os.environ["SLACK_CHANNEL"], "text": waiting(event)})
        folder.mkdir(mode=0o700, exist_ok=True)
        message.write_text(json.dumps({"channel": sent["channel"], "ts": sent["ts"]}))
        return
    if not message.exists():  # the ask was never told
        return
    sent = json.loads(message.read_text())
    call("chat.update", {**sent, "text": ended(event)})
    message.unlink()


main()
