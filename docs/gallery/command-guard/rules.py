"""Reads rules about commands from .ini files, and says whether one fits a command.

    [git-push-force]
    action  = ask
    reason  = a forced push overwrites what others have pushed
    command = git push
    with    = -f --force --mirror +*
    without = -n --dry-run
    catches = git push -f origin main
    passes  = git push --force-with-lease

action    deny, ask, or off
reason    what the agent and its user read
command   programs and subcommands, one a line; options between them do not matter; * ? [] {a|b as in globs
with      at least one of these options or words is there; -f is found in -xf, --force in --force=x
and       at least one of these, too
without   none of these is there
except    no: every word that is no option, or its last part, is one of these
path      a word names one of these files: globs (** crosses folders), ~, @above (a parent of the work, or of the home),
          @system, @disk
writes    the command writes to one of these
text      a regular expression for the words in a row and what is known of the input; no matter how letters are cased
code      a regular expression for code in another language (python -c and the like)
sets      a variable that is set for the command
when      executed (its output is run as code), fed (it gets words from xargs or find), alone (it has no further word),
          recursive (a function of the line that calls itself)
sure      yes: what is computed does not count; else a computed word that may be an option asks
catches   lines that the rule catches, one a line
passes    lines that it lets pass, one a line

A section with the name of another changes what it says and leaves the rest: `action = off` alone turns a rule off.
The section [trusted] names commands, one a line, whose output may be run as code.
"""
import fnmatch
import functools
import os
import posixpath
import re

import book
import shell
from book import Mistake, listed

HERE = os.path.dirname(os.path.realpath(__file__))
KEYS = {"action", "reason", "command", "with", "and", "without", "except", "path", "writes", "text", "code", "sets",
        "when", "sure", "catches", "passes"}
SURE, PERHAPS = "sure", "perhaps"
COMPUTED = "\0"
CLUSTER = re.compile(r"-[A-Za-z0-9]*")
WRITES = (">", ">>", ">|", "&>", "&>>", "<>")

# Options that take the next word, of programs with subcommands.
VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path",
    "docker": "-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey -f --file -p"
              " --project-name --profile --env-file --project-directory",
    "kubectl": "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --request-timeout -f"
               " -l --selector",
    "gh": "-R --repo", "go": "-C", "helm": "-n --namespace --kube-context --kubeconfig",
          "aws": "--profile --region --output --endpoint-url --query",
    "gcloud": "--project --account --configuration --zone --region", "az": "--subscription -g --resource-group",
          "npm": "--prefix -w --workspace",
    "systemctl": "-H --host -M --machine -n --lines -o --output -t --type", "terraform": "-chdir",
          "vault": "-address -namespace",
}
for _same, _as in (("podman", "docker"), ("nerdctl", "docker"), ("oc", "kubectl"), ("tofu", "terraform"),
                   ("pnpm", "npm"), ("yarn", "npm")):
    VALUED[_same] = VALUED[_as]
VALUED = {name: set(options.split()) for name, options in VALUED.items()}
ALIASES = {"docker-compose": ["docker", "compose"], "podman-compose": ["docker", "compose"], "podman": ["docker"],
           "nerdctl": ["docker"], "oc": ["kubectl"],
           "tofu": ["terraform"], "terragrunt": ["terraform"], "grm": ["rm"], "gdd": ["dd"], "gfind": ["find"],
           "gsed": ["sed"], "fdfind": ["fd"], "nodejs": ["node"],
           "mongo": ["mongosh"], "mariadb": ["mysql"], "valkey-cli": ["redis-cli"], "hub": ["gh"],
           "gunlink": ["unlink"], "gshred": ["shred"],
           "gchmod": ["chmod"], "gchown": ["chown"], "gtruncate": ["truncate"], "gmv": ["mv"], "gcp": ["cp"]}
SYSTEM = set(("bin boot dev etc lib lib64 opt proc root sbin sys usr var System Library Applications private srv home"
              " Users usr/bin usr/lib usr/local usr/share usr/sbin var/lib var/log").split())
DISK = re.compile(r"/dev/r?(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|md\d|dm-\d|mapper/|loop\d|mem$"
                  r"|kmem$|port$)")
MARKS = ("@above", "@system", "@disk")
# What is above the work, or all that is in it or there, as it is written.
ABOVE = re.compile(r"(?:\.\.?|\*|\./\*|\.\./\*|\.\*)/*|(?:\.\./?)+\*?")


class Rule:
    def __init__(self, name, file, values):
        self.name, self.file = name, file
        unknown = sorted(set(values) - KEYS)
        if unknown:
            raise Mistake("%s: [%s]: unknown key %s; there are %s" % (file, name, unknown[0], ", ".join(sorted(KEYS))))
        self.action = values.get("action", "")
        if self.action not in ("deny", "ask", "off"):
            raise Mistake("%s: [%s]: action is %r, not deny, ask or off" % (file, name, self.action))
        self.reason = values.get("reason", "")
        self.commands = [[Glob(w) for w in line.split()] for line in listed(values.get("command", ""))]
        if not self.commands or not self.reason:
            raise Mistake("%s: [%s]: %s is missing" % (file, name, "reason" if self.commands else "command"))
        self.groups = [values[k].split() for k in ("with", "and") if values.get(k)]
        self.without, self.exempt = values.get("without", "").split(), values.get("except", "").split()
        self.paths, self.writes = (Files(values.get(k, "").split()) for k in ("path", "writes"))
        self.sets = values.get("sets", "").split()
        self.text, self.code = (self.expression(values, k) for k in ("text", "code"))
        self.when, self.certain = values.get("when", ""), values.get("sure") == "yes"
        if self.when not in ("", "executed", "fed", "alone", "recursive"):
            raise Mistake("%s: [%s]: when is %r, not executed, fed, alone or recursive" % (file, name, self.when))
        self.catches, self.passes = listed(values.get("catches", "")), listed(values.get("passes", ""))
        if self.action != "off" and not (self.catches and self.passes):
            raise Mistake("%s: [%s]: give an example in catches, and one in passes" % (file, name))

    def expression(self, values, key):
        try:
            return re.compile(values[key], re.IGNORECASE) if values.get(key) else None
        except re.error as e:
            raise Mistake("%s: [%s]: %s is no regular expression: %s" % (self.file, self.name, key, e))

    def possible(self, call):
        """Whether the call has what the rule is about: code, files that it writes, variables, a way to be run."""
        command = call.command
        if self.when in ("executed", "fed", "recursive") and not getattr(command, self.when):
            return False
        return not (self.sets and not command.assigns or self.code and not command.code
                    or self.writes.specs and not call.writes)

    def fits(self, call, patterns):
        """SURE, PERHAPS (a computed part may make it fit), or None, for a call that it is possible for; patterns are
        those of the rule's commands whose program is the call's."""
        best = None
        for pattern in patterns:
            args, doubt = subcommand(call.words, pattern) if call.words else ([], False)
            one = self.fits_words(call, args, doubt) if args is not None else None
            if one == SURE:
                return one
            best = best or one
        return best

    def fits_words(self, call, args, doubt):
        """fits for the words after the subcommands, args."""
        if self.when == "alone" and args:
            return None
        if doubt and self.certain:
            return None
        command, words = call.command, call.words
        options, others = call.sorted(args)
        everything = call.sorted(words[1:])[0]
        for group in self.groups:
            if any(given(item, everything, others) for item in group):
                continue
            vague = not self.certain and any(w.many and w.text.startswith(COMPUTED) for w in args)
            if not vague or not any(item.startswith("-") for item in group):
                return None
            doubt = True
        if self.without and any(given(item, everything, words[1:]) for item in self.without):
            return None
        if self.exempt and others and all(exempted(w, self.exempt) for w in others):
            return None
        for wanted, words_in in ((self.paths, others), (self.writes, call.writes)):
            if not wanted.specs:
                continue
            found = [call.place(w, wanted) for w in words_in]
            if SURE not in found:
                if PERHAPS not in found:
                    return None
                doubt = True
        if self.sets and not any(word_glob(s)(n) for n in command.assigns for s in self.sets):
            return None
        if self.text and not self.text.search(" ".join(w.text for w in words) + "\n" + (command.stdin.text or "")):
            return None
        if self.code and not (command.code and self.code.search(command.code)):
            return None
        return PERHAPS if doubt else SURE


class Glob:
    """A word of `command`: {a|b means either, as the whole word or as a part of it."""

    def __init__(self, text):
        self.all = text == "*"
        self.globs = text.lower().split("|")
        self.plain = not re.search(r"[*?\[]", text)

    def fits(self, text):
        text = text.lower()
        return text in self.globs if self.plain else any(word_glob(g)(text) for g in self.globs)


@functools.lru_cache(maxsize=8192)
def word_glob(glob):
    """The function that matches a glob with a whole text."""
    return re.compile(fnmatch.translate(glob)).match


class Call:
    """A command as rules look at it.

    words   as spelled says, empty where there are none
    writes  the words that name files which it writes
    """

    def __init__(self, command):
        self.command, self.words, self.writes = command, spelled(command) or (), written(command)
        self._sorted, self._places = {}, {}

    def sorted(self, args):
        """sort of the last of its words."""
        found = self._sorted.get(len(args))
        if found is None:
            found = self._sorted[len(args)] = sort(args)
        return found

    def place(self, word, wanted):
        """Whether a word names one of the wanted files: SURE, PERHAPS or None."""
        text, sure = word.text, SURE
        if COMPUTED in text:
            text, sure = text.replace(COMPUTED, ""), PERHAPS
            if not text.startswith("/"):
                return None
        if not text:
            return None
        if text not in self._places:
            self._places[text] = list(places(text, self.command.cwds))
        found = self._places[text]
        return sure if wanted.fits(text, self.command.home, found) else None

    def alike(self):
        """What calls of a program have in common for which the same rules are possible."""
        command = self.command
        name = self.words[0].text.rstrip("/").rsplit("/", 1)[-1].lower() if self.words else ""
        return (name, bool(command.code), bool(self.writes), bool(command.assigns), command.executed, command.fed,
                command.recursive)

    def following(self):
        """The word after the program, None where there is none, COMPUTED where a subcommand may stand behind it."""
        text = self.words[1].text if len(self.words) > 1 else None
        return COMPUTED if text and text != "-" and text[0] in ("-", COMPUTED) else text


def spelled(command):
    """The words of a command, with the usual name of its program first; None where there is none."""
    if not command.words or not command.name:
        return None
    other = ALIASES.get(command.name)
    if not other:
        return command.words
    return [type(command.words[0])(t) for t in other] + command.words[1:]


def subcommand(words, pattern):
    """The words after the subcommands of pattern, None where they are others; and whether that is in doubt."""
    if len(pattern) == 1:
        return words[1:], False
    valued = VALUED.get(words[0].text.rsplit("/", 1)[-1].lower())
    return below(words[1:], pattern[1:], valued)


def below(args, pattern, valued):
    for n, word in enumerate(args):
        if not pattern:
            return args[n:], False
        text = word.text
        if text.startswith("-") and len(text) > 1:
            takes = "=" not in text and (text in valued if valued is not None else True)
            if takes and valued is not None:
                return below(args[n + 2:], pattern, valued)
            if takes and n + 1 < len(args):  # it may take the next word, or not
                found, doubt = below(args[n + 1:], pattern, valued)
                return (found, doubt) if found is not None else below(args[n + 2:], pattern, valued)
            continue
        if text.startswith(COMPUTED):
            rest, _ = below(args[n + 1:], pattern[1:], valued)
            return rest, True
        if not pattern[0].fits(text):
            return None, False
        return below(args[n + 1:], pattern[1:], valued)
    return (None, False) if pattern else ([], False)


def sort(args):
    """Options, and other words."""
    options, others = [], []
    for n, word in enumerate(args):
        text = word.text
        if text[:1] != "-" or text == "-":
            others.append(word)
        elif text == "--":
            return options, others + list(args[n:])
        else:
            options.append(word)
    return options, others


def given(item, options, others):
    if not item.startswith("-") or item in ("-", "--"):
        fits = word_glob(item)
        return any(fits(w.text) for w in others)
    for word in options:
        name = word.text.split("=", 1)[0]
        if name == item or "*" in item and word_glob(item)(word.text):
            return True
        if item.startswith("--") and name.startswith("--") and len(name) >= 6 and item.startswith(name):
            return True  # long options may be shortened
        if len(item) == 2 and item[1].isalnum() and item[1] in CLUSTER.match(word.text).group(0):
            return True
    return False


def exempted(word, globs):
    text = word.text.rstrip("/")
    if text == "--":
        return True
    if COMPUTED in text.replace(COMPUTED + "/", "", 1) and COMPUTED in text.rsplit("/", 1)[-1]:
        return False
    if text in (".", "..", "/", "~", "*") or "/../" in text + "/":
        return False
    return any(word_glob(g)(text if "/" in g else text.rsplit("/", 1)[-1]) for g in globs)


def places(text, cwds):
    """What a word names as a file: each folder that it may begin in, the path, "" where that is not known, and the
    folder whose content it names."""
    for cwd in cwds:
        path = ""
        if cwd or text.startswith("/"):
            path = posixpath.normpath(posixpath.join(cwd or "/", text))
        if path.startswith("//"):
            path = path[1:]
        inside = re.sub(r"/[*?.\[\]{}]+$", "", path) if path != "/" else path
        yield cwd, path, inside or "/"


class Files:
    """The files that path or writes of a rule names."""

    def __init__(self, specs):
        self.specs, self.marks = specs, [s for s in specs if s in MARKS]
        self._home = self._globs = None

    def fits(self, text, home, found):
        """Whether one of the places of a text, as places found them, is among them."""
        if self._home != home:
            globs = [home + s[1:] if s.startswith("~") else s for s in self.specs if s not in MARKS]
            self._globs = re.compile("|".join(path_glob(g) for g in globs) or "(?!)").fullmatch
            self._home = home
        for cwd, path, inside in found:
            if self._globs(path or text) or inside != path and self._globs(inside):
                return True
            if any(marked(mark, text, home, cwd, path, inside) for mark in self.marks):
                return True
        return False


def marked(mark, text, home, cwd, path, inside):
    """Whether a place of a text is one that a mark in a rule stands for."""
    if mark == "@disk":
        return bool(path and DISK.match(path))
    if mark == "@system":
        return bool(path and (inside == "/" or inside.strip("/") in SYSTEM))
    homes = [h for h in (home, cwd) if h]
    return bool(ABOVE.fullmatch(text)
                or path and any(h == inside or h.startswith(inside.rstrip("/") + "/") for h in homes))


def path_glob(glob):
    """A glob of paths as a regular expression: ** crosses folders, * does not."""
    text = re.escape(glob).replace(r"\*\*", ".*").replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return text + "/?"


WRITERS = {"tee", "truncate", "touch", "shred", "sponge", "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv",
           "ditto", "dd", "sed", "perl", "gsed", "ruby", "curl", "wget"}


def written(command):
    """The words that name files which the command writes."""
    words, name = [w for operator, w in command.redirects if operator in WRITES], command.name
    if name not in WRITERS:
        return words
    options, others = sort(command.words[1:])
    if name in ("tee", "truncate", "touch", "shred", "sponge"):
        words += others
    elif name in ("cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "ditto"):
        words += others[-1:]
        words += others if name == "mv" else []
    elif name == "dd":
        words += [type(w)(w.text[3:]) for w in others if w.text.startswith("of=")]
    elif name in ("sed", "perl", "gsed", "ruby") and any(re.match(r"-[A-Za-z0-9]*i|--in-place", w.text)
                                                         for w in options):
        words += others
    elif name in ("curl", "wget"):
        for n, w in enumerate(command.words[:-1]):
            if w.text in ("-o", "--output", "-O", "--output-document"):
                words.append(command.words[n + 1])
    return words


class Book:
    """All rules, found by the program that they are about."""

    def __init__(self, rules, trusted):
        self.rules, self.trusted_commands = rules, trusted
        self.known, self.said = {}, {}
        first = {n for r in rules if r.action == "deny" for command in r.commands if command[0].plain
                 for n in command[0].globs}
        self.denied = shell.programs(first | shell.SHELLS | {"sudo", "env", "doas", "busybox"})

    def judge(self, command):
        """Yields each rule that fits a command, with how surely it does."""
        call = Call(command)
        for rule, patterns in self.likely(call):
            fits = rule.fits(call, patterns)
            if fits:
                yield rule, fits

    def likely(self, call):
        """The rules that may fit a call, each with those of its commands that may."""
        key = call.alike()
        if key not in self.known:
            if len(self.known) > 4096:
                self.known.clear()
            found = list(self.about(call, key[0]))
            self.known[key] = found, {} if any(len(p) > 1 for _, patterns in found for p in patterns) else None
        found, narrowed = self.known[key]
        following = call.following()
        if narrowed is None or following == COMPUTED:
            return found
        if following not in narrowed:
            if len(narrowed) > 256:
                narrowed.clear()
            narrowed[following] = list(narrow(found, following))
        return narrowed[following]

    def about(self, call, name):
        """The rules that are possible for a call of the program name, "" for none; with their commands of that name."""
        for rule in self.rules:
            patterns = [p for p in rule.commands if (p[0].fits(name) if name else p[0].all and len(p) == 1)]
            if patterns and rule.action != "off" and rule.possible(call):
                yield rule, patterns

    def trusted(self, command):
        """Whether its output may be run as code."""
        words = spelled(command)
        return words is not None and any(p[0].fits(words[0].text.rsplit("/", 1)[-1])
                                         and subcommand(words, p)[0] is not None for p in self.trusted_commands)


def narrow(found, following):
    """Of rules with commands those whose subcommand may be the word that follows, None if there is none."""
    for rule, patterns in found:
        some = [p for p in patterns if len(p) == 1 or following is not None and p[1].fits(following)]
        if some:
            yield rule, some


def load(name):
    """The rules as the files are now. A file that cannot be used is a Mistake."""
    return book.load(name, HERE, made)


def made(sections, where):
    """The Book of what stands in the files."""
    trusted = sections.pop("trusted", {})
    rules = [Rule(name, where[name], values) for name, values in sections.items()]
    return Book(rules, [[Glob(w) for w in line.split()] for line in listed(trusted.get("command", ""))])
