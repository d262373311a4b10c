"""Says which files words name: absolute paths, with links followed, and whether globs fit them.

    path = files.absolute("../a", cwd, home)
    real, there = files.Links().real(path)
    fits = re.compile(files.any_of([files.expression("**/.env.*"), files.expression("~/.ssh/", home)])).fullmatch

Nothing is opened: of a link it reads where it leads.

Python 3.8 or later, standard library only.
"""
import functools
import os
import posixpath
import re
import stat

MOST_LINKS = 20000  # that are remembered
MOST_DEEP = 100  # folders within folders that are looked at one by one
MARKS = ("=", "@", ":", ",")
MARKED = re.compile("[%s]" % "".join(MARKS)).search
PART_OF_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|.", re.DOTALL)
MEANS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@functools.lru_cache(maxsize=4096)
def absolute(text, cwd, home):
    """The path that a text names in the folder cwd, "" for the root, without . and .. in it."""
    if text[:1] == "~" and text[1:2] in ("", "/"):
        text = home + text[1:]
    path = posixpath.normpath(posixpath.join(cwd or "/", text))
    return path[1:] if path.startswith("//") else path


def pieces(text):
    """What of a word may be a path: all of it, and what stands in name=path, host:path, path:path, @path, a,b and
    -Ipath."""
    if not text or len(text) > 4096:
        return []
    found = [text]
    for mark in MARKS if MARKED(text) else ():
        if mark in text:
            parts = text.split(mark)
            found += [p for p in (parts if mark in ",:" else parts[1:]) if p]
    if text[0] == "-" and text[2:3] in ("~", ".", "/") and text[1:2].isalpha():
        found.append(text[2:])
    return found


class Links:
    """Follows links. It remembers what it found, so each call of a tool needs its own: an agent may make links between
    two calls. A rehearsal (hookd whatif) has one for all calls, which are long past."""

    def __init__(self):
        self.known = {"/": ("/", True)}
        self.passed = set()  # words that name no file in question: a text and where it stands, as the caller has them

    def passes(self, word):
        """Remembers a word that names no file in question."""
        if len(self.passed) > MOST_LINKS:
            self.passed.clear()
        self.passed.add(word)

    def real(self, path):
        """An absolute path without links in it, as os.path.realpath says, and whether there may be something."""
        found = self.known.get(path)
        if found is not None:
            return found
        if path.count("/") > MOST_DEEP:
            return os.path.realpath(path), True
        if len(self.known) > MOST_LINKS:
            self.known = {"/": ("/", True)}
        return self.followed(path)

    def followed(self, path):
        """The path without links, and whether there is something."""
        found = self.known.get(path)
        if found is None:
            folder, name = path.rsplit("/", 1)
            folder, there = self.followed(folder or "/")
            whole = folder + name if folder == "/" else folder + "/" + name
            if there:
                try:
                    mode = os.lstat(whole).st_mode
                except (OSError, ValueError):
                    there = False
                else:
                    if stat.S_ISLNK(mode):
                        whole = os.path.realpath(whole)
                        there = os.path.lexists(whole)
            self.known[path] = found = whole, there
        return found


_all_links = Links() if os.environ.get("HOOKD_WHATIF") else None


def links():
    """The Links for one call of a tool."""
    return _all_links or Links()


def expression(glob, home=""):
    """A glob of paths as the parts of a regular expression: ** crosses folders, * does not, ~ is the home. One that
    ends in / is about a folder and all that is in it."""
    if glob.startswith("~"):
        glob = home + glob[1:]
    parts = [MEANS.get(p) or re.escape(p) for p in PART_OF_GLOB.findall(glob.rstrip("/"))]
    return parts + ["(?:/.*)?"] if glob.endswith("/") else parts


def any_of(expressions):
    """One regular expression that fits where one of several does, each given in its parts. What begins alike is tried
    once, and the longer before what it begins with. Of none it never fits."""
    alike = {}
    for parts in expressions:
        alike.setdefault(parts[0] if parts else "", []).append(parts)
    found = []
    for first in sorted(alike, key=lambda part: not part):
        some = alike[first]
        same = len(os.path.commonprefix(some))
        rests = [parts[same:] for parts in some]
        found.append("".join(some[0][:same]) + ("(?:%s)" % any_of(rests) if any(rests) else ""))
    return "|".join(found) if found else "(?!)"
