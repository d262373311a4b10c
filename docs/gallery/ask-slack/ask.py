#!/usr/bin/env python3
"""Tells a Slack channel what a hook asks, and changes the message when that has ended."""
import json
import os
import pathlib
import re
import sys
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import asks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def message(event):
    """A message as Slack's blocks: what stands in them is text, never markup."""
    title, lines = asks.asked(event, "chat")
    if event.get("card"):
        lines += [f"until {asks.line(event.get('until'))}, on that machine:", *asks.commands(event, "chat")]
    else:
        lines.append(asks.ended(event))
    text = [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "\n".join(lines)}]}]
    heading = {"type": "rich_text_section", "elements": [{"type": "text", "text": title, "style": {"bold": True}}]}
    return {"text": "hookd: a hook asks", "blocks": [{"type": "rich_text", "elements": [heading, *text]}]}


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
    note = folder / ask
    if event.get("hook_event_name") == "hookd:ask":
        sent = call("chat.postMessage", {"channel": os.environ["SLACK_CHANNEL"], **message(event)})
        folder.mkdir(mode=0o700, exist_ok=True)
        note.write_text(json.dumps({"channel": sent["channel"], "ts": sent["ts"]}))
        return
    if not note.exists():  # the ask was never told
        return
    sent = json.loads(note.read_text())
    call("chat.update", {**sent, **message(event)})
    note.unlink()


main()
