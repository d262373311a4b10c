#!/usr/bin/env python3
"""Posts a line to Slack when an agent has finished."""
import json
import os
import sys
import urllib.error
import urllib.request


def escape(text):
    """Slack's own three characters: without this, text could mention @channel."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def describe(event):
    who = event.get("agent_name") or "agent " + str(event.get("agent_id"))[:8]
    parts = [f"*{escape(who)}* finished: {escape(event.get('status') or 'ok')}"]
    if event.get("duration_ms") is not None:
        parts.append(f"{float(event['duration_ms']) / 1000:.1f} s")
    if event.get("tokens_used") is not None:
        parts.append(f"{event['tokens_used']} tokens")
    if event.get("cwd"):
        parts.append("in " + escape(os.path.basename(event["cwd"].rstrip("/"))))
    text = ", ".join(parts)
    preview = event.get("response_preview")
    return text + (f"\n> {escape(' '.join(str(preview).split()))}" if preview else "")


def main():
    event = json.load(sys.stdin.buffer)
    took = event.get("duration_ms")
    if took is not None and (not took or float(took) < 1000 * float(os.environ.get("MIN_SECONDS") or 0)):
        return
    url = os.environ.get("SLACK_WEBHOOK_URL", "")
    if not url:
        sys.exit("slack-notify: set SLACK_WEBHOOK_URL in HOOK.yaml")
    body = json.dumps({"text": describe(event)}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10):
            pass
    except urllib.error.HTTPError as e:  # the URL is a secret: it is not printed
        sys.exit(f"slack-notify: Slack answered {e.code}: {e.read(200)!r}")
    except OSError as e:
        sys.exit(f"slack-notify: no answer from Slack: {e}")


main()
