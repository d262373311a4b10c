package undo

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/facts"
)

// target is a path that a call destroys, or may.
type target struct {
	path   string
	effect string
	tree   bool   // and what is below it
	dest   string // of a move
	inner  bool   // of a tree: not the folder itself
	soft   bool   // see entry
	made   bool   // the call makes it, if it does not exist
	leaves bool   // it is written to, and its name goes as well
}

// aims are the targets of a call among the files on this machine, and the things that cannot come
// back.
type aims struct {
	targets []target
	lost    []Lost
	unknown string // why not everything is known; "" = it is
}

// mostTargets bounds the paths that are named by one call, before folders are walked.
const mostTargets = 5000

// aimer makes aims of facts.
type aimer struct {
	aims
	f      *facts.Facts
	limits *budget
	seen   map[target]bool
}

// aimsOf returns the targets that a call is about to destroy. It looks at the disk where names are patterns
// or folders, within the budget.
func aimsOf(f *facts.Facts, b *budget) *aims {
	a := &aimer{f: f, limits: b, seen: map[target]bool{}}
	for i := range f.Effects {
		e := &f.Effects[i]
		if e.Command < 0 && !e.Certain && len(f.Commands) > 0 {
			continue // of a line whose variable may have no value: all files are too many to keep
		}
		a.effect(e)
	}
	for i := range f.Commands {
		a.git(&f.Commands[i])
	}
	a.unsure()
	a.inPlaceWins()
	return &a.aims
}

// destroying reports whether an effect of a kind can destroy something.
func destroying(kind facts.EffectKind) bool {
	return kind == facts.KindDelete || kind == facts.KindWrite || kind == facts.KindMove
}

// goesOn reports whether a command in the background destroys something: it may do so after the call has its result.
func goesOn(f *facts.Facts) bool {
	return slices.ContainsFunc(f.Effects, func(e facts.Effect) bool {
		return destroying(e.Kind) && e.Command >= 0 && e.Command < len(f.Commands) && f.Commands[e.Command].Async
	})
}

// command returns the command that has an effect; nil = it is no command's.
func (a *aimer) command(e *facts.Effect) *facts.Command {
	if e.Command < 0 || e.Command >= len(a.f.Commands) {
		return nil
	}
	return &a.f.Commands[e.Command]
}

func (a *aimer) effect(e *facts.Effect) {
	if !destroying(e.Kind) {
		return
	}
	c := a.command(e)
	if !strings.HasPrefix(e.Target, "/") {
		a.elsewhere(e, c)
		return
	}
	if ignored(e.Target) {
		return
	}
	program := ""
	if c != nil {
		program, _ = c.Program()
	}
	if strings.Contains(e.Target, "**") && slices.ContainsFunc(a.f.Commands, followsLinks) {
		a.doubt("find follows links")
	}
	switch {
	case e.Kind == facts.KindWrite && c != nil && inPlace(e, c, program):
		a.plain(e, effectWrite, true)
	case program == "git" && c != nil:
		if e.Kind == facts.KindDelete && gitVerb(c) == "clean" {
			return // see git
		}
		a.plain(e, effectReplace, true)
	case slices.Contains(modeChangers, program):
		a.add(target{path: e.Target, effect: effectMode, tree: true})
	case e.Kind == facts.KindMove:
		a.moved(e, c)
	case e.Kind == facts.KindDelete:
		effect := effectDelete
		if slices.Contains(overwriters, program) {
			effect = effectWrite
		}
		a.plain(e, effect, recursive(program, c) || program == "find" && !strings.ContainsAny(e.Target, "*?["))
	case redirected(e):
		a.plain(e, effectWrite, false)
	case program == "mv":
		// its source has it
	case program == "rsync" && !a.local(e): // from another machine: any file there may be replaced
		a.plain(e, rsyncEffect(c), true)
	case slices.Contains([]string{"cp", "install", "ln", "rsync"}, program):
		a.copied(e, c, program)
	case slices.Contains(replacers, program):
		a.links(e, c)
		a.plain(e, effectReplace, true)
	default:
		a.plain(e, effectWrite, true)
	}
}

// Programs by the way they change a file.
var (
	modeChangers = []string{"chmod", "chown", "chgrp", "setfacl", "chattr", "chflags", "xattr", "setfattr"}
	overwriters  = []string{"shred", "srm", "wipe", "scrub", "truncate", "dd"}
	replacers    = []string{
		"sed", "gsed", "perl", "patch", "tar", "bsdtar", "gtar", "unzip", "mv", "ln", "install", "git", "rm", "unlink", "rmdir",
	} // not gzip and its like, which refuse a file with another name
)

// inPlace reports whether a program of replacers writes to a file in place: tar to its archive, git to an output, sed
// to a file that its script names.
func inPlace(e *facts.Effect, c *facts.Command, program string) bool {
	if !slices.Contains(replacers, program) {
		return false
	}
	leads := func(word string) bool {
		path := pathOf(c, word)
		real, _ := filepath.EvalSymlinks(path) // "" where it leads nowhere
		return path == e.Target || real == e.Target
	}
	names := slices.ContainsFunc(c.Words, func(w facts.Word) bool {
		_, value, _ := strings.Cut(w.Text, "=")
		return leads(w.Text) || value != "" && leads(value)
	})
	switch program {
	case "sed", "gsed":
		return !names
	case "tar", "bsdtar", "gtar":
		return names && !isFolder(e.Target)
	case "git":
		return names && slices.Contains([]string{"archive", "bundle", "diff", "log", "show"}, gitVerb(c))
	}
	return false
}

// followsLinks reports whether a command is a find that goes into folders behind links.
func followsLinks(c facts.Command) bool {
	program, _ := c.Program()
	return program == "find" && hasOption(&c, "-L", "-follow")
}

// pathOf is the path that a word of a command names.
func pathOf(c *facts.Command, word string) string {
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(c.Dir, word)
}

// readers change no file that they are given.
var readers = []string{"ls", "cat", "echo", "printf", "mkdir", "touch", "cd", "test", "[", "true", "find", "xargs", "rsync"}

// redirected reports whether an effect is of a redirection, as its reason says: > file.
func redirected(e *facts.Effect) bool {
	why := strings.TrimLeft(e.Why, "0123456789&")
	return strings.HasPrefix(why, ">") || strings.HasPrefix(why, "<>")
}

// recursive reports whether a program deletes folders with their contents.
func recursive(program string, c *facts.Command) bool {
	switch program {
	case "unlink", "rmdir", "find":
		return false
	case "rm":
		for _, w := range c.Words[1:] {
			long := strings.HasPrefix(w.Text, "--")
			if w.Kind == facts.Unknown || long && strings.HasPrefix("--recursive", w.Text) && len(w.Text) > 2 ||
				!long && strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "rR") {
				return true
			}
		}
		return false
	}
	return true
}

func rsyncEffect(c *facts.Command) string {
	if hasOption(c, "--inplace", "--append", "--append-verify") {
		return effectWrite
	}
	return effectReplace
}

// ignored reports whether a path is of the kernel: no part is destroyed.
func ignored(path string) bool {
	switch path {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout",
		"/dev/stderr", "/dev/console", "/dev/ptmx":
		return true
	}
	return inside(path, "/dev/fd") || inside(path, "/dev/pts") || inside(path, "/proc") || inside(path, "/sys")
}

// plain adds the paths that the target of an effect stands for.
func (a *aimer) plain(e *facts.Effect, effect string, tree bool) {
	if root, all := strings.CutSuffix(e.Target, "/**/*"); all && !strings.ContainsAny(root, "*?[") {
		switch {
		case effect == effectDelete:
			a.add(target{path: root, effect: effect, tree: true, inner: true})
			return
		case git.Top(root) != "": // a look at the repository costs less than all its files
			a.doubt("it changes files below " + root + " that its input names")
			return
		}
	}
	for _, path := range a.expand(e.Target, a.dots(e)) {
		a.add(target{path: path, effect: effect, tree: tree})
		if tree && effect == effectDelete {
			a.behind(path, a.command(e))
		}
	}
}

// behind adds the contents of the folder that a link leads to. It does so where the link has a
// slash at its end.
func (a *aimer) behind(path string, c *facts.Command) {
	is, err := look(path)
	if err != nil || is.Kind != kindLink || c == nil {
		return
	}
	slash := func(w facts.Word) bool {
		return strings.HasSuffix(w.Text, "/") || strings.HasSuffix(w.Text, "/.") || w.Kind == facts.Unknown
	}
	// A link to nothing has nothing behind it.
	if real, err := filepath.EvalSymlinks(path); err == nil && slices.ContainsFunc(c.Words, slash) {
		a.add(target{path: real, effect: effectDelete, tree: true, inner: true})
	}
}

// moved adds the source of a move and its destination.
func (a *aimer) moved(e *facts.Effect, c *facts.Command) {
	var dests []string
	for i := range a.f.Effects {
		o := &a.f.Effects[i]
		if o.Kind == facts.KindWrite && o.Command == e.Command && strings.HasPrefix(o.Target, "/") && !redirected(o) {
			dests = append(dests, o.Target)
		}
	}
	exact := hasOption(c, "-T", "--no-target-directory")
	for _, path := range a.expand(e.Target, a.dots(e)) {
		to := destination(path, dests, exact)
		if to == path {
			continue
		}
		a.add(target{path: path, effect: effectMove, tree: true, dest: to})
		if to != "" {
			a.add(target{path: to, effect: effectReplace, tree: true, made: true})
		}
	}
}

// destination returns where a move puts a path; dests are the paths that the command writes to.
func destination(path string, dests []string, exact bool) string {
	base := filepath.Base(path)
	for _, dest := range dests {
		if !exact && isFolder(dest) {
			return filepath.Join(dest, base)
		}
	}
	for _, dest := range dests {
		if filepath.Base(dest) == base {
			return dest
		}
	}
	if len(dests) > 0 {
		return dests[0]
	}
	return ""
}

// copied adds the files that a copy replaces at its destination.
func (a *aimer) copied(e *facts.Effect, c *facts.Command, program string) {
	effect := effectReplace
	switch program {
	case "cp":
		effect = effectWrite
	case "rsync":
		effect = rsyncEffect(c)
	}
	a.named(e, c, effect)
	into := strings.TrimSuffix(e.Target, "/*") // of cp -r from/. to
	if !isFolder(into) {
		a.add(target{path: e.Target, effect: effect})
		return
	}
	for i := range a.f.Effects {
		o := &a.f.Effects[i]
		if o.Kind != facts.KindRead || o.Command != e.Command || !strings.HasPrefix(o.Target, "/") {
			continue
		}
		for _, from := range a.expand(o.Target, a.dots(o)) {
			a.over(from, filepath.Join(into, filepath.Base(from)), effect)
			a.over(from, into, effect)
		}
	}
}

// local reports whether a copy reads files of this machine alone.
func (a *aimer) local(e *facts.Effect) bool {
	return slices.ContainsFunc(a.f.Effects, func(o facts.Effect) bool {
		return o.Kind == facts.KindRead && o.Command == e.Command && strings.HasPrefix(o.Target, "/")
	})
}

// named adds the link that the last word of a command names, not the file that it leads to.
func (a *aimer) named(e *facts.Effect, c *facts.Command, effect string) {
	if c == nil || c.Dir == "" || len(c.Words) == 0 {
		return
	}
	last := c.Words[len(c.Words)-1]
	if last.Kind != facts.Literal || strings.HasPrefix(last.Text, "-") {
		return
	}
	path := pathOf(c, last.Text)
	if is, err := look(path); err == nil && is.Kind == kindLink && path != e.Target {
		a.add(target{path: path, effect: effect})
	}
}

// links adds the links that words of a command name and that lead to a target: sed -i puts a file in the place of each.
func (a *aimer) links(e *facts.Effect, c *facts.Command) {
	for _, w := range c.Words[1:] {
		path := pathOf(c, w.Text)
		if is, err := look(path); err == nil && is.Kind == kindLink && path != e.Target {
			a.add(target{path: path, effect: effectReplace})
		}
	}
}

// over adds the files below to that have the name of one below from.
func (a *aimer) over(from, to, effect string) {
	if is, err := look(from); err == nil && is.Kind != kindDir {
		if !isFolder(to) {
			a.add(target{path: to, effect: effect})
		}
		return
	}
	walkNames(from, a.limits, func(rel string, folder bool) {
		if path := filepath.Join(to, rel); !folder && len(a.targets) < mostTargets {
			a.add(target{path: path, effect: effect})
		}
	})
}

// hasOption reports whether a command has one of some words.
func hasOption(c *facts.Command, names ...string) bool {
	return c != nil && slices.ContainsFunc(c.Words, func(w facts.Word) bool { return slices.Contains(names, w.Text) })
}

func isFolder(path string) bool {
	is, err := look(path)
	if err == nil && is.Kind == kindLink {
		// A link to nothing is no folder.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			is, _ = look(real)
		}
	}
	return is.Kind == kindDir
}

// add adds a target once.
func (a *aimer) add(t target) {
	if a.seen[t] || len(a.targets) >= mostTargets {
		if len(a.targets) >= mostTargets {
			a.unknown = "it names more paths than are looked at"
		}
		return
	}
	a.seen[t] = true
	a.targets = append(a.targets, t)
}

// elsewhere notes a target that is no file of this machine.
func (a *aimer) elsewhere(e *facts.Effect, c *facts.Command) {
	scheme, name, named := strings.Cut(e.Target, ":")
	program := ""
	if c != nil {
		program, _ = c.Program()
	}
	switch {
	case e.Target == "" || !named && c != nil && c.Dir == "": // a path in a folder that is not known
		a.doubt("a path that is only known when it runs: " + e.Why)
	case scheme == "index" || scheme == "stash" || scheme == "branch" || scheme == "worktree" || scheme == "project":
		return // git's own files, see git
	case program == "git" && (scheme == "tag" || scheme == "remote"):
		return
	case scheme == "table" || scheme == "database":
		if a.hasFile(e.Command) {
			return // the database is a file, which is kept
		}
		a.lose(e, "rows of a database")
	case e.Kind != facts.KindDelete && scheme != "host":
		return
	case scheme == "host" && name != "":
		a.lose(e, "it is on another machine")
	case strings.Contains(scheme, "/"), strings.Contains(scheme, "."): // a path that is not known as a whole
		a.doubt("a path that is only known when it runs: " + e.Target)
	default:
		a.lose(e, elsewhereWords[scheme])
	}
}

var elsewhereWords = map[string]string{
	"volume": "volumes of containers are not kept", "container": "containers are not kept",
	"image": "images of containers are not kept", "cloud": "it is in a cloud", "cluster": "it is in a cluster",
	"cron": "the table of cron jobs is not kept", "remote": "it is on another machine",
}

func (a *aimer) lose(e *facts.Effect, why string) {
	if why == "" {
		why = "it is no file of this machine"
	}
	what := e.Target
	if e.Why != "" {
		what += " (" + e.Why + ")"
	}
	l := Lost{What: what, Why: why}
	if !slices.Contains(a.lost, l) {
		a.lost = append(a.lost, l)
	}
}

// hasFile reports whether a command writes or deletes a file of this machine.
func (a *aimer) hasFile(command int) bool {
	return slices.ContainsFunc(a.f.Effects, func(e facts.Effect) bool {
		return e.Command == command && destroying(e.Kind) && strings.HasPrefix(e.Target, "/")
	})
}

func (a *aimer) doubt(why string) {
	if a.unknown == "" {
		a.unknown = why
	}
}

// doubts that mean that something unknown runs.
var unknownDoubts = []facts.DoubtKind{
	facts.DoubtProgram, facts.DoubtCode, facts.DoubtEval, facts.DoubtOpen, facts.DoubtMade, facts.DoubtParse,
	facts.DoubtLimits, facts.DoubtTool, facts.DoubtSubcommand,
}

// unsure notes that the call runs something that is not known.
func (a *aimer) unsure() {
	for i := range a.f.Effects {
		e := &a.f.Effects[i]
		if e.Kind == facts.KindRun && !a.harmless(e) {
			a.doubt("it runs a program that is not known: " + e.Why)
		}
	}
	for _, d := range a.f.Doubts {
		if slices.Contains(unknownDoubts, d.Kind) {
			a.doubt(d.Text)
		}
	}
}

// harmless reports whether a program that a call runs reads, checks or builds alone. Hooks of git are not
// looked at: what git itself changes is known.
func (a *aimer) harmless(e *facts.Effect) bool {
	switch e.Target {
	case "project:config", "project:checks", "project:hooks":
		return true
	case "project:":
		c := a.command(e)
		if c == nil {
			return false
		}
		program, _ := c.Program()
		return program == "go" && len(c.Words) > 1 && c.Words[1].Text == "build"
	}
	return !strings.HasPrefix(e.Target, "/") && !strings.HasPrefix(e.Target, "project:")
}

// writtenTo returns paths that the commands of a line may write to in place: the targets of
// redirects, and the arguments of programs not known to leave the bytes of a file alone.
func (a *aimer) writtenTo() map[string]bool {
	paths := map[string]bool{}
	add := func(c *facts.Command, w facts.Word) {
		switch {
		case w.Kind != facts.Literal || w.Text == "" || strings.HasPrefix(w.Text, "-"):
		case filepath.IsAbs(w.Text):
			paths[filepath.Clean(w.Text)] = true
		case c.Dir != "":
			paths[filepath.Join(c.Dir, w.Text)] = true
		}
	}
	for i := range a.f.Commands {
		c := &a.f.Commands[i]
		for _, r := range c.Redirects {
			if strings.Contains(r.Op, ">") {
				add(c, r.Target)
			}
		}
		program, _ := c.Program()
		if slices.Contains(slices.Concat(replacers, modeChangers, readers), program) {
			continue
		}
		for _, w := range c.Words[min(1, len(c.Words)):] {
			add(c, w)
		}
	}
	return paths
}

// inPlaceWins gives a path the effect that a link does not survive, if one of its effects is
// so: a file that is moved and then written to, or written to and then deleted.
func (a *aimer) inPlaceWins() {
	inPlace := a.writtenTo()
	for _, t := range a.targets {
		if t.effect == effectWrite {
			inPlace[t.path] = true
		}
	}
	written := func(t target) bool { return inPlace[t.path] || t.dest != "" && inPlace[t.dest] }
	for i, t := range a.targets {
		if slices.Contains([]string{effectDelete, effectReplace, effectMode}, t.effect) && written(t) {
			a.targets[i].effect, a.targets[i].leaves = effectWrite, t.effect != effectMode
		}
	}
	for _, t := range slices.Clone(a.targets) {
		goes := func(o target) bool { // what is moved is then deleted at its new place
			return o.effect == effectDelete && (inside(o.path, t.dest) || o.tree && inside(t.dest, o.path))
		}
		if t.effect == effectMove && t.dest != "" && slices.ContainsFunc(a.targets, goes) {
			a.add(target{path: t.path, effect: effectDelete, tree: true})
		}
		if t.effect == effectMove && (written(t) || a.unknown != "" && t.dest != "") {
			a.add(target{path: t.path, effect: effectWrite})
		}
	}
}
