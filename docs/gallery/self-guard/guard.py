#!/usr/bin/env python3
"""Keeps an agent from changing hookd, its hooks, and the agents' own hook settings.

    ./guard.py --test                      runs the examples of every rule
    ./guard.py --why 'hookd disable x'     says what is wrong with a line

Which files, commands and variables stands in rules/*.ini. A seat belt, not a sandbox: what a program does once it runs
is not seen, and a process of the same user can do whatever that user can.
"""
import fnmatch
import os
import pathlib
import posixpath
import re
import shutil
import sys

sys.dont_write_bytecode = True
import book  # noqa: E402
import files  # noqa: E402
import serve  # noqa: E402
import shell  # noqa: E402

NAME = "self-guard"
HERE = os.path.dirname(os.path.realpath(__file__))
KEYS = {"path", "sets", "command", "options", "catches", "passes", "reads", "changes"}
WRITES = (">", ">>", ">|", "&>", "&>>", "<>")
BUILTINS = {"cd", "pushd", "popd", "export", "set", "unset", "alias", "local", "declare", "readonly", "typeset", "eval",
            "source", ".", "trap",
            "exec", "command", "builtin", "sudo", "env", "xargs", "time", "timeout", "nohup", "nice", "bash", "sh",
            "zsh", "dash", "wait", "true", ":"}
UNPACKS = {"tar", "bsdtar", "unzip", "7z", "cpio", "rsync", "cp", "git", "patch", "ditto", "mv", "install"}
MOUNTS = {"docker", "podman", "nerdctl", "docker-compose", "podman-compose"}
# What prints names of files, and so may give them to a command that changes them.
NAMES_FILES = {"echo", "printf", "ls", "find", "gfind", "fd", "fdfind", "realpath", "readlink", "dirname", "locate",
               "mdfind", "git", "grep", "rg", "ag"}
FINDS_PROGRAMS = {"which", "command", "type", "whence", "whereis"}
KILLS = {"kill", "pkill", "killall", "skill", "fuser", "killall5", "xkill", "taskkill"}
SERVICES = {"systemctl", "launchctl", "service", "rc-service", "supervisorctl", "sv", "initctl", "brew", "loginctl",
            "s6-svc", "rc-update", "chkconfig"}
SERVICE_READS = {"status", "show", "cat", "is-active", "is-enabled", "is-failed", "list-units", "list-unit-files",
                 "list", "print", "blame", "help",
                 "list-timers", "list-sockets", "list-dependencies", "info"}
PACKAGES = {"apt", "apt-get", "aptitude", "dpkg", "dnf", "yum", "rpm", "zypper", "pacman", "apk", "snap", "brew", "npm",
            "pnpm", "yarn", "bun", "pip", "pip3",
            "pipx", "uv", "port", "nix-env", "flatpak", "go"}
REMOVES = {"remove", "purge", "uninstall", "rm", "erase", "del", "-r", "-P", "-e", "-R", "-Rs", "-Rns", "--remove",
           "--purge", "--erase", "unlink", "un", "r", "delete"}
OWN_PROCESSES = ("hookd", "hookd-bridge", "hookd serve")
HOOKD_WORDS = re.compile(r"^\S*\bhookd\b")
HOOKD_CHANGES = re.compile(r"hookd'?\s+(?:-\S+\s+)*'?(?:allow|deny|allow-ask|deny-ask|config|connect|disable|disconnect"
                           r"|edit|enable|grants|init|kill|policy|rm|stop|trust|uninstall|update)\b")
STARTS = shell.programs(KILLS | SERVICES | shell.SHELLS | {"hookd", "sudo", "env", "doas"})
READING_TOOLS = re.compile(r"Read|Glob|Grep|LS|NotebookRead|Web\w+|Task\w*|Todo\w+|BashOutput|.*(^|_)(read|get|list"
                           r"|search|view|find|stat|glob|grep)(_.*)?", re.IGNORECASE)
PROSE = {"content", "contents", "description", "edits", "new_source", "new_string", "old_string", "prompt", "query",
         "text", "todos", "message",
         "body", "title", "new_str", "old_str", "file_text", "insert_text", "pattern"}
LINES = {"command", "cmd", "script", "commands"}
CODE_WRITES = re.compile(r"['\"][wax]b?\+?t?['\"]|r\+|\bwrite|dump\s*\(|unlink|remove|rename|replace\s*\(|shutil"
                         r"|truncate|symlink|\blink\(|chmod|system|subprocess"
                         r"|popen|spawn|exec|appendFile|copyFile|cpSync|rmSync|mkdir|File\.(write|open)|IO\.write"
                         r"|>\s*['\"]?[/~.\w]|touch|mv\b|\bcp\b")
PATHS_IN = re.compile(r"[\w.~$@:/*?\[\]{}%+-]*[\w/*?\]-]")


MOST_WORDS = 3000  # of a command that are looked at
HOME = os.path.expanduser("~")


class Rule:
    """What belongs to one agent, or to hookd."""

    def __init__(self, name, file, values):
        self.name, self.file = name, file
        unknown = sorted(set(values) - KEYS)
        if unknown:
            raise book.Mistake("%s: [%s]: unknown key %s; there are %s" % (file, name, unknown[0],
                                                                           ", ".join(sorted(KEYS))))
        self.globs = values.get("path", "").split()
        self.sets, self.commands = values.get("sets", "").split(), values.get("command", "").split()
        self.options = values.get("options", "").split()
        self.changes = [line.split() for line in book.listed(values.get("changes", ""))]
        self.catches, self.passes = book.listed(values.get("catches", "")), book.listed(values.get("passes", ""))
        self._home, self._fits = None, None

    def expanded(self, home):
        """The globs, with the home for ~, and also where a variable of this process moves them."""
        for glob in self.globs:
            yield home + glob[1:] if glob.startswith("~") else glob
        for name in self.sets:
            folder = os.environ.get(name, "").rstrip("/")
            for glob in self.globs if folder.startswith("/") else ():
                if glob.startswith("~"):
                    yield folder + "/" if self.name == "hookd" else folder + "/" + posixpath.basename(glob.rstrip("/"))

    def fits(self, path, home):
        if self._home != home:
            self._fits, self._home = fitting(self.expanded(home)), home
        return self._fits(path) is not None

    def folders(self, home):
        """Folders right above what is protected in the home."""
        for glob in self.expanded(home):
            if glob.startswith("/") and "*" not in glob:
                yield posixpath.dirname(glob.rstrip("/"))


def fitting(globs):
    """The function that says whether one of the globs, which begin with no ~, fits a path."""
    return re.compile(files.any_of([files.expression(g) for g in globs]), re.IGNORECASE | re.DOTALL).fullmatch


class Rules:
    def __init__(self, sections, where):
        lists = {name: sections.pop(name, {}) for name in ("reads", "hookd-commands")}
        self.reads = {}
        for name, *rest in (line.split() for line in book.listed(lists["reads"].get("command", ""))):
            subs = next((set(r.split("|")) for r in rest if r[0] != "!"), None)
            writing = [r[1:] for r in rest if r[0] == "!"]
            self.reads.setdefault(name, []).append((subs, is_one_of(writing)))
        self.known, self.homes, self.around, self.sampled = {}, {}, {}, {}
        self.hookd_reads = [line.split() for line in book.listed(lists["hookd-commands"].get("reads", ""))]
        self.all = [Rule(name, where[name], values) for name, values in sections.items()]
        self.of_program = {}
        for rule in self.all:
            for program in rule.commands:
                self.of_program.setdefault(program, []).append(rule)
        self.own = own_programs()
        home = next((p.parent for p in pathlib.Path(__file__).resolve().parents if p.name in ("hooks", "packs")), None)
        hookd = next((r for r in self.all if r.name == "hookd"), None)
        if home and hookd:
            hookd.globs.append(str(home) + "/")

    def at(self, home):
        """What is known of a home: what says whether a rule fits a path, and the folders above them with their rules."""
        if home not in self.homes:
            globs, above = [], {}
            for rule in self.all:
                for one in rule.expanded(home):
                    globs.append(one)
                    names = one.rstrip("/").lower().split("/")
                    if names[0] == "**":
                        for n in range(1, len(names) - 1) if names[1].startswith(".") else ():
                            above.setdefault(".../" + "/".join(names[1:n + 1]), rule)
                    for n in range(1, len(names)):
                        if names[0] != "**" and not any("*" in x for x in names[:n]):
                            above.setdefault("/".join(names[:n]) or "/", rule)
            self.homes[home] = fitting(globs), above
        return self.homes[home]

    def path(self, path, home):
        """The rule for an absolute path, None if there is none."""
        if self.at(home)[0](path):
            return next(r for r in self.all if r.fits(path, home))
        if path in self.own:
            return next(r for r in self.all if r.name == "hookd")
        return None

    def above(self, path, home):
        """The rule for something below an absolute folder."""
        above = self.at(home)[1]
        names = path.rstrip("/").lower().split("/")
        found = above.get("/".join(names) or "/")
        for n in range(1, min(4, len(names))):
            found = found or above.get(".../" + "/".join(names[-n:]))
        return found

    def holds_own(self, folder):
        """The rule for a folder with hookd's programs below it."""
        begin = folder.rstrip("/") + "/"
        if any(path.startswith(begin) for path in self.own):
            return next(r for r in self.all if r.name == "hookd")
        return None

    def folders(self, home):
        """The folders right above what is protected, each with the first rule about it. The home and the folder above
        it are not among them."""
        if home not in self.around:
            found = {}
            for rule in self.all:
                for folder in rule.folders(home):
                    if folder not in (home, posixpath.dirname(home)):
                        found.setdefault(folder, rule)
            self.around[home] = found
        return self.around[home]

    def sample(self, pattern, home):
        """The rule for something that an absolute pattern of a shell may match, or for what is right below it."""
        *folders, name = pattern.lower().split("/")
        fits = re.compile(fnmatch.translate(name)).match
        for last, found in self.samples(home).items() if any(folders) else ():
            if name == last or "*" in last and fnmatch.fnmatchcase(name, last) or fits(last.replace("*", "x")) \
                    and not (last[:1] == "." and name[:1] in "*?["):
                for rule, before, anywhere in found:
                    if not before and anywhere and name[:1] in "*?[":
                        continue  # *.json is about all such files, not about one of them
                    if (len(before) <= len(folders) if anywhere else len(before) == len(folders)) and all(
                            map(may_be, folders[len(folders) - len(before):], before)):
                        return rule
        return None

    def samples(self, home):
        """What is protected, and the folders right above it, by the last part of the path: (rule, the parts before it,
        whether they may stand in any folder)."""
        if home not in self.sampled:
            found = self.sampled[home] = {}
            for rule, glob in ((rule, glob) for rule in self.all for glob in rule.expanded(home)):
                anywhere = glob.startswith("**/")
                parts = (glob[3:] if anywhere else glob).rstrip("/").lower().split("/")
                for path in (parts, parts[:-1]):
                    if len(path) > 1 and not anywhere or path and anywhere and path[0][:1] == "." or path is parts:
                        before = [part.replace("*", "x") for part in path[:-1]]
                        found.setdefault(path[-1], []).append((rule, before, anywhere))
        return self.sampled[home]

    def variables(self, home):
        """What variables that name settings stand for where they are not set."""
        if home not in self.known:
            known = {}
            for rule in self.all:
                for name in rule.sets:
                    value = os.environ.get(name) or next((posixpath.dirname(g) for g in rule.expanded(home)
                                                          if g.startswith("/")), None)
                    if value:
                        known[name] = value
            self.known[home] = shell.known(known)
        return self.known[home]


def may_be(pattern, name):
    """Whether a shell may put a name in the place of one part of a pattern."""
    return pattern == name or not (name[:1] == "." and pattern[:1] in "*?[") and fnmatch.fnmatchcase(name, pattern)


def is_one_of(options):
    """The function that says whether a word is one of some options, with a value or in a row of letters: -i as -ni."""
    return re.compile("|".join([re.escape(o) + r"(?:=|\Z)" for o in options]
                               + ["-[A-Za-z]*" + re.escape(o[1]) for o in options if len(o) == 2]) or "(?!)").match


def own_programs():
    """Where hookd's programs are: what PATH finds, and what runs this guard."""
    found = set()
    for path in [shutil.which("hookd"), shutil.which("hookd-bridge"), "/proc/%d/exe" % os.getppid()]:
        if path and os.path.basename(os.path.realpath(path)).startswith("hookd"):
            found |= {path, os.path.realpath(path)}
    return found


class Look:
    """One look at a call."""

    def __init__(self, rules, cwd, home=""):
        self.rules, self.cwd, self.home = rules, cwd, home or HOME
        self.found, self.links = [], files.links()  # found: (action, text)

    def deny(self, what, why, action="deny"):
        self.found.append((action, "%s: %s; ask the user to do it (%s)" % (NAME, why, shell.shorten(what, 100))))

    def absolute(self, text, cwd):
        if shell.COMPUTED in text:
            text = text.replace(shell.COMPUTED, "/computed" if text.startswith(shell.COMPUTED) else "computed")
        return files.absolute(text, cwd, self.home)

    def rule(self, text, cwds=None, glob=None):
        """The rule for a path as it is written, or as what it is a link to."""
        word = text, cwds or self.cwd, glob, self.home
        if word in self.links.passed:
            return None
        for piece in files.pieces(text):
            for cwd in cwds or (self.cwd,):
                path = self.absolute(piece, cwd)
                found = self.rules.path(path, self.home)
                if found is None and shell.COMPUTED not in piece and len(path) < 4096:
                    real, there = self.links.real(path)
                    found = self.rules.path(real, self.home) if real != path else None
                    found = found or there and self.same_file(path) or None
                if found is None and glob and re.search(r"[*?\[]", glob):
                    found = self.rules.sample(self.absolute(glob, cwd), self.home)
                if found:
                    return found
        self.links.passes(word)
        return None

    def same_file(self, path):
        """The rule for a file that has a second name there (a hard link)."""
        try:
            facts = os.stat(path)
        except (OSError, ValueError):
            return None
        if facts.st_nlink < 2 or os.path.isdir(path):
            return None
        for rule in self.rules.all:
            for one in rule.expanded(self.home):
                if one.startswith("/") and "*" not in one and os.path.exists(one) and os.path.samefile(one, path):
                    return rule
        return None

    def touched(self, text, cwds=None, glob=None, below=False):
        """Denies a change of a path; below: also of what is in it."""
        rule = self.rule(text, cwds, glob) or below and self.below(text, cwds)
        if rule:
            self.deny(text, "this would change the hook settings of " + rule.name if rule.name != "hookd"
                      else "this would change hookd or its hooks")
        return bool(rule)

    def below(self, text, cwds=None):
        """The rule for what is in a folder."""
        for cwd in cwds or (self.cwd,):
            if cwd or text.startswith(("/", "~")):
                path = self.absolute(text, cwd)
                rule = self.rules.above(path, self.home) or self.rules.holds_own(path)
                if rule:
                    return rule
        return None

    # Shell lines.

    def line(self, text, cwd, certain=False):
        """Looks at a shell line; certain: what cannot be read does not count."""
        script = shell.read(text, cwd, self.home, self.rules.variables(self.home))
        for command in script.commands:
            self.command(command, script)
        self.agents(script)
        if script.unclear and not certain and not self.found and self.hints(text):
            action = os.environ.get("UNREADABLE") or "ask"
            self.deny(script.unclear[0].part or text, script.unclear[0].why, action if action in ("ask", "deny")
                      else "deny")

    def hints(self, text):
        bare = re.sub(r"[\"'\\]", "", text).lower()
        names = {"hookd", "librefang", "hooks.json"}
        for rule in self.rules.all:
            names |= {g.rstrip("/").lstrip("*~/").lower() for g in rule.globs}
        return any(n and n in bare for n in names)

    def command(self, command, script):
        for operator, word in command.redirects:
            if operator in WRITES:
                self.touched(word.text, command.cwds, word.pattern if word.glob else None)
                self.named_by(word, command)
        if command.code:
            self.code(command)
        if not command.words or not command.name:
            return
        name, words = command.name, command.words[1:]
        if name == "hookd" or name == "go" and words and words[0].text == "run" \
                and any(w.text.rstrip("/").endswith("cmd/hookd") for w in words):
            self.hookd(command, words)
        elif name in KILLS:
            self.kill(command, words, script)
        elif name in SERVICES and self.names_hookd(words) and (name != "brew" or words[0].text == "services"):
            rest = [w.text for w in words if not w.text.startswith("-")]
            if not rest or rest[0] not in SERVICE_READS and (len(rest) < 2 or rest[1] not in SERVICE_READS):
                self.deny(" ".join(command.texts), "this would stop or change hookd's service")
        if name in PACKAGES and self.names_hookd(words) and any(w.text in REMOVES for w in words):
            self.deny(" ".join(command.texts), "this would remove hookd")
        self.files(command, name, words)
        for line in shell.perhaps_run(command, STARTS, bare=True) if not self.found else ():
            if HOOKD_WORDS.search(line) and not HOOKD_CHANGES.search(line):
                continue  # a file or a folder of this name
            inner = Look(self.rules, command.cwds[0], self.home)
            inner.line(line, command.cwds[0], certain=True)
            self.found += [("ask", text) for action, text in inner.found[:1]]

    def names_hookd(self, words):
        for word in words:
            text = word.text.lower()
            if "hookd" in text or re.search(r"[*?\[]", text) and fnmatch.fnmatch("hookd.service", text):
                return True
        return False

    def files(self, command, name, words):
        """Files that a command may change by its words."""
        reads = self.reads(command)
        if reads:
            words = outputs(name, words)
        elif name in ("cp", "scp", "rsync", "install", "ditto") and len(words) > 1:
            self.spread(command, name, words)
            words = targets(words)
        elif name in ("mv", "ln"):
            words = words + targets(words)
        elif name in UNPACKS and name != "mv":
            self.spread(command, name, words)
        distinct = {w.text: w for w in words}
        if len(distinct) > MOST_WORDS:
            self.deny(shell.shorten(" ".join(command.texts[:5])), "it names too many files to look at", "ask")
        words = list(distinct.values())[:MOST_WORDS]
        below = name in ("rm", "mv", "chmod", "chown", "chattr", "rmdir", "find", "ln", "unlink", "shred", "mount",
                         "umount", "rimraf", "trash", "chflags", "setfacl")
        for word in words:
            if not word.text.startswith("-") or re.search(r"[=/~]", word.text):
                self.touched(word.text, command.cwds, word.pattern if word.glob else None, below
                             and self.deep(name, command))
            if word.sources and not reads:
                self.named_by(word, command)
        if name in MOUNTS:
            self.mounts(command, words)
        if not self.found and not reads and name not in BUILTINS:
            folders = self.rules.folders(self.home)
            rule = next((folders[c] for c in command.cwds if c in folders), None)
            if rule:
                self.deny(" ".join(command.texts), "this may change the settings of %s, in whose folder it"
                                                   " runs" % rule.name, "ask")

    def named_by(self, word, command):
        """Asks before a change of files whose names another command prints: rm $(which hookd), find ~/.claude | xargs
        rm."""
        for source in word.sources if not self.found else ():
            for one in source.words[1:]:
                rule = None
                if source.name in FINDS_PROGRAMS:
                    rule = next((r for r in self.rules.all if r.name == one.text.partition("-")[0] == "hookd"), None)
                elif source.name in NAMES_FILES and one.text[:1] != "-":
                    glob = one.pattern if one.glob else None
                    rule = self.rule(one.text, source.cwds, glob) or self.below(one.text, source.cwds)
                if rule:
                    return self.deny(" ".join(command.texts), "this may change files of %s, whose names another command"
                                                              " prints" % rule.name, "ask")
        return None

    def mounts(self, command, words):
        """Asks before a container is given a folder with settings that it may write to."""
        for before, word in zip([None] + words, words):
            option, _, value = word.text.partition("=")
            if option[:1] != "-":
                option, value = before and before.text, word.text
            if option in ("-v", "--volume"):
                path, *rest = value.split(":")
                fixed = rest and "ro" in rest[-1].split(",")
            elif option == "--mount":
                parts = dict(p.partition("=")[::2] for p in value.split(","))
                path, fixed = parts.get("source") or parts.get("src") or "", {"ro", "readonly"} & set(parts)
            else:
                continue
            rule = None if fixed or not path else self.rule(path, command.cwds) or self.below(path, command.cwds)
            if rule:
                self.deny(" ".join(command.texts), "this gives a container the settings of %s" % rule.name, "ask")

    def deep(self, name, command):
        """Whether the command may change what is in a folder that it names."""
        if name in ("rm", "chmod", "chown", "setfacl", "chattr", "chflags"):
            return any(re.match(r"-[A-Za-z]*[rRd]|--recursive|--dir", w.text) for w in command.words[1:])
        if name == "find":
            return any(w.text in ("-delete", "-exec", "-execdir", "-ok", "-fprint") for w in command.words)
        return True

    def spread(self, command, name, words):
        """Asks before many files are put into a folder with settings below it."""
        if name in ("cp", "install", "scp") and not any(re.match(r"-[A-Za-z]*[rRa]|--recursive|--archive", w.text)
                                                        for w in command.words[1:]):
            return
        texts = [w.text for w in command.words[1:]]
        if name == "git" and not (set(texts) & {"clone", "checkout-index", "worktree", "apply", "am", "archive"}):
            return
        if name in ("tar", "bsdtar") and not any(re.match(r"-?[A-Za-z]*x|--extract|--get", t) for t in texts[:3]):
            return
        pairs = zip(command.words, command.words[1:])
        targets = [w for before, w in pairs if before.text in ("-C", "-d", "--directory")]
        if not targets and name in ("cp", "rsync", "ditto", "git", "scp"):
            targets = words[-1:]
        places = [self.absolute(w.text, c) for w in targets for c in command.cwds] or [c for c in command.cwds if c]
        for place in places:
            rule = self.rules.above(place, self.home)
            if rule and (place == self.home or self.home.startswith(place.rstrip("/") + "/") or place != self.cwd):
                self.deny(" ".join(command.texts), "this may overwrite the hook settings of %s" % rule.name, "ask")
                return

    def reads(self, command):
        known = self.rules.reads.get(command.name)
        if not known:
            return False
        folder = shell.FOLDER_OPTIONS.get(command.name, ())
        texts = [w.text for before, w in zip(command.words, command.words[1:]) if before.text not in folder]
        first = next((t for t in texts if t[:1] != "-"), None)
        if command.name == "tar" and texts and re.match(r"[A-Za-z]*x", texts[0]):
            return False  # tar xf, without a dash
        for subs, writing in known:
            if subs is None or first in subs:
                return not any(t[:1] == "-" and writing(t) for t in texts)
        return False

    def code(self, command):
        code = command.code
        if not CODE_WRITES.search(code):
            return
        bare = re.sub(r"\\(.)", r"\1", code)
        for token in PATHS_IN.findall(bare)[:2000]:
            if "/" in token and self.touched(token.replace("${HOME}", self.home).replace("$HOME", self.home)):
                return
        lower = code.lower()
        for rule in self.rules.all:
            for glob in rule.globs:
                parts = [p for p in glob.rstrip("/").lower().split("/") if p not in ("**", "~", "") and "*" not in p]
                if parts and all('"%s' % p in lower or "'%s" % p in lower or "/" + p in lower
                                 for p in parts) and len(parts) > 1 or ".librefang" in lower:
                    self.deny(shell.shorten(code, 60), "this code may change the hook settings of %s" % rule.name)
                    return

    def hookd(self, command, words):
        """A command of hookd that changes something."""
        rest = [w for n, w in enumerate(words) if not w.text.startswith("-")
                and not (n and words[n - 1].text in ("--home", "--socket", "--config", "-o"))]
        rest = [w for w in rest if not (command.name == "go" and (w.text == "run" or w.text.endswith("cmd/hookd")))]
        if not rest:
            if not any(w.many for w in words):
                return
        elif rest[0].sure:
            for name, *subs in self.rules.hookd_reads:
                if rest[0].text == name and (not subs or len(rest) == 1 and "-" in subs[0].split("|") or len(rest) > 1
                                             and rest[1].text in subs[0].split("|")):
                    if not any(w.text.startswith(bad[1:]) for bad in subs[1:] for w in words):
                        return
        self.deny(" ".join(command.texts),
                  "`hookd %s` changes what hookd does" % (rest[0].text.replace(shell.COMPUTED, "…") if rest else ""))

    def kill(self, command, words, script):
        name, texts = command.name, [w.text for w in words]
        by_pattern = name == "pkill" or "-r" in texts or "--regexp" in texts
        if name in ("pkill", "killall", "skill", "taskkill"):
            for word in words:
                if word.text.startswith("-"):
                    continue
                try:
                    hit = any(re.search(word.text, p, re.IGNORECASE) for p in OWN_PROCESSES) if by_pattern \
                        else "hookd" in word.text.lower()
                except re.error:
                    hit = True
                if hit or not word.sure and self.mentions(script):
                    return self.deny(" ".join(command.texts), "this would end hookd")
        pids = {str(os.getppid()), str(os.getpid())}
        if name == "kill" and ({t.lstrip("-") for t in texts} & pids or "-1" in texts[1:] or texts == ["-1"]):
            return self.deny(" ".join(command.texts), "this would end hookd")
        if name == "kill" and (command.fed or any(not w.sure for w in words)) and self.mentions(script):
            return self.deny(" ".join(command.texts), "this may end hookd")
        return None

    def mentions(self, script):
        """Whether another command of the line speaks of hookd's process."""
        for other in script.commands:
            if other.name in ("hookd", "echo", "printf") or other.name in KILLS:
                continue
            if self.names_hookd(other.words[1:]) or any("hookd" in w.text for _, w in other.redirects):
                return True
        return False

    def agents(self, script):
        """An agent that is started with other settings."""
        started = [c for c in script.commands if c.name in self.rules.of_program]
        if not started:
            return
        assigned = set()
        for command in script.commands:
            assigned |= set(command.assigns)
            if command.name in ("export", "declare", "typeset", "readonly"):
                assigned |= {w.text.partition("=")[0] for w in command.words[1:] if "=" in w.text}
            elif command.name == "unset":
                assigned |= {w.text for w in command.words[1:]}
            elif command.name == "env":
                assigned |= {w.text for before, w in zip(command.words, command.words[1:])
                             if before.text in ("-u", "--unset")}
        own = {name for rule in self.rules.all if rule.name == "hookd" for name in rule.sets}
        for command in started:
            for rule in self.rules.of_program[command.name]:
                if assigned & (set(rule.sets) | own | {"HOME"}):
                    self.deny(" ".join(command.texts), "this starts %s with other settings, without its"
                                                       " hooks" % rule.name)
                if any(follow(phrase, command.words[1:]) for phrase in rule.changes):
                    self.deny(" ".join(command.texts), "this changes hookd's place in the settings of %s" % rule.name)
                for word in command.words[1:]:
                    if any(fnmatch.fnmatchcase(word.text, o) or word.text.startswith(o + "=") for o in rule.options):
                        self.deny(" ".join(command.texts), "this starts %s with other settings, perhaps without its"
                                                           " hooks" % rule.name)


def follow(phrase, words):
    """Whether the globs of a phrase fit words of a command in their order, others between them or not."""
    rest = iter(words)
    return all(any(not w.sure or fnmatch.fnmatchcase(w.text, one) for w in rest for one in glob.split("|"))
               for glob in phrase)


def targets(words):
    """Where a cp puts what it copies: the last word or that of -t, and what each file is called there."""
    given = [w for before, w in zip([None] + words, words) if before is not None
             and before.text in ("-t", "--target-directory")]
    given += [shell.Word(w.text.partition("=")[2]) for w in words if w.text.startswith("--target-directory=")]
    given += [shell.Word(w.text[2:]) for w in words if re.match(r"-t[~./]", w.text)]
    folders = given or words[-1:]
    names = [w.text.rstrip("/").rsplit("/", 1)[-1] for w in words if w not in folders and not w.text.startswith("-")]
    return folders + [shell.Word(f.text.rstrip("/") + "/" + n, f.glob) for f in folders for n in names]


def outputs(name, words):
    """The words of a command that reads which name a file to write to, or text with such a name."""
    found = []
    if any(w.text[:2] in ("-o", "--") for w in words):
        found = [w for before, w in zip(words, words[1:]) if before.text in ("-o", "--output")]
        found += [w for w in words if w.text.startswith(("--output=", "-o/", "-o~"))]
    if name in ("sed", "gsed", "awk", "gawk", "mawk", "nawk"):
        found += [shell.Word(t) for w in words if re.search(r"\bw\s|>", w.text) for t in PATHS_IN.findall(w.text)]
    return found


def strings(value, key=""):
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name if not key or key not in PROSE else key)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def findings(tool, tool_input, cwd, rules, home=""):
    look = Look(rules, cwd, home)
    reading = READING_TOOLS.fullmatch(tool.rsplit("__", 1)[-1])
    for key, text in strings(tool_input):
        if key in LINES and not (tool in ("Write", "Edit")):
            look.line(text, cwd)
        elif key not in PROSE and not reading:
            for one in text.splitlines()[:1000]:
                look.touched(one)
    return look.found


def worst(found):
    return max(found, key=lambda f: f[0] == "deny", default=None)


def judge(event):
    rules = load()
    call = event.get("tool_input")
    if call == {"examples": "all"}:
        return serve.deny(examples(rules))  # a denial in any case: there is nothing to allow
    one = worst(findings(event.get("tool_name") or "", call, event.get("cwd") or "", rules))
    if one is None:
        return None
    return serve.ask(one[1]) if one[0] == "ask" else serve.deny(one[1])


def load():
    return book.load(NAME, HERE, Rules)


def examples(rules):
    wrong, count = [], 0
    for rule in rules.all:
        for line, wanted in [(e, True) for e in rule.catches] + [(e, False) for e in rule.passes]:
            count += 1
            if bool(findings("Bash", {"command": line}, "/home/me/project", rules, "/home/me")) != wanted:
                wrong.append("%s: [%s] %s: %s" % (rule.file, rule.name, "lets pass" if wanted else "catches", line))
        for glob in rule.globs:
            count += 1
            path = re.sub(r"\*+", "x", ("/home/me" + glob[1:] if glob.startswith("~")
                                        else glob.replace("**/", "/p/")).rstrip("/"))
            if not findings("Write", {"file_path": path}, "/home/me/project", rules, "/home/me"):
                wrong.append("%s: [%s] lets %s be written" % (rule.file, rule.name, path))
    if wrong:
        return "%d of %d examples are wrong: %s" % (len(wrong), count, "; ".join(wrong[:20]))
    return "all %d examples of %d rules are right" % (count, len(rules.all))


def main(argv):
    if argv[:1] == ["--test"]:
        said = examples(load())
        print(said.replace(": ", ":\n", 1).replace("; ", "\n"))
        return 0 if said.startswith("all ") else 1
    if argv[:1] == ["--why"] and len(argv) == 2:
        found = findings("Bash", {"command": argv[1]}, os.getcwd(), load())
        for action, text in found:
            print("%-4s  %s" % (action, text))
        if not found:
            print("pass  nothing to object to")
        return 0
    if argv:
        print(__doc__, file=sys.stderr)
        return 64
    serve.run(NAME, judge, serve.LINES)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
