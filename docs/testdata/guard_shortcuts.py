"""Compares each guard with itself without its short cuts, on the calls that stdin has, one JSON text a line.

    guard_shortcuts.py FOLDER NAME HOME

FOLDER holds the guard NAME. Prints each call that the two judge differently, and at the end how many were denied.
"""
import json
import os
import re
import sys

folder, name, home = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(folder, name))
import guard  # noqa: E402
import shell  # noqa: E402

NEVER = re.compile("(?!)")
event = {"hook_event_name": "PreToolUse", "cwd": os.path.join(home, "project")}


def judged(line, tool):
    call = {"command": line} if tool == "Bash" else {"file_path": line}
    try:
        answer = guard.judge(dict(event, tool_name=tool, tool_input=call))
    except ValueError as e:
        answer = str(e)
    return json.dumps(answer)


class Always:
    """Follows links by the library alone, and remembers nothing."""

    passed = ()

    def passes(self, word):
        pass

    def real(self, path):
        return os.path.realpath(path), True


def without_shortcuts():
    """Takes the short cuts out: each rule is held against each path, each text and each link by itself."""
    shell.WHOLE_WORD = NEVER
    shell.SIMPLE_START = shell.WHOLE_WORDS = NEVER
    shell.familiar, shell.HAS_LINES = lambda name: True, All()
    shell._kept = Forgets()
    if name == "command-guard":
        book = guard.rules.load(name)
        for glob in (g for rule in book.rules for words in rule.commands for g in words):
            glob.plain = False
        book.said = Forgets()
        type(book).likely = lambda self, call: [(r, [p for p in r.commands if p[0].fits(call.alike()[0])])
                                                for r, _ in self.about(call, call.alike()[0])]
        return
    guard.files.links = Always
    if name == "secret-guard":
        book = guard.rules.load(name)
        book.read, book.known, book.sampled = Forgets(), Forgets(), Forgets()
        type(book).path = lambda self, path, home: next((r for r in self.strict if r.fits(path, home)), None)
        type(book).likely = lambda self, text: [r for r in self.tokens if r.possible(text.lower())]
    else:
        found = guard.load()
        type(found).path = lambda self, path, home: next(
            (r for r in self.all if r.fits(path, home) or r.name == "hookd" and path in self.own), None)


class All:
    def __contains__(self, name):
        return True


class Forgets(dict):
    def __contains__(self, key):
        return False


texts = [json.loads(line) for line in sys.stdin]
tools = ["Bash"] if name == "command-guard" else ["Bash", "Write"]
first = [[judged(text, tool) for tool in tools] for text in texts]
without_shortcuts()
denied = 0
for text, answers in zip(texts, first):
    for tool, answer in zip(tools, answers):
        denied += '"block"' in answer
        slow = judged(text, tool)
        if slow != answer:
            print("%s %r: %s, without short cuts %s" % (tool, text, answer, slow))
print(denied)
