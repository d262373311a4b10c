package facts

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// finder finds the effects of one command of a line.
type finder struct {
	sh        *shell
	index     int // in Facts.Commands; -1 = it is none
	words     []Word
	text      string
	span      Span
	env       []Assign
	redirects []Redirect

	options []given       // of all levels: the program's, then the subcommand's
	loaded  bool          // its code is a file that is read because the call makes it
	outer   []conditional // of the levels above: their options may stand anywhere
	obeyed  []given       // variables of the line that the program obeys
	cwd     string        // for paths; "" = that of sh
	shown   int           // one more than the number of effects before its words were expanded; 0 = not known
}

// effect adds an effect.
func (c *finder) effect(kind EffectKind, target string, certain bool) {
	c.effectWhy(kind, target, certain, "")
}

func (c *finder) effectWhy(kind EffectKind, target string, certain bool, why string) {
	r := c.sh.r
	if c.sh.guess || target == "" {
		certain = false
	}
	if kind == KindSecret && target == "env:*" && c.sh.sieve != "" && !keepsSecrets(c.sh.sieve) {
		return
	}
	for i := range r.out.Effects {
		if e := &r.out.Effects[i]; e.Command == c.index && e.Kind == kind && e.Target == target {
			e.Certain = e.Certain || certain
			return
		}
	}
	if len(r.out.Effects) >= maxEffects {
		r.doubt(DoubtLimits, "it has too many effects", c.span, -1)
		return
	}
	r.out.Effects = append(r.out.Effects, Effect{kind, target, certain, c.span, c.index, cmp.Or(why, short(c.text))})
	if kind != KindGuard && changesState[kind] && isGuardName(target) {
		c.effectWhy(KindGuard, target, certain, "it is a part of hookd")
	}
}

// changesState are the kinds of effects that may end or change a process, a service or a
// package.
var changesState = map[EffectKind]bool{KindKill: true, KindDelete: true, KindConfigure: true, KindInstall: true,
	KindWrite: true}

// guardName finds hookd in the name of a process, a service or a package; a pattern that
// fits its name is one, too.
var guardName = lazyregexp.New(`(?i)(?:^|[^a-z0-9])(?:dev\.)?hookd(?:$|[^a-z0-9])`)

func isGuardName(target string) bool {
	scheme, name, has := strings.Cut(target, ":")
	switch scheme {
	case "process", "unit", "package", "container", "job", "service":
		return has && (guardName.MatchString(name) || strings.ContainsAny(name, "*?[") && name != "*" &&
			globMatch(name, "hookd"))
	}
	return false
}

// kills follows a word that names a process to end: its number, or an expression for its name.
func (c *finder) kills(w Word) {
	if w.Kind == Unknown {
		c.effect(KindKill, "process:?", false)
		c.sh.r.killer = c
		c.sh.r.killsListed = c.sh.r.killsListed || w.from == "ps"
		return
	}
	if strings.Trim(w.Text, ".*^$+") == "" { // an expression that any name fits
		w.Text = "-1"
	}
	for part := range strings.SplitSeq(w.Text, "|") { // an expression may have several names
		c.effect(KindKill, "process:"+strings.Trim(part, "()"), true)
	}
	if w.Text == "-1" || w.Kind == Pattern && globMatch(w.Text, "4711") {
		c.effectWhy(KindGuard, "process:hookd", w.Text == "-1", "it ends hookd, too")
	} else if namesGuard(w.Text) {
		c.effectWhy(KindGuard, "process:hookd", true, "hookd is a process of that name")
	}
}

// seeks notes the name of a process that a command looks for, or an expression for it.
func (c *finder) seeks(name string) {
	r := c.sh.r
	if namesGuard(name) {
		r.seeksGuard = true
	}
	switch in := c.sh.stdin.origin; c.name() {
	case "pgrep", "pidof", "pidwait", "ps":
		r.sought = cmp.Or(r.sought, name)
	default:
		if in == "ps" {
			r.sought = cmp.Or(r.sought, name)
		}
	}
}

// killSought adds the effects of a line that looks for a process by its name, and ends the found one.
func (r *reading) killSought() {
	if r.killer == nil {
		return
	}
	switch {
	case r.sought != "":
		r.killer.effect(KindKill, "process:"+r.sought, true)
	case r.killsListed && !slices.ContainsFunc(r.out.Commands, listsFew):
		r.killer.effectWhy(KindKill, "process:any", true, "it ends each process that ps lists")
	}
	if r.seeksGuard {
		r.killer.effectWhy(KindGuard, "process:hookd", false, "it ends a process that the line has looked for")
	}
}

// listsFew reports whether a command is a ps of chosen processes.
func listsFew(k Command) bool {
	return k.Words[0].Text == "ps" && slices.ContainsFunc(k.Words, func(w Word) bool {
		return slices.Contains([]string{"-p", "p", "-q", "q", "--pid", "--ppid", "-t", "-s", "--sid", "-C"}, w.Text)
	})
}

// namesGuard reports whether an expression for the names of processes fits hookd.
func namesGuard(expression string) bool {
	if len(expression) < 3 {
		return false
	}
	re, err := regexp.Compile(`(?i)` + expression)
	return err == nil && (re.MatchString("hookd") || re.MatchString("hookd serve"))
}

func (c *finder) doubt(kind DoubtKind, text string) { c.sh.r.doubt(kind, text, c.span, c.index) }

// guessed is the finder of a guess: none of its effects is certain.
func (c *finder) guessed() *finder {
	k, sh := *c, *c.sh
	sh.guess = true
	k.sh = &sh
	return &k
}

// target is the absolute path that a word means. It is a pattern where the word is a pattern, and
// "" where it depends on unknown values.
func (c *finder) target(w Word) (target string, certain bool) {
	text := w.Text
	if w.Kind == Unknown {
		head := w.known()
		if head == "" || !strings.Contains(head, "/") && !w.safe || strings.HasPrefix(text, unknownPart) {
			if w.safe && strings.HasPrefix(text, unknownPart) && c.folder() != "" {
				t, _ := c.absolute(strings.ReplaceAll(text, unknownPart, "*"))
				return t, false
			}
			return "", false
		}
		text = strings.ReplaceAll(text, "/"+unknownPart+"/..", "/..") // a variable may be empty
		text = strings.ReplaceAll(text, unknownPart, "*")
	}
	if c.sh.where != "" {
		return c.sh.where + ":" + text, true
	}
	t, _ := c.absolute(text)
	return t, true
}

func (c *finder) folder() string { return cmp.Or(c.cwd, c.sh.cwd) }

// dir is the folder of a command of this machine, as Command has it.
func (c *finder) dir() string {
	if dir := c.folder(); c.sh.where == "" && strings.HasPrefix(dir, "/") {
		return dir
	}
	return ""
}

func (c *finder) absolute(text string) (string, bool) {
	if c.cwd == "" {
		return c.sh.absolute(text)
	}
	sh := *c.sh
	sh.cwd = c.cwd
	return sh.absolute(text)
}

// path adds an effect on a file, and the effects that follow from its place.
func (c *finder) path(kind EffectKind, w Word) {
	if w.Text == "" && w.Kind == Literal || w.Text == "-" || isSink(w.Text) && kind != KindDelete {
		return
	}
	if strings.HasPrefix(w.Text, "/dev/fd/") && w.from != "" {
		return
	}
	target, certain := c.target(w)
	if target == "" {
		if i := strings.LastIndex(w.Text, unknownPart); i >= 0 && c.sh.where == "" {
			if tail := w.Text[i+len(unknownPart):]; strings.HasPrefix(tail, "/") { // "$folder/.env"
				c.placed(kind, "/*"+tail, false)
			}
		}
		c.effect(kind, "", false)
		if kind == KindRead {
			return
		}
		c.doubt(DoubtWord, "which file "+short(c.text)+" is about is only known when it runs")
		return
	}
	if (kind == KindDelete || kind == KindMove) && c.sh.where == "" && c.folder() == "" && !path.IsAbs(target) {
		c.doubt(DoubtWord, "in which folder "+short(c.text)+" runs is only known when it runs")
	}
	c.onPath(kind, target, certain)
}

// onPath adds an effect on an absolute target.
func (c *finder) onPath(kind EffectKind, target string, certain bool) {
	r := c.sh.r
	if c.sh.where == "" {
		if real := c.real(kind, target); real != target {
			c.placed(kind, target, certain)
			target = real
		}
	}
	c.effect(kind, target, certain)
	switch kind {
	case KindWrite:
		c.makes(target)
		if path.Base(target) == "package.json" && strings.Contains(r.out.Text, "scripts") {
			c.effectWhy(KindConfigure, target, false, "it may change the scripts of the project")
		}
	case KindRead:
		if to := r.links[target]; to != "" {
			c.placed(kind, to, certain)
		}
	case KindDelete:
		delete(r.made, target)
	}
	if c.sh.where == "" {
		c.placed(kind, target, certain)
	} else if file := strings.TrimPrefix(target, c.sh.where+":"); kind == KindRead {
		if why, ok := places().secret.find("/"+strings.TrimPrefix(file, "/"), "/root", true); ok {
			c.effectWhy(KindSecret, target, certain, why)
		}
	}
}

// real is a target without links. A command that deletes or moves a link leaves the link's target alone.
func (c *finder) real(kind EffectKind, target string) string {
	links := c.sh.r.env.Links
	if links == nil || !strings.HasPrefix(target, "/") || strings.ContainsAny(target, "*?[") {
		return target
	}
	if kind == KindDelete || kind == KindMove {
		folder, base := path.Split(target)
		if real, ok := links.Real(path.Clean(folder)); ok && base != "" {
			return path.Join(real, base)
		}
		return target
	}
	if real, ok := links.Real(target); ok {
		return real
	}
	return target
}

// placed adds the effects that follow from the place of a file.
func (c *finder) placed(kind EffectKind, target string, certain bool) {
	r := c.sh.r
	at := Effect{Kind: kind, Target: target, Certain: certain, Command: c.index}
	if r.placed[at] || len(r.out.Effects) >= maxEffects {
		return
	}
	if r.placed[at] = true; len(target) > maxPath {
		c.doubt(DoubtLimits, "a path is too long")
		return
	}
	p := places()
	env := &c.sh.r.env
	changes := kind == KindWrite || kind == KindDelete || kind == KindMove
	if changes {
		c.guarded(target, certain, kind != KindWrite)
	}
	if kind == KindWrite || kind == KindMove {
		if why, ok := p.configure.find(target, env.Home, false); ok {
			c.effectWhy(KindConfigure, target, certain, why)
		}
	}
	if kind == KindRead {
		if _, ok := p.guard.find(target, env.Home, false); ok {
			r.seeksGuard = true // it may hold the number of hookd's process
		}
	}
	if kind == KindRead || kind == KindMove {
		if why, ok := p.secret.find(target, env.Home, true); ok {
			c.effectWhy(KindSecret, target, certain && !strings.ContainsAny(target, "*?["), why)
		}
	}
}

// guarded adds that a change of a file changes a guard. above means that it changes all below it.
func (c *finder) guarded(target string, certain, above bool) {
	env := &c.sh.r.env
	for _, g := range env.Guard {
		if holdsPlace(g.Target, g.Tree, target, above) {
			c.effectWhy(KindGuard, target, certain, g.Why)
		}
	}
	if why, ok := places().guard.find(target, env.Home, above); ok {
		c.effectWhy(KindGuard, target, certain, why)
	}
}

// holdsPlace reports whether a change of target touches a place. above means that the change
// of a folder changes all files below the folder.
func holdsPlace(place string, tree bool, target string, above bool) bool {
	if target == place || tree && strings.HasPrefix(target, place+"/") {
		return true
	}
	if !above {
		return strings.ContainsAny(target, "*?[") && fitsAnyDepth(target, place)
	}
	folder := strings.TrimSuffix(target, "/")
	if base := path.Base(folder); strings.ContainsAny(base, "*?[") {
		if strings.Trim(base, "*.") == "" {
			folder = path.Dir(folder)
		} else {
			return fitsAnyDepth(target, place) || strings.HasPrefix(place, path.Dir(folder)+"/") && globMatch(base,
				firstBelow(place, path.Dir(folder)))
		}
	}
	return strings.HasPrefix(place, strings.TrimSuffix(folder, "/")+"/")
}

// fitsAnyDepth reports whether a pattern fits a path. Folders of any depth, also none, may stand for its **.
func fitsAnyDepth(glob, file string) bool {
	return globMatch(glob, file) || globMatch(strings.Replace(glob, "/**/", "/", 1), file)
}

func firstBelow(place, folder string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(place, strings.TrimSuffix(folder, "/")+"/"), "/")
	return name
}

// shellText follows a text as a line of a shell.
func (c *finder) shellText(sh *shell, w Word) output {
	if w.Kind == Unknown {
		c.doubt(DoubtEval, "a part of what "+short(c.text)+" runs is only known when it runs")
		if head := strings.ReplaceAll(w.Text, unknownPart, " "); strings.TrimSpace(head) != "" {
			inner := sh.fork()
			inner.guess = true
			inner.line(head)
		}
		return output{origin: c.name()}
	}
	return sh.line(w.Text)
}

func (c *finder) name() string {
	if len(c.words) == 0 {
		return short(c.text)
	}
	return programName(c.words[0].Text)
}
