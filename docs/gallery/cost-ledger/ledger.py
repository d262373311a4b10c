#!/usr/bin/env python3
"""Adds what agents use to a CSV file: one line for each model call or run.

    python3 ledger.py            prints the sums by month and model
"""
import csv
import hashlib
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
LEDGER = pathlib.Path(os.environ.get("LEDGER") or HERE / "ledger.csv").expanduser()
COLUMNS = ["time", "agent", "session", "model", "input", "output", "cache_read", "cache_write", "total", "usd"]


def price(row):
    """USD by prices.csv, or "" for a model that is not in it."""
    with open(HERE / "prices.csv", newline="") as f:
        lines = list(csv.DictReader(line for line in f if not line.startswith("#")))
    fits = [line for line in lines if row["model"].startswith(line["model"])]
    if not fits:
        return ""
    best = max(fits, key=lambda line: len(line["model"]))
    usd = sum(float(best[kind] or 0) * (row[kind] or 0) for kind in ("input", "output", "cache_read", "cache_write"))
    return f"{usd / 1e6:.6f}"


def of_call(event):
    """docker-agent's after_llm_call: its own price is the right one."""
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return []
    row = {"model": str(event.get("model_id") or "").split("/")[-1],
           "input": usage.get("input_tokens", 0), "output": usage.get("output_tokens", 0),
           "cache_read": usage.get("cached_input_tokens", 0), "cache_write": usage.get("cached_write_tokens", 0)}
    row["usd"] = event["cost"] if event.get("cost") is not None else price(row)
    return [row]


def of_transcript(event):
    """Claude Code's transcript: the messages that came since the last stop."""
    path = event.get("transcript_path")
    if not isinstance(path, str) or not os.path.isfile(path):
        return []
    seen_file = HERE / "state" / hashlib.sha256(path.encode(errors="replace")).hexdigest()[:32]
    seen_file.parent.mkdir(mode=0o700, exist_ok=True)
    start = int(seen_file.read_text()) if seen_file.exists() else 0
    messages = {}  # a message is written several times while it grows: the last counts
    if start > os.path.getsize(path):
        start = 0  # another file of that name
    with open(path, "rb") as f:
        f.seek(start)
        for line in f:
            if not line.endswith(b"\n"):
                break  # still being written
            start += len(line)
            message = entry(line)
            if message:
                messages[message.get("id") or len(messages)] = message
    seen_file.write_text(str(start))
    return [of_message(m) for m in messages.values()]


def entry(line):
    try:
        message = json.loads(line).get("message")
    except (ValueError, AttributeError):
        return None
    return message if isinstance(message, dict) and isinstance(message.get("usage"), dict) else None


def of_message(message):
    usage = message["usage"]
    row = {"model": str(message.get("model") or ""),
           "input": usage.get("input_tokens") or 0, "output": usage.get("output_tokens") or 0,
           "cache_read": usage.get("cache_read_input_tokens") or 0,
           "cache_write": usage.get("cache_creation_input_tokens") or 0}
    row["usd"] = price(row)
    return row


def of_run(event):
    """LibreFang's agent:end: tokens, and nothing to tell a price by."""
    return [{"model": "", "total": event["tokens_used"], "usd": ""}] if event.get("tokens_used") is not None else []


def cell(value):
    """A cell that a spreadsheet does not take for a formula."""
    text = " ".join(str(value).split())
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def add(event, rows):
    LEDGER.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(LEDGER, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", newline="", encoding="utf-8",
              errors="replace") as f:
        out = csv.DictWriter(f, COLUMNS, restval="", lineterminator="\n")
        if f.tell() == 0:
            out.writeheader()
        for row in rows:
            if "total" not in row:
                row["total"] = sum(row[kind] or 0 for kind in ("input", "output", "cache_read", "cache_write"))
            row.update(time=event["timestamp"], agent=cell(event.get("agent_name") or event.get("agent_id") or ""),
                       session=cell(event.get("session_id") or ""), model=cell(row["model"]))
            out.writerow(row)


def report():
    sums = {}
    with open(LEDGER, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            tokens, usd = sums.get((row["time"][:7], row["model"]), (0, 0.0))
            sums[row["time"][:7], row["model"]] = tokens + int(row["total"] or 0), usd + float(row["usd"] or 0)
    for (month, model), (tokens, usd) in sorted(sums.items()):
        print(f"{month}  {model or '(unknown)':30}  {tokens:12,} tokens  {usd:10.2f} USD")


def main():
    if "HOOK_EVENT" not in os.environ:
        return report()
    event = json.load(sys.stdin.buffer)
    read = {"after_llm_call": of_call, "Stop": of_transcript, "agent:end": of_run}
    rows = read[event["hook_event_name"]](event)
    if rows:
        add(event, rows)


main()
