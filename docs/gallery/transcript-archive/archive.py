#!/usr/bin/env python3
"""Keeps the transcripts of sessions: ARCHIVE/2026-01-31/SESSION.jsonl[.gz]."""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys

ARCHIVE = pathlib.Path(os.environ.get("ARCHIVE") or pathlib.Path(__file__).parent / "archive").expanduser()


def file_name(session):
    """The session's id as a file name. What cannot be one gets a hash, so that no two are mixed up."""
    session = str(session or "unknown")
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}", session):
        return session
    digest = hashlib.sha256(session.encode(errors="replace")).hexdigest()[:12]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", session)[:60].strip("-") + "-" + digest


def copy(path, to):
    """Copies whole or not at all: the copy of the last stop is replaced."""
    part = to.with_name(to.name + ".part")
    with open(path, "rb") as source, gzip.open(part, "wb") as out:
        shutil.copyfileobj(source, out)
    os.replace(part, to)


def lines(event):
    said = {"user_prompt_submit": ("user", event.get("prompt")), "stop": ("agent", event.get("stop_response"))}
    role, text = said.get(event["hook_event_name"], (None, None))
    if text:
        yield {"time": event["timestamp"], "role": role, "agent": event.get("agent_name") or event.get("agent_id"),
               "text": text}


def main():
    os.umask(0o077)
    event = json.load(sys.stdin.buffer)
    name = file_name(event.get("session_id"))
    # A session that goes on after midnight stays in the folder of the day it began.
    known = sorted(ARCHIVE.glob(f"????-??-??/{name}.jsonl*"))
    folder = known[0].parent if known else ARCHIVE / event["timestamp"][:10]
    transcript = event.get("transcript_path")
    if isinstance(transcript, str) and transcript.endswith((".jsonl", ".json")) and os.path.isfile(transcript):
        if event["hook_event_name"] != "user_prompt_submit":
            folder.mkdir(parents=True, exist_ok=True)
            copy(transcript, folder / (name + ".jsonl.gz"))
        return
    for line in lines(event):
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / (name + ".jsonl"), "a") as f:
            f.write(json.dumps(line) + "\n")


main()
