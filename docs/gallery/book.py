"""Finds the .ini files with rules of a guard and reads them: its own, and the user's.

The user's stand in rules/NAME in hookd's home, or where RULES_DIR says, so that no update of the guard touches them.
A section with the name of another changes what it says and leaves the rest. Files are read again when one has changed,
but not by a rehearsal (hookd whatif), which judges all calls by the same rules.

Python 3.8 or later, standard library only.
"""
import configparser
import functools
import os
import pathlib


REHEARSAL = bool(os.environ.get("HOOKD_WHATIF"))


class Mistake(ValueError):
    """A rule file that cannot be used: file, section, what is wrong."""


def listed(text):
    """The lines of a value."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@functools.lru_cache(maxsize=None)
def folders(name, here):
    """Where the rules are: in the guard's folder, and the user's."""
    own = os.environ.get("RULES_DIR")
    if own:
        return [os.path.join(here, "rules"), os.path.expanduser(own)]
    home = next((str(p.parent) for p in pathlib.Path(here).parents if p.name in ("hooks", "packs")), None)
    home = home or os.path.expanduser(os.environ.get("LIBREFANG_HOME") or "~/.librefang")
    return [os.path.join(here, "rules"), os.path.join(home, "rules", name)]


def files(name, here):
    """The files with rules in the order in which they count, each with what changes when it does."""
    found = []
    for folder in folders(name, here):
        try:
            names = sorted(os.listdir(folder))
        except FileNotFoundError:
            continue
        for name in names:
            if name.endswith(".ini") and name[0] != ".":
                path = folder + "/" + name
                facts = os.stat(path)
                found.append((path, facts.st_mtime_ns, facts.st_size, facts.st_ino))
    return found


def sections(paths):
    """The sections of files, and the file that each was last in."""
    found, where = {}, {}
    for path in paths:
        short = os.path.join(*pathlib.Path(path).parts[-2:])
        parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), empty_lines_in_values=False,
                                              default_section="\0")
        try:
            parser.read_string(pathlib.Path(path).read_text(encoding="utf-8"), short)
        except (configparser.Error, ValueError) as e:
            raise Mistake(" ".join(str(e).split()))
        for section in parser.sections():
            found.setdefault(section, {}).update(parser.items(section))
            where[section] = short
    return found, where


_kept = {}


def load(name, here, make):
    """What make(sections, files) makes of the rules as the files are now."""
    if REHEARSAL and "book" in _kept:
        return _kept["book"]
    stamp = files(name, here)
    if not stamp:
        raise Mistake("there are no rules in %s" % os.path.join(here, "rules"))
    if _kept.get("stamp") != stamp:
        _kept.clear()
        _kept.update(book=make(*sections([p for p, *_ in stamp])), stamp=stamp)
    return _kept["book"]
