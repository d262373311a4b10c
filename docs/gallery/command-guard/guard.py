#!/usr/bin/env python3
"""Judges shell commands by rules in data files: rules/*.ini here, and your own.

    ./guard.py --test                 runs the examples of every rule
    ./guard.py --why 'git push -f'    says which rules fit a line

A seat belt, not a sandbox: what a program does once it runs is not seen.
"""
import functools
import os
import sys

sys.dont_write_bytecode = True
import rules  # noqa: E402
import serve  # noqa: E402
import shell  # noqa: E402

NAME = "command-guard"
STRENGTH = {"ask": 1, "deny": 2}
UNREADABLE = ("UNREADABLE", "ask", tuple(STRENGTH))


class Finding:
    def __init__(self, action, reason, rule, part):
        self.action, self.reason, self.rule, self.part = action, reason, rule, part

    def __str__(self):
        return "%s: %s (%s), in: %s" % (NAME, self.reason, "rule " + self.rule.name if self.rule else "not readable",
                                        self.part)


def findings(line, cwd, book, unreadable, home=""):
    """All that the rules say of a line."""
    script = shell.read(line, cwd, home)
    found, seen = [], set()
    for command in script.commands:
        for rule, fits in book.judge(command):
            action = rule.action if fits == rules.SURE else "ask"
            reason = rule.reason if fits == rules.SURE else rule.reason + ", perhaps: a part of it is computed"
            key = (rule.name, fits, str(command))
            if action in STRENGTH and key not in seen:
                seen.add(key)
                found.append(Finding(action, reason, rule, shell.shorten(" ".join(command.texts) or line)))
        found += perhaps(command, book, home)
    for doubt in script.unclear:
        if not (doubt.sources and all(book.trusted(c) for c in doubt.sources)):
            found.append(Finding(unreadable, doubt.why, None, doubt.part))
    return found


def perhaps(command, book, home):
    """What is denied of the lines that a program which is not known may run: it is asked about."""
    for line in shell.perhaps_run(command, book.denied):
        for inner in shell.read(line, command.cwds[0], home).commands:
            for rule, fits in book.judge(inner):
                if rule.action == "deny" and fits == rules.SURE:
                    yield Finding("ask", "%s may run this: %s" % (command.name, rule.reason), rule, shell.shorten(line))


def worst(found):
    return max(found, key=lambda f: STRENGTH[f.action], default=None)


@functools.lru_cache(maxsize=None)
def setting(name, default, values):
    """The value of a variable that is one of some words."""
    value = os.environ.get(name) or default
    if value not in values:
        raise ValueError("%s is %s, not one of %s" % (name, value, ", ".join(values)))
    return value


def said(line, cwd, book):
    """The worst that the rules say of a line. Agents repeat themselves: what they said of short ones is kept."""
    if (line, cwd) in book.said:
        return book.said[line, cwd]
    one = worst(findings(line, cwd, book, setting(*UNREADABLE)))
    if len(line) <= 200:
        if len(book.said) > 4096:
            book.said.clear()
        book.said[line, cwd] = one
    return one


def judge(event):
    book = rules.load(NAME)
    call = event.get("tool_input")
    line = call.get("command") if isinstance(call, dict) else None
    if call == {"examples": "all"}:
        return serve.deny(examples(book))  # a denial in any case: there is nothing to allow
    if not isinstance(line, str):
        raise ValueError("the call has no command")
    one = said(line, event.get("cwd") or "", book)
    if one is None:
        return None
    return serve.deny(str(one)) if one.action == "deny" else serve.ask(str(one))


def examples(book):
    """Runs the example of every rule: what it catches, and what it lets pass."""
    wrong, count = [], 0
    for rule in book.rules:
        if rule.action not in STRENGTH:
            continue
        for line, wanted in [(e, True) for e in rule.catches] + [(e, False) for e in rule.passes]:
            count += 1
            hits = [f for f in findings(line, "/home/me/project", book, "ask", "/home/me") if f.rule is rule]
            if bool(hits) != wanted:
                wrong.append("%s: rule %s %s: %s" % (rule.file, rule.name, "lets pass" if wanted else "catches", line))
    if wrong:
        return "%d of %d examples are wrong: %s" % (len(wrong), count, "; ".join(wrong[:20]))
    return "all %d examples of %d rules are right" % (count, len(book.rules))


def main(argv):
    if argv[:1] == ["--test"]:
        said = examples(rules.load(NAME))
        print(said.replace(": ", ":\n", 1).replace("; ", "\n"))
        return 0 if said.startswith("all ") else 1
    if argv[:1] == ["--why"] and len(argv) == 2:
        found = findings(argv[1], os.getcwd(), rules.load(NAME), setting(*UNREADABLE))
        for one in found:
            print("%-4s  %s" % (one.action, one))
        if not found:
            print("pass  no rule fits")
        return 0
    if argv:
        print(__doc__, file=sys.stderr)
        return 64
    serve.run(NAME, judge, serve.LINES)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
