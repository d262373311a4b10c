"""Reads a shell line without running it: its commands, with their words.

    script = shell.read("cd /tmp && sudo -u x env A=1 rm -rf \"$HOME\"", cwd="/p")
    for command in script.commands: ...
    for doubt in script.unclear: ...

It promises: each command that the line may run is in `commands`, also those behind sudo, env, xargs, find -exec,
ssh, `bash -c`, eval, aliases, functions, substitutions and pipes into a shell; what cannot be read for certain (a
syntax that is not known, a name that is computed, code that comes from elsewhere) is in `unclear`. It never runs
anything and looks at no file. Time and memory are linear in the line, and bounded.

It does not know what a program does, what stands in a script file that the line did not write, and what variables of
the environment hold. It reads bash and POSIX sh, and of zsh what looks the same.

Python 3.8 or later, standard library only.
"""
import base64
import binascii
import codecs
import fnmatch
import functools
import itertools
import os
import posixpath
import re

COMPUTED = "\0"  # stands in a word for text that is only known when the line runs
MOST_TEXT = 1 << 19  # characters of a line
MOST_COMMANDS = 4000
MOST_DEPTH = 40
MOST_WORDS = 4096  # of a brace expansion
MOST_BRACES = 64
MOST_STARTS = 64
MOST_CHOICES = 24  # values that variables of one command may have together
MOST_FOLDERS = 8  # that a command may run in
MOST_KEPT, MOST_KEPT_TEXT = 512, 200  # lines that were read before, and their characters
TOO_MANY = ()  # the values of a variable that is not looked at for each of them
HOME = os.path.expanduser("~")


class Unreadable(Exception):
    """The line is not understood, or is too large."""


class Word:
    """One word of a command after expansion.

    text      what is known of it; COMPUTED stands where something is computed
    glob      it has an unquoted * ? or [
    pattern   the text as fnmatch takes it, where glob is set
    many      a computed part may turn out to be no word, or several
    quoted    a part of it stood in quotes
    sources   the commands whose output is in it
    """

    __slots__ = ("text", "glob", "pattern", "many", "quoted", "sources")

    def __init__(self, text, glob=False, pattern=None, many=False, quoted=False, sources=()):
        self.text, self.glob, self.many, self.quoted = text, glob, many, quoted
        self.sources = tuple(sources) if sources else ()
        self.pattern = text if pattern is None else pattern

    def __eq__(self, other):
        return isinstance(other, Word) and (self.text, self.many, self.glob) == (other.text, other.many, other.glob)

    def __hash__(self):
        return hash(self.text)

    @property
    def sure(self):
        """The word is what text says."""
        return COMPUTED not in self.text

    def __repr__(self):
        return repr(self.text.replace(COMPUTED, "<?>"))


class Input:
    """What a command reads from its standard input: text, None where it is not known; sources write it."""

    def __init__(self, text=None, sources=(), given=True):
        self.text, self.sources, self.given = text, tuple(sources), given


NO_INPUT = Input(given=False)


class Command:
    """One command that the line may run.

    words      its words, the first is the program; empty for redirections alone
    name       the program without its folder, in small letters, "" where it is not known
    assigns    variables that are set for it, name to Word
    redirects  (operator, Word) each; here-documents are in stdin
    stdin      an Input
    cwds       folders that it may run in, "" where that is not known
    home       the home of its user
    code       text in another language that it runs, None if it runs none
    executed   its output is run as code
    fed        it gets further words from its input (xargs) or for each file found
    recursive  it is a function of the line that calls itself
    via        the programs that run it, outermost first
    """

    home = ""

    def __init__(self, words, assigns=None, redirects=(), stdin=NO_INPUT, cwds=("",), via=()):
        self.words, self.assigns, self.redirects = words, assigns or {}, list(redirects)
        self.name = program(words[0]) if words else ""
        self.stdin, self.cwds, self.via = stdin, tuple(cwds), tuple(via)
        self.code, self.executed, self.fed, self.recursive = None, False, False, False

    @property
    def texts(self):
        return [w.text for w in self.words]

    def __repr__(self):
        return "Command(%s)" % " ".join(map(repr, self.words))


class Doubt:
    """Something that cannot be read for certain: why, the part of the line, and the commands that it comes from."""

    def __init__(self, why, part="", sources=()):
        self.why, self.part, self.sources = why, part, tuple(sources)

    def __repr__(self):
        return "Doubt(%s: %s)" % (self.why, self.part)


class Script:
    def __init__(self):
        self.commands, self.unclear = [], []


def program(word):
    """The program that a first word names, "" if that is not known."""
    name = word.text
    if name.isalpha():
        return name.lower()
    name = name.rstrip("/").rsplit("/", 1)[-1]
    if name[-4:].lower() == ".exe":
        name = name[:-4]
    if COMPUTED in name or word.glob and name != "[" and re.search(r"[*?\[]", word.pattern.rsplit("/", 1)[-1]):
        return ""
    return name.lower()


def read(line, cwd="", home="", variables=None):
    """The Script of a line that is run in the folder cwd by a user whose home is home. variables are what is known of
    its environment, as known returns it. Never raises. What a short line is read as is kept, as agents repeat
    themselves: do not change it."""
    if len(line) > MOST_KEPT_TEXT:
        return script_of(line, cwd, home, variables)
    key = line, cwd, home, id(variables)
    if key not in _kept:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[key] = script_of(line, cwd, home, variables), variables  # which keeps the id its own
    return _kept[key][0]


_kept = {}


def known(variables):
    """Variables, name to text, as read takes them."""
    return {name: (Word(value),) for name, value in variables.items()}


def script_of(line, cwd, home, variables):
    script = Script()
    walk = Walk(script, home or HOME)
    state = State(cwd)
    if variables:
        state.variables.update(variables)
        state.exported.update(variables)
    try:
        if COMPUTED in line:
            raise Unreadable("it has control characters")
        walk.text(line, state)
        walk.sprung()
    except Unreadable as e:
        script.unclear.append(Doubt(str(e), shorten(line)))
    except RecursionError:
        script.unclear.append(Doubt("it is nested too deeply", shorten(line)))
    return script


def shorten(text, most=80):
    text = " ".join(text.replace(COMPUTED, "…").split())
    return text if len(text) <= most else text[:most - 1] + "…"


# ---------------------------------------------------------------------------------------------------------------------
# From text to a tree. Nodes are tuples whose first member says what they are:
#   ("simple", assigns, words, redirects)   assigns: (name, parts or list of parts, adds)
#   ("plain", words)   a simple command of words alone, in which nothing is expanded
#   ("seq", [(node, after)])                after: "" or the && or || before it
#   ("pipe", [node]) ("subshell", node, redirects) ("group", node, redirects) ("loop", name, words, node, redirects)
#   ("branch", [node], redirects)           each of them may run
#   ("function", name, node) ("words", [parts], redirects) ("doubt", why, node)
# A word is a list of parts:
#   ("text", text, quoted) ("glob", char) ("brace", char) ("var", name, quoted) ("run", node, quoted)
#   ("computed", [parts], quoted) ("process", node) ("home", user)

PLAIN = re.compile(r"[^\x00-\x20\x7f;&|()<>\\'\"$`~{},*?\[\]!=#@+]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
BLANK = re.compile(r"(?:[ \t]|\\\n)*")
# Whole words in which nothing is expanded, and that end where no redirection and no list can begin. One with = in it
# begins with a dash: others may give a variable a value.
ENDS_WORD = r"(?=[ \t\n;&|)]|$)"
UNQUOTED = (r"(?:[^\x00-\x20\x7f;&|()<>\\'\"$`~{}*?\[=#-][^\x00-\x20\x7f;&|()<>\\'\"$`~{}*?\[=]*"
            r"|-[^\x00-\x20\x7f;&|()<>\\'\"$`~{}*?\[]*)")
WHOLE_WORD = re.compile(r"[ \t]*(?:(" + UNQUOTED + r")|'([^']*)'|\"([^\"\\$`]*)\")" + ENDS_WORD)
WHOLE_WORDS = re.compile(r"(?:[ \t]*(?:" + UNQUOTED + r"|'[^']*'|\"[^\"\\$`]*\")" + ENDS_WORD + "){1,500}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\] \t\n;&|<>$`'\"]*\])?(\+?)=")
RESERVED = re.compile(r"(if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|coproc|time|\{|\}|!"
                      r"|\[\[)"
                      r"(?=[ \t\n;&|()<>]|$)")
# Where a simple command begins, whose first word is a whole one.
SIMPLE_START = re.compile("(?!" + RESERVED.pattern + ")" + UNQUOTED + ENDS_WORD + r"(?![ \t]*\()")
PLAIN_WORDS = re.compile(r"[\w\s./:=@%+,'\"-]*")
LIKE_COMMAND = re.compile(r"\s*[A-Za-z_./~][\w./~-]*\s*(?:$|(?<=\s)[^\s=+\-*/%<>&|^!?:,)])")
OTHER_TIME = re.compile(r"time[ \t]+-(?!p |- )")  # the program, not the word of the shell
FUNCTION = re.compile(r"([^ \t\n;&|()<>'\"$`\\=]+)[ \t]*\([ \t]*\)")
REDIRECT = re.compile(r"(\d*|\{[A-Za-z_]\w*\})(<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<|>)")
# What gives a variable a value in arithmetic.
COUNTS = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
                    r"|(?:\+\+|--)\s*([A-Za-z_]\w*)")
CASE_ENDS = (";;", ";&")
SPECIAL = "@*#?-$!0123456789_"
ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


class Parser:
    def __init__(self, text, depth=0):
        if len(text) > MOST_TEXT:
            raise Unreadable("it is too long")
        self.s, self.i, self.n = text, 0, len(text)
        self.waiting = []  # here-documents whose text begins after this line
        self.depth = depth

    def fail(self, what):
        raise Unreadable("%s at %r" % (what, shorten(self.s[self.i:self.i + 30], 30)))

    def deeper(self):
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise Unreadable("it is nested too deeply")

    def whole(self):
        node = self.sequence()
        if self.i < self.n:
            self.fail("unexpected text")
        if self.waiting:
            self.documents()
        return node

    def at(self, text):
        """Whether a text, or one of a tuple of texts, is next."""
        return self.s.startswith(text, self.i)

    def blank(self):
        """Skips blanks, continued lines and a comment."""
        while self.i < self.n:
            c = self.s[self.i]
            if c not in " \t\\#":
                return
            if c != "#":
                end = BLANK.match(self.s, self.i).end()
                if end == self.i:
                    return
                self.i = end
            elif self.i == 0 or self.s[self.i - 1] in " \t\n;&|()":
                end = self.s.find("\n", self.i)
                self.i = self.n if end < 0 else end
            else:
                return

    def newline(self):
        self.i += 1
        if self.waiting:
            self.documents()

    def blanks(self):
        """Skips blanks and line ends."""
        self.blank()
        while self.at("\n"):
            self.newline()
            self.blank()

    def reserved(self):
        m = RESERVED.match(self.s, self.i)
        return m.group(1) if m else ""

    def take(self, word):
        self.blanks()
        if self.reserved() != word:
            self.fail("%s is missing" % word)
        self.i += len(word)

    def sequence(self):
        self.deeper()
        items, after = [], ""
        while True:
            self.blanks()
            while items and self.at(";") and not self.at(CASE_ENDS):
                self.i += 1
                self.blanks()
            if self.i >= self.n or self.s[self.i] == ")" or self.at(CASE_ENDS):
                break
            plain = SIMPLE_START.match(self.s, self.i)
            if not plain and self.reserved() in ("then", "elif", "else", "fi", "do", "done", "esac", "}"):
                break
            node = self.pipeline(plain)
            self.blank()
            if self.i >= self.n:
                items.append((node, after))
                break
            if self.at(("||", "&&")):
                items.append((node, after))
                after = self.s[self.i:self.i + 2]
                self.i += 2
                continue
            if self.at("&") and not self.at("&>"):
                self.i += 1
                node = ("subshell", node, [])
                if self.at(("!", "|")):  # zsh: &! and &|
                    self.i += 1
            elif self.at("\n"):
                self.newline()
            elif self.at(CASE_ENDS):
                items.append((node, after))
                break
            elif self.at(";"):
                self.i += 1
            items.append((node, after))
            after = ""
        self.depth -= 1
        return ("seq", items)

    def pipeline(self, plain=None):
        """plain: it begins with a simple command."""
        stages = []
        while True:
            while not plain and self.reserved() in ("!", "time") and not OTHER_TIME.match(self.s, self.i):
                self.i += len(self.reserved())
                self.blank()
                while self.s.startswith(("-p ", "-- "), self.i):
                    self.i += 3
                    self.blank()
            stages.append(self.command(plain))
            self.blank()
            if not self.at("|") or self.at("||"):
                return stages[0] if len(stages) == 1 else ("pipe", stages)
            self.i += 2 if self.at("|&") else 1
            self.blanks()
            plain = SIMPLE_START.match(self.s, self.i)

    def command(self, plain=None):
        """plain: it is a simple one."""
        self.deeper()
        if plain:
            node = self.simple()
            self.depth -= 1
            return node
        self.blank()
        word = self.reserved()
        if self.at("(("):
            start, waiting = self.i, list(self.waiting)
            try:
                self.i += 2
                parts = self.arithmetic("))")
                inside = self.s[start + 2:self.i - 2]
                node = ("words", [parts], self.redirects())
            except Unreadable:
                self.i, self.waiting = start, waiting
                node = ("doubt", "it may be arithmetic or commands", self.subshell())
            else:
                if LIKE_COMMAND.match(inside):  # a shell without (( runs it
                    node = ("branch", [node, Parser(self.s[start:self.i], self.depth).subshell()], [])
        elif self.at("("):
            node = self.subshell()
        elif word == "{":
            self.i += 1
            body = self.sequence()
            self.take("}")
            node = ("group", body, self.redirects())
        elif word in ("for", "select"):
            node = self.loop(word)
        elif word in ("while", "until"):
            self.i += 5
            condition = self.sequence()
            node = ("loop", "", [], ("seq", [(condition, ""), (self.body(), "")]), self.redirects())
        elif word == "if":
            node = self.condition()
        elif word == "case":
            node = self.case()
        elif word == "[[":
            node = self.test()
        elif word == "function":
            self.i += 8
            self.blank()
            name = self.literal_word()
            self.blank()
            if self.at("("):
                self.i += 1
                self.blank()
                self.expect(")")
            self.blanks()
            node = ("function", name, self.command())
        elif word == "coproc":
            self.i += 6
            self.blank()
            m = NAME.match(self.s, self.i)
            if m and re.match(r"[ \t\n]+[{(]", self.s[m.end():m.end() + 20]):
                self.i = m.end()
            node = ("doubt", "a command runs beside the line", ("subshell", self.command(), []))
        elif word and word != "time":
            self.fail("unexpected %s" % word)
        else:
            m = FUNCTION.match(self.s, self.i)
            if m:
                self.i = m.end()
                self.blanks()
                node = ("function", m.group(1), self.command())
            else:
                node = self.simple()
        self.depth -= 1
        return node

    def expect(self, text):
        if not self.at(text):
            self.fail("%s is missing" % text)
        self.i += len(text)

    def subshell(self):
        self.expect("(")
        body = self.sequence()
        self.expect(")")
        return ("subshell", body, self.redirects())

    def body(self):
        self.blanks()
        if self.at(";"):
            self.i += 1
        self.blanks()
        if self.reserved() == "{":
            self.i += 1
            body = self.sequence()
            self.take("}")
            return body
        self.take("do")
        body = self.sequence()
        self.take("done")
        return body

    def loop(self, word):
        self.i += len(word)
        self.blank()
        if self.at("(("):
            self.i += 2
            words = [self.arithmetic("))", "{}")]
            return ("loop", "", words, self.body(), self.redirects())
        m = NAME.match(self.s, self.i)
        if not m:
            self.fail("the name of a variable is missing")
        self.i = m.end()
        self.blanks()
        words = [[("var", "@", True)]]
        if re.compile(r"in(?=[ \t\n;]|$)").match(self.s, self.i):
            self.i += 2
            words = self.words_until(";\n")
        elif self.at("("):  # zsh: for f (a b) command
            self.fail("a loop of one shell")
        return ("loop", m.group(0), words, self.body(), self.redirects())

    def words_until(self, stops):
        words = []
        while True:
            self.blank()
            if self.i >= self.n or self.s[self.i] in stops:
                return words
            if self.s[self.i] in "&|()":
                self.fail("unexpected text")
            words.append(self.word())

    def condition(self):
        branches = []
        self.i += 2
        nodes = [self.sequence()]
        while True:
            self.take("then")
            branches.append(("seq", [(n, "") for n in nodes] + [(self.sequence(), "")]))
            nodes = []
            word = self.reserved()
            if word == "elif":
                self.i += 4
                nodes = [self.sequence()]
                continue
            if word == "else":
                self.i += 4
                branches.append(self.sequence())
            self.take("fi")
            return ("branch", branches, self.redirects())

    def case(self):
        self.i += 4
        self.blank()
        subject = self.word()
        self.blanks()
        if not self.at("in"):
            self.fail("in is missing")
        self.i += 2
        branches = [("words", [subject], [])]
        while True:
            self.blanks()
            if self.reserved() == "esac":
                self.i += 4
                return ("branch", branches, self.redirects())
            if self.at("("):
                self.i += 1
            patterns = []
            while True:
                self.blank()
                patterns.append(self.word())
                self.blank()
                if self.at("|"):
                    self.i += 1
                    continue
                self.expect(")")
                break
            branches.append(("seq", [(("words", patterns, []), ""), (self.sequence(), "")]))
            for end in (";;&", ";;", ";&", ";|"):
                if self.at(end):
                    self.i += len(end)
                    break

    def test(self):
        self.i += 2
        words, regex = [], False
        while True:
            self.blanks()
            if self.i >= self.n:
                self.fail("]] is missing")
            if re.compile(r"\]\](?=[ \t\n;&|()<>]|$)").match(self.s, self.i):
                self.i += 2
                return ("words", words, self.redirects())
            if self.at("=~"):
                self.i, regex = self.i + 2, True
                continue
            if self.s[self.i] in "&|<>()" and not regex:
                self.i += 1
                continue
            words.append(self.word(regex=regex))
            regex = False

    def redirects(self):
        found = []
        while True:
            self.blank()
            one = self.redirect()
            if one is None:
                return found
            found.append(one)

    def redirect(self):
        m = REDIRECT.match(self.s, self.i)
        if not m or m.group(2) in "<>" and self.s.startswith("(", m.end()) and not m.group(1):
            return None  # <( is part of a word
        self.i = m.end()
        operator = m.group(2)
        self.blank()
        if operator in ("<<", "<<-"):
            start = self.i
            mark = self.word()
            quoted = re.search(r"['\"\\]", self.s[start:self.i].replace("\\\n", ""))
            document = {"mark": literal(mark), "tabs": operator == "<<-", "quoted": bool(quoted), "parts": None}
            if document["mark"] is None:
                self.fail("a here-document's end is computed")
            self.waiting.append(document)
            return ("<<", document, m.group(1))
        if self.i >= self.n or self.s[self.i] in ";&|()\n":
            self.fail("a redirection has no file")
        return (operator, self.word(), m.group(1))

    def documents(self):
        """Reads the here-documents that begin here."""
        waiting, self.waiting = self.waiting, []
        for document in waiting:
            lines = []
            while True:
                if self.i >= self.n:
                    break  # the shell warns and takes what is there
                end = self.s.find("\n", self.i)
                end = self.n if end < 0 else end
                line = self.s[self.i:end]
                self.i = min(end + 1, self.n)
                if document["tabs"]:
                    line = line.lstrip("\t")
                if line == document["mark"]:
                    break
                lines.append(line + "\n")
            text = "".join(lines)
            if document["quoted"]:
                document["parts"] = [("text", text, True)]
            else:
                inner = Parser(text, self.depth)
                document["parts"] = inner.quoted_parts("")

    def simple(self):
        assigns, words, redirects, plain = [], [], [], True
        while True:
            m = WHOLE_WORDS.match(self.s, self.i)
            if m:
                words += [[("text", text or single or double, not text)]
                          for text, single, double in WHOLE_WORD.findall(self.s, self.i, m.end())]
                self.i = m.end()
            self.blank()
            if self.i >= self.n or self.s[self.i] in ";|)\n" or self.at("&") and not self.at("&>"):
                break
            if m and WHOLE_WORD.match(self.s, self.i):
                continue
            plain = False
            one = self.redirect()
            if one is not None:
                redirects.append(one)
                continue
            m = ASSIGN.match(self.s, self.i)
            if m and (not words or literal(words[0]) in DECLARES):
                self.i = m.end()
                value = self.array() if self.at("(") else [] if self.ends() else self.word(assigned=True)
                if not words:
                    assigns.append((m.group(1), value, bool(m.group(3) or m.group(2))))
                elif isinstance(value, tuple):
                    words.append([("text", m.group(0), False), ("computed", value[1], True)])
                else:
                    words.append([("text", m.group(0), False)] + value)
                continue
            if self.at("("):
                self.fail("unexpected (")
            words.append(self.word())
        if not (assigns or words or redirects):
            self.fail("a command is missing")
        return ("plain", words) if plain and words else ("simple", assigns, words, redirects)

    def ends(self):
        return self.i >= self.n or self.s[self.i] in " \t\n;&|()<>" and not self.at("<(") and not self.at(">(")

    def array(self):
        """The words of NAME=(...)."""
        self.i += 1
        parts = []
        while True:
            self.blanks()
            if self.at(")"):
                self.i += 1
                return ("array", parts)
            if self.i >= self.n or self.s[self.i] in ";&|(":
                self.fail("unexpected text in a list")
            parts.extend(self.word())
            parts.append(("text", " ", False))

    def literal_word(self):
        text = literal(self.word())
        if not text:
            self.fail("a name is missing")
        return text

    def word(self, assigned=False, regex=False):
        """The parts of a word; assigned: it is a variable's value; regex: parentheses belong to it."""
        parts, start = [], self.i
        while self.i < self.n:
            c = self.s[self.i]
            m = PLAIN.match(self.s, self.i)
            if m:
                parts.append(("text", m.group(0), False))
                self.i = m.end()
            elif c in "<>" and self.s.startswith("(", self.i + 1):
                parts.append(self.process())
            elif c == "(" and (regex or parts and parts[-1] in (("glob", "*"), ("glob", "?"), ("text", "@", False),
                                                               ("text", "+", False), ("text", "!", False))):
                parts.append(("glob", self.group()))
            elif c in " \t\n;<>&|()":
                if regex and c in "|()<>&":
                    parts.append(("text", c, False))
                    self.i += 1
                    continue
                break
            elif c == "\\":
                if self.at("\\\n"):
                    self.i += 2
                    continue
                parts.append(("text", self.s[self.i + 1:self.i + 2] or c, True))
                self.i += 2
            elif c == "'":
                end = self.s.find("'", self.i + 1)
                if end < 0:
                    self.fail("a quote has no end")
                parts.append(("text", self.s[self.i + 1:end], True))
                self.i = end + 1
            elif c == '"':
                self.i += 1
                parts.extend(self.quoted_parts('"') or [("text", "", True)])
            elif c == "$":
                parts.append(self.dollar(False))
            elif c == "`":
                parts.append(self.backtick(False))
            elif c == "~" and (self.i == start or assigned and self.s[self.i - 1] == ":"):
                m = re.compile(r"~([A-Za-z0-9_.+-]*)(?=[/ \t\n;&|()<>:]|$)").match(self.s, self.i)
                parts.append(("home", m.group(1)) if m else ("text", "~", False))
                self.i = m.end() if m else self.i + 1
            elif c in "{},":
                parts.append(("brace", c))
                self.i += 1
            elif c in "*?[":
                parts.append(("glob", c))
                self.i += 1
            elif c == "#" and self.i == start:
                break
            elif CONTROL.match(c):
                self.fail("a control character")
            else:
                parts.append(("text", c, False))
                self.i += 1
        if not parts and self.i == start:
            self.fail("a word is missing")
        return parts

    def process(self):
        """<(...) or >(...)"""
        self.i += 2
        node = self.sequence()
        self.expect(")")
        return ("process", node)

    def group(self):
        """The text of a parenthesis in a pattern. zsh may run code in one."""
        start, level = self.i, 0
        while self.i < self.n:
            c = self.s[self.i]
            if (c in "'\"`$\\\n;" or c == "e" and self.s[self.i - 1] == "("
                and not self.s[self.i + 1:self.i + 2].isalnum()):
                self.fail("a pattern that is not understood")
            level += {"(": 1, ")": -1}.get(c, 0)
            self.i += 1
            if level == 0:
                return self.s[start:self.i]
        self.fail(") is missing")

    def quoted_parts(self, end):
        """The parts of text in double quotes up to end; "" is all of the text, as in a here-document."""
        parts, plain = [], re.compile(r"[^\\$`%s]+" % end)
        while True:
            if self.i >= self.n:
                if end:
                    self.fail("a quote has no end")
                return parts
            m = plain.match(self.s, self.i)
            if m:
                parts.append(("text", m.group(0), True))
                self.i = m.end()
                continue
            c = self.s[self.i]
            if c == end:
                self.i += 1
                return parts
            if c == "\\":
                following = self.s[self.i + 1:self.i + 2]
                if following != "\n":
                    parts.append(("text", following if following in '$`\\' + end and following else "\\" + following,
                                  True))
                self.i += 2
            elif c == "$":
                parts.append(self.dollar(True))
            else:
                parts.append(self.backtick(True))

    def backtick(self, quoted):
        self.i += 1
        out = []
        while True:
            if self.i >= self.n:
                self.fail("a backquote has no end")
            c = self.s[self.i]
            if c == "`":
                self.i += 1
                break
            if c == "\\" and self.s[self.i + 1:self.i + 2] in ("`", "\\", "$") + (('"',) if quoted else ()):
                self.i += 1
                c = self.s[self.i]
            out.append(c)
            self.i += 1
        self.deeper()
        node = Parser("".join(out), self.depth).whole()
        self.depth -= 1
        return ("run", node, quoted)

    def dollar(self, quoted):
        following = self.s[self.i + 1:self.i + 2]
        if following == "'" and not quoted:
            return self.ansi()
        if following == '"' and not quoted:
            self.i += 2
            return ("joined", self.quoted_parts('"'))
        if self.at("$(("):
            start, waiting = self.i, list(self.waiting)
            try:
                self.i += 3
                return ("computed", self.arithmetic("))"), True)
            except Unreadable:
                self.i, self.waiting = start + 2, waiting
                node = ("doubt", "it may be arithmetic or commands", self.sequence())
                self.expect(")")
                return ("run", node, quoted)
        if following == "(":
            self.i += 2
            node = self.sequence()
            self.expect(")")
            return ("run", node, quoted)
        if following == "[":
            self.i += 2
            return ("computed", self.arithmetic("]"), True)
        if following == "{":
            return self.braces(quoted)
        m = NAME.match(self.s, self.i + 1)
        if m:
            self.i = m.end()
            return ("var", m.group(0), quoted)
        self.i += 1
        if following and following in SPECIAL:
            self.i += 1
            return ("var", following, quoted)
        return ("text", "$", quoted)

    def arithmetic(self, end, stops=";{}"):
        """The parts of an arithmetic expression up to end."""
        parts, level, start = [], 0, self.i
        while self.i < self.n:
            if level == 0 and self.at(end):
                parts += [("sets", m.group(1) or m.group(2)) for m in COUNTS.finditer(self.s, start, self.i)]
                self.i += len(end)
                return parts
            c = self.s[self.i]
            if c == "$":
                parts.append(self.dollar(True))
            elif c == "`":
                parts.append(self.backtick(True))
            elif c in stops:
                break
            else:
                level += {"(": 1, ")": -1, "[": 1, "]": -1}.get(c, 0)
                if level < 0:
                    break
                self.i += 1
        self.fail("%s is missing" % end)

    def braces(self, quoted):
        """${...}"""
        m = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*|[@*#?$!0-9_-])\}").match(self.s, self.i)
        if m:
            self.i = m.end()
            return ("var", m.group(1), quoted)
        odd = re.compile(r"\$\{(\(|[^}]*@P\})").match(self.s, self.i)
        m = re.compile(r"\$\{([A-Za-z_]\w*)(?:\[[^]]*\])?:?=").match(self.s, self.i)
        self.i += 2
        self.deeper()
        parts = [("sets", m.group(1))] if m else []
        while True:
            if self.i >= self.n:
                self.fail("} is missing")
            c = self.s[self.i]
            if c == "}":
                self.i += 1
                break
            if c == "\\":
                self.i += 2
            elif c == "'" and not quoted:
                end = self.s.find("'", self.i + 1)
                if end < 0:
                    self.fail("a quote has no end")
                self.i = end + 1
            elif c == '"':
                self.i += 1
                parts.extend(self.quoted_parts('"'))
            elif c == "$":
                parts.append(self.dollar(True))
            elif c == "`":
                parts.append(self.backtick(True))
            elif c in "<>" and not quoted and self.s.startswith("(", self.i + 1):
                parts.append(self.process())
            else:
                self.i += 1
        self.depth -= 1
        return ("odd" if odd else "computed", parts, quoted)

    def ansi(self):
        """$'...'"""
        self.i += 2
        out = []
        while True:
            if self.i >= self.n:
                self.fail("a quote has no end")
            c = self.s[self.i]
            self.i += 1
            if c == "'":
                return ("text", "".join(out), True)
            if c != "\\":
                out.append(c)
                continue
            m = re.compile(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})"
                           r"|([0-7]{1,3})").match(self.s, self.i)
            if m:
                self.i = m.end()
                number = int(m.group(1) or m.group(2) or m.group(3) or "0", 16) or int(m.group(4) or "0", 8)
                out.append(chr(number) if number < 0x110000 else "\ufffd")
                continue
            c = self.s[self.i:self.i + 1]
            self.i += 1
            if c == "c":
                out.append(chr(ord(self.s[self.i:self.i + 1] or "@") & 31))
                self.i += 1
            else:
                out.append(ANSI.get(c, c if c in "\\'\"?" else "\\" + c))


def literal(parts):
    """The text of a word that nothing computes, else None."""
    if all(p[0] in ("text", "brace", "glob") for p in parts):
        return "".join(p[1] for p in parts)
    return None


# ---------------------------------------------------------------------------------------------------------------------
# From the tree to commands.

STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
OPENED = re.compile(r"/dev/fd/|/proc/[^/]+/fd/")
CLUSTER = re.compile("-[A-Za-z]*.")
DESCRIPTOR = re.compile(r"\d+-?|-")
BLANKS = " \t\n"
IFS = (Word(BLANKS),)
# An index of a list is computed when it is used, and so are commands in it: a[$(rm x)].
INDEX = re.compile(r"\[[^\]]*(?:\$\(|`)")
INDEXES = {"declare", "typeset", "local", "export", "readonly", "read", "unset", "printf", "test", "[", "let", "wait",
           "getopts"}
SEES_ASSIGNS = {"eval", "source", "."}  # what runs lines in the same shell
DECLARES = ("export", "declare", "local", "readonly", "typeset")


UNKNOWN = (Word(COMPUTED, many=True),)
KNOWN = ("variables", "functions", "aliases")
# What a shell gives a value by itself, whatever it was given.
SET_BY_SHELL = {"_", "BASHPID", "BASH_COMMAND", "COMP_LINE", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "FUNCNAME",
                "HISTCMD", "LINENO", "MAPFILE", "OLDPWD", "OPTARG", "OPTIND", "PIPESTATUS", "PPID", "PWD", "RANDOM",
                "READLINE_LINE", "REPLY", "SECONDS", "SHLVL", "SRANDOM"}


def united(mine, its):
    """The values of a variable that has those or these; None = not known."""
    if not mine and not its:
        return None
    both = tuple(mine or UNKNOWN)
    both += tuple(v for v in its or UNKNOWN if v not in both)
    return both if len(both) <= MOST_CHOICES else None


def united_folders(mine, its):
    both = tuple(dict.fromkeys(tuple(mine) + tuple(its)))
    return both if len(both) <= MOST_FOLDERS else both[:MOST_FOLDERS] + ("",)


class State:
    """What is known while the line runs: variables, functions, aliases, files that it wrote, where it is."""

    def __init__(self, cwd=""):
        self.cwds = (cwd,)
        self.variables = {"IFS": IFS}
        self.functions, self.aliases, self.files = {}, {}, {}
        self.assigned = set()  # all variables that the line gives a value
        self.locals = set()  # of a function
        self.entered = {}  # what was known when a function that runs now began
        self.opened = None  # what exec has opened as standard input
        self.exported = {"IFS"}  # variables that a shell within the line has, too
        self.arguments = None  # of a function, a list of words; None = not known
        self.certain = True
        self.via = ()
        self.stdin = NO_INPUT  # of what runs now
        self.depth = 0

    def copy(self):
        other = State.__new__(State)
        other.__dict__.update(self.__dict__)
        other.variables, other.functions = dict(self.variables), dict(self.functions)
        other.aliases, other.exported = dict(self.aliases), set(self.exported)
        return other

    def merge(self, other, folders=True):
        """Makes this what is known where either this or the other holds. Returns whether that changed it."""
        changed = False
        for name in KNOWN:
            mine, its = getattr(self, name), getattr(other, name)
            if mine == its:
                continue
            for key in mine.keys() | its.keys():
                if name == "variables":
                    both = united(mine.get(key), its.get(key))
                else:  # without a meaning it is a program, which is looked at in any case
                    both = mine.get(key, ()) + tuple(m for m in its.get(key, ()) if m not in mine.get(key, ()))
                if key not in mine or mine[key] != both:
                    mine[key], changed = both, True
        if folders and not set(other.cwds) <= set(self.cwds):
            self.cwds, changed = united_folders(self.cwds, other.cwds), True
        self.exported |= other.exported
        if self.arguments != other.arguments:
            changed, self.arguments = changed or self.arguments is not None, None
        return changed

    def become(self, other):
        """Takes over what is known in the other."""
        for name in KNOWN + ("exported", "cwds", "arguments"):
            setattr(self, name, getattr(other, name))

    def forget(self, before):
        """Variables that are not as they were before may be anything."""
        for name, values in self.variables.items():
            if name not in before.variables or before.variables[name] != values:
                self.variables[name] = united(values, None)

    def child(self):
        """Variables as a shell has them that the line starts: those that are not exported are empty there."""
        for name, values in self.variables.items():
            if values and name not in self.exported:
                self.variables[name] = tuple(values) + (Word(""),)

    def set(self, name, values):
        """Gives a variable one of several values; None = one that is not known."""
        self.assigned.add(name)
        if name in SET_BY_SHELL:
            values = None
        elif not self.certain:
            values = united(self.variables.get(name), values)
        self.variables[name] = values

    def define(self, table, name, meaning):
        """Gives a function or an alias a meaning, besides those that it may have."""
        old = () if self.certain else table.get(name, ())
        table[name] = old if meaning in old else old + (meaning,)

    def go(self, folders):
        self.cwds = united_folders(folders, () if self.certain else self.cwds)


class Walk:
    def __init__(self, script, home):
        self.script, self.home = script, home
        self.traps = []  # command, state and words of each trap

    def doubt(self, why, part="", sources=()):
        self.script.unclear.append(Doubt(why, shorten(part), sources))

    def text(self, text, state):
        """Reads text as a line of its own, in the state as it is now. Returns its output where that is known."""
        if state.depth > MOST_DEPTH // 3:
            raise Unreadable("it runs too many lines within lines")
        state.depth += 1
        try:
            return self.node(Parser(text).whole(), state, state.stdin)
        finally:
            state.depth -= 1

    def inner(self, text, state):
        """Reads text that a command of the line runs. What cannot be read there is a doubt of its own."""
        if COMPUTED in text:
            self.doubt("it runs text that is computed", text)
            if not text.strip(COMPUTED + " \t\n;"):
                return None
            text = text.replace(COMPUTED, "${_computed}")
        try:
            return self.text(text, state)
        except Unreadable as e:
            self.doubt(str(e), text)
            return None

    def node(self, node, state, stdin):
        """Walks a node and returns the text that it prints, None where that is not known."""
        outer, state.stdin = state.stdin, stdin
        try:
            return self.walk(node, state, stdin)
        finally:
            state.stdin = outer

    def walk(self, node, state, stdin):
        kind = node[0]
        if kind == "seq":
            return self.sequence(node[1], state, stdin)
        if kind == "plain":
            words = [Word(parts[0][1], quoted=parts[0][2]) for parts in node[1]]
            return self.execute(Command(words, None, (), stdin, state.cwds, state.via), state)
        if kind == "simple":
            return self.simple(node, state, stdin)
        if kind == "doubt":
            self.doubt(node[1])
            return self.node(node[2], state, stdin)
        if kind == "pipe":
            return self.pipe(node[1], state, stdin)
        if kind == "function":
            state.define(state.functions, node[1], node[2])
            inner = state.copy()
            inner.certain = False
            self.node(node[2], inner, NO_INPUT)
            return ""
        if not node[-1]:
            return self.compound(node, state, stdin)
        out, several = None, False
        for several in self.choices(looked_at(node[-1]), state):
            redirects, inner = self.redirected(node[-1], state, stdin)
            if redirects:
                self.emit(Command([], {}, redirects, inner, state.cwds, state.via))
            out = self.compound(node, state, inner)
        return None if several else out

    def compound(self, node, state, stdin):
        """Walks a command that has others in it, without its redirections."""
        kind = node[0]
        if kind == "subshell":
            state = state.copy()
            return self.node(node[1], state, stdin)
        if kind == "group":
            return self.node(node[1], state, stdin)
        if kind == "loop":
            return self.loop(node, state, stdin)
        if kind == "branch":
            certain, state.certain = state.certain, False
            for branch in node[1]:
                self.node(branch, state, stdin)
            state.certain = certain
            return None
        for parts in node[1]:  # words that are only looked at
            self.expand(parts, state)
        return ""

    def sequence(self, items, state, stdin):
        out, first, folders = [], None, state.cwds
        for n, (node, after) in enumerate(items):
            if after and first is None:
                first = state.copy()  # what follows && or || may not run
            elif not after:
                folders = state.cwds
            certain, state.certain = state.certain, state.certain and after != "||"
            out.append(self.node(node, state, state.opened or stdin))
            state.certain = certain
            if n + 1 == len(items) or not items[n + 1][1]:
                if first is not None:
                    state.merge(first)
                    first = None
                if n + 1 < len(items):
                    state.cwds = united_folders(state.cwds, folders)  # a cd may have failed
        return None if None in out else "".join(out)

    def pipe(self, stages, state, stdin):
        out, inner = None, None
        begin = len(self.script.commands)
        for stage in stages:
            inner = state.copy()
            out = self.node(stage, inner, stdin)
            state.files.update(inner.files)
            stdin = Input(out, self.script.commands[begin:])
        state.merge(inner)  # some shells run the last one themselves
        return out

    def loop(self, node, state, stdin):
        _, name, words, body, _ = node
        values = []
        for _ in self.choices(words, state):
            values += [w for parts in words for w in self.expand(parts, state)]
        certain, state.certain = state.certain, False
        if name:
            known = values and len(values) <= MOST_CHOICES and all(w.sure for w in values)
            sources = [s for w in values for s in w.sources]
            unknown = (Word(COMPUTED, many=True, sources=sources),) if sources else None
            state.variables[name] = tuple(values) if known else unknown
        before, known = state.copy(), dict(state.files)
        self.node(body, state, stdin)
        for last in (False, True):  # again, with what the body has changed
            once = before.copy()
            if not once.merge(state) and state.files.keys() == known.keys():
                break
            known = dict(state.files)
            state.become(once)
            if last:
                state.forget(before)
            before = state.copy()
            self.node(body, state, stdin)
        state.merge(before)
        state.certain = certain
        return None

    def emit(self, command):
        command.home = self.home
        self.script.commands.append(command)
        if len(self.script.commands) > MOST_COMMANDS:
            raise Unreadable("it has too many commands")
        return command

    def redirected(self, redirects, state, stdin):
        """The redirections with their words, and the standard input that they leave."""
        found = []
        for operator, what, number in redirects:
            given = None
            if operator == "<<":
                first = len(self.script.commands)
                word = self.joined(what["parts"] or [], state)
                given = Input(word.text if word.sure else None, self.script.commands[first:])
            for word in self.expand(what, state) or [Word(COMPUTED, many=True)] if given is None else ():
                if operator == "<<<":  # of several words zsh takes each
                    given = Input(word.text + "\n" if word.sure else None, word.sources)
                    continue
                if operator in ("<", "<>"):
                    given = state.files.get(self.place(word, state)) or Input(None, word.sources)
                    given = Input("") if word.text == "/dev/null" else given
                elif operator == "<&" and word.text not in ("0", "0-", "-"):
                    given = Input(None, word.sources)
                both = operator == ">&" and not DESCRIPTOR.fullmatch(word.text)
                found.append(("&>" if both else operator, word))
            if given is not None and number in ("", "0"):
                stdin = given
        return found, stdin

    def place(self, word, state):
        """The absolute path of a word, "" where that is not known."""
        if not word.sure or not word.text:
            return ""
        cwd = state.cwds[0]
        return posixpath.normpath(posixpath.join(cwd or "//unknown", word.text))

    # Words.

    def joined(self, parts, state):
        """Parts as one word, whatever they hold."""
        words = self.expand([p if p[0] not in ("brace", "glob") else ("text", p[1], True) for p in parts], state, False)
        if not words:
            return Word("")
        return Word(" ".join(w.text for w in words), quoted=True, sources=[s for w in words for s in w.sources])

    def expand(self, parts, state, split=True):
        """The words that the parts of one word turn into."""
        if len(parts) == 1 and parts[0][0] == "text":
            return [Word(parts[0][1], quoted=parts[0][2])] if parts[0][1] or parts[0][2] else []
        words = []
        for plain in braced(parts):
            words.extend(self.fields(plain, state, split))
            if len(words) > MOST_WORDS:
                raise Unreadable("it has too many words")
        return words

    def fields(self, parts, state, split):
        fields, current = [], Field()
        for part in parts:
            kind = part[0]
            if kind == "text":
                current.add(part[1], part[2])
            elif kind == "glob":
                current.add(part[1], False, glob=True)
            elif kind == "brace":
                current.add(part[1], False)
            elif kind == "sets":
                state.set(part[1], None)
            elif kind == "joined":
                for inner in part[1] or [("text", "", True)]:
                    current = self.value(inner, state, split, fields, current)
            elif kind == "home":
                current.add(self.home if not part[1] else "/home/" + part[1] if part[1] != "root" else "/root", True)
            else:
                current = self.value(part, state, split, fields, current)
        if current.there:
            fields.append(current.word())
        return fields

    def value(self, part, state, split, fields, current):
        """Adds what a part turns into and returns the field that goes on after it."""
        kind = part[0]
        if kind == "text":
            current.add(part[1], part[2])
            return current
        quoted = kind == "process" or part[2] or not split
        sources, text = (), None
        if kind == "var":
            text, sources = self.variable(part[1], quoted, state)
            if isinstance(text, list):  # "$@"
                for n, word in enumerate(text):
                    if n:
                        fields.append(current.word())
                        current = Field()
                    current.add(word.text, True, sources=word.sources)
                return current
        elif kind in ("run", "process"):
            first = len(self.script.commands)
            out = self.node(part[1], state.copy(), state.stdin)
            sources = self.script.commands[first:]
            text = out.rstrip("\n") if out is not None and kind == "run" else None
        else:
            first = len(self.script.commands)
            for inner in part[1]:
                self.joined([inner], state)
            sources = self.script.commands[first:]
            if kind == "odd":
                self.doubt("an expansion may run code", "${...}")
        if text is None:
            several = kind == "var" and part[1] == "@"
            many = several or not quoted and not (kind == "var" and part[1] in "#?$!")
            current.add(COMPUTED, quoted, many=many, sources=sources)
            return current
        if quoted:
            known = kind == "var" and state.variables.get(part[1])
            current.add(text, True, glob=bool(known and known[0].glob), sources=sources)  # for f in *: "$f" is a file
            return current
        ifs = state.variables["IFS"]
        if not ifs or any(w.text != BLANKS for w in ifs):
            current.add(COMPUTED, False, many=True, sources=sources)
            return current
        pieces = re.split(r"[ \t\n]+", text)
        for n, piece in enumerate(pieces):
            if n:
                if current.there:
                    fields.append(current.word())
                current = Field()
            if piece:
                current.add(piece, False, glob=bool(re.search(r"[*?\[]", piece)), sources=sources)
        return current

    def variable(self, name, quoted, state):
        """The text of a variable, None where it is not known, a list for "$@", and the commands that it comes from."""
        if name in state.variables:
            values = state.variables[name] or ()
            text = values[0].text if len(values) == 1 and values[0].sure else None
            return text, [s for w in values for s in w.sources]
        if name == "HOME":
            return self.home, ()
        if name == "PWD":
            return state.cwds[0] or None, ()
        if state.arguments is not None:
            if name in "@*":
                return (list(state.arguments) if quoted else " ".join(w.text for w in state.arguments)), ()
            if name.isdigit() and name != "0":
                n = int(name) - 1
                word = state.arguments[n] if n < len(state.arguments) else Word("")
                return (word.text if word.sure else None), word.sources
        return None, ()

    # Commands.

    def simple(self, node, state, stdin):
        """Walks a simple command once for each value that its variables may have."""
        _, assigns, words, redirects = node
        parts = [w for w in words if len(w) != 1 or w[0][0] != "text"]
        parts += looked_at(redirects) + [a[1] if isinstance(a[1], list) else a[1][1] for a in assigns]
        if not parts:
            return self.single(node, state, stdin)
        out, several = None, False
        for several in self.choices(parts, state):
            out = self.single(node, state, stdin)
        return None if several else out

    def choices(self, words, state):
        """Yields once for each combination of the values that the variables in words may have, with the state changed
        to it. What is yielded says whether there are several."""
        names = dict.fromkeys(name for parts in words for name in used(parts))
        names = [name for name in names if len(state.variables.get(name) or ()) > 1]
        if not names:
            yield False
            return
        kept = {name: state.variables[name] for name in names}
        combinations = list(itertools.islice(itertools.product(*kept.values()), MOST_CHOICES + 1))
        few = len(combinations) <= MOST_CHOICES
        left = {name: [] if few else list(kept[name]) for name in names}
        for one in combinations if few else [None]:
            for n, name in enumerate(names):
                state.variables[name] = (one[n],) if few else TOO_MANY
            yield True
            for name in names:
                values = state.variables[name]
                left[name] = None if left[name] is None or values is None else left[name] + list(values)
        for name, values in left.items():
            distinct = {w.text: w for w in values or ()}
            state.variables[name] = tuple(distinct.values()) if values and len(distinct) <= MOST_CHOICES else None

    def single(self, node, state, stdin):
        _, assigns, parts, redirects = node
        values = {}
        for name, value, adds in assigns:
            if isinstance(value, tuple):
                word = self.joined(value[1], state)
            else:
                word = self.joined(value, state)
            if adds:
                old = state.variables.get(name)
                word = Word(old[0].text + word.text, sources=old[0].sources + word.sources) if old else Word(COMPUTED)
            if INDEX.search(word.text):
                self.doubt("an index may run commands", word.text)
            values[name] = word if len(word.text) < 1 << 16 else Word(COMPUTED)
            if not parts:
                state.set(name, (values[name],))
        words = [w for p in parts for w in self.expand(p, state)]
        found, stdin = self.redirected(redirects, state, stdin)
        if not words:
            self.lines_of_variables(values, state)
            if found or values:
                self.emit(Command([], values, found, stdin, state.cwds, state.via))
            if parts and any(p for p in parts):
                return None  # the word vanished
            return stdin.text if any(o[0].startswith("<") for o in redirects) else ""  # $(<f)
        self.lines_of_variables(values, state)
        command = Command(words, values, found, stdin, state.cwds, state.via)
        if command.name == "exec" and len(words) == 1 and redirects:
            state.opened = stdin if stdin.given else Input(None)
        before = {name: state.variables.get(name) for name in values}
        for name in values if command.name in SEES_ASSIGNS or command.name in state.functions else ():
            state.set(name, (values[name],))
        out = self.execute(command, state)
        for name in values if command.name in SEES_ASSIGNS or command.name in state.functions else ():
            state.variables[name] = united(before[name], state.variables.get(name))
        for operator, word in found:
            if operator in (">", ">>", ">|", "&>", "&>>"):
                place = self.place(word, state)
                if place:
                    old = state.files.get(place)
                    text = out
                    if old and operator in (">>", "&>>"):
                        text = None if None in (out, old.text) else old.text + out
                    state.files[place] = Input(text, [command])
                out = ""
        return out

    def lines_of_variables(self, values, state):
        for name, word in values.items():
            if name in ("BASH_ENV", "BASH_CMDS", "BASH_ALIASES") or name in PROMPTS and re.search(r"\$\(|`", word.text):
                self.doubt("%s may run commands" % name, word.text, word.sources)
            if name in LINE_VARIABLES and word.text:
                self.inner(word.text, state.copy())

    def execute(self, command, state):
        """Adds a command and all that it runs. Returns its output where that is known."""
        before = state.cwds
        cwds = self.folders(command, before) if command.name in FOLDER_OPTIONS else before
        if cwds is not before:
            command.cwds = state.cwds = cwds
            try:
                return self.executed(command, state)
            finally:
                state.cwds = before
        return self.executed(command, state)

    def folders(self, command, cwds):
        """Where a program works that may be given a folder by an option: there, or where it is started."""
        found, args, options = cwds, command.words[1:], FOLDER_OPTIONS[command.name]
        for n, word in enumerate(args):
            for option in options if word.text[:1] == "-" else ():
                text = word.text
                if text == option and n + 1 < len(args):
                    text = args[n + 1].text
                elif text.startswith(option) and (len(option) == 2 and len(text) > 2 or text[len(option):][:1] == "="):
                    text = text[len(option):].lstrip("=")
                else:
                    continue
                if text and COMPUTED not in text:
                    found = united_folders(found, [posixpath.normpath(posixpath.join(cwd, text)) for cwd in found
                                                   if cwd or text.startswith("/")])
        return found

    def executed(self, command, state):
        self.emit(command)
        name = command.name
        if command.words[0].many and command.words[0].text == COMPUTED or not name:
            return self.computed(command, state)
        if state.depth > MOST_DEPTH // 2:
            raise Unreadable("it runs too many commands within commands")
        state.depth += 1
        try:
            return self.named(name, command, state)
        finally:
            state.depth -= 1

    def computed(self, command, state):
        word = command.words[0]
        self.doubt("the name of a command is computed", " ".join(command.texts), word.sources)
        for source in word.sources:
            source.executed = True
        if word.many and len(command.words) > 1:  # it may be no word at all
            rest = Command(command.words[1:], command.assigns, command.redirects, command.stdin, command.cwds,
                           command.via)
            if rest.name:
                self.execute(rest, state)
        return None

    def named(self, name, command, state):
        args = command.words[1:]
        if name in INDEXES:
            for word in args:
                if INDEX.search(word.text):
                    self.doubt("an index may run commands", word.text, word.sources)
        if "/" not in command.words[0].text:
            if name in state.aliases and name not in command.via:
                rest = [quote(w) for w in args]
                for text in state.aliases[name]:
                    self.below(command, name, lambda s, t=text: self.inner(" ".join([t] + rest), s), state)
                return None
            if name in state.functions:
                return self.function(name, command, args, state)
        if not familiar(name):
            self.code_of_options(name, command, args, state)
            self.run_written(command, state)
            return None
        builtin = None
        if name.isalpha() or name in ".:":
            builtin = getattr(self, "do_" + {".": "source", ":": "true"}.get(name, name), None)
        if builtin:
            return builtin(command, args, state)
        if name in SHELLS:
            return self.shell(name, command, args, state)
        language = interpreter(name)
        if language:
            return self.interpreted(language, command, args, state)
        if name in HAS_LINES:
            self.lines_of_options(name, command, args, state)
        else:
            self.code_of_options(name, command, args, state)
        wrapper = wrapper_of(name, args)
        if wrapper:
            self.wrapped(name, wrapper, command, args, state)
        self.run_written(command, state)
        return output(name, args, command, state)

    def function(self, name, command, args, state):
        """Calls a function of the line, in each of the meanings that it may have."""
        command.recursive = name in state.entered
        if command.recursive:
            same = state.arguments is not None and [w.text for w in args] == [w.text for w in state.arguments]
            then = state.entered[name].copy()
            then.arguments = state.arguments
            if args and not same or then.merge(state):
                self.doubt("a function calls itself with other values", " ".join(command.texts))
            return None
        ends = []
        for body in state.functions[name]:
            inner = state.copy()
            inner.arguments, inner.locals, inner.entered = args, set(), dict(state.entered, **{name: state.copy()})
            self.below(command, name, lambda s, b=body: self.node(b, s, command.stdin), inner, changes_state=True)
            inner.arguments = state.arguments
            for local in inner.locals:  # it is again what it was, or was not made
                inner.variables[local] = united(state.variables.get(local), inner.variables.get(local))
            for trap in self.traps:
                trap[1] = state if trap[1] is inner else trap[1]
            ends.append(inner)
        state.become(ends[0])
        for end in ends[1:]:
            state.merge(end)
        return None

    def below(self, command, name, walk, state, changes_state=False):
        """Walks what a command runs, with it in the list of the programs that run it."""
        inner = state if changes_state else state.copy()
        via, inner.via = inner.via, command.via + (name,)
        stdin, inner.stdin = inner.stdin, command.stdin
        try:
            return walk(inner)
        finally:
            inner.via, inner.stdin = via, stdin

    def run_written(self, command, state):
        """A file that the line wrote before and now runs: by its path, or found in PATH."""
        word = command.words[0]
        if not state.files or not word.sure:
            return
        if "/" in word.text:
            written = state.files.get(self.place(word, state))
        else:
            written = next((f for place, f in state.files.items() if posixpath.basename(place) == word.text), None)
        if written:
            self.run_input("sh", command, written, state, command.words[1:])

    def run_input(self, name, command, given, state, arguments=None):
        """A shell that reads its commands from given; arguments are those of a script, None = not known."""
        for source in given.sources:
            source.executed = True
        if given.text is None:
            self.doubt("%s runs what it reads" % name, " ".join(command.texts), given.sources)
            return None
        def call(inner):
            inner.arguments = arguments
            if name in SHELLS:
                inner.child()
                inner.variables.update((n, (w,)) for n, w in command.assigns.items())
            return self.inner(given.text, inner)
        return self.below(command, name, call, state)

    def run_words(self, name, command, words, state, changes_state=False):
        """A shell line out of words."""
        for word in words:
            for source in word.sources:
                source.executed = source.executed or not word.sure
        text = " ".join(w.text for w in words)
        if COMPUTED in text and not text.strip(COMPUTED + " "):
            self.doubt("%s runs text that is computed" % name, " ".join(command.texts),
                       [s for w in words for s in w.sources])
            return None
        return self.below(command, name, lambda s: self.inner(text, s), state, changes_state)

    # Built-in commands of a shell.

    def do_cd(self, command, args, state):
        folders = [w for w in args if not re.match(r"-[LPe@]+$|--$", w.text)]
        word = folders[0] if folders else Word(self.home)
        known = word.sure and word.text and not word.text.startswith("-") and not word.glob
        if known and (folders or command.name != "pushd"):
            absolute = word.text.startswith("/")
            state.go([posixpath.normpath(posixpath.join(cwd, word.text)) if cwd or absolute else ""
                      for cwd in state.cwds])
        else:
            state.go([""])
        return ""

    do_pushd = do_cd

    def do_popd(self, command, args, state):
        state.go([""])

    def do_true(self, command, args, state):
        return ""

    def do_eval(self, command, args, state):
        if args and args[0].text == "--":
            args = args[1:]
        return self.run_words("eval", command, args, state, changes_state=True)

    def do_source(self, command, args, state):
        if not args:
            return None
        word = args[0]
        written = state.files.get(self.place(word, state))
        if word.text in STDIN:
            return self.run_input("source", command, command.stdin, state)
        if OPENED.match(word.text):
            self.doubt("source runs what it reads", " ".join(command.texts))
        if written:
            return self.run_input("source", command, written, state)
        if word.sources and not word.sure:
            return self.run_input("source", command, Input(None, word.sources), state)
        return None

    def do_alias(self, command, args, state):
        for word in args:
            name, sign, value = word.text.partition("=")
            if sign:
                state.define(state.aliases, name.lower(), value)
                if "<<" in value:
                    self.doubt("an alias begins a here-document", value)
                self.below(command, "alias", lambda s: self.inner(value, s), state)
        return ""

    def do_trap(self, command, args, state):
        if args and args[0].text == "--":
            args = args[1:]
        if len(args) > 1 and args[0].text not in ("-", ""):
            self.run_words("trap", command, args[:1], state)
            self.traps.append([command, state, args])
        return ""

    def sprung(self):
        """Walks what traps run once more, with what is known at the end."""
        for command, state, args in self.traps:
            inner = state.copy()
            for name in inner.assigned if {w.text for w in args[1:]} - {"EXIT", "0"} else ():
                inner.variables[name] = united(inner.variables.get(name), None)  # it may run at any time
            self.run_words("trap", command, args[:1], inner)

    def do_export(self, command, args, state):
        changes = any(re.match(r"[-+]\w*[ilnuc]", w.text) for w in args)  # the value is not what is written
        if any(re.match(r"-\w*n", w.text) for w in args) and command.name != "export":
            self.doubt("a variable stands for another", " ".join(command.texts))
        for word in args:
            m = ASSIGN.match(word.text)
            if command.name == "export" or "-x" in (w.text for w in args):
                state.exported.add(m.group(1) if m else word.text)
            if not m:
                continue
            value = Word(word.text[m.end():], sources=word.sources)
            if command.name not in ("export", "readonly"):
                state.locals.add(m.group(1))
            state.set(m.group(1), None if changes or m.group(2) or m.group(3) else (value,))
            self.lines_of_variables({m.group(1): value}, state)
        return ""

    do_declare = do_local = do_readonly = do_typeset = do_export

    def do_read(self, command, args, state):
        names = [w.text for w in args if NAME.fullmatch(w.text)]
        values = lines_read(command, state) if command.name == "read" and len(names) == 1 else None
        if values is None and command.name == "read" and command.stdin.sources:
            values = (Word(COMPUTED, many=True, sources=command.stdin.sources),)
        for name in names:
            state.set(name, values)
        return ""

    do_getopts = do_unset = do_read

    def do_mapfile(self, command, args, state):
        if any(w.text.startswith("-C") for w in args):
            self.doubt("mapfile adds words to a command", " ".join(command.texts))
        self.lines_of_options("mapfile", command, args, state)
        return self.do_read(command, args, state)

    do_readarray = do_mapfile

    def do_printf(self, command, args, state):
        if len(args) > 2 and args[0].text == "-v":
            text = output("printf", args[2:], command, state)
            state.set(args[1].text, (Word(text),) if text is not None else None)
            return ""
        return output("printf", args, command, state)

    def do_set(self, command, args, state):
        texts = [w.text for w in args]
        if "--" in texts:
            state.arguments = args[texts.index("--") + 1:] if state.certain else None
        elif any(not t.startswith(("-", "+")) for t in texts):
            state.arguments = None
        return ""

    def do_shift(self, command, args, state):
        n = int(args[0].text) if args and args[0].text.isdigit() else 0 if args else 1
        known = state.certain and state.arguments is not None and n and not any(w.many for w in state.arguments)
        state.arguments = state.arguments[n:] if known else None
        return ""

    def do_bind(self, command, args, state):
        for before, word in zip(args, args[1:]):
            if before.text == "-x":
                self.inner(word.text.partition(":")[2].strip("'\" "), state.copy())
        return ""

    # Programs that run others.

    def shell(self, name, command, args, state):
        """sh -c TEXT, sh FILE, sh with commands on its input."""
        rest = list(args)
        text_follows = False
        while rest:
            text = rest[0].text
            if rest[0].many and text.startswith(COMPUTED):
                self.doubt("%s may be given options that are computed" % name, " ".join(command.texts), rest[0].sources)
                return None
            if text in ("--", "-"):
                rest.pop(0)
                break
            if not re.match(r"[-+][^-]|--[a-z]", text):
                break
            rest.pop(0)
            if text.startswith("--"):
                if text in ("--rcfile", "--init-file") and rest:
                    self.code_file(name, command, rest.pop(0), state)
                elif text == "--command" and rest:
                    text_follows = True
                continue
            if "c" in text[1:] or name in POWER and "-command".startswith(text.lower()) \
                    or name in POWER and "-encodedcommand".startswith(text.lower()):
                text_follows = True
            if text[-1] in "oO" and rest:
                rest.pop(0)
            if "s" in text[1:]:
                return self.run_input(name, command, command.stdin, state)
        if text_follows:
            if not rest:
                return None
            arguments, state_now = rest[2:], state.copy()
            state_now.child()
            state_now.variables.update((n, (w,)) for n, w in command.assigns.items())
            state_now.arguments = arguments
            if len(rest) > 1:
                state_now.variables["0"] = (rest[1],)
            if name not in SHELLS_READ:
                self.doubt("%s has a language of its own" % name, rest[0].text)
            return self.run_words(name, command, rest[:1], state_now)
        if rest and rest[0].text not in STDIN:
            if OPENED.match(rest[0].text):
                self.doubt("%s runs what it reads" % name, " ".join(command.texts))
            written = state.files.get(self.place(rest[0], state))
            if written or rest[0].sources and not rest[0].sure:
                return self.run_input(name, command, written or Input(None, rest[0].sources), state, rest[1:])
            if rest[0].text.startswith(COMPUTED) and rest[0].many:
                self.doubt("%s runs a file whose name is computed" % name, " ".join(command.texts))
            return None
        if command.stdin.given:
            return self.run_input(name, command, command.stdin, state)
        return None

    def interpreted(self, language, command, args, state):
        """python -c CODE and the like."""
        options, code, file = language, [], None
        n = 0
        while n < len(args):
            text = args[n].text
            grouped = options is not LONG_OPTIONS or not re.fullmatch(r"-[A-Za-z-]{2,}", text)
            option = text if text in options else next(
                (o for o in options if grouped and len(o) == 2 and re.match(r"-[A-Za-z]*%s" % o[1], text)
                 or o.startswith("--") and text.startswith(o + "=")), None)
            if text in ("--", "-"):
                n += text == "--"
                file = args[n] if n < len(args) and args[n].text != "-" else None
                break
            if option and option.startswith("--") and "=" in text:
                code.append(Word(text.partition("=")[2], sources=args[n].sources))
            elif option:
                tail = text.partition(option[1])[2] if len(option) == 2 and text != option else ""
                if tail and re.match(r"-[A-Za-z]+$", text) and n + 1 < len(args) and option[1] == text[-1]:
                    tail = ""
                if tail:
                    code.append(Word(tail, sources=args[n].sources))
                elif n + 1 < len(args):
                    n += 1
                    code.append(args[n])
            elif not text.startswith("-") or text.startswith(COMPUTED):
                file = args[n]
                break
            elif text == "-m":
                file = Word("-m")
                break
            n += 1
        name = command.name
        given = (name in FILE_OPTIONS or name in RUNS_FILES) and self.code_files(name, command, args, state)
        if given and not code:
            return None
        if options is AWKS and not code and file:
            code, file = [file], None
        if not code and options is not AWKS:
            given = None
            if file is None or file.text in STDIN:
                given = command.stdin if command.stdin.given else None
            elif file.text != "-m":
                given = state.files.get(self.place(file, state))
                if not given and file.sources and not file.sure:
                    given = Input(None, file.sources)
            if given is None:
                return None
            if given.text is None:
                self.doubt("%s runs what it reads" % name, " ".join(command.texts), given.sources)
                for source in given.sources:
                    source.executed = True
                return None
            code = [Word(given.text, sources=given.sources)]
        for word in code:
            for source in word.sources:
                source.executed = source.executed or word.text == COMPUTED
            if word.text == COMPUTED:
                self.doubt("%s runs code that is computed" % name, " ".join(command.texts), word.sources)
        command.code = "\n".join(w.text for w in code)
        self.lines_of_code(name, command, command.code, state, language is AWKS)
        for line in command.code.splitlines() if name in SHELL_IN_TEXT else ():
            found = SHELL_IN_TEXT[name].search(line)
            if found:
                self.inner(next(g for g in found.groups() if g is not None), state.copy())
        return None

    def code_files(self, name, command, args, state):
        """Files with code that options name, or the first word of a program that runs one: what stands in them is read
        where it is known. Says whether there is such a file that the line gives."""
        found = False
        for before, word in zip([None] + args, args):
            option = before is not None and before.text in FILE_OPTIONS.get(name, ())
            glued = next((o for o in FILE_OPTIONS.get(name, ()) if word.text.startswith(o) and len(word.text) > len(o)
                          and (o[:2] != "--" and len(o) == 2 or word.text[len(o)] == "=")), None)
            if glued:
                word = Word(word.text[len(glued):].lstrip("="), sources=word.sources)
            value = before is not None and before.text[:1] == "-" and not word.sure  # perhaps of an option: -cp "$(x)"
            if option or glued or name in RUNS_FILES and not value and (word.text[:1] != "-" or word.text == "-"):
                found = self.code_file(name, command, word, state) or found
            if name in RUNS_FILES and not (option or value or word.text[:1] == "-" or word.text in RUN_WORDS
                                           or word.text.isdigit()):
                break  # what follows is for the program in the file
        return found

    def code_file(self, name, command, word, state):
        """A file with code; says whether the line itself gives it."""
        if word.text in STDIN or word.text == "-":
            given = command.stdin if command.stdin.given else None
        elif OPENED.match(word.text) or word.sources and not word.sure:
            given = Input(None, word.sources)
        else:
            given = state.files.get(self.place(word, state))
        if given is None:
            return False
        for source in given.sources:
            source.executed = True
        if given.text is None:
            self.doubt("%s runs what it reads" % name, " ".join(command.texts), given.sources)
        else:
            command.code = given.text if command.code is None else command.code + "\n" + given.text
            self.lines_of_code(name, command, given.text, state, name in AWK_NAMES)
        return True

    def typed(self, name, command, words, state):
        """Keys that are typed in a terminal: `tmux send-keys 'rm x' Enter`."""
        text = "".join(KEYS.get(w.text, w.text) for w in words if not re.fullmatch(r"-[lRMHX]+", w.text))
        self.run_words(name, command, [Word(text, sources=[s for w in words for s in w.sources])], state)

    def tmux(self, command, args, state):
        """Commands of tmux that run lines, type keys, or run what is in a file."""
        texts = [w.text for w in args]
        for n, text in enumerate(texts):
            rest = args[n + 1:]
            if text in ("send-keys", "send"):
                while rest and re.match(r"-[tNc]", rest[0].text):
                    rest = rest[1 if len(rest[0].text) > 2 else 2:]
                return self.typed("tmux", command, rest, state)
            if text in ("source-file", "source", "load-buffer", "loadb"):
                for word in rest:
                    self.code_file("tmux", command, word, state)
                return None
            if text in ("paste-buffer", "pasteb"):
                return self.doubt("tmux types what is in a buffer", " ".join(texts))
            if text in TMUX_COMMANDS:
                for word in rest:
                    if re.search(r"\s", word.text):
                        self.inner("tmux " + word.text, state.copy())
                        self.perhaps("tmux", command, word.text, state)
                return None
        return None

    def lines_of_code(self, name, command, code, state, every):
        """Commands that code in another language starts, as far as they stand in it word for word. every: also a string
        of one word."""
        if not STARTS.search(code):
            return
        for texts in itertools.islice(listed(code), 200):
            words = [Word(unescape(t)) for t in texts]
            if words[0].text and not re.search(r"\s", words[0].text) and state.depth < MOST_DEPTH // 3:
                self.below(command, name, lambda s: self.execute(Command(words, {}, (), NO_INPUT, s.cwds, s.via), s),
                           state)
        for m in itertools.islice(STRINGS.finditer(code), 200):
            text = unescape(m.group(0))
            if not every and not re.search(r"\S\s+\S|[\\\\'\"`$({]", text):
                continue
            kept = list(self.script.unclear)
            try:
                self.below(command, name, lambda s: self.text(text.replace(COMPUTED, "${_computed}"), s), state)
            except Unreadable:
                pass  # most strings are no shell lines
            self.script.unclear[:] = kept

    def lines_of_options(self, name, command, args, state):
        """Options whose value is a shell line."""
        options, in_text = LINE_OPTIONS.get(name, ()), SHELL_IN_TEXT.get(name)
        bare = [o for o in options if o[0] != "-"] if options else options
        if name == "git":
            self.git(command, args, state)
        if name == "tmux":
            self.tmux(command, args, state)
        if name in FILE_OPTIONS or name in RUNS_FILES:
            self.code_files(name, command, args, state)
        if name in READS_LINES and command.stdin.given and command.stdin.text is None:
            self.run_input(name, command, command.stdin, state)
        for n, word in enumerate(args) if options or in_text else ():
            text, following = word.text, args[n + 1] if n + 1 < len(args) else None
            if not (bare or in_text or text[:1] == "-"):
                continue
            for option in options if text[:1] == "-" else bare:
                ends = text == option or len(option) == 2 and text[-1:] == option[1] and CLUSTER.fullmatch(text)
                if ends and not option.endswith("=") and following is not None:
                    self.run_words(name, command, [following], state)
                elif text.startswith(option) and len(text) > len(option) and (option.endswith("=") or len(option) == 2):
                    self.run_words(name, command, [Word(text[len(option):], sources=word.sources)], state)
                elif option.startswith("--") and text.startswith(option + "="):
                    self.run_words(name, command, [Word(text[len(option) + 1:], sources=word.sources)], state)
            found = in_text and in_text.search(text)
            if found:
                self.inner(next(g for g in found.groups() if g is not None), state.copy())
        if name in ("curl", "wget"):
            for before, word in zip(args, args[1:]):
                if before.text in ("-o", "--output", "-O", "--output-document") and self.place(word, state):
                    state.files[self.place(word, state)] = Input(None, [command])
        if name == "tee":
            for word in args:
                state.files[self.place(word, state)] = Input(command.stdin.text, [command])
        elif name in ("cp", "mv", "ln", "install") and len(args) > 1:
            copied = state.files.get(self.place(args[-2], state))
            if not copied and PROGRAM.search(args[-2].text):
                copied = Input(quote(args[-2]) + ' "$@"\n', [command])
            if copied:
                state.files[self.place(args[-1], state)] = copied
        elif name in ("sed", "gsed") and any(SED_RUNS.search(w.text) and w.text[2:] for w in args):
            self.doubt("sed runs what it reads", " ".join(command.texts))
        if name in VIMS and command.stdin.given and any(re.fullmatch("-[eE]s?", w.text) for w in args):
            self.run_input(name, command, command.stdin, state)
        if name in STDIN_IS_LINES and command.stdin.given or name in STARTS_SHELL and command.stdin.text:
            self.run_input(name, command, command.stdin, state)
        if in_text and command.stdin.text:
            for line in command.stdin.text.splitlines():
                found = in_text.search(line)
                if found:
                    self.inner(next(g for g in found.groups() if g is not None), state.copy())
        if name in ("make", "gmake"):
            self.make(command, args, state)
        self.code_of_options(name, command, args, state)

    def code_of_options(self, name, command, args, state):
        """Text behind an option that often means code."""
        if name in NO_CODE:
            return
        for n in range(1, len(args)):
            if args[n - 1].text in CODE_OPTIONS:
                text = args[n].text
                if text not in LINE_OPTIONS.get(name, ()) and re.search(r"\S\s\S", text):
                    self.perhaps(name, command, text, state)

    def make(self, command, args, state):
        """The recipes of a makefile that the line wrote, or that stands on the input."""
        given = [command.stdin] if any(w.text in ("-", "-f-", "--file=-", "--makefile=-") + STDIN for w in args) else []
        named = [w for w in args if not w.text.startswith("-")] + [Word(n) for n in ("GNUmakefile", "makefile",
                                                                                     "Makefile")]
        given += [state.files[p] for p in (self.place(w, state) for w in named) if p in state.files]
        for one in given:
            if one.text is None:
                self.doubt("make runs what it reads", " ".join(command.texts), one.sources)
            for line in (one.text or "").replace("\\\n", " ").splitlines():
                recipe = line[1:] if line.startswith("\t") else line.partition(";")[2]
                self.inner(recipe.lstrip("@-+ ").replace("$$", "$"), state.copy())

    def perhaps(self, name, command, text, state):
        """Text that may be a shell line, or code with such lines. In doubt it is neither."""
        kept = list(self.script.unclear)
        try:
            self.below(command, name, lambda s: self.text(text.replace(COMPUTED, "${_computed}"), s), state)
        except Unreadable:
            pass
        self.script.unclear[:] = kept
        self.lines_of_code(name, command, text, state, False)

    def git(self, command, args, state):
        """Settings and subcommands of git that run a line."""
        texts = [w.text for w in args]
        for n, text in enumerate(texts):
            following = args[n + 1] if n + 1 < len(args) else None
            setting = (following.text if text in ("-c", "--config") and following is not None else text if "=" in text
                       else "")
            key, _, value = setting.partition("=")
            key = key.lower().replace("--config=", "")
            if key.startswith("alias."):
                self.inner(value[1:] if value[:1] == "!" else "git " + value, state.copy())
            elif GIT_LINES.fullmatch(key) and value:
                self.inner(value.lstrip("!"), state.copy())
            if text == "config" and n + 2 < len(args):
                pair = [w for w in args[n + 1:] if not w.text.startswith("-") and w.text not in ("set", "add")]
                if len(pair) == 2 and pair[0].text.lower().startswith("alias."):
                    value = pair[1].text
                    self.inner(value[1:] if value[:1] == "!" else "git " + value, state.copy())
                elif len(pair) == 2 and GIT_LINES.fullmatch(pair[0].text.lower()):
                    self.inner(pair[1].text.lstrip("!"), state.copy())
                break
            if text == "foreach" and "submodule" in texts[:n]:
                words = [w for w in args[n + 1:] if w.text not in ("--recursive", "--quiet", "-q")]
                if words:
                    self.run_words("git", command, words, state)
                break
            if text == "run" and "bisect" in texts[:n] and following is not None:
                rest = args[n + 1:]
                self.below(command, "git",
                           lambda s: self.execute(Command(rest, {}, (), NO_INPUT, s.cwds, s.via), s), state)
                break

    def wrapped(self, name, wrapper, command, args, state):
        """The command behind sudo, env, xargs, timeout, ..."""
        rest, lines, assigns = wrapper.split(args)
        for line in lines:
            if name == "env":
                self.split_words(command, line, rest, state)
            else:
                self.run_words(name, command, [line], state)
        if lines and name == "env":
            return
        if not rest:
            if name in BARE_SHELLS and command.stdin.given or name == "parallel":
                self.run_input(name, command, command.stdin, state)
            return
        cwds = state.cwds if not wrapper.elsewhere else ("",)
        if rest[0].text in (":::", "::::"):  # parallel without a command runs each word
            for word in rest[1:]:
                self.run_words(name, command, [word], state)
            return
        if wrapper.finds:
            for words in found_commands(rest):
                inner = Command(words, {}, (), NO_INPUT, cwds, command.via + (name,))
                inner.fed = True
                self.in_place(inner, state)
            return
        if wrapper.anywhere:
            self.anywhere(name, command, rest, cwds, state)
            return
        if wrapper.joined and len(rest) >= 1 and (len(rest) == 1 or wrapper.elsewhere or name == "watch"):
            self.run_words(name, command, rest, state)
            return
        fed = wrapper.feeds
        if fed:
            if name in ("parallel", "rush"):
                self.lines_of_words(name, command, rest, state)
            rest = feed(args, rest, command.stdin)
        self.lines_of_variables(assigns, state)
        inner = Command(rest, assigns, (), NO_INPUT if fed else command.stdin, cwds, command.via + (name,))
        inner.fed = fed
        if fed and inner.name in SHELLS and any("c" in w.text and w.text.startswith("-") for w in rest[1:3]):
            given = any(w.sure and not w.text.startswith("-") for w in rest[1:])
            if rest[-1].text == COMPUTED and len(rest) >= 3 and not given:
                self.doubt("%s runs what it reads" % inner.name, " ".join(command.texts), command.stdin.sources)
        self.in_place(inner, state)

    def lines_of_words(self, name, command, rest, state):
        """parallel LINE ::: WORDS: one line for each of the words."""
        marks = [n for n, w in enumerate(rest) if w.text == ":::"]
        words = [w for w in rest[marks[0] + 1:] if w.text != ":::"] if marks else []
        line = " ".join(w.text for w in rest[:marks[0]]) if marks else ""
        for word in words[:MOST_CHOICES]:
            own = quote(word)
            text = line.replace("{}", own) if "{}" in line else line + " " + own
            self.run_words(name, command, [Word(text, sources=word.sources)], state)

    def split_words(self, command, line, rest, state):
        """env -S: the words of a text and those behind it are one command."""
        if not PLAIN_WORDS.fullmatch(line.text):
            self.doubt("env splits text in a way of its own", line.text, line.sources)
        self.run_words("env", command, [line] + [Word(quote(w), sources=w.sources) for w in rest], state)

    def anywhere(self, name, command, words, cwds, state):
        """A command that may begin at any of the words."""
        starts = [n for n, w in enumerate(words) if not w.text.startswith("-")]
        if len(starts) > MOST_STARTS:
            self.doubt("%s has too many words" % name, " ".join(command.texts))
        for n in starts[:MOST_STARTS]:
            self.in_place(Command(words[n:], {}, (), command.stdin, cwds, command.via + (name,)), state)

    def in_place(self, inner, state):
        via, state.via = state.via, inner.via
        certain, state.certain = state.certain, False
        try:
            self.execute(inner, state)
        finally:
            state.via, state.certain = via, certain


def lines_read(command, state):
    """The values that `read NAME` may give its variable, None where they are not known."""
    text, ifs = command.stdin.text, command.assigns.get("IFS")
    if text is None or "\\" in text or any(w.text != "-r" and not NAME.fullmatch(w.text) for w in command.words[1:]):
        return None
    if ifs is not None and ifs.text or ifs is None and state.variables["IFS"] != IFS:
        return None
    lines = dict.fromkeys(line if ifs else line.strip(BLANKS) for line in text.rstrip("\n").split("\n"))
    return tuple(Word(line) for line in lines) if len(lines) <= MOST_CHOICES else None


class Field:
    """A word that is being put together."""

    def __init__(self):
        self.text, self.pattern, self.sources = [], [], []
        self.glob = self.many = self.quoted = self.there = False

    def add(self, text, quoted, glob=False, many=False, sources=()):
        self.there = self.there or bool(text) or quoted
        self.text.append(text)
        self.pattern.append(text if glob else re.sub(r"([*?\[])", r"[\1]", text))
        self.glob, self.many, self.quoted = self.glob or glob, self.many or many, self.quoted or quoted
        self.sources.extend(sources)

    def word(self):
        return Word("".join(self.text), self.glob, "".join(self.pattern), self.many, self.quoted, self.sources)


def braced(parts):
    """The words that brace expansion makes of the parts of one word: a{b,c} and {1..3}."""
    opened = parts.count(("brace", "{"))
    if not opened:
        return [parts]
    if opened > MOST_BRACES:
        raise Unreadable("it has too many words")
    open_at, level, commas = parts.index(("brace", "{")), 0, []
    for n in range(open_at, len(parts)):
        if parts[n] == ("brace", "{"):
            level += 1
        elif parts[n] == ("brace", ",") and level == 1:
            commas.append(n)
        elif parts[n] == ("brace", "}"):
            level -= 1
            if level == 0:
                break
    before = parts[:open_at]
    if level != 0 or n == open_at:
        return [before + [("text", "{", False)] + rest for rest in braced(parts[open_at + 1:])]
    inside, after = parts[open_at + 1:n], parts[n + 1:]
    if commas:
        edges = [open_at] + commas + [n]
        choices = [c for a, b in zip(edges, edges[1:]) for c in braced(parts[a + 1:b])]
    else:
        choices = ranged(literal(inside) or "")
        if choices is None:
            choices = [[("text", "{", False)] + c + [("text", "}", False)] for c in braced(inside)]
    tails = braced(after)
    if len(choices) * len(tails) > MOST_WORDS:
        raise Unreadable("it has too many words")
    return [before + c + t for c in choices for t in tails]


def ranged(text):
    m = re.fullmatch(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?", text)
    if m:
        a, b, step = int(m.group(1)), int(m.group(2)), abs(int(m.group(3) or 1)) or 1
        if abs(a - b) // step > MOST_WORDS:
            raise Unreadable("it has too many words")
        return [[("text", str(k), False)] for k in (range(a, b + 1, step) if a <= b else range(a, b - 1, -step))]
    m = re.fullmatch(r"([A-Za-z])\.\.([A-Za-z])", text)
    if m:
        a, b = ord(m.group(1)), ord(m.group(2))
        return [[("text", chr(k), False)] for k in (range(a, b + 1) if a <= b else range(a, b - 1, -1))]
    return None


def looked_at(redirects):
    """The words of redirections, and the texts of here-documents."""
    return [r[1] if isinstance(r[1], list) else r[1]["parts"] or [] for r in redirects]


def used(parts):
    """The names of the variables in a word."""
    for part in parts:
        if part[0] == "var":
            yield part[1]
        elif part[0] in ("computed", "odd", "joined"):
            yield from used(part[1])


def quote(word):
    if word.text == COMPUTED:
        return "$_computed" if word.many else '"$_computed"'
    pieces = re.split(r"([*?\[\]])", word.text) if word.glob else [word.text]
    for n in range(0, len(pieces), 2):  # between them stands what may match several files
        pieces[n] = "'" + pieces[n].replace("'", "'\\''").replace(COMPUTED, "'\"$_computed\"'") + "'"
    return "".join(pieces)


PRINTS = {"echo", "printf", "cat", "tee", "head", "tail", "base64", "base32", "openssl", "xxd", "rev", "which", "type",
          "command", "whence", "pwd", "basename"}


def output(name, args, command, state):
    """What a command prints, as far as that is known without running it; else None."""
    if name not in PRINTS or any(not w.sure or w.glob for w in args):
        return None
    texts = [w.text for w in args]
    if name == "echo":
        escapes = False
        while texts and re.fullmatch(r"-[neE]+", texts[0]):
            escapes = escapes or "e" in texts[0]
            texts = texts[1:]
        text = " ".join(texts)
        read = backslashes(text, ECHO)
        return read + "\n" if escapes or read == text else None  # without -e it depends on the shell
    if name == "printf" and texts:
        return formatted(texts)
    if name in ("cat", "tee", "head", "tail") and command.stdin.given and all(t.startswith("-") for t in texts):
        return command.stdin.text
    if name == "base64" and command.stdin.text is not None and set(texts) & {"-d", "-D", "--decode", "-di", "-id"}:
        return decoded(command.stdin.text, base64.b64decode)
    if name == "base32" and command.stdin.text is not None and set(texts) & {"-d", "--decode"}:
        return decoded(command.stdin.text, base64.b32decode)
    if name == "openssl" and command.stdin.text is not None \
            and set(texts) & {"base64", "-base64", "-a"} and "-d" in texts:
        return decoded(command.stdin.text, base64.b64decode)
    if name == "xxd" and command.stdin.text is not None and "r" in "".join(t for t in texts if t.startswith("-")):
        return decoded(re.sub(r"\s", "", command.stdin.text), binascii.unhexlify)
    if name == "rev" and command.stdin.text is not None and not texts:
        return "".join(line[::-1] + "\n" for line in command.stdin.text.splitlines())
    if name in ("which", "type", "command", "whence") and texts and not texts[-1].startswith("-") \
            and (name == "which" or len(texts) > 1):
        return "/usr/bin/%s\n" % texts[-1]
    if name == "pwd" and state.cwds[0]:
        return state.cwds[0] + "\n"
    if name == "basename" and len(texts) == 1:
        return posixpath.basename(texts[0].rstrip("/")) + "\n"
    return None


def decoded(text, decode):
    try:
        return decode(text.strip().encode()).decode("utf-8")
    except (ValueError, binascii.Error):
        return None


# How echo, printf's format and its %b write a character by its octal number.
ECHO, FORMAT, PERCENT_B = "0([0-7]{0,3})", "([0-7]{1,3})", "0?([0-7]{1,3})"


def backslashes(text, octal):
    def one(m):
        if m.group(1) is not None:
            return chr(int(m.group(1) or "0", 8) & 255)
        code = m.group(2) or m.group(3) or m.group(4)
        if code:
            return chr(min(int(code, 16), 0x10FFFF))
        return ANSI.get(m.group(5), "\\" if m.group(5) == "\\" else m.group(0))
    if octal != FORMAT:
        text = re.sub(r"((?:[^\\]|\\[^c])*)\\c.*", r"\1", text, flags=re.S)  # nothing is printed after it
    return re.sub(r"\\(?:%s|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))" % octal, one, text,
                  flags=re.S)


def formatted(texts):
    """What printf FORMAT ARGUMENTS prints, None for formats that are not read here."""
    form, arguments = texts[0], texts[1:]
    if form == "--" and arguments:
        form, arguments = arguments[0], arguments[1:]
    parts = re.split(r"(%%|%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z])", form)
    if any(p.startswith("%") and p not in ("%%", "%s", "%b", "%d") for p in parts[1::2]):
        return None
    slots = sum(p != "%%" for p in parts[1::2])
    out, first = [], True
    while first or arguments and slots:
        first = False
        for n, part in enumerate(parts):
            if n % 2 == 0:
                out.append(backslashes(part, FORMAT))
            elif part == "%%":
                out.append("%")
            else:
                value = arguments.pop(0) if arguments else ""
                out.append(backslashes(value, PERCENT_B) if part == "%b" else value)
        if len(out) > 10000:
            return None
    return "".join(out)


STARTS = re.compile(r"system|\|&?\s*getline|print.*\||popen|subprocess|exec|spawn|child_process|\bqx\b|Runtime|`|shell"
                    r"|\.run\(|\brun\b|command|cmd|getline|\|\s*\"|\bsh\b|%x|run-program", re.IGNORECASE)
STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?:qx|%x)\s*[{(\[][^\n})\]]*[})\]]")
STRINGS_IN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
CALLS = re.compile(r"\b(?:exec|system|spawn)\w*$|\((?:list|sh|shell)$")
BETWEEN = re.compile(r"\s*,\s*\[?\s*|\s+(?:\(list\s+)?")


def listed(code):
    """The strings of each list, or of the arguments of each call, in code: ["rm", "-rf", "/"] and
    ("rm", ["-rf", "/"])."""
    row, end = [], 0
    for m in STRINGS_IN.finditer(code):
        if row and BETWEEN.fullmatch(code, end, m.start()):
            row.append(m.group(0))
        else:
            if row:
                yield row
            before = code[end:m.start()].rstrip()
            row = [m.group(0)] if before[-1:] in ("[", "(") or CALLS.search(before) else []
        end = m.end()
    if row:
        yield row


def unescape(literal_text):
    """The text of a string in another language, near enough to read it as a shell line."""
    text = re.sub(r"^(?:qx|%x)\s*", "", literal_text)[1:-1]
    try:
        return codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape") if "\\" in text else text
    except (ValueError, UnicodeDecodeError):
        return text


SHELLS = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "pdksh", "rbash", "yash", "fish", "csh", "tcsh", "nu",
          "elvish", "pwsh", "powershell", "posh", "xonsh"}
POWER = ("pwsh", "powershell")
SHELLS_READ = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "pdksh", "rbash", "yash", "posh"}
AWKS = ("-e", "--source")
# Of languages whose options have several letters behind one dash.
LONG_OPTIONS = ("-e", "-c", "-g", "--eval", "-eval", "eval", "e", "--expression", "--execute", "-execute", "-batch",
                "--batch-string")
INTERPRETERS = [
    (re.compile(r"(?:python|pypy)[0-9.]*(?:-config)?|py|ipython3?"), ("-c",)),
    (re.compile(r"perl[0-9.]*"), ("-e", "-E")),
    (re.compile(r"r|octave(?:-cli)?|gnuplot|guile[0-9.]*|racket|sbcl|clisp|ghci?|ocaml|crystal|nim|erl|iex|dc|jshell|m4"
                r"|expect|clojure|clj|bb|janet|hy|kotlin|jrunscript|emacs(?:client)?|swipl|matlab|maxima"
                r"|sage|fennel|csi|chibi-scheme|gosh|picat|yap|gap|gp"), LONG_OPTIONS),
    (re.compile(r"j?ruby[0-9.]*|lua(?:jit)?[0-9.]*|rscript|osascript|elixir|julia|groovy|tclsh|raku|scala|swift"),
     ("-e",)),
    (re.compile(r"node(?:js)?|bun|deno|tsx|ts-node"), ("-e", "-p", "--eval", "--print", "-pe", "eval")),
    (re.compile(r"php[0-9.]*"), ("-r", "-B", "-R", "-E")),
    (re.compile(r"[gmn]?awk|busybox-awk"), AWKS),
]


@functools.lru_cache(maxsize=1024)
def interpreter(name):
    """The options of an interpreter that take code, None if name is none."""
    return next((options for pattern, options in INTERPRETERS if pattern.fullmatch(name)), None)


# Variables, options and settings whose value is run as a shell line.
PROMPTS = {"PS0", "PS1", "PS2", "PS3", "PS4"}
LINE_VARIABLES = {"GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF",
                  "GIT_ASKPASS",
                  "EDITOR", "VISUAL", "PAGER", "MANPAGER", "PROMPT_COMMAND", "LESSOPEN", "LESSCLOSE", "RSYNC_RSH",
                  "GIT_PROXY_COMMAND", "BROWSER"}
LINE_OPTIONS = {
    "tar": ("--to-command", "-I", "--use-compress-program", "--checkpoint-action=exec=", "--rsh-command",
            "--info-script", "-F"),
    "rsync": ("-e", "--rsh", "--rsync-path"), "ssh": ("-oProxyCommand=", "-oLocalCommand=", "ProxyCommand=",
                                                      "LocalCommand="),
    "sftp": ("-oProxyCommand=", "ProxyCommand="), "scp": ("-oProxyCommand=", "ProxyCommand="),
    "zip": ("-TT", "--unzip-command"), "man": ("-P", "--pager", "-H", "--html"), "sort": ("--compress-program",),
                "split": ("--filter",),
    "rg": ("--pre",), "git": ("--exec", "-x", "--upload-pack", "--receive-pack", "--tree-filter", "--index-filter",
                              "--msg-filter",
                              "--env-filter", "--commit-filter", "--tag-name-filter", "--parent-filter", "--extcmd",
                              "--open-files-in-pager"),
    "npm": ("-c", "--call"), "npx": ("-c", "--call"), "script": ("-c", "--command"),
                "su": ("-c", "--command", "--session-command"),
    "runuser": ("-c", "--command"), "flock": ("-c", "--command"), "nix-shell": ("--run", "--command"),
                "screen": ("-X",),
    "expect": ("-c",), "xterm": ("-e",), "konsole": ("-e",), "gnome-terminal": ("-e", "--command"),
                "alacritty": ("-e",),
    "nix": ("-c", "--command"), "direnv": (), "make": ("SHELL=",), "gmake": ("SHELL=",), "socat": ("exec:", "system:"),
    "hash": (), "complete": ("-C",), "compgen": ("-C",), "mapfile": ("-C",), "entr": ("-s",), "inotifywait": (),
                "nodemon": ("-x", "--exec"),
    "watchexec": (), "chronic": (), "hyperfine": ("-p", "--prepare", "-s", "--setup", "-c", "--cleanup"), "tmux": (),
                "ncat": ("-e", "-c", "--exec", "--sh-exec"),
    "nc": ("-e", "-c"), "kubectl": (), "ld": (), "parallel": (), "wget": ("--use-askpass",), "mutt": (),
                "cpio": ("--rsh-command",),
}
SHELL_IN_TEXT = {
    "vim": re.compile(r"^\+?:?\s*(?:silent\s*)?!(.+)|^\+?:?call system\(['\"](.+)['\"]\)"),
                 "sqlite3": re.compile(r"^\s*\.(?:shell|system)\s+(.+)"),
    "psql": re.compile(r"\\!\s*(.+)"), "mysql": re.compile(r"(?:^|;)\s*(?:system|\\!)\s+(.+)"),
                 "gdb": re.compile(r"^(?:!|shell\s)(.+)"),
    "ed": re.compile(r"^!(.+)"), "dc": re.compile(r"!\s*(.+)"), "less": re.compile(r"^\+?!(.+)"),
    "m4": re.compile(r"syscmd\(\s*`?(.+?)'?\)"), "tclsh": re.compile(r"\b(?:exec|spawn|system)\s+(.+)"),
    "sftp": re.compile(r"^\s*!(.+)"), "ftp": re.compile(r"^\s*!(.+)"), "crontab": re.compile(
        r"^\s*(?:@\w+|(?:[\d*/,-]+\s+){4}[\w*/,-]+)\s+(.+)"),
    "sed": re.compile(r"^(?:\d+|\$|/[^/]*/)?e\s+(.+)"), "socat": re.compile(r"(?i)(?:exec|system):['\"]?([^,'\"]+)"),
}
for _same, _as in (("vi", "vim"), ("nvim", "vim"), ("ex", "vim"), ("view", "vim"), ("mariadb", "mysql"),
                   ("gsed", "sed"), ("lldb", "gdb"),
                   ("expect", "tclsh"), ("more", "less"), ("lftp", "ftp")):
    SHELL_IN_TEXT[_same] = SHELL_IN_TEXT[_as]
PROGRAM = re.compile(r"/s?bin/[^/]+$")
GIT_LINES = re.compile(r"core\.(sshcommand|pager|editor|fsmonitor|askpass)|sequence\.editor|diff\.external|pager\..+"
                       r"|credential\.(.+\.)?helper"
                       r"|diff\..+\.(textconv|command)|filter\..+\.(clean|smudge|process)|(merge|diff)tool\..+\.cmd"
                       r"|merge\..+\.driver|gpg\.program|interactive\.difffilter|web\.browser|browser\..+\.cmd")
SED_RUNS = re.compile(r"[^\w\s][gpiImM0-9]*e[gpiImM0-9]*\s*(?:[;}]|$)")  # s/a/b/e
STDIN_IS_LINES = {"at", "batch", "parallel"}
STARTS_SHELL = {"ssh", "unshare", "nsenter", "newgrp", "script", "machinectl", "toolbox", "telnet", "nc", "ncat",
                "login", "lxc-attach", "sg", "fakechroot", "fakeroot", "firejail", "proot", "bwrap", "schroot",
                "distrobox"}
BARE_SHELLS = {"ssh", "unshare", "nsenter", "newgrp", "lxc-attach", "sg", "fakeroot", "chroot", "su", "sudo", "doas"}
VIMS = {"vim", "vi", "nvim", "view"}
# Options that say in which folder a program, or what it runs, works.
FOLDER_OPTIONS = {name: tuple(options.split()) for names, options in (
    ("git make gmake ninja go cargo npm", "-C --directory --prefix"), ("env", "-C --chdir"),
    ("sudo run0", "-D --chdir"), ("systemd-run", "--working-directory"), ("start-stop-daemon", "-d --chdir"),
    ("bwrap", "--chdir"), ("nsenter unshare", "--wd"), ("tar bsdtar", "-C --directory --cd"), ("cpio", "-D --directory"),
    ("pnpm yarn", "-C --dir --cwd"), ("uv poetry pdm", "-C --directory --project"), ("just", "-d --working-directory"),
    ("patch", "-d --directory"), ("unzip", "-d"), ("7z", "-o"), ("wget", "-P --directory-prefix"),
    ("aria2c", "-d --dir"), ("curl", "--output-dir"), ("parallel", "--wd --workdir"),
) for name in names.split()}
READS_LINES = {"ed", "ex"}  # whose input is commands, which may start programs
TMUX_COMMANDS = {"set-hook", "bind", "bind-key", "confirm-before", "confirm", "command-prompt", "if-shell", "if"}
KEYS = {"Enter": "\n", "C-m": "\n", "C-j": "\n", "KPEnter": "\n", "Space": " ", "Tab": "\t", "C-c": "\n", "C-u": "\n"}
# Options whose value is a file with code that may start programs.
AWK_NAMES = {"awk", "gawk", "mawk", "nawk", "busybox-awk"}
FILE_OPTIONS = {name: tuple(options.split()) for names, options in (
    ("awk gawk mawk nawk", "-f --file -E --exec -i --include"), ("sed gsed", "-f --file"),
    ("make gmake", "-f --file --makefile"), ("just", "-f --justfile"), ("task", "-t --taskfile"), ("ninja", "-f"),
    ("rake", "-f --rakefile"), ("scons", "-f --file"), ("ant", "-f -file -buildfile"), ("cmake", "-P"),
    ("gradle gradlew", "-b --build-file -I --init-script"), ("vim vi nvim ex view", "-S -s -u"),
    ("emacs", "-l --load --script -x"), ("gdb", "-x --command"), ("lldb", "-s --source -S"),
    ("sbcl", "--load --script"), ("guile", "-s -l"), ("swipl", "-s -l"), ("expect", "-f"),
    ("node nodejs bun tsx ts-node", "-r --require --import --preload"), ("ruby perl", "-r"), ("tcc", "-run"),
    ("kotlinc", "-script"), ("ipython ipython3", "-i"), ("matlab", "-r"), ("sage", "-f"),
) for name in names.split()}
# Programs whose first word is a file with code, and words that may stand before it.
RUNS_FILES = {"deno", "bun", "java", "kotlin", "zig", "dart", "swift", "rust-script", "cargo-script", "runghc",
              "runhaskell", "stack", "nix-shell", "nix-build", "wish", "swipl", "clojure", "clj", "gap", "gp", "sclang",
              "sage", "packer", "ansible-playbook", "pulumi", "tcc", "dotnet-script", "csi", "fennel", "nim", "crystal"}
RUN_WORDS = {"run", "build", "e", "r", "c", "script", "exec", "eval", "-script"}
CODE_OPTIONS = {"-c", "-e", "-x", "-ex", "-C", "--eval", "-eval", "--exec", "--execute", "--command", "--expression",
                "--run", "--cmd", "/c", "/C"}
# In these the text behind such an option is none that is run, or it is read elsewhere.
NO_CODE = {"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "git", "sed", "gsed", "jq", "yq", "gron",
           "tar", "gcc", "cc", "clang", "g++", "curl", "wget", "gh", "glab", "docker", "podman", "kubectl", "psql",
           "mysql", "sqlite3", "ls", "ps", "cut", "tr", "sort", "uniq", "wc", "head", "tail", "cat", "diff", "zip",
           "unzip"}
# What these are given is text for people, models or other programs.
TALKS = NO_CODE.union(
    ("ls cd man info help tldr whatis apropos expr test [ say espeak figlet cowsay logger wall write notify-send mail"
     " mailx terminal-notifier sendmail hg svn jj fossil bd jira linear slack hookd claude codex gemini copilot"
     " opencode crush goose aider amp qwen cursor-agent droid grok kimi kiro-cli llm ollama").split())


def perhaps_run(command, starts, bare=False):
    """The lines that a command may run whose program is not known: each word that is a text with one of the programs
    starts in it, and from each word on that is one, if options or paths follow or bare is set: else `last reboot` would
    be one. starts is what programs returns."""
    name = command.name
    if not name or name[0] == "-" or name not in CARRIERS and (name in TALKS or name in FAMILIAR or interpreter(name)):
        return
    words, (names, within) = command.words, starts
    for n in range(1, min(len(words), MOST_STARTS)):
        text = words[n].text
        if " " in text or "\n" in text or "\t" in text:
            if within(text):
                yield VALUE.sub("", text).replace(COMPUTED, "${_computed}")
        elif text in names or "/" in text and text.rsplit("/", 1)[1] in names:
            if bare or any(ARGUMENT.search(w.text) for w in words[n + 1:]):
                yield " ".join(quote(w) for w in words[n:])


VALUE = re.compile(r"^-{0,2}\w[\w.-]*=")  # commands=rm x
ARGUMENT = re.compile(r"^[-~]|/")


def programs(names):
    """Programs as perhaps_run takes them: their names, and what finds one of them in a text."""
    one = "|".join(sorted(map(re.escape, names)))
    return frozenset(names), re.compile(r"(?:^|[\s;&|(/=])(?:%s)(?=\s|$)" % one).search


class Wrapper:
    """How a program names the command that it runs.

    valued    options that take the next word    skip    words of its own before the command
    sub       subcommands, one must come first   joined  the words are put together and read by a shell
    feeds     it adds words (xargs)              elsewhere  it runs in another place
    assigns   NAME=value may come first          finds   -exec ... ;
    lines     options whose value is a line  lookup  options with which it only looks up
    dashes    the command stands behind --   anywhere  its options are many: the command may begin at any word
    """

    def __init__(self, valued="", skip=0, sub="", joined=False, feeds=False, elsewhere=False, assigns=False,
                 finds=False,
                 lines="", lookup="", dashes=False, anywhere=False):
        self.valued, self.skip, self.sub, self.joined = set(valued.split()), skip, sub.split(), joined
        self.feeds, self.elsewhere, self.assigns, self.finds = feeds, elsewhere, assigns, finds
        self.lines, self.lookup, self.dashes, self.anywhere = lines.split(), set(lookup.split()), dashes, anywhere

    def split(self, args):
        """The words of the command, shell lines that options give, and assignments."""
        rest, lines, assigns, skip = list(args), [], {}, self.skip
        if self.finds or self.anywhere:
            return rest, lines, assigns
        if self.sub:
            rest = rest[self.after_sub(rest):]
        if self.dashes:
            marks = [n for n, w in enumerate(rest) if w.text == "--"]
            return (rest[marks[0] + 1:] if marks else []), lines, assigns
        while rest:
            text = rest[0].text
            if text in self.lookup:
                return [], lines, assigns
            if text == "--":
                rest.pop(0)
                if not skip:
                    break
                continue
            line = next((o for o in self.lines if text == o or len(o) == 2 and text.startswith(o)
                         or text.startswith(o + "=")), None)
            if line:
                word = rest.pop(0)
                if text == line:
                    if rest:
                        lines.append(rest.pop(0))
                else:
                    lines.append(Word(text[len(line):].lstrip("="), sources=word.sources))
                continue
            if len(text) > 1 and text[0] == "-":
                rest.pop(0)
                short = len(text) == 2 or text.startswith("--")
                if rest and (text in self.valued or not short and not text.startswith("--")
                             and "-" + text[-1] in self.valued and "-" + text[1] not in self.valued):
                    rest.pop(0)
                continue
            m = ASSIGN.match(text) if self.assigns else None
            if m and not rest[0].many:
                assigns[m.group(1)] = Word(text[m.end():], sources=rest.pop(0).sources)
                continue
            if skip:
                skip -= 1
                rest.pop(0)
                continue
            break
        return rest, lines, assigns

    def after_sub(self, args):
        """Where the words after the subcommand begin."""
        wanted = self.sub[0].split("|") if self.sub else []
        for n, word in enumerate(args):
            if word.text in wanted:
                return n + 1
        return len(args)


def found_commands(args):
    """The commands of find -exec ... ; and fd -x ..."""
    n = 0
    while n < len(args):
        if args[n].text in ("-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"):
            end = n + 1
            while end < len(args) and args[end].text not in (";", "+"):
                end += 1
            words = [Word(w.text.replace("{}", COMPUTED), sources=w.sources) if "{}" in w.text else w
                     for w in args[n + 1:end]]
            if words:
                yield words
            n = end
        n += 1


def feed(args, rest, stdin):
    """The command of an xargs with the words that it adds, or puts in the place of a mark."""
    own, mark = args[:len(args) - len(rest)], ""
    for n, word in enumerate(own):
        if word.text in ("-I", "-J") and n + 1 < len(own):
            mark = own[n + 1].text
        elif word.text.startswith("-I"):
            mark = word.text[2:]
        elif word.text in ("-i", "--replace"):
            mark = "{}"
        elif word.text.startswith("--replace="):
            mark = word.text[10:]
    texts = [w.text for w in rest]
    if ":::" in texts:
        at = texts.index(":::")
        return rest[:at] + rest[at + 1:]
    if not mark and any("{}" in t for t in texts):
        mark = "{}"
    items = fed_words(own, stdin, bool(mark))
    if mark and any(mark in t for t in texts):
        item = items[0] if items and len(items) == 1 else None
        text, sources = (item, ()) if item else (COMPUTED, stdin.sources)
        return [Word(w.text.replace(mark, text), w.glob, None, w.many, w.quoted, w.sources + sources)
                if mark in w.text else w for w in rest]
    return rest + ([Word(COMPUTED, sources=stdin.sources)] if items is None else [Word(t) for t in items])


def fed_words(own, stdin, by_line):
    """The words that an xargs with these options makes of its input, None where they are not known."""
    if stdin.text is None or any(re.match(r"-[ad]|--(?:arg-file|delimiter)", w.text) for w in own):
        return None
    if any(re.match(r"-[A-Za-z]*0|--null", w.text) for w in own):
        found = stdin.text.split("\0")
    elif re.search(r"[\"'\\]", stdin.text):
        return None
    else:
        found = [line.strip() for line in stdin.text.splitlines()] if by_line else stdin.text.split()
    found = [text for text in found if text]
    return found if 0 < len(found) <= MOST_CHOICES else None


SUDO = "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -r --role -t --type -T -U -R --chroot -a"
RUN = ("-a --attach --add-host --cap-add --cap-drop -c --cpus --device --dns -e --env --env-file --entrypoint --gpus"
       " -h --hostname -l --label"
       " --link -m --memory --mount --name --net --network -p --publish --platform --pull --restart --runtime"
       " --security-opt --shm-size --tmpfs"
       " -u --user --ulimit -v --volume --volumes-from -w --workdir --index -f --file --profile --project-name"
       " --detach-keys --context -H --host --log-level")
PODS = ("-c --container -n --namespace --context --cluster --kubeconfig --image --restart -l -f --filename --user --as"
        " --token --server")
WRAPPERS = {
    "sudo": Wrapper(SUDO, assigns=True), "doas": Wrapper("-u -C"), "run0": Wrapper("-u --user -g --group -D --chdir"),
            "pkexec": Wrapper("--user -u"),
    "setpriv": Wrapper(anywhere=True), "runuser": Wrapper("-u -g -G -s"), "chroot": Wrapper("", 1, elsewhere=True),
            "gosu": Wrapper("", 1),
    "su-exec": Wrapper("", 1), "unshare": Wrapper(anywhere=True, elsewhere=True),
            "nsenter": Wrapper(anywhere=True, elsewhere=True),
    "bwrap": Wrapper(anywhere=True), "firejail": Wrapper(anywhere=True), "proot": Wrapper(anywhere=True),
    "systemd-run": Wrapper(anywhere=True),
    "systemd-inhibit": Wrapper(anywhere=True), "ssh": Wrapper("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S"
                                                              " -W -w -B", 1, joined=True, elsewhere=True),
    "mosh": Wrapper("-p", 1, joined=True, elsewhere=True), "sshpass": Wrapper("-p -f -d"),
            "env": Wrapper("-u --unset -C --chdir -a --argv0", assigns=True, lines="-S --split-string -vS"),
    "nohup": Wrapper(), "setsid": Wrapper(), "command": Wrapper(lookup="-v -V"), "builtin": Wrapper(),
            "exec": Wrapper("-a"), "noglob": Wrapper(), "nocorrect": Wrapper(),
    "-": Wrapper(), "catchsegv": Wrapper(), "fakeroot": Wrapper(), "proxychains": Wrapper("-f"),
            "proxychains4": Wrapper("-f"), "caffeinate": Wrapper("-t -w"),
    "nice": Wrapper("-n --adjustment"), "ionice": Wrapper("-c --class -n --classdata"), "chrt": Wrapper(anywhere=True),
            "taskset": Wrapper(anywhere=True), "numactl": Wrapper(anywhere=True),
    "time": Wrapper("-f --format -o --output"), "gtime": Wrapper("-f -o"),
            "timeout": Wrapper("-k --kill-after -s --signal", 1), "gtimeout": Wrapper("-k --kill-after -s --signal", 1),
    "stdbuf": Wrapper("-i --input -o --output -e --error"), "unbuffer": Wrapper(), "torify": Wrapper(),
            "torsocks": Wrapper(), "eatmydata": Wrapper(), "faketime": Wrapper(anywhere=True),
    "ltrace": Wrapper(anywhere=True), "strace": Wrapper(anywhere=True), "valgrind": Wrapper(anywhere=True),
            "perf": Wrapper(anywhere=True),
    "gdb": Wrapper(anywhere=True), "flock": Wrapper("-w --timeout -E", 1, joined=False),
            "watch": Wrapper("-n --interval", joined=True), "cpulimit": Wrapper(anywhere=True),
    "xargs": Wrapper("-a --arg-file -d --delimiter -E -I -L -n --max-args -P --max-procs -s --max-chars -R -S -J",
                     feeds=True),
    "parallel": Wrapper("-j --jobs -a --arg-file -I -n -N --colsep -d --delay --timeout --joblog --results",
                        feeds=True), "rush": Wrapper("-j", feeds=True),
    "busybox": Wrapper(), "toybox": Wrapper(), "find": Wrapper(finds=True), "gfind": Wrapper(finds=True),
            "fd": Wrapper(finds=True), "fdfind": Wrapper(finds=True),
    "npx": Wrapper("-p --package -w --workspace"), "bunx": Wrapper(), "pnpx": Wrapper(),
            "uvx": Wrapper("--from --with -p --python"), "bundle": Wrapper(sub="exec"),
    "poetry": Wrapper(sub="run"), "pipenv": Wrapper(sub="run"), "pdm": Wrapper(sub="run"), "hatch": Wrapper(sub="run"),
            "uv": Wrapper("--with --python -p --extra --group", sub="run"),
    "pnpm": Wrapper(sub="exec|dlx"), "yarn": Wrapper(sub="exec|dlx"),
            "npm": Wrapper("-w --workspace --package", sub="exec|x"), "mise": Wrapper(sub="exec|x"),
    "conda": Wrapper("-n --name -p --prefix", sub="run"), "mamba": Wrapper("-n -p", sub="run"),
            "direnv": Wrapper("", 1, sub="exec"), "asdf": Wrapper(sub="exec"),
    "rbenv": Wrapper(sub="exec"), "pyenv": Wrapper(sub="exec"), "dotenv": Wrapper("-f -e"),
            "dotenvx": Wrapper("-f", sub="run"), "doppler": Wrapper("-p -c", sub="run"),
    "op": Wrapper("--env-file", sub="run"), "aws-vault": Wrapper("", 1, sub="exec"),
            "chamber": Wrapper("", 1, sub="exec"), "nix": Wrapper(dashes=True),
    "script": Wrapper("-T -o -O -I -B -E", 1), "start-stop-daemon": Wrapper(anywhere=True),
            "daemonize": Wrapper(anywhere=True), "entr": Wrapper(), "watchexec": Wrapper(anywhere=True),
    "rtk": Wrapper(), "chronic": Wrapper(), "ts": Wrapper(), "hyperfine": Wrapper("-w -r -m -M -n --warmup"
                                                                                  " --runs", joined=True),
            "arch": Wrapper(anywhere=True), "setarch": Wrapper(anywhere=True),
    "linux32": Wrapper(anywhere=True), "linux64": Wrapper(anywhere=True), "xvfb-run": Wrapper(anywhere=True),
            "dbus-run-session": Wrapper(), "dbus-launch": Wrapper(), "cgexec": Wrapper(anywhere=True),
    "prlimit": Wrapper(anywhere=True), "capsh": Wrapper(anywhere=True), "chpst": Wrapper(anywhere=True),
            "envdir": Wrapper("", 1), "setuidgid": Wrapper("", 1), "softlimit": Wrapper("-m -d"),
    "tmux": Wrapper("-s -n -t -c -x -y -e -F -L -S -f", sub="new-session|new|new-window|neww|split-window|splitw"
                                                            "|respawn-pane|respawn-window|run-shell|run|if-shell|popup"
                                                            "|display-popup", joined=True),
    "pssh": Wrapper("-h -H -l -p -t -o -e -O -x", joined=True, elsewhere=True), "stuff": Wrapper(joined=True),
            "pdsh": Wrapper("-w -x -l -g -t -u -f", joined=True, elsewhere=True),
            "wsl": Wrapper("-d -u --distribution --user --cd", elsewhere=True),
            "cmd": Wrapper(skip=1, joined=True), "schroot": Wrapper("-c -u -d", dashes=True, elsewhere=True),
    "screen": Wrapper(anywhere=True), "xterm": Wrapper(dashes=True), "gnome-terminal": Wrapper(dashes=True),
            "expect": Wrapper(), "coverage": Wrapper(sub="run"),
}
CARRIERS = {
    "docker": (("exec", Wrapper(RUN, 1, elsewhere=True)), ("run", Wrapper(RUN, 1, elsewhere=True))),
    "kubectl": (("exec", Wrapper(PODS, dashes=True, elsewhere=True)),
                ("run", Wrapper(PODS, dashes=True, elsewhere=True)),
                ("debug", Wrapper(PODS, dashes=True, elsewhere=True))),
    "lxc": (("exec", Wrapper("", 1, elsewhere=True)),),
            "vagrant": (("ssh", Wrapper("", lines="-c --command", elsewhere=True)),),
    "gcloud": (("ssh", Wrapper("--zone --project", 1, lines="--command", elsewhere=True)),),
            "multipass": (("exec", Wrapper("", 1, elsewhere=True)),),
    "heroku": (("run", Wrapper("-a --app", elsewhere=True)),),
            "fly": (("console", Wrapper("-a", lines="-C --command", elsewhere=True)),),
            "flyctl": (("console", Wrapper("-a", lines="-C --command", elsewhere=True)),),
    "limactl": (("shell", Wrapper("--workdir", 1, elsewhere=True)),), "wsl": (("--", Wrapper()),),
            "distrobox": (("enter", Wrapper("-n", dashes=True, elsewhere=True)),),
}
for _same, _as in (("podman", "docker"), ("nerdctl", "docker"), ("docker-compose", "docker"),
                   ("podman-compose", "docker"), ("oc", "kubectl"), ("incus", "lxc")):
    CARRIERS[_same] = CARRIERS[_as]


class Carried:
    """A wrapper whose command stands behind a subcommand."""

    def __init__(self, at, wrapper):
        self.at, self.wrapper = at, wrapper
        self.finds = self.joined = self.feeds = self.anywhere = False
        self.elsewhere = wrapper.elsewhere

    def split(self, args):
        return self.wrapper.split(args[self.at + 1:])


def wrapper_of(name, args):
    """The Wrapper of a program with these words, None if it runs no other command."""
    for sub, wrapper in CARRIERS.get(name, ()):
        for n, word in enumerate(args):
            if word.text == sub:
                return Carried(n, wrapper)
    wrapper = WRAPPERS.get(name)
    if wrapper is None or wrapper.sub and wrapper.after_sub(args) >= len(args):
        return None
    return wrapper


def matches(pattern, text):
    """Whether a glob fits a text, large and small letters as they are."""
    return fnmatch.fnmatchcase(text, pattern)


# Programs with lines, code or files in what they are given, as lines_of_options knows them.
HAS_LINES = {"git", "tmux", "curl", "wget", "tee", "cp", "mv", "ln", "install", "make", "gmake"}.union(
    LINE_OPTIONS, SHELL_IN_TEXT, FILE_OPTIONS, RUNS_FILES, READS_LINES, VIMS, STDIN_IS_LINES, STARTS_SHELL)
# Programs of which something is known: also what they run, or what they print.
FAMILIAR = HAS_LINES.union(INDEXES, SHELLS, WRAPPERS, CARRIERS, PRINTS, (".", ":"),
                           (name[3:] for name in dir(Walk) if name.startswith("do_")))


@functools.lru_cache(maxsize=4096)
def familiar(name):
    """Whether something is known of a program."""
    return name in FAMILIAR or interpreter(name) is not None
