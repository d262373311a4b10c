"""hookd for Python 3.8 and newer: hooks and senders, in one file without dependencies.

A hook is a function that is given an event and returns an answer:

    import hookd

    def handle(event):
        for words in event.command:
            if words.program == "sudo":
                return hookd.deny("no sudo: ask me to do it")

    hookd.run(handle)

The same file works with `mode: spawn` and `mode: persistent`. None is no opinion. An
exception, an answer that the event has no use for, and an event that cannot be read are
failures, which deny where a guard's failures deny; nothing of that is silent.

A sender: emit tells, decide asks, subscribe follows.

    verdict = hookd.decide("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    print("call it" if verdict["allowed"] else verdict["message"])

This file is hookd's sdk/python/hookd.py. `hookd new NAME --lang python` puts it beside a hook.
"""
import json
import os
import re
import sys

__all__ = ["run", "deny", "ask", "allow", "context", "rewrite", "Event", "Answer", "commands", "Words", "Unread",
           "emit", "decide", "subscribe", "Error", "NotRunning", "NoAnswer", "Refused"]


# Hooks.

class Event:
    """What a hook is given. event["field"] and event.get("field") read the payload."""

    def __init__(self, data):
        if not isinstance(data, dict):
            raise ValueError("an event is a JSON object")
        self.data = data
        self.name = self._text("hook_event_name")
        self.id = self._text("event_id")
        self.session_id = self._text("session_id")
        self.cwd = self._text("cwd")

    def __getitem__(self, field):
        return self.data[field]

    def __contains__(self, field):
        return field in self.data

    def get(self, field, default=None):
        return self.data.get(field, default)

    def _text(self, field):
        value = self.data.get(field)
        return value if isinstance(value, str) else ""

    @property
    def kind(self):
        """What the event stands for in every agent's words, such as "tool.before"; its name if no table has it."""
        return _row(self.name)["kind"]

    @property
    def tool(self):
        """The tool's name, "" for an event without one. Under Claude Code's names of events it is Claude Code's."""
        row = _row(self.name)
        return next((v for v in _at_all(self.data, row["tool"]) if isinstance(v, str) and v), row["fixed"])

    @property
    def input(self):
        """The arguments of the tool, {} for an event without."""
        inputs = map(_from_text, _at_all(self.data, _row(self.name)["input"]))
        return next((v for v in inputs if isinstance(v, dict)), {})

    @property
    def command(self):
        """Each command that the call of a shell's tool runs, as Words; [] where the event is no such call.

        Raises Unread where that cannot be told. See commands().
        """
        found, row = _Found(), _row(self.name)
        for line in self._lines(row):
            if isinstance(line, Unread):
                found.unread(line.reason)
            elif isinstance(line, str):
                found.line(line, 0)
            elif line:
                found.command([_Word(word) for word in line], None, 0)
        return found.all()

    def _lines(self, row):
        """What a shell's tool is told to run: lines, and lists of the words of one command."""
        tool, table = self.tool.lower(), _tables()
        direct = _at_all(self.data, row["command"])
        is_shell = tool in table["shell_tools"] or bool(direct)
        if tool in table["other_tools"] and not direct:
            return []
        if tool in table["code_tools"]:
            return [Unread("%s takes %s, not a shell's line" % (tool, table["code_tools"][tool]))]
        inputs = [_from_text(v) for v in _at_all(self.data, row["input"])]
        lines = [line for value in direct for line in _command_lines(value, False)]
        for names in (_COMMAND, _LIKE_COMMAND_NAME if is_shell else ()):
            for value in inputs:
                for key, of in value.items() if isinstance(value, dict) else ():
                    folded = key.replace("_", "").lower()
                    if folded in names:
                        lines += _command_lines(of, folded.endswith("s") and folded != "args")
            if lines:
                return lines
        return [Unread("the call has no command")] if is_shell else []


_COMMAND = ("cmd", "command", "commands", "cmds", "commandline", "commandlines", "shellcommand")
_LIKE_COMMAND_NAME = ("script", "code", "input", "chars", "args", "argv")


def _command_lines(value, several):
    """A command is a line, or a list of words; of several each element is one."""
    value = _from_text(value)
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict) and isinstance(value.get("command"), str):
        args = value.get("args")
        return _command_lines([value["command"]] + (args if isinstance(args, list) else []), False)
    if several and isinstance(value, list):
        return [line for one in value for line in _command_lines(one, False)]
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return [value]
    return [Unread("a command is no text")]


def _from_text(value):
    """The object or list that a text holds, where arguments came as JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _at_all(data, paths):
    """The values at the paths that data has."""
    values = []
    for path in paths:
        value = data
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            values.append(value)
    return values


class Answer:
    """What a hook says; made by deny, ask, allow, context and rewrite."""

    def __init__(self, word, value, reason=""):
        self.word, self.value, self.reason = word, value, reason


def deny(reason):
    """The answer no. The model reads the reason: say what to do instead."""
    return Answer("deny", _str(reason))


def ask(reason):
    """The answer that a person has to decide."""
    return Answer("ask", _str(reason))


def allow(reason=""):
    """The answer yes, which switches off the agent's own question. No opinion is None."""
    return Answer("allow", _str(reason))


def context(text):
    """Text for the model."""
    return Answer("context", _str(text))


def rewrite(value, reason=""):
    """What takes the place of a tool's input (members of a dict), of its result, or of the list of messages."""
    return Answer("rewrite", value, _str(reason))


def _str(text):
    if not isinstance(text, str):
        raise TypeError("this is not a text: %r" % (text,))
    return text


def run(handle):
    """Gives each event to handle(event) and answers it. A handler returns None, an Answer, or a dict with the members
    of an answer as docs/running-hooks.md has them.

    What is printed meanwhile goes to stderr, from children too. Returns after the last event of a persistent hook. A
    spawned one ends with status 1 after a failure.
    """
    given, told = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # children neither read events nor write answers
    os.close(nothing)
    os.dup2(2, 1)
    with open(given, "rb") as lines, open(told, "wb", buffering=0) as answers:
        if "HOOK_EVENT" in os.environ:
            text, _, why = _answer(lines.read(), handle)
            if why:
                sys.exit(1)
            _write(answers, b"" if text == b"{}" else text)
            return
        for line in lines:
            if not line.strip():
                continue
            text, event_id, why = _answer(line, handle)
            if why:
                text = json.dumps({"hook_failed": why[-2000:]}).encode()
            begin = b'{"event_id":' + json.dumps(event_id or _event_id(line)).encode()
            _write(answers, begin + (b"," if text != b"{}" else b"") + text[1:] + b"\n")


def _write(answers, text):
    while text:
        text = text[answers.write(text):]


def _answer(line, handle):
    """The answer to one event as JSON, the id of the event, and why there is no answer."""
    event_id = ""
    try:
        event = Event(json.loads(line))
        event_id = event.id
        try:
            answer = handle(event)
        except Unread as e:
            if "b" not in _row(event.name)["can"]:
                raise
            print("hookd:", e, file=sys.stderr)
            answer = deny(str(e))
        said = _said(event.name, answer)
        said.pop("event_id", None)
        text = json.dumps(said, allow_nan=False).encode("ascii")
        sys.stdout.flush()
        return text, event_id, ""
    except (Exception, SystemExit) as e:
        if isinstance(e, RecursionError):
            print("RecursionError:", e, file=sys.stderr)  # the trace has a thousand lines
        else:
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        return b"", event_id, "%s: %s" % (type(e).__name__, e)


def _event_id(line):
    """The event_id of a line, however deep or strange the rest of it is."""
    try:
        value = json.loads(line)
        if isinstance(value, dict) and isinstance(value.get("event_id"), str):
            return value["event_id"]
    except (ValueError, RecursionError):
        pass
    depth, key, found = 0, "", ""
    for m in re.finditer(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', line):
        token = m.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif depth == 1 and token[:1] == b'"':
            if key == "event_id":
                found = json.loads(token.decode("utf-8", "replace"))
            key = ""
            if re.match(rb"\s*:", line[m.end():m.end() + 16]):
                key = token[1:-1].decode("utf-8", "replace")
    if not found:
        sys.exit("hookd: a line on stdin has no event_id")
    return found


def _said(name, answer):
    """An answer in the words that the event takes. One that it has no use for is an error."""
    if answer is None:
        return {}
    if isinstance(answer, dict):
        return dict(answer)
    if not isinstance(answer, Answer):
        raise TypeError("a handler returns an answer such as hookd.deny(reason), or None, not %r" % (answer,))
    row, word, value = _row(name), answer.word, answer.value
    can, specific = row["can"], {}
    if word == "deny" and "b" in can:
        return {"decision": "block", "reason": value}
    if word in ("deny", "ask", "allow") and "v" in can or word in ("deny", "allow") and "p" in can:
        specific = {"permission_decision": word, "permission_decision_reason": value}
    elif word == "allow" and "e" in can:
        return {"continue": True}
    elif word == "context" and "c" in can:
        specific = {"additional_context": value}
    elif word == "rewrite" and row["rewrite"]:
        wanted = {"updated_input": dict, "updated_messages": list}.get(row["rewrite"])
        wanted = str if "r" in can else wanted
        if wanted and not isinstance(value, wanted):
            raise TypeError("what takes the place here is a %s, not %r" % (wanted.__name__, type(value).__name__))
        if "r" in can:
            return {"tool_output": value}
        specific = {row["rewrite"]: value}
        if answer.reason and "v" in can:
            specific["permission_decision_reason"] = answer.reason
    if not specific:
        raise ValueError("%s has no use for the answer %s" % (name or "an event without a name", word))
    return {"hook_specific_output": specific}


# What a shell line runs.

class Unread(ValueError):
    """What a command line would run cannot be told from its text.

    `reason` says why; `commands` has what could be read. Where a handler does not
    catch it, the answer is a denial, or a failure on events that cannot be denied.
    """

    def __init__(self, reason, commands=()):
        super().__init__("what this command would run cannot be told: " + reason)
        self.reason, self.commands = reason, list(commands)


class Words(list):
    """One command: its words as the shell sees them, without quotes.

    `computed` has the indexes of the words that are known only when the line runs
    ($x, $(…), *.txt); these stand here as they are written.
    """

    computed = ()

    @property
    def program(self):
        """The program's name, without its folder and in small letters."""
        name = self[0].rstrip("/").rsplit("/", 1)[-1].lower()
        return name[:-4] if name.endswith(".exe") else name


def commands(line):
    """Returns each command that a shell line runs, as Words. Raises Unread.

    Also those in $(…), functions and loops, behind sudo, env, xargs, find -exec and
    the like, and in the text given to sh -c, eval or ssh. A wrapper and what it runs
    are both listed. What a program does with its own arguments (python -c, awk) is not
    looked at, and neither are files that it runs.
    """
    found = _Found()
    found.line(line, 0)
    return found.all()


class _Pattern:
    """A regular expression that is compiled when it is first used: most hooks use few."""

    def __init__(self, text):
        self.text = text

    def __getattr__(self, name):
        compiled = re.compile(self.text, re.S)
        self.match, self.search, self.fullmatch, self.sub = (
            compiled.match, compiled.search, compiled.fullmatch, compiled.sub)
        return getattr(compiled, name)


_MAX_LINE, _MAX_DEPTH, _MAX_COMMANDS, _MAX_BRACES, _MAX_NESTED = 256 << 10, 8, 10000, 256, 64
_SYSTEM = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin",
           "/run/current-system/sw/bin")
_ASSIGNMENT = _Pattern(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]{0,100}\])?\+?=")
_ODD_INDEX = _Pattern(r"[A-Za-z_][A-Za-z0-9_]*\[[^\]]{0,100}[ \t\n;&|<>()'\"\\]")
_REDIRECT = _Pattern(r"&>>?|(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())")
_OPERATOR = _Pattern(r";;&|;;|;&|;|&&|&|\|\||\|&|\||\n")
_RESERVED = _Pattern(r";;&|;;|;&|\)|(?:[a-z]+|-p|--|!|[{}]|\[\[|\]\])(?=[ \t\n;&|()<>]|$)")
_NAME = _Pattern(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-]")
_CONTROL = _Pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_PLAIN = _Pattern(r"[^ \t\n;&|()<>\\'\"$`{},*?\[#]+")
_PLAIN_QUOTED = _Pattern(r"[^$`\"\\]+")
_HOME = _Pattern(r"(?<!\$)(?<!\$\{)\bHOME\b")
_LIKE_COMMAND = _Pattern(r"\s*[A-Za-z_./~][\w./~-]*\s*(?:$|(?<=\s)[^\s=+\-*/%<>&|^!?:,)])")
_PIPE = _Pattern(r"\|&|\|(?!\|)")
_PARENTHESES = _Pattern(r"\([ \t]*\)")
_TERM_ENDS = _Pattern(r"\]\]|&&|\|\||\)")
_RUNS_VALUE = _Pattern(r"@(?![QUuLEAKka]\})[A-Za-z]\}$")
_RUN_LATER = _Pattern(r"BASH_ENV=|PS[0-4]=.*(?:\$\(|`)")
_BINARY = _Pattern(r"(?:==?|!=|=~|-[a-z][a-z])(?=[ \t\n])")
_TEST = _Pattern(r"=~|==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)")
_NO_INPUT = ("-l", "-d", "-r", "-c", "-f", "-V", ":::")  # with these at and parallel read no commands
_PLAIN_WORDS = _Pattern(r"[A-Za-z0-9_ ./:=@%+,'\"-]*")
_DECLARES = ("declare", "typeset", "local", "export", "readonly")
_ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
            "\\": "\\", "'": "'", '"': '"', "?": "?"}
_ANSI_C = _Pattern(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))")


class _Syntax(Exception):
    pass


class _Word:
    """One word. text: what it is, or how it is written if it is computed."""

    __slots__ = ("text", "computed", "splits", "pattern", "assigns", "tail")

    def __init__(self, text, computed=False, splits=False, pattern=False, assigns=False, tail=""):
        self.text, self.computed, self.splits = text, computed, splits
        self.pattern, self.assigns, self.tail = pattern, assigns, tail


class _Found:
    """What has been found in a line and in those within it."""

    def __init__(self):
        self.commands, self.reason = [], ""
        self.home = True  # $HOME is what it was
        self.written, self.ran = set(), set()  # names of files, None = any
        self.path = False  # PATH may be set

    def unread(self, reason):
        self.reason = self.reason or reason

    def all(self):
        """The commands, once all lines have been read."""
        if self.written & self.ran or self.ran and None in self.written:
            self.unread("it may run a file that it writes")
        if self.reason:
            raise Unread(self.reason, self.commands)
        return self.commands

    def file(self, to, word):
        """Notes a file that is written or run, by its name without the folder."""
        to.add(None if word.computed or word.pattern else word.text.rpartition("/")[2])

    def line(self, text, depth):
        if len(text) > _MAX_LINE:
            return self.unread("the line is too long")
        if depth > _MAX_DEPTH:
            return self.unread("there are too many lines within lines")
        if _CONTROL.search(text):
            self.unread("the line has control characters")
        try:
            _Reader(text, self, depth).all()
        except _Syntax as e:
            self.unread(str(e))
        except RecursionError:
            self.unread("the line is nested too deeply")

    def text(self, words, depth, what):
        """Words that become a line of their own."""
        if any(w.computed for w in words):
            return self.unread(what + " runs text that is computed")
        self.line(" ".join(w.text for w in words), depth + 1)

    def command(self, words, stdin, depth):
        """One command. stdin: the text that it reads; None = not known."""
        name = words[0]
        known = name.tail if name.computed else name.text
        if depth > _MAX_DEPTH:
            return self.unread("there are too many commands within commands")
        if len(self.commands) >= _MAX_COMMANDS:
            raise _Syntax("the line has too many commands")
        listed = Words(w.text for w in words)
        listed.computed = tuple(i for i, w in enumerate(words) if w.computed or w.pattern)
        folder, _, base = known.rpartition("/")
        if not name.computed and folder in _SYSTEM:
            listed[0] = base
        elif "/" in known or self.path:
            self.file(self.ran, _Word(known))
        self.commands.append(listed)
        if not known or name.pattern and known not in ("[", "[["):
            return self.unread("the name of a program is computed: " + name.text[:60])
        if known[0] == "=" or known == "-":
            return self.unread("zsh reads %s in another way" % known[:60])
        self.inside(Words([known]).program, words[1:], stdin, depth)

    def inside(self, program, args, stdin, depth):
        """What a command runs by its arguments."""
        table = _tables()
        if program in table["shells"]:
            return self.shell(program, args, stdin, depth)
        if program == "eval":
            return self.text(args[1:] if args and args[0].text == "--" else args, depth, "eval")
        if program in ("source", "."):
            if args and (args[0].computed or args[0].text.startswith("/dev/")):
                self.unread(program + " runs what it reads")
            for a in args[:1]:
                self.file(self.ran, a)
            return None
        if program == "trap":
            args = args[1:] if args and args[0].text == "--" else args
            return self.text(args[:1], depth, "trap") if len(args) > 1 and args[0].text != "-" else None
        if program == "alias":
            for a in args:
                self.text([_Word(a.text.partition("=")[2], a.computed)], depth, "alias")
                if "<<" in a.text:
                    self.unread("an alias begins a here-document")
            return None
        if program in ("at", "batch", "parallel") and not any(a.text in _NO_INPUT for a in args):
            if stdin is None:
                return self.unread(program + " runs what it reads")
            self.line(stdin, depth + 1)
        if program == "tee":
            for a in args:
                self.file(self.written, a)
        if program in ("find", "fd", "fdfind"):
            return self.each_file(program, args, depth)
        if program in ("hash", "enable") and any(a.text[:2] in ("-p", "-f") for a in args):
            return self.unread(program + " changes what a name runs")
        if program in ("mapfile", "readarray") and any(a.text.startswith("-C") for a in args):
            self.unread(program + " adds words to a command")
        flag = {"mapfile": "-C", "readarray": "-C", "compgen": "-C", "complete": "-C", "bind": "-x"}.get(program)
        for i, a in enumerate(args):
            if flag and a.text.startswith(flag):
                self.text([_Word(a.text[2:], a.computed)] if a.text[2:] else args[i + 1:i + 2], depth, program)
            if program == "git" and a.text.lower().startswith("alias.") and "=!" in a.text:
                self.text([_Word(a.text.partition("=!")[2], a.computed)], depth, "a git alias")
        for rule, rest in self.rules(table, program, args):
            self.wrapped(program, rule, rest, stdin, depth)
        return None

    def rules(self, table, program, args):
        """The wrappers that a command is, with the words that they look at."""
        rule = table["wrappers"].get(program)
        if rule is not None:
            first = next((i for i, a in enumerate(args) if not a.text.startswith("-")), len(args))
            if not rule.get("sub"):
                yield rule, args
            elif any(a.text in rule["sub"] for a in args[first:first + 2]):
                yield rule, args[next(i for i, a in enumerate(args) if a.text in rule["sub"]) + 1:]
        program, *known = table["aliases"].get(program, program).split(" ")
        for carrier in table["carriers"].get(program, ()):
            path, rest = carrier["path"], args
            if path[:len(known)] != known:
                continue
            for word in path[len(known):]:
                at = next((i for i, a in enumerate(rest) if a.text.lower() == word), -1)
                if at < 0:
                    break
                rest = rest[at + 1:]
            else:
                yield carrier, rest

    def wrapped(self, program, rule, args, stdin, depth):
        """The command that a wrapper runs, after its flags and their values."""
        skips = rule.get("skip", 0)
        skip, i, also = skips, 0, []
        valued, texts, marks = rule.get("valued", ()), rule.get("text", ()), []
        while i < len(args):
            text, a = args[i].text, args[i]
            if a.computed and (a.splits or a.text[:1] == "-" and "=" not in a.text):
                return self.unread("%s has arguments that are computed" % program)
            if text == "--":
                i += 1
                if skip == 0:
                    break
                continue
            if len(text) < 2 or text[0] != "-":
                if skip == 0:
                    break
                skip, i = skip - 1, i + 1
                continue
            if text in rule.get("lookup", ()):
                return None
            name, has_value, value = text.partition("=")
            i += 1
            given = self.flag_value(text, texts)
            line = None
            if name in texts and has_value:
                line = [_Word(value, a.computed)]
            elif given is not None:
                line = [_Word(given, a.computed)] if given else args[i:i + 1]
                i += 0 if given else 1
            if line is not None:
                self.text(line, depth, program)
                if program == "env" and (i < len(args) or line and not _PLAIN_WORDS.fullmatch(line[0].text)):
                    return self.unread("env splits text in a way of its own")
                continue
            given = self.flag_value(text, valued)
            if rule.get("feeds") and text[1] in "Ii" and text[:2] != "--":
                marks.append(text[2:] or (args[i].text if text[1] == "I" and i < len(args) else "{}"))
            elif rule.get("feeds") and name == "--replace":
                marks.append(value or "{}")
            if given == "":
                i += 1
            elif given is None and text[:2] == "--" and not has_value:
                also.append(i + 1)  # a flag that is not known may take the next word
        for j in range(i, len(args) if skips and texts else i):  # su - user -c 'line'
            given = self.flag_value(args[j].text, texts)
            if given is not None:
                self.text([_Word(given, args[j].computed)] if given else args[j + 1:j + 2], depth, program)
        starts = [i] + [n for n in also if n > i]
        if rule.get("opaque"):
            starts = [n for n, a in enumerate(args) if a.text[:1] != "-"]
        if len(starts) > _MAX_NESTED:
            return self.unread("%s has too many words" % program)
        for start in starts:
            self.inner(program, rule, args[start:], marks, stdin, depth)
        return None

    @staticmethod
    def flag_value(text, flags):
        """What a flag has as its value in the same word; "" = the next word; None = it is not one of flags."""
        if text in flags:
            return ""
        if text[:2] != "--":
            for j in range(1, len(text)):  # -nu root, -uroot
                if "-" + text[j] in flags:
                    return text[j + 1:]
        return None

    def inner(self, program, rule, rest, marks, stdin, depth):
        while rest and (rule.get("assigns") or rule.get("changes")) and _ASSIGNMENT.match(rest[0].text):
            rest = rest[1:]
        stop = rule.get("stop")
        if stop:
            rest = rest[:next((i for i, a in enumerate(rest) if a.text.startswith(stop)), len(rest))]
        if not rest:
            return
        if rule.get("feeds"):
            stdin = None
            if not marks:
                rest = rest + [_Word("…", True, True)]
            rest = [_Word(a.text, True, True) if any(m and m in a.text for m in marks) else a for a in rest]
        if rule.get("joined"):
            self.text(rest, depth, program)
        else:
            self.command(rest, stdin, depth + 1)

    def each_file(self, program, args, depth):
        """find -exec and fd -x: their command, in which {} is computed."""
        runs = ("-exec", "-execdir", "-ok", "-okdir") if program == "find" else ("-x", "--exec", "-X", "--exec-batch")
        i = 0
        while i < len(args):
            if args[i].splits and program == "find":
                self.unread("find has arguments that are computed")
            i += 1
            if args[i - 1].text not in runs:
                continue
            end = i
            while end < len(args) and args[end].text != ";" and (args[end].text != "+" or program != "find"):
                end += 1
            inner = [_Word(a.text, True) if "{}" in a.text else a for a in args[i:end]]
            if inner:
                self.command(inner, None, depth + 1)
            i = end

    def shell(self, program, args, stdin, depth):
        """What a shell is told to run: the text after -c, a file, or what it reads."""
        i, command = 0, False
        while i < len(args):
            a, text = args[i], args[i].text
            if a.computed and (a.splits or text[:1] in "-+$`<"):
                return self.unread("%s has arguments that are computed" % program)
            if text in ("--version", "--help"):
                return None
            if text[:1] not in ("-", "+") or text == "-" or text == "--":
                if text in ("-", "--"):
                    i += 1
                    continue
                break
            i += 1
            if text[:2] != "--" and "c" in text[1:] and text[0] == "-":
                command = True
            if text in ("--rcfile", "--init-file") or text[:2] != "--" and text[-1] in "oO":
                i += 1
        if command:
            return self.text(args[i:i + 1], depth, program) if i < len(args) else None
        reads = any(a.text[:2] != "--" and "s" in a.text for a in args[:i])  # -s
        if i < len(args) and not reads and not args[i].text.startswith("/dev/"):
            return self.file(self.ran, args[i])
        if stdin is None:
            return self.unread(program + " runs what it reads")
        return self.line(stdin, depth + 1)


class _Reader:
    """Reads one line as bash does."""

    def __init__(self, text, found, depth):
        self.s, self.i, self.found, self.depth = text, 0, found, depth
        self.heredocs, self.nested = [], 0
        found.home = found.home and not _HOME.search(text)
        found.path = found.path or "PATH" in text

    def all(self):
        self.commands(())

    # Blanks, and what ends a command.

    def blanks(self, newlines=False):
        s, n = self.s, len(self.s)
        while self.i < n:
            c = s[self.i]
            if c in " \t":
                self.i += 1
            elif c == "\\" and s[self.i + 1:self.i + 2] == "\n":
                self.i += 2
            elif c == "#":
                end = s.find("\n", self.i)
                self.i = n if end < 0 else end
            elif c == "\n" and newlines:
                self.newline()
            else:
                return

    def newline(self):
        self.i += 1
        pending, self.heredocs = self.heredocs, []
        for doc in pending:
            self.heredoc(doc)

    def commands(self, ends):
        """Reads commands up to one of ends, and returns it. () = up to the end of the line."""
        self.nested += 1
        if self.nested > _MAX_NESTED:
            raise _Syntax("it is nested too deeply")
        end = self.until(ends)
        self.nested -= 1
        return end

    def until(self, ends):
        while True:
            self.blanks(newlines=True)
            if self.i >= len(self.s):
                if self.heredocs:
                    raise _Syntax("a here-document has no end")
                if ends:
                    raise _Syntax("there is no " + " or ".join(ends))
                return ""
            end = self.at(ends)
            if end:
                return end
            self.pipeline()
            self.blanks()
            m = _OPERATOR.match(self.s, self.i)
            if not m:
                if self.i < len(self.s) and not (self.s[self.i] == ")" and ")" in ends):
                    raise _Syntax("it cannot be parsed at: " + self.s[self.i:self.i + 20])
                continue
            op = m.group()
            if op in (";;", ";&", ";;&"):
                if ";;" not in ends:
                    raise _Syntax("it cannot be parsed at: " + op)
                self.i = m.end()
                return ";;"
            if op != "\n":
                self.i = m.end()
            if op in ("&&", "||"):
                self.blanks(newlines=True)
                if self.i >= len(self.s):
                    raise _Syntax("a command is missing after " + op)

    def at(self, ends):
        """The one of ends that stands here, which is then passed; "" = none."""
        m = _RESERVED.match(self.s, self.i)
        word = m.group() if m else ""
        end = ";;" if word in (";&", ";;&") else word
        if not end or end not in ends:
            return ""
        self.i = m.end()
        return end

    def pipeline(self):
        stdin, more = None, True
        while more:
            self.blanks(newlines=True)
            while self.at(("!",)):
                self.blanks()
            if self.i >= len(self.s):
                raise _Syntax("a command is missing after |")
            stdin = self.one(stdin)
            self.blanks()
            m = _PIPE.match(self.s, self.i)
            more = bool(m)
            if m:
                self.i = m.end()

    # One command of a pipeline. Each returns the text that it prints, where that is sure.

    def one(self, stdin):
        s = self.s
        if s.startswith("((", self.i) and self.arithmetic(self.i + 2) >= 0:
            start = self.i + 2
            self.arithmetic(start, self)
            if ";" in s[start:self.i]:
                raise _Syntax("it may be arithmetic or commands")
            if _LIKE_COMMAND.match(s[start:self.i - 2]):  # a shell without (( runs it
                self.found.line(s[start:self.i - 2], self.depth + 1)
            return self.redirects()
        if s[self.i] == "(":
            self.i += 1
            self.commands((")",))
            return self.redirects()
        word = self.at(("{", "if", "while", "until", "for", "select", "case", "function", "[[", "time", "coproc"))
        if word == "{":
            self.commands(("}",))
        elif word == "if":
            end = "elif"
            while end == "elif":
                self.commands(("then",))
                end = self.commands(("elif", "else", "fi"))
            if end == "else":
                self.commands(("fi",))
        elif word in ("while", "until"):
            self.commands(("do",))
            self.commands(("done",))
        elif word in ("for", "select"):
            self.loop()
        elif word == "case":
            self.case()
        elif word == "function":
            self.blanks()
            self.word()
            self.blanks()
            self.parentheses()
            self.blanks(newlines=True)
            return self.body()
        elif word == "[[":
            self.test()
        elif word == "time":
            self.blanks()
            while self.at(("-p", "--", "!")):
                self.blanks()
            if _OPERATOR.match(s, self.i) or self.i >= len(s):
                return None
            return self.one(stdin)
        elif word == "coproc":
            raise _Syntax("coproc runs beside the line")
        else:
            return self.simple(stdin)
        return self.redirects()

    def body(self):
        if self.i >= len(self.s):
            raise _Syntax("a function has no body")
        self.pipeline()

    def parentheses(self):
        """() after the name of a function."""
        m = _PARENTHESES.match(self.s, self.i)
        if m:
            self.i = m.end()
        return bool(m)

    def loop(self):
        self.blanks()
        if self.s.startswith("((", self.i):
            if self.arithmetic(self.i + 2, self) < 0:
                raise _Syntax("a loop cannot be parsed")
        else:
            self.word()
            self.blanks(newlines=True)
            if self.at(("in",)):
                self.words()
        self.blanks()
        if self.i < len(self.s) and self.s[self.i] == ";":
            self.i += 1
        self.blanks(newlines=True)
        if self.at(("{",)):
            self.commands(("}",))
        elif self.at(("do",)):
            self.commands(("done",))
        else:
            raise _Syntax("a loop has no do")

    def words(self):
        while True:
            self.blanks()
            if self.i >= len(self.s) or self.s[self.i] in ";&|()<>\n":
                return
            self.word()

    def case(self):
        self.blanks()
        self.word()
        self.blanks(newlines=True)
        if not self.at(("in",)):
            raise _Syntax("a case has no in")
        while True:
            self.blanks(newlines=True)
            if self.at(("esac",)):
                return
            if self.s.startswith("(", self.i):
                self.i += 1
            while True:
                self.blanks()
                if self.i >= len(self.s) or self.s[self.i] in ";&()<>\n":
                    raise _Syntax("a case cannot be parsed")
                if self.s[self.i] != "|":
                    self.word()
                self.blanks()
                if self.s.startswith("|", self.i):
                    self.i += 1
                elif self.s.startswith(")", self.i):
                    self.i += 1
                    break
                else:
                    raise _Syntax("a case cannot be parsed")
            if self.commands((";;", "esac")) == "esac":
                return

    def test(self):
        """[[ … ]]: terms, which a shell without [[ would take for commands."""
        after = False
        while True:
            self.blanks(newlines=True)
            if self.at(("]]",)):
                return
            if self.i >= len(self.s):
                raise _Syntax("[[ has no ]]")
            if self.at(("!",)):
                continue
            if self.s[self.i] == "(":
                self.i += 1
                continue
            self.term(after)
            self.blanks(newlines=True)
            while self.s.startswith(")", self.i):
                self.i += 1
                self.blanks(newlines=True)
            if self.s.startswith("&&", self.i) or self.s.startswith("||", self.i):
                self.i += 2
                after = True
            elif not self.s.startswith("]]", self.i):
                raise _Syntax("[[ cannot be parsed")

    def term(self, after):
        first = self.word()
        self.blanks()
        unary = len(first[0].text) == 2 and first[0].text[0] == "-"
        if unary and not _TERM_ENDS.match(self.s, self.i) and not _BINARY.match(self.s, self.i):
            self.word()
            return
        m = _TEST.match(self.s, self.i)
        if not m:
            if after and first[0].text[:1] not in ("-", "$", ""):
                self.found.command(first, None, self.depth)
            return
        self.i = m.end()
        self.blanks()
        if m.group() == "=~":
            self.regex()
        else:
            self.word(pattern=True)

    def regex(self):
        """The right side of =~, which ends at a blank outside of parentheses."""
        depth = 0
        while self.i < len(self.s):
            c = self.s[self.i]
            if depth == 0 and c in " \t\n;&":
                return
            if c in "()":
                depth += 1 if c == "(" else -1
                self.i += 1
            elif c in " \t|<>":
                self.i += 1
            else:
                self.word()
            if depth < 0:
                self.i -= 1
                return

    def redirects(self):
        while True:
            self.blanks()
            m = _REDIRECT.match(self.s, self.i)
            if not m:
                return None
            self.redirect(m)

    def redirect(self, m):
        """A redirection; returns the text that it gives to stdin, None = it does not, or that is not known."""
        self.i = m.end()
        self.blanks()
        op = m.group(1)
        if op in ("<<", "<<-"):
            start = self.i
            mark = self.word()
            raw = self.s[start:self.i].replace("\\\n", "")
            if len(mark) != 1:
                raise _Syntax("a here-document cannot be parsed")
            doc = {"end": mark[0].text, "quoted": any(c in raw for c in "'\"\\"), "tabs": op == "<<-", "use": None}
            self.heredocs.append(doc)
            return doc
        if self.i >= len(self.s) or self.s[self.i] in ";&|()\n":
            raise _Syntax("a redirection has no target")
        target = self.word()
        if op == "<<<":
            return None if len(target) != 1 or target[0].computed else target[0].text
        if ">" in m.group():
            self.found.file(self.found.written, target[0])
        return None

    def simple(self, piped):
        words, given, fed, stdin, started = [], False, None, piped, self.i
        while True:
            self.blanks()
            m = _REDIRECT.match(self.s, self.i)
            if m:
                result = self.redirect(m)
                if (m.group(1) or "").startswith("<") and (m.group()[0] in "<0" or result is not None):
                    given, fed = True, result
                continue
            if self.i >= len(self.s) or self.s[self.i] in ";&|)\n":
                break
            if self.s[self.i] == "(":
                if len(words) == 1 and self.parentheses():
                    self.blanks(newlines=True)
                    self.body()
                    return None
                raise _Syntax("it cannot be parsed at: " + self.s[self.i:self.i + 20])
            new = self.word(assignment=not words or words[0].text in _DECLARES)
            if words or not new[0].assigns:
                words += new
        if self.i == started:
            raise _Syntax("it cannot be parsed at: " + self.s[self.i:self.i + 20])
        if given:
            stdin = fed
        if not words:
            return None
        if isinstance(stdin, dict):  # a here-document, whose text comes later
            stdin["use"] = words
            return None
        self.found.command(words, stdin, self.depth)
        return None if given else self.printed(words)

    @staticmethod
    def printed(words):
        """What echo or printf writes, if no shell changes it."""
        args = words[1:]
        if any(w.computed or w.pattern or "\\" in w.text for w in args) or not args or args[0].text[:1] == "-":
            return None
        if words[0].text == "echo":
            return " ".join(w.text for w in args)
        if words[0].text == "printf" and len(args) == 1 and "%" not in args[0].text:
            return args[0].text
        return None

    def heredoc(self, doc):
        """The lines up to the mark; without quotes around that, $(…) in them runs."""
        lines = []
        while True:
            if self.i >= len(self.s):
                raise _Syntax("a here-document has no end")
            end = self.s.find("\n", self.i)
            line = self.s[self.i:] if end < 0 else self.s[self.i:end]
            self.i = len(self.s) if end < 0 else end + 1
            if doc["tabs"]:
                line = line.lstrip("\t")
            if line == doc["end"]:
                break
            lines.append(line)
        text, computed = "".join(line + "\n" for line in lines), False
        if not doc["quoted"]:
            inner = _Reader(text, self.found, self.depth)
            word = inner.quoted_text()
            text, computed = word.text, word.computed
        if doc["use"]:
            self.found.command(doc["use"], None if computed else text, self.depth)

    def quoted_text(self):
        """All of the line as if it stood in double quotes."""
        pieces = []
        while self.i < len(self.s):
            self.quoted_char(pieces, "$`\\")
        return self.joined(pieces, 0)

    # Words.

    def word(self, assignment=False, pattern=False):
        """Reads a word, which braces may make several of."""
        start, pieces, s = self.i, [], self.s
        if assignment and _ODD_INDEX.match(s, start):
            raise _Syntax("an index cannot be read: " + s[start:start + 20])
        while self.i < len(s):
            c = s[self.i]
            if c in " \t\n;&|)":
                break
            if c == "(":
                before = s[start:self.i]
                if assignment and _ASSIGNMENT.fullmatch(before):
                    self.array()
                    pieces.append(("dyn", s[start + len(before):self.i], True))
                    continue
                if before[-1:] in ("?", "*", "+", "@", "!", "$", "="):
                    raise _Syntax("a pattern of one shell: " + s[start:self.i + 10])
                break
            if c in "<>":
                if s[self.i + 1:self.i + 2] != "(":
                    break
                begin = self.i
                self.i += 2
                self.commands((")",))
                pieces.append(("dyn", s[begin:self.i], True))
            else:
                self.char(pieces, pattern)
        if self.i == start:
            raise _Syntax("it cannot be parsed at: " + s[self.i:self.i + 20])
        words = self.braces(pieces)
        return [self.joined(p, start) for p in [p for p in words if p] or words[:1]]

    def array(self):
        self.i += 1
        while True:
            self.blanks(newlines=True)
            if self.s.startswith(")", self.i):
                self.i += 1
                return
            if self.i >= len(self.s):
                raise _Syntax("a list has no end")
            self.word()

    def char(self, pieces, pattern=False):
        """Reads what stands outside of double quotes: a character, or a quoted part."""
        s, c = self.s, self.s[self.i]
        if c == "\\":
            if s[self.i + 1:self.i + 2] != "\n":
                pieces.append(("lit", s[self.i + 1:self.i + 2] or "\\", True))
            self.i += 2
        elif c == "'":
            end = s.find("'", self.i + 1)
            if end < 0:
                raise _Syntax("a quote is not closed")
            pieces.append(("lit", s[self.i + 1:end], True))
            self.i = end + 1
        elif c == '"':
            self.double(pieces)
        elif s.startswith("$'", self.i):
            end = self.i + 2
            while end < len(s) and s[end] != "'":
                end += 2 if s[end] == "\\" else 1
            if end >= len(s):
                raise _Syntax("a quote is not closed")
            pieces.append(("lit", _ANSI_C.sub(self.ansi_c, s[self.i + 2:end]), True))
            self.i = end + 1
        elif s.startswith('$"', self.i):
            self.i += 1
            self.double(pieces)
        elif c in "$`":
            self.dollar(pieces, False)
        elif _PLAIN.match(s, self.i):
            m = _PLAIN.match(s, self.i)
            pieces.append(("lit", m.group(), False))
            self.i = m.end()
        else:
            pieces.append(("brace" if c in "{,}" else "glob" if c in "*?[" and not pattern else "lit", c, False))
            self.i += 1

    @staticmethod
    def ansi_c(m):
        for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
            if m.group(group):
                code = int(m.group(group), base)
                return chr(code & 0xFF if base == 8 else code) if code <= 0x10FFFF else "\ufffd"
        if m.group(5):
            return chr(ord(m.group(5)) & 0x1F)
        return _ESCAPES.get(m.group(6), m.group())

    def double(self, pieces):
        self.i += 1
        pieces.append(("lit", "", True))
        while True:
            if self.i >= len(self.s):
                raise _Syntax("a quote is not closed")
            if self.s[self.i] == '"':
                self.i += 1
                return
            self.quoted_char(pieces, '$`"\\')

    def quoted_char(self, pieces, special):
        """Reads a character, or a computed part, within double quotes. special: what a backslash quotes."""
        s, c = self.s, self.s[self.i]
        if c == "\\":
            after = s[self.i + 1:self.i + 2]
            if after != "\n":
                pieces.append(("lit", after if after and after in special else "\\" + after, True))
            self.i += 2
        elif c in "$`":
            self.dollar(pieces, True)
        else:
            m = _PLAIN_QUOTED.match(s, self.i)
            end = m.end() if m else self.i + 1
            pieces.append(("lit", s[self.i:end], True))
            self.i = end

    def dollar(self, pieces, quoted):
        """Reads $x, ${…}, $(…), $((…)), $[…] or `…`. What is computed counts as one piece."""
        s, start = self.s, self.i
        if s[start] == "`":
            end, text = start + 1, []
            while end < len(s) and s[end] != "`":
                if s[end] == "\\" and s[end + 1:end + 2] and s[end + 1] in ('$`\\"' if quoted else "$`\\"):
                    end += 1
                text.append(s[end:end + 1])
                end += 1
            if end >= len(s):
                raise _Syntax("a ` is not closed")
            self.i = end + 1
            self.found.line("".join(text), self.depth + 1)
        elif s.startswith("$((", start) and self.arithmetic(start + 3) >= 0:
            self.arithmetic(start + 3, self)
        elif s.startswith("$(", start):
            self.i += 2
            if self.depth >= _MAX_DEPTH:
                raise _Syntax("there are too many lines within lines")
            self.depth += 1
            self.commands((")",))
            self.depth -= 1
        elif s.startswith("${", start):
            self.parameter(quoted)
        elif s.startswith("$[", start):
            self.i += 2
            while not s.startswith("]", self.i):
                if self.i >= len(s):
                    raise _Syntax("a $[ is not closed")
                if s[self.i] in "$`":
                    self.dollar([], True)
                else:
                    self.i += 2 if s[self.i] == "\\" else 1
            self.i += 1
        else:
            m = _NAME.match(s, start + 1)
            if not m:
                pieces.append(("lit", "$", quoted))
                self.i += 1
                return
            self.i = m.end()
        pieces.append(("dyn", s[start:self.i], quoted))

    def parameter(self, quoted):
        """Reads ${…}; its words may run commands, and @P runs what the variable holds."""
        s, start = self.s, self.i
        self.i += 2
        if s.startswith(" ", self.i) or s.startswith("|", self.i):
            raise _Syntax("a substitution of one shell")
        while True:
            if self.i >= len(s):
                raise _Syntax("a ${ is not closed")
            c = s[self.i]
            if c == "}":
                break
            if c in "\"'" and not (quoted and c == "'"):
                self.char([])
            elif c in "$`":
                self.dollar([], True)
            elif c in "<>" and not quoted and s.startswith("(", self.i + 1):
                self.i += 2
                self.commands((")",))
            else:
                self.i += 2 if c == "\\" else 1
        self.i += 1
        if _RUNS_VALUE.search(s[start:self.i]) or s.startswith("${(", start):
            raise _Syntax("a variable's text may be run: " + s[start:self.i][:30])

    def arithmetic(self, start, reader=None):
        """Where the arithmetic ends that begins at start, -1 = it is none. With a reader it is read."""
        s, i, depth = self.s, start, 2
        while i < len(s):
            c = s[i]
            if reader and c in "$`":
                reader.i = i
                reader.dollar([], True)
                i = reader.i
                continue
            if c == "\\":
                i += 1
            elif c in "\"'" and not reader:
                end = s.find(c, i + 1)
                i = len(s) if end < 0 else end
            elif c == "(":
                depth += 1
                if depth > _MAX_NESTED:
                    return -1
            elif c == ")":
                depth -= 1
                if depth == 1 and s[i + 1:i + 2] != ")":
                    return -1
                if depth == 0:
                    if reader:
                        reader.i = i + 1
                    return i + 1
            i += 1
        return -1

    def braces(self, pieces):
        """The words that {a,b} makes of one."""
        done, out = [pieces], []
        if sum(p[0] == "brace" for p in pieces) > _MAX_BRACES:
            raise _Syntax("braces make too many words")
        while done:
            word = done.pop()
            parts = self.alternatives(word)
            if parts is None:
                out.append(word)
            else:
                done.extend(reversed(parts))
            if len(done) + len(out) > _MAX_BRACES:
                raise _Syntax("braces make too many words")
        return out

    @staticmethod
    def alternatives(pieces):
        """The words that the first braces make; None = there are none."""
        for i, piece in enumerate(pieces):
            if piece[:2] != ("brace", "{"):
                continue
            depth, commas = 0, [i]
            for j in range(i, len(pieces)):
                kind, text, _ = pieces[j]
                if kind != "brace":
                    continue
                depth += {"{": 1, "}": -1}.get(text, 0)
                if text == "," and depth == 1:
                    commas.append(j)
                if depth == 0:
                    inside = "".join(p[1] for p in pieces[i + 1:j])
                    ends = commas + [j]
                    if len(commas) > 1:
                        return [pieces[:i] + pieces[a + 1:b] + pieces[j + 1:] for a, b in zip(ends, ends[1:])]
                    if ".." in inside:
                        return [pieces[:i] + [("dyn", "{" + inside + "}", False)] + pieces[j + 1:]]
                    break
        return None

    def joined(self, pieces, start):
        text = "".join(p[1] for p in pieces)
        literal = "".join(p[1] for p in pieces if p[0] != "dyn" and p[2])
        if any("$(" in part or "`" in part for part in (p.partition("]")[0] for p in literal.split("[")[1:])):
            self.found.unread("an index may run commands: " + text[:60])
        if _RUN_LATER.match(text):
            self.found.unread("a variable's text may be run: " + text[:60])
        last = max((i for i, p in enumerate(pieces) if p[0] in ("dyn", "glob")), default=-1)
        computed = any(p[0] == "dyn" for p in pieces)
        splits = any(p[0] == "dyn" and not p[2] for p in pieces)
        tail = ""
        if computed and not (last < 0 or pieces[last][0] == "glob"):
            rest = "".join(p[1] for p in pieces[last + 1:])
            home = self.found.home and pieces[0][1] in ("$HOME", "${HOME}") and last == 0
            if "/" in rest and (not splits or home):
                tail = rest[rest.index("/"):]
        assigns = bool(_ASSIGNMENT.match(self.s, start))
        return _Word(text, computed, splits, any(p[0] == "glob" for p in pieces), assigns, tail)


# Senders.

class Error(Exception):
    """There is no answer of hookd."""


class NotRunning(Error):
    """Nothing listens on the socket, or only a process of another user, which was told nothing."""


class NoAnswer(Error):
    """No answer came in time, or the connection was lost. hookd may have accepted the event."""


class Refused(Error):
    """hookd refused. code says why, hint what to do."""

    def __init__(self, error):
        text = "; ".join(t for t in (error.get("message"), error.get("hint")) if t)
        super().__init__(text)
        self.code, self.message, self.hint = error.get("code", ""), error.get("message", ""), error.get("hint", "")


def socket_path():
    """$HOOKD_SOCKET, else hookd.sock in $LIBREFANG_HOME, else in ~/.librefang."""
    home = os.environ.get("LIBREFANG_HOME") or os.path.join(os.path.expanduser("~"), ".librefang")
    return os.environ.get("HOOKD_SOCKET") or os.path.join(home, "hookd.sock")


def emit(event, data=None, seconds=60, **envelope):
    """Sends an event and returns hookd's answer: at once, or with wait=True when its hooks have ended.

    envelope: id, session_id, agent_id, agent_name, cwd, sender, dialect, lane, timeout_ms, parent. Raises Error.
    """
    with _Connection(seconds) as c:
        c.send(dict(envelope, event=event, data=data if data is not None else {}))
        answer = c.receive()
    if answer is None:
        raise NoAnswer("hookd closed the connection")
    if answer.get("ok") is not True:
        raise Refused(answer.get("error") or {})
    return answer


def decide(event, data=None, seconds=60, **envelope):
    """Asks the hooks, which have nine tenths of the time, and returns their verdict, a dict with `allowed`.

    Raises Error where there is none: whether that means yes or no is yours to say.
    """
    envelope.setdefault("timeout_ms", max(1, int(seconds * 900)))
    verdict = emit(event, data, seconds, wait=True, **envelope).get("verdict")
    if not isinstance(verdict, dict) or not isinstance(verdict.get("allowed"), bool):
        raise NoAnswer("hookd answered without a verdict")
    return verdict


def subscribe(*globs, since=None, epoch=None, starts=False):
    """Yields the records of the stream, for ever: it comes back after hookd was restarted.

    To go on later, keep seq (of a gap: to) and epoch of the last record. Raises Refused.
    """
    import time
    while True:
        question = {"subscribe": list(globs) or ["*"], "starts": starts}
        if since is not None:
            question.update(since=since, epoch=epoch)
        try:
            with _Connection(60) as c:  # a quiet stream has a ping every 15 s
                c.send(question)
                for record in iter(lambda: c.receive(60), None):
                    if record.get("ok") is False:
                        raise Refused(record.get("error") or {})
                    if record.get("type") == "epoch":
                        here = record["epoch"]
                        if since is None:
                            since, epoch = record["seq"], here
                    elif record.get("type") != "ping":
                        if "seq" in record or "to" in record:
                            since, epoch = record.get("seq", record.get("to")), here
                        yield dict(record, epoch=here)
        except (NotRunning, NoAnswer):
            pass
        time.sleep(0.5)


class _Connection:
    """A connection to the daemon of this user, or of root."""

    def __init__(self, seconds):
        import socket  # a hook that sends nothing does not wait for this to load
        import time
        self.now, self.late = time.monotonic, socket.timeout
        self.until, self.rest, path = self.now() + seconds, b"", socket_path()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.settimeout(seconds)
            self.socket.connect(path)
            if _listener(self.socket) not in (0, os.geteuid()):
                raise NotRunning("another user's process listens on " + path)
        except (OSError, NotRunning) as e:
            self.socket.close()
            raise e if isinstance(e, NotRunning) else NotRunning("hookd is not running (socket %s: %s)" % (path, e))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, value):
        line = json.dumps(value, allow_nan=False).encode("ascii") + b"\n"
        try:
            self.socket.sendall(line)
        except BrokenPipeError:
            pass  # the answer says why not all was taken
        except OSError as e:
            raise NoAnswer("hookd does not take the event: %s" % e)

    def receive(self, seconds=None):
        """The next line's value, None at the end of the connection. seconds restarts the timer."""
        if seconds is not None:
            self.until = self.now() + seconds
        parts = [self.rest]
        while b"\n" not in parts[-1]:
            left = self.until - self.now()
            try:
                if left <= 0:
                    raise NoAnswer("no answer from hookd in time")
                self.socket.settimeout(left)
                part = self.socket.recv(1 << 16)
            except OSError as e:
                raise NoAnswer("no answer from hookd in time" if isinstance(e, self.late) else str(e))
            if not part:
                if any(parts):
                    raise NoAnswer("hookd closed the connection")
                return None
            parts.append(part)
        line, _, self.rest = b"".join(parts).partition(b"\n")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as e:
            raise NoAnswer("hookd's answer cannot be read: %s" % e)
        if not isinstance(value, dict):
            raise NoAnswer("hookd's answer cannot be read")
        return value


def _listener(s):
    """The user of the process that listens, as the kernel says."""
    import socket
    import struct
    if hasattr(socket, "SO_PEERCRED"):
        return struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    credentials = s.getsockopt(0, 1, 76)  # LOCAL_PEERCRED of macOS and the BSDs: struct xucred
    return struct.unpack_from("II", credentials)[1]


# What hookd knows of events and of tools, from its contract table. Made by `go test ./sdk -update`.

def _row(name):
    return _tables()["events"].get(name) or {"kind": name, "can": "", "rewrite": "", "tool": ["tool_name"],
                                            "input": ["tool_input"], "command": [], "fixed": ""}


_cache = {}


def _tables():
    if not _cache:
        _cache.update(json.loads(_TABLES))
        rows = {}
        for names, kind, can, rewrites, tool, inputs, command, fixed in _cache["events"]:
            for name in names.split():
                rows[name] = {"kind": kind, "can": can, "rewrite": rewrites, "tool": tool.split(),
                              "input": inputs.split(), "command": command.split(), "fixed": fixed}
        _cache["events"] = rows
    return _cache


# generated: tables
_TABLES = '{"aliases":{"docker-compose":"docker compose","nerdctl":"docker","oc":"kubectl","podman":"docker","podman-compose":"docker compose"},"carriers":{"direnv":[{"changes":true,"path":["exec"],"skip":1}],"docker":[{"changes":true,"path":["compose","exec"],"skip":1,"valued":["-e","--env","-u","--user","-w","--workdir","--index"]},{"changes":true,"path":["compose","run"],"skip":1,"valued":["-e","--env","-u","--user","-w","--workdir","-v","--volume","-p","--publish","--name","--entrypoint"]},{"changes":true,"path":["container","exec"],"skip":1,"valued":["-e","--env","--env-file","-u","--user","-w","--workdir"]},{"changes":true,"path":["exec"],"skip":1,"valued":["-e","--env","--env-file","-u","--user","-w","--workdir","--detach-keys"]},{"changes":true,"path":["run"],"skip":1,"valued":["-a","--attach","--add-host","--cap-add","--cap-drop","-c","--cpu-shares","--cpus","--device","--dns","-e","--env","--env-file","--entrypoint","--gpus","-h","--hostname","-l","--label","--link","-m","--memory","--mount","--name","--net","--network","-p","--publish","--platform","--pull","--restart","--runtime","--security-opt","--shm-size","--tmpfs","-u","--user","--ulimit","-v","--volume","--volumes-from","-w","--workdir"]}],"git":[{"changes":true,"path":["bisect","run"]},{"changes":true,"joined":true,"path":["submodule","foreach"]},{"changes":true,"joined":true,"path":["worktree","foreach"]}],"go":[{"changes":true,"opaque":true,"path":["run"],"skip":1}],"kubectl":[{"changes":true,"path":["exec"],"skip":1,"valued":["-c","--container","-n","--namespace"]},{"changes":true,"path":["run"],"skip":1,"valued":["--image","--restart","-n","--namespace"]}],"npm":[{"changes":true,"path":["exec"],"valued":["-p","--package"]}],"tmux":[{"changes":true,"joined":true,"path":["new-session"],"valued":["-s","-n","-c","-x","-y","-t"]},{"changes":true,"joined":true,"path":["send-keys"],"valued":["-t","-N"]}]},"code_tools":{"execute_code":"Python","powershell":"PowerShell","write_powershell":"PowerShell"},"events":[["agent:start userPromptSubmitted user.prompt","prompt.submit","","","","","",""],["agent:end session.idle task.complete","turn.stop","","","","","",""],["agent:step","turn.step","","","","","",""],["session:start on_session_start","session.start","","","","","",""],["session:end session_end SessionEnd sessionEnd TaskCancel TaskComplete on_session_end session.deleted session_shutdown session.end","session.end","","","","","",""],["session:reset on_session_reset before_reset","session.reset","","","","","",""],["gateway:startup gateway_start","daemon.start","","","","","",""],["transform_tool_result","tool.transform","r","updated_tool_response","tool_call tool_name","tool_input","",""],["pre_tool_use BeforeTool pre_tool_call","tool.before","bv","updated_input","tool_name","tool_input","",""],["tool_input_transform","tool_input_transform","b","updated_input","tool_name","tool_input","",""],["tool_guard","tool_guard","bv","","tool_name","tool_input","",""],["permission_request PermissionRequest","permission.request","bp","updated_input","tool_name","tool_input","",""],["tool_response_transform","tool.transform","","updated_tool_response","tool_name","tool_input","",""],["post_tool_use AfterTool","tool.after","bc","","tool_name","tool_input","",""],["on_tool_approval_decision","on_tool_approval_decision","","","tool_name","tool_input","",""],["user_prompt_submit UserPromptSubmit UserPromptExpansion BeforeAgent chat.message before_prompt_build input","prompt.submit","bc","","","","",""],["user_steering_messages_submit","user_steering_messages_submit","bc","","","","",""],["user_followup_submit","user_followup_submit","bc","","","","",""],["turn_start","turn_start","c","","","","",""],["turn_end","turn_end","","","","","",""],["before_llm_call","model.before","b","updated_messages","","","",""],["after_llm_call afterAgentResponse afterAgentThought post_cascade_response PostInvocation post_api_request model_call_ended","model.after","","","","","",""],["stop","turn.stop","cb","","","","",""],["subagent_stop subagent.idle subagent_ended","subagent.stop","","","","","",""],["notification","notification","c","","","","",""],["on_error StopFailure errorOccurred TaskError api_request_error session.error","error","","","","","",""],["on_max_iterations","on_max_iterations","","","","","",""],["session_start sessionStart session.created agentSpawn session.start","session.start","c","","","","",""],["pre_compact PreCompact","compact.before","bc","","","","",""],["before_compaction","before_compaction","b","","","","",""],["after_compaction session.compacted session_compact PostCompaction","compact.after","","","","","",""],["on_user_input","on_user_input","","","","","",""],["on_agent_switch","on_agent_switch","","","","","",""],["on_session_resume","on_session_resume","","","","","",""],["worktree_create","worktree_create","bc","","","","",""],["skill_content_guard","skill_content_guard","be","","","","",""],["prompt_file_guard","prompt_file_guard","be","","","","",""],["onStart TaskStart TaskResume","session.start","bc","","","","",""],["onStop Stop","turn.stop","bc","","","","",""],["beforeToolCall","tool.before","bvc","","tool_name last_tool","tool_args","",""],["afterToolCall","tool.after","c","","tool_name last_tool","tool_args","",""],["onError","error","c","","","","",""],["beforeMessage","model.before","bc","","","","",""],["afterMessage","model.after","c","","","","",""],["PreToolUse","tool.before","bvc","updated_input","tool_name tool_call.name preToolUse.toolName toolCall.name toolName","tool_input tool_call.input preToolUse.parameters toolCall.args toolInput","",""],["PermissionDenied","PermissionDenied","","","tool_name toolName","tool_input toolInput","",""],["PostToolUse","tool.after","bc","updated_tool_response","tool_name tool_result.name postToolUse.toolName toolCall.name toolName","tool_input tool_result.input postToolUse.parameters toolCall.args toolInput","",""],["PostToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolInput","",""],["PostToolBatch","PostToolBatch","bc","","","","",""],["MessageDisplay","MessageDisplay","","","","","",""],["SubagentStart","subagent.start","c","","","","",""],["SubagentStop","subagent.stop","bc","","","","",""],["Notification input.required","notification","","","","","",""],["SessionStart","session.start","cb","","","","",""],["Setup","Setup","c","","","","",""],["PostCompact","compact.after","b","","","","",""],["InstructionsLoaded","InstructionsLoaded","","","","","",""],["ConfigChange","ConfigChange","b","","","","",""],["CwdChanged","CwdChanged","","","","","",""],["DirectoryAdded","DirectoryAdded","","","","","",""],["FileChanged file.edited","file.changed","","","","","",""],["TaskCreated","TaskCreated","b","","","","",""],["TaskCompleted","TaskCompleted","b","","","","",""],["TeammateIdle","TeammateIdle","b","","","","",""],["WorktreeCreate","WorktreeCreate","b","","","","",""],["WorktreeRemove","WorktreeRemove","","","","","",""],["Elicitation","Elicitation","b","","","","",""],["ElicitationResult","ElicitationResult","b","","","","",""],["Interrupt StopCancelled","turn.interrupt","","","","","",""],["AfterAgent agentStop pre_verify before_agent_finalize agent.end","turn.stop","b","","","","",""],["BeforeModel","model.before","b","","","","",""],["BeforeToolSelection","BeforeToolSelection","","","","","",""],["AfterModel","model.after","b","","","","",""],["PreCompress preCompact context.compact","compact.before","","","","","",""],["preToolUse","tool.before","bv","updated_input","tool_name toolName","tool_input toolArgs","",""],["beforeShellExecution","tool.before","bv","","","","command","Shell"],["beforeMCPExecution","tool.before","bv","","tool_name","tool_input","",""],["postToolUse","tool.after","c","updated_tool_response","tool_name toolName","tool_input toolArgs","",""],["postToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolArgs","",""],["afterShellExecution","tool.after","","","","","command","Shell"],["afterMCPExecution post_tool_call","tool.after","","","tool_name","tool_input","",""],["beforeReadFile beforeTabFileRead","tool.before","bv","","","","","Read"],["afterFileEdit afterTabFileEdit","tool.after","","","","","","Write"],["beforeSubmitPrompt pre_user_prompt","prompt.submit","b","","","","",""],["subagentStart","subagent.start","bvc","","","","",""],["subagentStop","subagent.stop","b","","","","",""],["workspaceOpen","workspaceOpen","","","","","",""],["userPromptTransformed","userPromptTransformed","","","","","",""],["preMcpToolCall","preMcpToolCall","","","","","",""],["permissionRequest","permission.request","bp","","toolName","toolArgs","",""],["SessionHeartbeat","SessionHeartbeat","","","","","",""],["UserPromptQueued","UserPromptQueued","","","","","",""],["TurnStarted","TurnStarted","","","","","",""],["PermissionResult","PermissionResult","","","tool_name","tool_input","",""],["TaskStarted","TaskStarted","","","","","",""],["pre_read_code","tool.before","bv","","","","","read_code"],["pre_write_code","tool.before","bv","","","","","write_code"],["pre_run_command","tool.before","bv","","","","tool_info.command_line","run_command"],["pre_mcp_tool_use","tool.before","bv","","","tool_info.mcp_tool_arguments","",""],["post_read_code","tool.after","","","","","","read_code"],["post_write_code","tool.after","","","","","","write_code"],["post_run_command","tool.after","","","","","tool_info.command_line","run_command"],["post_mcp_tool_use","tool.after","","","","tool_info.mcp_tool_arguments","",""],["post_cascade_response_with_transcript","post_cascade_response_with_transcript","","","","","",""],["post_setup_worktree","post_setup_worktree","","","","","",""],["SessionShutdown","SessionShutdown","","","","","",""],["PreInvocation","model.before","c","","","","",""],["session:compress","session:compress","","","","","",""],["reaction:added","reaction:added","","","","","",""],["reaction:removed","reaction:removed","","","","","",""],["message:pre_route","message:pre_route","","","","","",""],["on_session_finalize","on_session_finalize","","","","","",""],["pre_llm_call userPromptSubmit agent.start","prompt.submit","c","","","","",""],["post_llm_call","post_llm_call","","","","","",""],["pre_api_request model_call_started","model.before","","","","","",""],["transform_llm_output","transform_llm_output","","","","","",""],["transform_terminal_output","transform_terminal_output","","","tool_name","tool_input","",""],["subagent_start subagent.created subagent_spawned","subagent.start","","","","","",""],["tool.execute.before","tool.before","bv","updated_input","tool","args","",""],["tool.execute.after","tool.after","bc","","tool","args","",""],["experimental.session.compacting","compact.before","c","","","","",""],["permission.asked permission.request","permission.request","","","","","",""],["permission.replied","permission.replied","","","","","",""],["command.executed","command.executed","","","","","",""],["gateway_stop","gateway_stop","","","","","",""],["before_tool_call","tool.before","bv","updated_input","toolName","params","",""],["after_tool_call","tool.after","bc","","toolName","params","",""],["agent_end","agent_end","","","","","",""],["message_received","message_received","","","","","",""],["message_sending","message_sending","b","","","","",""],["message_sent","message_sent","","","","","",""],["SessionDelete","SessionDelete","","","","","",""],["TodoCreated","TodoCreated","b","","","","",""],["TodoCompleted","TodoCompleted","b","","","","",""],["tool_call","tool.before","bv","updated_input","toolName","input","",""],["tool_result","tool.after","bc","","toolName","input","",""],["session_before_compact","compact.before","b","","","","",""],["PreToolUseResult","PreToolUseResult","","","tool_name","tool_input","",""],["BeforeReadFile","BeforeReadFile","","","tool_name","tool_input","",""],["AfterFileEdit","AfterFileEdit","","","tool_name","tool_input","",""],["BeforeShellExecution","BeforeShellExecution","","","tool_name","tool_input","",""],["AfterShellExecution","AfterShellExecution","","","tool_name","tool_input","",""],["tool.call","tool.before","bv","updated_input","tool","input","",""],["tool.result","tool.after","bc","","tool","input","",""],["tool.use","tool.use","","","","","",""],["tool.error","tool.error","","","","","",""],["hookd:reload","hookd:reload","","","","","",""],["hookd:hook-changed","hookd:hook-changed","","","","","",""],["hookd:guard-gone","hookd:guard-gone","","","","","",""],["hookd:ask","hookd:ask","","","","","",""],["hookd:answered","hookd:answered","","","","","",""],["hookd:stop","hookd:stop","","","","","",""]],"other_tools":["agent","agentic_fetch","apply_patch","applypatch","ask_followup_question","ask_question","ask_user","ask_user_question","askuserquestion","browser_navigate","create","create_file","delegate","delegate_task","developer__edit","developer__read_image","developer__text_editor","developer__tree","developer__write","download","edit","edit_file","editfiles","editor","fetch","fetch_web_content","fetch_webpage","fetchurl","file_editor","file_list","file_read","file_search","file_write","find","fs_read","fs_write","glob","google_web_search","grep","grep_search","insert_edit_into_file","list","list_dir","list_directory","list_files","ls","manage_todo_list","multi_replace_file_content","multi_replace_string_in_file","multiedit","new_task","notebook_edit","notebook_read","patch","question","read","read_code","read_file","read_files","read_many_files","read_multiple_files","read_web_page","readfile","replace","replace_file_content","replace_in_file","replace_string_in_file","rg","run_subagent","runsubagent","search_codebase","search_file_content","search_files","search_files_content","search_replace","searchweb","sessions_spawn","settodolist","spawn_agent","str_replace_editor","strreplacefile","subagent","task","task_tracker","todo","todo_list","todo_write","todos","todowrite","transfer_task","tree","update_plan","update_todo","use_subagent","view","view_file","web_extract","web_fetch","web_search","webfetch","websearch","write","write_code","write_file","write_to_file","write_todos","writefile"],"shell_tools":["bash","create_and_run_task","developer__shell","exec","exec_command","execute","execute_bash","execute_cmd","execute_command","local_shell","monitor","run_background_job","run_command","run_commands","run_in_terminal","run_shell_command","run_terminal_cmd","run_terminal_command","runterminalcommand","send_command_input","shell","shell_command","shell_exec","terminal","write_bash","write_stdin","write_to_process"],"shells":["sh","bash","dash","ash","zsh","ksh","mksh","pdksh","fish","rbash","csh","tcsh","yash","elvish","nu"],"wrappers":{"alacritty":{"changes":true,"opaque":true},"arch":{"changes":true,"opaque":true},"asdf":{"changes":true,"opaque":true},"at":{"changes":true,"opaque":true},"aws-vault":{"changes":true,"opaque":true},"batch":{"changes":true,"opaque":true},"builtin":{},"bundle":{"changes":true,"sub":["exec"]},"bunx":{"changes":true},"busybox":{},"bwrap":{"changes":true,"opaque":true},"caffeinate":{"changes":true,"valued":["-t","-w"]},"capsh":{"changes":true,"opaque":true},"catchsegv":{"changes":true},"cgexec":{"changes":true,"opaque":true},"chamber":{"changes":true,"opaque":true},"chpst":{"changes":true,"opaque":true},"chronic":{"changes":true,"opaque":true},"chroot":{"changes":true,"skip":1},"chrt":{"changes":true,"opaque":true,"skip":1},"command":{"lookup":["-v","-V"]},"conda":{"changes":true,"opaque":true},"coverage":{"changes":true,"opaque":true},"cpulimit":{"changes":true,"opaque":true},"daemonize":{"changes":true,"opaque":true},"dbus-launch":{"changes":true,"opaque":true},"dbus-run-session":{"changes":true,"opaque":true},"distrobox":{"changes":true,"opaque":true},"doas":{"changes":true,"valued":["-u","-C"]},"doppler":{"changes":true,"opaque":true},"dotenv":{"changes":true,"opaque":true},"dotenvx":{"changes":true,"opaque":true},"eatmydata":{"changes":true},"entr":{"changes":true},"env":{"assigns":true,"text":["-S","--split-string"],"valued":["-u","--unset","-C","--chdir","-a","--argv0"]},"envdir":{"changes":true,"opaque":true},"exec":{"valued":["-a"]},"expect":{"changes":true,"opaque":true,"text":["-c"]},"fakeroot":{"changes":true},"faketime":{"changes":true,"opaque":true},"firejail":{"changes":true,"opaque":true},"flock":{"changes":true,"skip":1,"text":["-c","--command"],"valued":["-w","--timeout","-E"]},"gdb":{"changes":true,"opaque":true},"gnome-terminal":{"changes":true,"opaque":true},"gosu":{"changes":true,"opaque":true},"gtime":{"changes":true,"opaque":true},"gtimeout":{"skip":1,"valued":["-k","--kill-after","-s","--signal"]},"hatch":{"changes":true,"opaque":true},"hyperfine":{"changes":true,"opaque":true},"ionice":{"valued":["-c","--class","-n","--classdata"]},"konsole":{"changes":true,"opaque":true},"limactl":{"changes":true,"opaque":true},"linux32":{"changes":true,"opaque":true},"linux64":{"changes":true,"opaque":true},"ltrace":{"changes":true,"opaque":true,"valued":["-e","-o","-p","-u"]},"mamba":{"changes":true,"opaque":true},"mise":{"changes":true,"sub":["exec","x"]},"mosh":{"changes":true,"skip":1,"valued":["-p"]},"nice":{"valued":["-n","--adjustment"]},"nix":{"changes":true,"opaque":true},"nix-shell":{"changes":true,"opaque":true,"text":["--run","--command"]},"nocorrect":{"changes":true},"nodemon":{"changes":true,"opaque":true},"noglob":{"changes":true},"nohup":{},"npx":{"changes":true,"valued":["-p","--package"]},"nsenter":{"changes":true,"opaque":true,"valued":["-t","--target"]},"numactl":{"changes":true,"opaque":true},"op":{"changes":true,"opaque":true},"parallel":{"changes":true,"feeds":true,"joined":true,"stop":":::","valued":["-j","--jobs","-a","--arg-file","-I","-n","-N","--colsep","-d","--delay","--timeout"]},"pdm":{"changes":true,"opaque":true},"perf":{"changes":true,"opaque":true},"pipenv":{"changes":true,"sub":["run"]},"pkexec":{"changes":true,"valued":["--user","-u"]},"pnpm":{"changes":true,"sub":["exec","dlx"]},"pnpx":{"changes":true},"poetry":{"changes":true,"sub":["run"]},"prlimit":{"changes":true,"opaque":true},"proot":{"changes":true,"opaque":true},"proxychains":{"changes":true},"proxychains4":{"changes":true,"opaque":true},"pyenv":{"changes":true,"opaque":true},"rbenv":{"changes":true,"opaque":true},"rtk":{"changes":true},"run0":{"changes":true,"valued":["-u","--user","-g","--group","-D","--chdir"]},"runuser":{"changes":true,"text":["-c","--command"],"valued":["-u","-g","-G"]},"rush":{"changes":true,"opaque":true},"screen":{"changes":true,"opaque":true},"script":{"changes":true,"opaque":true,"text":["-c","--command"],"valued":["-T","-o","-O","-I","-B","-E"]},"setarch":{"changes":true,"opaque":true},"setpriv":{"changes":true,"opaque":true,"valued":["--reuid","--regid"]},"setsid":{},"setuidgid":{"changes":true,"opaque":true},"softlimit":{"changes":true,"opaque":true},"ssh":{"changes":true,"joined":true,"skip":1,"valued":["-b","-c","-D","-E","-e","-F","-I","-i","-J","-L","-l","-m","-O","-o","-p","-Q","-R","-S","-W","-w","-B"]},"sshpass":{"changes":true,"opaque":true},"start-stop-daemon":{"changes":true,"opaque":true},"stdbuf":{"valued":["-i","--input","-o","--output","-e","--error"]},"strace":{"changes":true,"opaque":true,"valued":["-e","-o","-p","-s","-u","-E"]},"su":{"changes":true,"skip":1,"text":["-c","--command"],"valued":["-s","--shell","-g","-G","-w"]},"su-exec":{"changes":true,"opaque":true},"sudo":{"changes":true,"valued":["-u","--user","-g","--group","-h","--host","-p","--prompt","-C","--close-from","-D","--chdir","-r","--role","-t","--type","-T","-U","-R","--chroot"]},"systemd-inhibit":{"changes":true,"opaque":true},"systemd-run":{"changes":true,"opaque":true,"valued":["-p","--property","-u","--unit","-E","--setenv","-M","-H","--on-active","--on-calendar","--uid","--gid","--description","--slice"]},"taskset":{"changes":true,"skip":1},"time":{"valued":["-f","--format","-o","--output"]},"timeout":{"skip":1,"valued":["-k","--kill-after","-s","--signal"]},"torify":{"changes":true},"torsocks":{"changes":true,"opaque":true},"toybox":{},"unbuffer":{"changes":true},"unshare":{"changes":true,"opaque":true,"valued":["-R","--root","-w","--wd","-S","-G"]},"uv":{"changes":true,"sub":["run"]},"uvx":{"changes":true,"valued":["--from"]},"valgrind":{"changes":true,"opaque":true},"watch":{"changes":true,"joined":true,"valued":["-n","--interval"]},"watchexec":{"changes":true,"opaque":true},"wsl":{"changes":true,"opaque":true},"xargs":{"feeds":true,"valued":["-a","--arg-file","-d","--delimiter","-E","-I","-L","-n","--max-args","-P","--max-procs","-s","--max-chars","-R","-S","-J"]},"xterm":{"changes":true,"opaque":true},"xvfb-run":{"changes":true,"opaque":true},"yarn":{"changes":true,"sub":["exec","dlx","run"]}}}'
# end
