#!/usr/bin/env python3
"""Records what README shows: python3 demo/record.py BIN, where BIN has hookd and hookd-bridge.

It plays an agent that cleans up, through the real bridge, on a home that is removed, and writes
docs/page/first.cast (asciicast 2) and docs/page/first.svg. Every answer is hookd's own.
"""
import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

WIDTH, HEIGHT = 80, 24
# The agent is a process of its own: what its tree types may not undo.
AGENT = """import subprocess, sys
out = subprocess.run(["hookd-bridge", "claude-code"], input=sys.stdin.read(), text=True, capture_output=True)
sys.stdout.write(out.stdout)"""
TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Session:
    def __init__(self, binaries):
        self.home = tempfile.mkdtemp(prefix="hkrec", dir="/tmp")
        self.work = os.path.join(self.home, "src", "ledger")
        os.makedirs(self.work)
        self.env = dict(os.environ, HOME=self.home, LIBREFANG_HOME=self.home + "/.librefang", COLUMNS=str(WIDTH),
                        PATH=os.path.abspath(binaries) + ":" + os.environ["PATH"], NO_COLOR="1")
        self.calls = 0

    def run(self, *words, stdin=None, check=True):
        done = subprocess.run(words, cwd=self.work, env=self.env, input=stdin, text=True, capture_output=True)
        if check and done.returncode:
            sys.exit(f"record: {words}: {done.stderr}")
        return done.stdout

    def start(self):
        for name in (".env", "notes.txt", "draft.md"):
            with open(os.path.join(self.work, name), "w") as f:
                f.write(name)
        self.run("git", "init", "-q", ".")
        for guard in ("command-guard", "secret-guard"):
            self.run("hookd", "hook", "add", "gallery/" + guard, "--yes")
        self.daemon = subprocess.Popen(["hookd", "serve", "--fire-startup=false"], env=self.env,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if subprocess.run(["hookd", "status"], env=self.env, capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        sys.exit("record: hookd does not start")

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def bridge(self, event, line, more):
        payload = {"hook_event_name": event, "session_id": "s1", "cwd": self.work, "tool_name": "Bash",
                   "tool_use_id": f"t{self.calls}", "tool_input": {"command": line}, **more}
        out = self.run(sys.executable, "-c", AGENT, stdin=json.dumps(payload))
        return json.loads(out)["hookSpecificOutput"] if out.strip() else {}

    def call(self, line):
        """What the user of an agent sees of a call."""
        self.calls += 1
        answer = self.bridge("PreToolUse", line, {})
        decision, why = answer.get("permissionDecision"), answer.get("permissionDecisionReason", "")
        why, _, instead = why.partition("Instead:")
        why = why.split(" (rule")[0] + (". Instead:" + instead.split(". Do not")[0] if instead else "")
        if decision == "deny":
            return f"● Bash({line})\n  └ Denied by hookd: {why}\n"
        self.run("sh", "-c", line)
        self.bridge("PostToolUse", line, {"tool_response": {"stdout": "", "stderr": ""}})
        asked = f"  └ hookd asks: {why}\n  └ you said yes; done\n" if decision == "ask" else "  └ done\n"
        return f"● Bash({line})\n{asked}"


def scenes(s):
    yield 1.5, '$ claude "clean up the repo"\n'
    yield 2.5, s.call("rm -rf ~")
    yield 2.5, s.call("git clean -fdx")
    yield 1.5, "$ ls -A\n" + s.run("ls", "-A")
    call = s.run("hookd", "undo").splitlines()[1].split()[0]
    yield 3.0, f"$ hookd undo {call} --yes\n" + s.run("hookd", "undo", call, "--yes")
    yield 1.5, "$ ls -A\n" + s.run("ls", "-A")
    yield 3.0, "$ hookd log\n" + s.run("hookd", "log")


def wrapped(text):
    lines = []
    for line in text.split("\n"):
        while len(line) > WIDTH:
            lines.append(line[:WIDTH])
            line = "    " + line[WIDTH:]
        lines.append(line)
    return lines


def cast(frames, path):
    with open(path, "w") as f:
        f.write(json.dumps({"version": 2, "width": WIDTH, "height": HEIGHT, "title": "hookd"}) + "\n")
        at = 0.0
        for seconds, text in frames:
            f.write(json.dumps([round(at, 1), "o", text.replace("\n", "\r\n")]) + "\n")
            at += seconds


def svg(frames, path):
    total = sum(seconds for seconds, _ in frames)
    seen, at, groups, styles = "", 0.0, [], []
    for i, (seconds, text) in enumerate(frames):
        seen += text
        begin, end = 100 * at / total, 100 * (at + seconds) / total
        at += seconds
        if i < len(frames) - 1:  # the last one is the still
            styles.append(f"#f{i}{{opacity:0;animation:k{i} {total}s step-end infinite}}"
                          f"@keyframes k{i}{{0%{{opacity:0}}{begin:.2f}%{{opacity:1}}{end:.2f}%{{opacity:0}}}}")
        else:
            styles.append(f"#f{i}{{animation:k{i} {total}s step-end infinite}}"
                          f"@keyframes k{i}{{0%{{opacity:0}}{begin:.2f}%{{opacity:1}}100%{{opacity:1}}}}")
        rows = wrapped(seen.rstrip("\n"))[-HEIGHT:]
        spans = "".join(
            f'<text x="16" y="{36 + 18 * n}"{" class=" + chr(34) + "bad" + chr(34) if "Denied" in row else ""}'
            f'{" class=" + chr(34) + "cmd" + chr(34) if row.startswith("$") else ""}>{html.escape(row)}</text>'
            for n, row in enumerate(rows))
        groups.append(f'<g id="f{i}">{spans}</g>')
    alt = ("An agent cleans up. hookd denies rm -rf ~, asks before git clean, and hookd undo brings the files back.")
    with open(path, "w") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{48 + 18 * HEIGHT}" role="img" '
                f'aria-label="{alt}">'
                f"<title>{alt}</title><style>rect{{fill:#16181d}}text{{font:14px ui-monospace,Menlo,Consolas,monospace;"
                f"fill:#d7dae0;white-space:pre}}.bad{{fill:#ff7b72}}.cmd{{fill:#79c0ff}}{''.join(styles)}</style>"
                f'<rect width="100%" height="100%" rx="8"/>{"".join(groups)}</svg>\n')


def main():
    session = Session(sys.argv[1] if len(sys.argv) > 1 else os.path.join(TREE, "bin"))
    session.start()
    try:
        frames = [(seconds, text.replace(session.home, "~")) for seconds, text in scenes(session)]
    finally:
        session.stop()
    cast(frames, os.path.join(TREE, "docs/page/first.cast"))
    svg(frames, os.path.join(TREE, "docs/page/first.svg"))


main()
