#!/usr/bin/env python3
"""Keeps secrets out of tool calls and out of what tools return, by rules in data files: rules/*.ini here, and your own.

    ./guard.py --test              runs the examples of every rule
    ./guard.py --why 'cat .env'    says which rules fit a line

A seat belt, not a sandbox: what a program reads once it runs is not seen.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
import files  # noqa: E402
import rules  # noqa: E402
import serve  # noqa: E402
import shell  # noqa: E402

NAME = "secret-guard"
MASK = "[secret]"

# Arguments that are text to be written or read by a person or a model, and so may speak of .env without opening it.
PROSE = {"content", "contents", "description", "edits", "new_source", "new_string", "old_string", "pattern", "prompt",
         "query", "regex", "text", "todos", "message", "body", "title", "subject", "new_str", "old_str", "file_text",
         "insert_text"}
LINES = {"command", "cmd", "script", "commands", "code"}
KEYFILES = {"ssh", "scp", "sftp", "mosh", "autossh", "sshfs"}  # -i gives them a key, which they do not show
FINDS = {"find", "fd", "fdfind", "gfind"}
SEARCHES = {"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ripgrep", "ugrep"}
READS = ("<", "<>")
PATCHES = re.compile(r"-[puULG]|--patch").match  # options with which git log shows what is in files
NO_FILES = {"Glob", "LS", "WebSearch", "TodoWrite", "Task"}


MOST_WORDS = 3000  # of a command that are looked at
GLOB = re.compile(r"[*?\[]")
HOME = os.path.expanduser("~")


class Finding:
    def __init__(self, action, rule, part):
        self.action, self.rule, self.part = action, rule, part

    def __str__(self):
        if self.rule is None:
            return "%s: %s names too many files to look at" % (NAME, self.part)
        if isinstance(self.rule, rules.Token):
            text = "%s: %s is in %s (rule %s); refer to it by an environment variable instead"
            return text % (NAME, self.rule.reason, self.part, self.rule.name)
        text = "%s: %s %s (rule %s); ask the user for what you need from it"
        return text % (NAME, self.part, self.rule.reason, self.rule.name)


class Look:
    """One look at a call: the rules, and where paths begin."""

    def __init__(self, book, cwd, home=""):
        self.book, self.cwd, self.home = book, cwd, home or HOME
        self.found, self.links = [], files.links()

    def add(self, rule, part, action=None):
        self.found.append(Finding(action or rule.action, rule, shell.shorten(part, 120)))

    def path(self, text, cwds=(), glob=None, action=None):
        """Looks at a text as a path, and as what may hold one: name=path, host:path, @path. cwds are the folders that
        it may begin in."""
        word = text, cwds or self.cwd, glob, self.home
        if word in self.links.passed:
            return False
        for piece in files.pieces(text):
            for cwd in cwds or (self.cwd,):
                path = files.absolute(piece, cwd, self.home)
                rule = self.book.path(path, self.home) or self.linked(path)
                if rule is None and glob and GLOB.search(glob):
                    rule = self.book.sample(files.absolute(glob, cwd, self.home), self.home)
                if rule is not None:
                    self.add(rule, text.replace(shell.COMPUTED, "…"), action if rule.action == "deny" else None)
                    return True
        self.links.passes(word)
        return False

    def linked(self, path):
        """The rule for what a path is a link to."""
        if shell.COMPUTED in path or len(path) > 4096:
            return None
        real, _ = self.links.real(path)
        return self.book.path(real, self.home) if real != path else None

    def line(self, text, cwd):
        """Looks at a shell line."""
        script = shell.read(text, cwd, self.home)
        for command in script.commands:
            self.command(command)
        if script.unclear and not self.found:
            for doubt in script.unclear:
                if not doubt.sources:
                    self.tokens(doubt.part)
            if not script.commands:
                self.tokens(text)

    def tokens(self, text):
        """Looks for paths in text that is in no language read here."""
        bare = re.sub(r"[\"'\\]", "", text)
        for token in re.findall(r"[\w.~$@:/*?\[\]{}%+-]*[\w/*?\]-]", bare)[:2000]:
            token = token.replace("${HOME}", self.home).replace("$HOME", self.home)
            if ("/" in token or token.startswith(".") or "_" in token) and self.path(token):
                return

    def command(self, command):
        words = command.words
        action = None
        if words and self.book.is_one(command, "loads") and command.code is None:
            action = "ask"
        if words and self.book.is_one(command, "harmless") and not (command.name in ("git", "find") and command.fed) \
                and not (command.name == "git" and any(PATCHES(w.text) for w in words)):
            words = []
        elif command.name in FINDS:
            words = words if any(re.match(r"-(exec|ok|fprint|x$|X$)|--exec", w.text) for w in words) else []
        elif command.name in ("cp", "mv", "install", "ln") and len(words) > 2:
            words = words[:-1] if not any(w.text.startswith(("-t", "--target")) for w in words) else words
        elif command.name in KEYFILES:
            words = [w for before, w in zip([None] + words, words) if before is None or before.text != "-i"]
        elif command.name in SEARCHES:
            words = searched(words)
        distinct = {w.text: w for w in words[1:]}
        if len(distinct) > MOST_WORDS:
            words = []
            self.found.append(Finding("ask", None, shell.shorten(" ".join(command.texts[:5]))))
        for word in distinct.values() if words else ():
            self.path(word.text, command.cwds, word.pattern if word.glob else None, action)
            if not word.sure:
                self.named_by(word.sources, action)
        if words and command.name in ("xargs", "parallel"):
            self.named_by(command.stdin.sources, action)
        if command.name not in ("wc", "test", "[") or words:
            for operator, word in command.redirects:
                if operator in READS:
                    self.path(word.text, command.cwds, word.pattern if word.glob else None, action)
        if command.code:
            self.tokens(command.code)

    def named_by(self, sources, action):
        """Paths that another command prints for this one: cat $(find . -name .env)."""
        for source in sources:
            finds = source.name in FINDS  # it reads patterns itself
            for word in source.words[1:]:
                self.path(word.text, source.cwds, word.text if finds else word.pattern if word.glob else None, action)

    def secret(self, text, key):
        rule = self.book.secret(text)
        if rule is not None:
            self.add(rule, "the argument %r" % key)


def searched(words):
    """The words of a grep without what it searches for."""
    out, given, n = [], any(re.match(r"-[A-Za-z]*[ef]$|--(regexp|file)\b", w.text) for w in words[1:]), 0
    while n < len(words):
        text = words[n].text
        if text in ("-e", "--regexp", "-g", "--glob", "--include", "--exclude", "--exclude-dir"):
            n += 2
            continue
        if n and not given and not text.startswith("-"):
            given = True
        elif n == 0 or not text.startswith(("--include", "--exclude", "--regexp", "--glob", "-e")):
            out.append(words[n])
        n += 1
    return out


def strings(value, key=""):
    """Every string in a tool's input, with the argument that it is in."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield key, name
            yield from strings(inner, name if not key or key not in PROSE else key)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def findings(tool, tool_input, cwd, book, home=""):
    look = Look(book, cwd, home)
    for key, text in strings(tool_input):
        if book.read.get(text, text) is not None:  # else it was looked at before, and no secret is in it
            look.secret(text, key)
        if key in LINES:
            look.line(text, cwd)
        elif key == "glob" and tool != "Glob":
            look.path(text, glob=text)
        elif key not in PROSE and tool not in NO_FILES and "\n" not in text:
            look.path(text)
        elif key == "file_path":  # several files are one a line
            for one in text.splitlines():
                look.path(one)
    return look.found


def worst(found):
    return max(found, key=lambda f: f.action == "deny", default=None)


def masked(value, book):
    """A result without its secrets."""
    if isinstance(value, str):
        for rule in book.likely(value):
            value = rule.mask(value, MASK)
        return value
    if isinstance(value, list):
        return [masked(v, book) for v in value]
    if isinstance(value, dict):
        return {k: masked(v, book) for k, v in value.items()}
    return value


def judge(event):
    book = rules.load(NAME)
    if event.get("hook_event_name") == "transform_tool_result":
        output = event.get("tool_output")
        clean = masked(output, book)
        return {"tool_output": clean} if clean != output else None
    call = event.get("tool_input")
    if call == {"examples": "all"}:
        return serve.deny(examples(book))  # a denial in any case: there is nothing to allow
    one = worst(findings(event.get("tool_name") or "", call, event.get("cwd") or "", book))
    if one is None:
        return None
    return serve.ask(str(one)) if one.action == "ask" else serve.deny(str(one))


def examples(book):
    """Runs the examples of every rule: what it catches, and what it lets pass."""
    wrong, count = [], 0
    for rule in book.paths + book.tokens:
        for text, wanted in [(e, True) for e in rule.catches] + [(e, False) for e in rule.passes]:
            count += 1
            text = text.replace("{}", "").replace("␤", "\n")
            if isinstance(rule, rules.Token):
                hit = rule.finds(text)
            else:
                hit = any(f.rule is rule for f in findings("Bash", {"command": text}, "/home/me/project", book,
                                                           "/home/me"))
            if hit != wanted:
                wrong.append("%s: rule %s %s: %s" % (rule.file, rule.name, "lets pass" if wanted else "catches", text))
    if wrong:
        return "%d of %d examples are wrong: %s" % (len(wrong), count, "; ".join(wrong[:20]))
    return "all %d examples of %d rules are right" % (count, len(book.paths) + len(book.tokens))


def main(argv):
    if argv[:1] == ["--test"]:
        said = examples(rules.load(NAME))
        print(said.replace(": ", ":\n", 1).replace("; ", "\n"))
        return 0 if said.startswith("all ") else 1
    if argv[:1] == ["--why"] and len(argv) == 2:
        found = findings("Bash", {"command": argv[1]}, os.getcwd(), rules.load(NAME))
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
