"""Reads rules about files with secrets and about secrets themselves from .ini files.

    [env-file]
    action  = deny
    reason  = holds the secrets of a project
    path    = **/.env **/.env.*
    except  = *.example
    catches = cat .env
    passes  = cat .env.example

    [npm-token]
    action  = deny
    reason  = a secret: npm access token
    words   = npm_
    text    = npm_[A-Za-z0-9]{36,}
    catches = np{}m_k4w9b2x7q8k4w9b2x7q8k4w9b2x7q8k4w9b2x7q8
    passes  = npm_config_registry

action    deny, ask, mask (only in results), or off
reason    what the agent and its user read
path      the files: globs of whole paths, ~ is the home; ** crosses folders, * does not, ? is also a blank
except    no: the file's name, or its whole path, is one of these
text      a regular expression for the secret; of one with (?P<secret>...) that part is masked
words     some text with this secret has one of these in it, in small letters; it makes looking fast
catches   shell lines that read such a file, or texts with such a secret, one a line; {} stands for nothing
passes    those that are let pass

A section with the name of another changes what it says and leaves the rest: `action = off` alone turns a rule off.
The sections [harmless] and [loads] name commands, one a line: those that do not show what is in a file that they name,
and those that give it to a program, which asks.
"""
import fnmatch
import os
import posixpath
import re

import book
import files
from book import Mistake, listed

HERE = os.path.dirname(os.path.realpath(__file__))
GLOB = re.compile(r"[*?\[]")
KEYS = {"action", "reason", "path", "except", "text", "words", "catches", "passes"}


class Rule:
    def __init__(self, name, file, values):
        self.name, self.file, self.action, self.reason = name, file, values["action"], values["reason"]
        self.catches, self.passes = listed(values.get("catches", "")), listed(values.get("passes", ""))
        if self.action != "off" and not (self.catches and self.passes):
            raise Mistake("%s: [%s]: give an example in catches, and one in passes" % (file, name))


class Path(Rule):
    """Files with secrets."""

    def __init__(self, name, file, values):
        super().__init__(name, file, values)
        self.globs, self.exempt = values["path"].split(), values.get("except", "").split()
        self._home = self._fits = None

    def fits(self, path, home):
        if self._home != home:
            self._fits, self._home = fitting(self.globs, home), home
        if self._fits(path) is None:
            return False
        name = posixpath.basename(path)
        return not any(fnmatch.fnmatch(name, e) or fnmatch.fnmatch(path, e) for e in self.exempt)

    def samples(self, folder, name, home):
        """Paths that the rule is about, for a pattern folder/name to match with."""
        for glob in self.globs:
            if name.startswith("*") and "*" not in glob.rsplit("/", 1)[-1]:
                continue  # *.yml is about all such files, not about one of them
            if glob.startswith("**/"):
                yield folder.rstrip("/") + "/" + re.sub(r"\*+", "x", glob[3:]).replace("?", " ")
            else:
                yield sampled(glob, home)


class Token(Rule):
    """Secrets in text."""

    def __init__(self, name, file, values):
        super().__init__(name, file, values)
        self.words = values.get("words", "").lower().split()
        try:
            self.expression = re.compile(r"(?:%s)" % values["text"] if not values["text"].startswith("(?")
                                         else values["text"])
        except re.error as e:
            raise Mistake("%s: [%s]: text is no regular expression: %s" % (file, name, e))
        self.part = "secret" if "secret" in self.expression.groupindex else 0

    def possible(self, lower):
        return not self.words or any(w in lower for w in self.words)

    def starts(self, text):
        """The matches that do not begin within a word."""
        for m in self.expression.finditer(text):
            before = text[m.start() - 1:m.start()]
            if not before.isalnum():
                yield m

    def stands_in(self, text):
        return next(self.starts(text), None) is not None

    def finds(self, text):
        return self.possible(text.lower()) and self.stands_in(text)

    def mask(self, text, mask):
        if not self.possible(text.lower()):
            return text
        out, at = [], 0
        for m in self.starts(text):
            start, end = m.span(self.part)
            out += [text[at:start], mask]
            at = end
        return "".join(out) + text[at:]


def folders(glob, home):
    """The folders above what a glob of whole paths may name, none for one that is about any folder."""
    path = sampled(glob, home) if not glob.startswith("**/") else ""
    while path.strip("/"):
        path = posixpath.dirname(path)
        yield path


def sampled(glob, home):
    """A path that a glob of whole paths fits."""
    return re.sub(r"\*+", "x", home + glob[1:] if glob.startswith("~") else glob).replace("?", " ")


def fitting(globs, home):
    """The function that says whether one of the globs fits a path."""
    expressions = [files.expression(g, home) + ["/?"] for g in globs]
    return re.compile(files.any_of(expressions), re.IGNORECASE | re.DOTALL).fullmatch


class Book:
    """All rules."""

    def __init__(self, sections, where):
        self.paths, self.tokens, self.commands = [], [], {"harmless": [], "loads": []}
        for name, values in sections.items():
            if name in self.commands:
                self.commands[name] = [line.split() for line in listed(values.get("command", ""))]
                continue
            file = where[name]
            unknown = sorted(set(values) - KEYS)
            if unknown:
                known = ", ".join(sorted(KEYS))
                raise Mistake("%s: [%s]: unknown key %s; there are %s" % (file, name, unknown[0], known))
            if values.get("action") not in ("deny", "ask", "mask", "off"):
                action = values.get("action", "")
                raise Mistake("%s: [%s]: action is %r, not deny, ask, mask or off" % (file, name, action))
            if not values.get("reason") or bool(values.get("path")) == bool(values.get("text")):
                raise Mistake("%s: [%s]: give a reason, and either path or text" % (file, name))
            if values.get("path"):
                self.paths.append(Path(name, file, values))
            else:
                self.tokens.append(Token(name, file, values))
        self.paths, self.tokens = ([r for r in some if r.action != "off"] for some in (self.paths, self.tokens))
        self.strict = [r for r in self.paths if r.action != "mask"]
        self.fits, self.known, self.of_program, self.read, self.above, self.sampled = {}, {}, {}, {}, {}, {}
        words = {word for r in self.tokens for word in r.words}
        of = {}
        for n, rule in enumerate(self.tokens):
            for word in rule.words:
                of.setdefault(word, set()).add(n)
        self.hints = {word: {n for k in range(len(word)) for n in of.get(word[:k + 1], ())} for word in words}
        any_word = files.any_of([[re.escape(c) for c in w] for w in words])
        self.hinted, self.each_hint = re.compile(any_word).search, re.compile("(?=(%s))" % any_word).finditer
        self.always = {n for n, r in enumerate(self.tokens) if not r.words}
        self.dull = set()

    def likely(self, text):
        """The rules for secrets that may be in a text, in their order. Words of text in which no rule has one of its
        own are remembered."""
        found = set(self.always)
        for part in set(text.lower().split()) - self.dull:
            if self.hinted(part):
                found.update(*(self.hints[m.group(1)] for m in self.each_hint(part)))
            elif len(part) <= 64:
                if len(self.dull) > 32768:
                    self.dull.clear()
                self.dull.add(part)
        return [self.tokens[n] for n in sorted(found)] if found else ()

    def secret(self, text):
        """The first rule for a secret in a text, None if there is none."""
        if text not in self.read:
            found = next((r for r in self.likely(text) if r.action != "mask" and r.stands_in(text)), None)
            if len(text) > 200:
                return found
            if len(self.read) > 4096:
                self.read.clear()
            self.read[text] = found
        return self.read[text]

    def path(self, path, home):
        """The rule for an absolute path, None if there is none."""
        key = (path, home)
        if key not in self.known:
            if len(self.known) > 4096:
                self.known.clear()
            if home not in self.fits:
                self.fits[home] = fitting([g for r in self.strict for g in r.globs], home)
            found = self.fits[home](path)
            self.known[key] = found and next((r for r in self.strict if r.fits(path, home)), None)
        return self.known[key]

    def sample(self, pattern, home):
        """The rule for files that an absolute pattern of a shell may match, None if it is not about such files."""
        folder, name = posixpath.split(pattern)
        kept = re.sub(r"\[[^\]]*\]|[*?]", "", name)
        if not (re.search(r"[A-Za-z0-9]", kept) or name.startswith(".") or GLOB.search(folder)):
            return self.path(folder, home)  # ~/.ssh/*
        if home not in self.above:
            self.above[home] = {above for r in self.strict for g in r.globs for above in folders(g, home)}
        # In a folder that no rule names, each name is judged as in any other.
        key = (name, folder if folder in self.above[home] or GLOB.search(folder) else "", home)
        if key not in self.sampled:
            if len(self.sampled) > 4096:
                self.sampled.clear()
            self.sampled[key] = self.sample_in(folder, name, home)
        return self.sampled[key]

    def sample_in(self, folder, name, home):
        """The first rule with a sample that the pattern folder/name matches, None if there is none."""
        pattern = posixpath.join(folder, name)
        for rule in self.strict:
            for sample in rule.samples(folder, name, home):
                if (name.startswith(".") == posixpath.basename(sample).startswith(".")
                    and fnmatch.fnmatch(sample, pattern)):
                    if not any(fnmatch.fnmatch(name, e) for e in rule.exempt):
                        return rule
        return None

    def is_one(self, command, kind):
        """Whether a command is in one of the two lists."""
        key = (command.name, kind)
        if key not in self.of_program:
            if len(self.of_program) > 4096:
                self.of_program.clear()
            self.of_program[key] = [rest for program, *rest in self.commands[kind]
                                    if program == command.name or fnmatch.fnmatchcase(command.name, program)]
        if not self.of_program[key]:
            return False
        first = next((w.text for w in command.words[1:] if not w.text.startswith("-")), None)
        return any(not rest or first is not None and any(fnmatch.fnmatchcase(first, a) for a in rest[0].split("|"))
                   for rest in self.of_program[key])


def load(name):
    """The rules as the files are now. A file that cannot be used is a Mistake."""
    return book.load(name, HERE, Book)
