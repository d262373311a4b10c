package facts

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// call is a command while its effects are found.
type call struct {
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
	cwd     string        // for paths; "" = that of sh
}

// effect adds an effect.
func (c *call) effect(kind EffectKind, target string, certain bool) {
	c.effectWhy(kind, target, certain, "")
}

func (c *call) effectWhy(kind EffectKind, target string, certain bool, why string) {
	r := c.sh.r
	if c.sh.guess || target == "" {
		certain = false
	}
	if kind == KindSecret && target == "env:*" && c.sh.sieve != "" && !keepsSecrets(c.sh.sieve) {
		return
	}
	for i := range r.out.Effects {
		if e := &r.out.Effects[i]; e.Kind == kind && e.Target == target {
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
func (c *call) kills(w Word) {
	if w.Kind == Unknown {
		c.effect(KindKill, "process:?", false)
		c.sh.r.killer = c
		c.sh.r.killsListed = c.sh.r.killsListed || w.from == "ps"
		return
	}
	if strings.Trim(w.Text, ".*^$+") == "" { // an expression that any name fits
		w.Text = "-1"
	}
	c.effect(KindKill, "process:"+w.Text, true)
	if w.Text == "-1" || w.Kind == Pattern && globMatch(w.Text, "4711") {
		c.effectWhy(KindGuard, "process:hookd", w.Text == "-1", "it ends hookd, too")
	} else if namesGuard(w.Text) {
		c.effectWhy(KindGuard, "process:hookd", true, "hookd is a process of that name")
	}
}

// seeks notes the name of a process that a command looks for, or an expression for it.
func (c *call) seeks(name string) {
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
func (r *reader) killSought() {
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

func (c *call) doubt(kind DoubtKind, text string) { c.sh.r.doubt(kind, text, c.span, c.index) }

// guessed is the call where it may be what runs: none of its effects is certain.
func (c *call) guessed() *call {
	k, sh := *c, *c.sh
	sh.guess = true
	k.sh = &sh
	return &k
}

// target is the absolute path that a word means. It is a pattern where the word is a pattern, and
// "" where it depends on unknown values.
func (c *call) target(w Word) (target string, certain bool) {
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
		text = strings.ReplaceAll(text, unknownPart, "*")
	}
	if c.sh.where != "" {
		return c.sh.where + ":" + text, true
	}
	t, _ := c.absolute(text)
	return t, true
}

func (c *call) folder() string { return cmp.Or(c.cwd, c.sh.cwd) }

// dir is the folder of a command of this machine, as Command has it.
func (c *call) dir() string {
	if dir := c.folder(); c.sh.where == "" && strings.HasPrefix(dir, "/") {
		return dir
	}
	return ""
}

func (c *call) absolute(text string) (string, bool) {
	if c.cwd == "" {
		return c.sh.absolute(text)
	}
	sh := *c.sh
	sh.cwd = c.cwd
	return sh.absolute(text)
}

// path adds an effect on a file, and the effects that follow from its place.
func (c *call) path(kind EffectKind, w Word) {
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
func (c *call) onPath(kind EffectKind, target string, certain bool) {
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
func (c *call) real(kind EffectKind, target string) string {
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
func (c *call) placed(kind EffectKind, target string, certain bool) {
	r := c.sh.r
	at := Effect{Kind: kind, Target: target, Certain: certain}
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
func (c *call) guarded(target string, certain, above bool) {
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

// printsFolder are commands that print the folder of installed programs.
var printsFolder = map[string]bool{
	"go env": true, "npm bin": true, "npm root": true, "npm prefix": true, "yarn bin": true, "pnpm bin": true,
	"brew --prefix": true, "brew": true, "pyenv root": true, "rbenv root": true, "gem environment": true,
}

// computed follows a command whose program is not known.
func (c *call) computed() output {
	c.sh.applyRedirects(c.redirects, c.index, output{}, false)
	name := c.words[0]
	if base := path.Base(name.Text); printsFolder[name.from] && !strings.Contains(base, unknownPart) {
		return c.program(base, c.words[1:])
	}
	if name.from != "" && !strings.HasPrefix(name.from, "${") {
		c.doubt(DoubtEval, "what "+name.from+" prints is run as a command")
	} else {
		c.doubt(DoubtWord, "which program "+short(c.text)+" runs is only known when it runs")
	}
	if len(c.words) > 1 {
		return c.guesses(c.words[1:])
	}
	return output{origin: "a command"}
}

// guesses reads words that may be run: as a command from any of them on, and each text as a
// line.
func (c *call) guesses(words []Word) output {
	sh := c.nested("?")
	sh.guess = true
	if sh.depth > maxDepth {
		return output{origin: "a command"}
	}
	for i, w := range words {
		if w.Kind == Unknown {
			if i > 0 && takesCode[words[i-1].Text] && w.from != "" {
				c.doubt(DoubtEval, short(c.text)+" may run what "+w.from+" prints")
			}
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "/dev/fd/") && w.from != "" && !strings.Contains(c.words[0].Text, "/") {
			c.doubt(DoubtEval, short(c.text)+" may run what "+w.from+" prints")
			continue
		}
		if strings.ContainsAny(text, " \t\n;|&`") || strings.Contains(text, "$(") {
			for _, part := range linesIn(text) {
				if looksLikeLine(part) {
					sh.line(strings.TrimLeft(part, "!:@|"))
				}
			}
			if strings.ContainsAny(text, `'"(!`) {
				c.quotedLines(text, false) // linesIn has the whole text
			}
			continue
		}
		e := sh.r.t.program(programName(text))
		if e == nil || i+1 >= len(words) || strings.HasPrefix(text, "-") ||
			ordinary[programName(text)] && !strings.Contains(text, "/") &&
				(len(e.subs) == 0 || e.sub(words[i+1].Text) == nil) {
			continue
		}
		sh.run(words[i:], &call{text: c.text, span: c.span, env: c.env})
		break
	}
	return output{origin: c.name()}
}

// takesCode are options that give code to most interpreters.
var takesCode = names("-c -e -E -x --eval --exec --execute --expression --command --code --run --script -batch")

// ordinary are programs whose names are common words: as arguments they are mostly no
// command.
var ordinary = names(`
	test time install open link file at set type start run history true false date host service write split top
	watch view jobs read make go node code users w . : [ yes command source dir format find sort cut join fold
	look last less more head tail net reg python ruby java docker git test.exe batch local export select env echo
	which stat expr claude codex gemini npm bun deno make.exe psql mysql redis
	init`)

// linesIn are the parts of a word that may be a line: the whole word, the part after an =, and the
// part after a short option.
func linesIn(word string) []string {
	all := []string{word}
	if _, value, has := strings.Cut(word, "="); has {
		all = append(all, value)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		all = append(all, word[2:])
	}
	return all
}

// looksLikeLine reports whether a text begins as a command that the tables know.
func looksLikeLine(text string) bool {
	text = strings.TrimLeft(text, "!:@| \t\n")
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";\n|&`(){}", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "sudo") {
			words = words[1:]
		}
		if len(words) > 0 && known().program(programName(strings.Trim(words[0], `'"\$`))) != nil {
			return true
		}
	}
	return false
}

// program follows a command by the entry of its program.
func (c *call) program(word string, rest []Word) output {
	r := c.sh.r
	name := programName(word)
	if keyName.MatchString(word) && len(rest) == 0 && slices.ContainsFunc(c.sh.via, func(v string) bool {
		return strings.HasPrefix(v, "tmux ")
	}) {
		return output{origin: name}
	}
	if c.isMade(word) {
		c.doubt(DoubtMade, "the line makes "+word+" and runs it")
	}
	if strings.ContainsAny(word, `/\`) {
		target, _ := c.absolute(word)
		c.runsMade(target, "", word)
		if !genuine(word) {
			return c.strange(word, target, rest)
		}
	}
	if out, ok := c.builtin(name, rest); ok {
		return out
	}
	switch {
	case name == "cmd":
		rest = cmdLine(rest)
	case name == "autossh" && len(rest) > 1 && rest[0].Text == "-M": // the port that it watches
		rest = rest[2:]
	}
	e := r.t.program(name)
	if e == nil && strings.HasPrefix(name, "git-") { // git-push is git push
		if g := r.t.program("git"); g != nil {
			return c.entry(g, "git", append([]Word{literal(name[4:])}, rest...))
		}
	}
	if e == nil {
		if base := strings.TrimRight(name, "0123456789."); base != name && base != "" { // python3.11
			e = r.t.program(base)
		}
	}
	if e == nil {
		return c.unknown(word, rest)
	}
	return c.entry(e, name, rest)
}

// strange follows a program that lies where the known ones do not: another may have the same name.
func (c *call) strange(word, target string, rest []Word) output {
	name := programName(word)
	c.effect(KindRun, target, true)
	if c.isInstalled(name) {
		c.doubt(DoubtMade, "the line installs "+word+" and runs it")
	}
	c.inGuarded()
	if e := c.sh.r.t.program(name); e != nil && !e.Open {
		sh := *c.sh // it may be the program of that name
		k := *c
		k.sh = &sh
		return k.entry(e, name, rest)
	}
	if cwd := c.sh.r.env.Cwd; !strings.HasPrefix(target, strings.TrimSuffix(cwd, "/")+"/") || cwd == "" {
		c.doubt(DoubtProgram, word+" is not in the tables")
		(&guesser{c.guessed()}).verbs(name, rest)
	}
	return c.guesses(rest)
}

// unknown follows a program that no table knows.
func (c *call) unknown(word string, rest []Word) output {
	name := programName(word)
	if isAssignment.MatchString(word) {
		return output{known: true}
	}
	if len(rest) == 1 && slices.Contains(lookups[:2], rest[0].Text) {
		return output{origin: name}
	}
	c.doubt(DoubtProgram, word+" is not in the tables")
	if secretTool.MatchString(name) && len(rest) > 0 {
		c.effect(KindSecret, "tool:"+name, false)
	}
	if c.isInstalled(name) {
		c.doubt(DoubtMade, "the line installs "+word+" and runs it")
	}
	(&guesser{c.guessed()}).verbs(name, rest)
	return c.guesses(rest)
}

// keyName finds a key that tmux presses: C-c, Enter.
var keyName = lazyregexp.New(`^(?:[CMS]-.{1,6}|Enter|Escape|Space|Tab|BSpace|Up|Down|Left|Right|Home|End|[a-z])$`)

// beginsLine are the options of cmd behind which a line stands.
var beginsLine = names("/c /k /r")

// cmdLine joins the words behind cmd /c, which are one line.
func cmdLine(words []Word) []Word {
	i := slices.IndexFunc(words, func(w Word) bool { return beginsLine[strings.ToLower(w.Text)] })
	if i < 0 || i+2 >= len(words) {
		return words
	}
	line := words[i+1]
	for _, w := range words[i+2:] {
		line.Text += " " + w.Text
		if w.Kind == Unknown {
			line.Kind = Unknown
		}
	}
	return append(slices.Clone(words[:i+1]), line)
}

// secretTool finds programs that manage secrets by their names.
var secretTool = lazyregexp.New(`secret|vault|credential|passw|keychain|keyring`)

// isInstalled reports whether the call installs a package of that name.
func (c *call) isInstalled(name string) bool {
	return slices.ContainsFunc(c.sh.r.out.Effects, func(e Effect) bool {
		text, is := strings.CutPrefix(e.Target, "package:")
		text, _, _ = strings.Cut(strings.TrimSuffix(text, ".git"), "@")
		base := path.Base(text)
		if i := strings.Index(base, "-"); strings.HasSuffix(base, ".whl") && i > 0 { // NAME-VERSION-py3-none-any.whl
			base = base[:i]
		}
		return is && e.Kind == KindInstall && strings.TrimSuffix(base, ".whl") == name
	})
}

var isAssignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// applier follows a command by an entry of the tables: of its program, or of its subcommand.
type applier struct {
	*call
	e      *entry
	called string // the names of the program and of its subcommands
	a      *args
	from   int // where the effects of the options, the operands and the entry begin
}

// entry follows a command by an entry of the tables.
func (c *call) entry(e *entry, called string, words []Word) output {
	e.ready(c.sh.r.t)
	if e.isShell() {
		if out, ok := c.shellProgram(called, words); ok {
			return out
		}
	}
	hasSub := len(e.subs) > 0
	p := applier{call: c, e: e, called: called, a: e.sort(words, e.stops() || hasSub)}
	c.options = append(c.options, p.a.given...)
	if !hasSub {
		return p.act(words)
	}
	if e.Bare != nil && len(p.a.unknown) > 0 { // git stash -u: options of the program without a subcommand
		bare := e.Bare.under(e).ready(c.sh.r.t)
		if b := bare.sort(words, false); len(b.operands) == 0 && len(b.unknown) == 0 {
			c.options = append(c.options, b.given...)
			p.e, p.a = bare, b
			return p.act(words)
		}
	}
	return p.subcommand()
}

// runsCommand reports whether the operands are a command that the program runs.
func (e *entry) runsCommand() bool { return e.Runs == "command" || e.Runs == "shell" }

// stops reports whether options end at the first operand.
func (e *entry) stops() bool {
	if e.Style == stylePowershell || e.Style == styleSlash {
		return false
	}
	if e.Stop || e.runsCommand() {
		return true
	}
	return slices.ContainsFunc(e.words, func(r role) bool {
		switch r.name {
		case "script", "program", "command", "shell", "code", "module":
			return true
		}
		return false
	})
}

// beginsParts reports whether a text abbreviates a name: each of its parts between colons begins
// that of the name, such as mig:fre for migrate:fresh.
func beginsParts(name, text string) bool {
	parts, of := strings.Split(text, ":"), strings.Split(name, ":")
	if len(parts) > len(of) {
		return false
	}
	for i, p := range parts {
		if !strings.HasPrefix(of[i], p) || p == "" {
			return false
		}
	}
	return true
}

// subcommand finds the entry of a subcommand and follows that.
func (p *applier) subcommand() output {
	e, a := p.e, p.a
	p.own()
	p.folderOption()
	for i := range e.Modes {
		m := &e.Modes[i]
		if _, ok := parseCondition(m.If).holds(a); ok && (len(a.operands) == 0 || m.Words != "" || m.Runs != "") {
			return p.actBy(e.over(m))
		}
	}
	if len(a.operands) == 0 {
		return p.withoutSubcommand()
	}
	first := a.operands[0]
	if first.Kind == Unknown {
		p.doubt(DoubtWord, "which subcommand of "+p.called+" runs is only known when it runs")
		return output{origin: p.called}
	}
	sub := e.sub(first.Text)
	if e.Abbreviates && sub != nil && sub == e.sub("*") {
		if out, ok := p.abbreviated(); ok {
			return out
		}
	}
	if sub == nil {
		return p.unknownSubcommand()
	}
	if strings.HasPrefix(first.Text, "-") && !strings.HasPrefix(e.Style, "p") {
		return output{origin: p.called}
	}
	p.followOptions()
	p.outer = append(p.outer, e.with...)
	switch {
	case sub.Runs != "itself":
	case strings.Contains(first.Text, "/"): // bun scripts/x.ts
		p.started(first, "node")
	case p.sh.r.t.program(first.Text) != nil: // pnpm tsc, yarn prisma
		p.nested(p.called).run(a.operands, &call{text: p.text, span: p.span, env: p.env})
	}
	return p.entry(sub.under(e), p.called+" "+first.Text, a.operands[1:])
}

// actBy follows the command by another entry.
func (p *applier) actBy(e *entry) output {
	other := applier{call: p.call, e: e.ready(p.sh.r.t), called: p.called, a: p.a}
	return other.act(nil)
}

// withoutSubcommand follows a program with subcommands that is given none.
func (p *applier) withoutSubcommand() output {
	e := p.e
	if e.Bare != nil {
		if e.isLookedUp(p.a) { // npm -v
			return output{origin: p.called}
		}
		return p.actBy(e.Bare)
	}
	if len(e.effects) > 0 || len(e.with) > 0 || e.Open {
		return p.act(nil)
	}
	p.followOptions()
	return output{origin: p.called}
}

// unknownSubcommand follows a program whose first operand is no subcommand of the tables.
func (p *applier) unknownSubcommand() output {
	e, a, first := p.e, p.a, p.a.operands[0]
	if isLookup(e, first.Text) {
		return output{origin: p.called}
	}
	if e.runsCommand() || e.Words != "" {
		again := e.sort(a.operands, e.stops()) // options may follow operands
		again.given = append(slices.Clone(a.given), again.given...)
		again.unknown = append(slices.Clone(a.unknown), again.unknown...)
		p.options, p.a = again.given, again
		return p.act(nil)
	}
	if out, ok := p.abbreviated(); ok {
		return out
	}
	p.followOptions()
	if p.called == "git" {
		if out, ok := p.aliased(); ok {
			return out
		}
	}
	if !slices.ContainsFunc(append(a.given, p.options...), func(g given) bool {
		return g.value != nil && strings.HasPrefix(g.value.Text, "alias."+first.Text+"=")
	}) {
		p.doubt(DoubtSubcommand, p.called+" "+first.Text+" is not in the tables")
	}
	(&guesser{p.guessed()}).verbs(p.called, a.operands)
	return p.guesses(a.operands[1:])
}

// abbreviated follows a subcommand that is written by the beginning of its name, as each that it
// may be. ok is false where the program takes none, or no name begins so.
func (p *applier) abbreviated() (out output, ok bool) {
	first := p.a.operands[0]
	if !p.e.Abbreviates || first.Text == "" {
		return output{}, false
	}
	seen := map[*entry]bool{}
	for _, s := range p.e.subs {
		if s.glob || !beginsParts(s.name, first.Text) || seen[s.to] {
			continue
		}
		seen[s.to] = true
		full := *p.a
		full.operands = slices.Clone(p.a.operands)
		full.operands[0].Text = s.name
		one := applier{call: p.call, e: p.e, called: p.called, a: &full}
		out = one.subcommand()
	}
	return out, len(seen) > 0
}

func isLookup(e *entry, word string) bool {
	return word == "help" || word == "version" || slices.Contains(strings.Fields(e.Lookups), word)
}

// lookup options are harmless for every program.
var lookups = []string{"--help", "--version", "-h", "-help", "-version", "--usage", "/?"}

// isLookedUp reports whether the command only shows help or a version: one of its words asks for that,
// and no option or operand before it runs something.
func (e *entry) isLookedUp(a *args) bool {
	own := strings.Fields(e.Lookups)
	named := func(option string) bool { // cargo yank --version 1.0.0 is of that version
		return (option == "--version" || option == "-version" || option == "-v") && len(a.operands) > 0
	}
	for _, g := range a.given {
		switch g.role.name {
		case "shell", "code", "command", "script", "module", "program":
			return false
		}
	}
	for _, g := range a.given {
		if slices.Contains(own, g.name) && g.as == g.name && !named(g.name) { // not a letter of -Pch
			return true
		}
	}
	for _, w := range a.unknown {
		if named(w.Text) {
			continue
		}
		if slices.Contains(lookups, w.Text) || slices.Contains(own, w.Text) {
			return true
		}
	}
	for _, g := range a.given {
		if (g.as == "--help" || g.as == "--version" && !named(g.as)) && g.value == nil {
			return true
		}
	}
	return false
}

// namesFolder reports whether the value of a variable is a folder, or a list of folders.
func namesFolder(variable string) bool {
	return slices.ContainsFunc([]string{"PATH", "LIB", "ROOT"}, func(end string) bool {
		return strings.HasSuffix(variable, end)
	})
}

// own follows the variables that the program obeys.
func (p *applier) own() {
	for name, what := range p.e.Env {
		for _, v := range p.env {
			if v.Name == name || globMatch(name, v.Name) {
				if t := v.Value.Text; namesFolder(name) && !strings.ContainsAny(t, "/.") && v.Value.Kind == Literal {
					v.Value.Text = "./" + t
				}
				p.role(parseRole(what), v.Value, p.a, nil)
			}
		}
	}
}

// unknowns adds the doubt of options that the entry does not have.
func (p *applier) unknowns() {
	for _, w := range p.a.unknown {
		if slices.Contains(lookups, w.Text) {
			continue
		}
		if w.Kind == Unknown {
			if !w.safe {
				p.doubt(DoubtWord, "an option of "+short(p.text)+" is only known when it runs")
			}
			continue
		}
		p.doubt(DoubtOption, w.Text+" of "+p.name()+" is not in the tables")
		(&guesser{p.call}).optionVerb(p.name(), w.Text)
		if _, value, has := strings.Cut(w.Text, "="); has && looksLikeLine(value) &&
			strings.ContainsAny(value, " ;|&") {
			sh := p.nested(p.name())
			sh.guess = true
			sh.line(value)
		}
	}
}

func (c *call) name() string {
	if len(c.words) == 0 {
		return short(c.text)
	}
	return programName(c.words[0].Text)
}

// folderOption follows an option such as git -C.
func (p *applier) folderOption() {
	for _, g := range p.a.given {
		if g.role.name == "cd" && g.value != nil {
			if g.value.Kind == Unknown {
				p.cwd = ""
				continue
			}
			p.cwd, _ = p.absolute(g.value.Text)
		}
	}
}

// followOptions follows options, and the effects that hold whatever the operands are.
func (p *applier) followOptions() {
	p.unknowns()
	for _, g := range p.a.given {
		p.given(g, p.a)
	}
}

func (p *applier) given(g given, a *args) {
	switch {
	case g.option.value == commandValue && len(g.more) > 0:
		p.each(g.more, a)
		if slices.ContainsFunc(p.words, mayEnd) {
			p.doubt(DoubtWord, "where the command of "+g.name+" ends is only known when it runs")
		}
	case g.value != nil:
		p.role(g.role, *g.value, a, nil)
		if g.role.name == "shell" {
			p.abroad(*g.value)
		}
	}
}

// abroadSQL adds the doubt of statements in a file that a database of another machine is given.
func (p *applier) abroadSQL() {
	of := p.sh.r.out.Effects[p.from:]
	connects := slices.IndexFunc(of, func(e Effect) bool {
		host, is := strings.CutPrefix(p.e.Target, "host:")
		return e.Kind == KindConnect && is && !localHosts[host]
	})
	isScript := p.e.language() == "sql" && strings.HasPrefix(p.sh.stdin.origin, "file ") ||
		slices.ContainsFunc(p.a.given, func(g given) bool { return g.role.name == "script" && g.role.arg == "sql" })
	switch {
	case !isScript:
	case connects >= 0:
		p.doubt(DoubtEval, p.name()+" runs a file of statements on "+strings.TrimPrefix(of[connects].Target, "host:"))
	case inProduction.MatchString(p.text):
		p.doubt(DoubtEval, p.name()+" runs a file of statements in production")
	}
}

// inProduction finds the name of a database or of a variable that others stand on.
var inProduction = lazyregexp.New(`(?i)(?:^|[^a-z])(?:prod|production|live)(?:[^a-z]|$)`)

// localHosts are this machine, and the usual names of a database beside a project in containers.
var localHosts = names("localhost 127.0.0.1 ::1 [::1] 0.0.0.0 host.docker.internal db postgres mysql")

// each follows the command of find -exec: {} stands for the found files.
func (p *applier) each(words []Word, a *args) {
	found := p.found(a)
	if len(found) == 0 || len(found) > mostItems {
		found = []Word{{Text: unknownPart, Kind: Unknown, safe: true}}
	}
	if len(found) == 2 && found[1].Kind == Pattern { // "$1" is more than the folder
		slices.Reverse(found)
	}
	inner := make([]Word, 0, len(words)+len(found))
	has := false
	for _, w := range words {
		switch {
		case w.Text == "{}":
			has = true
			inner = append(inner, found...)
			continue
		case strings.Contains(w.Text, "{}"):
			has = true
			w.Text, w.Kind = strings.ReplaceAll(w.Text, "{}", found[0].Text), found[0].Kind
		}
		inner = append(inner, w)
	}
	if name := p.name(); !has && (name == "fd" || name == "fdfind") {
		inner = append(inner, found...)
	}
	p.nested(p.name()).run(inner, &call{text: p.text, span: p.span, env: p.env})
}

// act follows the options, the operands and the effects of an entry. words are those of the command, where its
// mode may sort them in another way; nil = it may not.
func (p *applier) act(words []Word) output {
	if out, done := p.inMode(words); done {
		return out
	}
	p.own()
	if p.e.isLookedUp(p.a) {
		return output{origin: p.called}
	}
	p.folderOption()
	if p.e.As != "" {
		p.escalates()
	}
	dry := false
	if p.e.Without != "" {
		_, dry = parseCondition(p.e.Without).holds(p.a)
	}
	p.from = len(p.sh.r.out.Effects)
	p.followOptions()
	byOptions := len(p.sh.r.out.Effects)
	out := p.followOperands()
	p.effects()
	p.bringsTree()
	if p.called == "git apply" && p.sh.stdin.origin == "git diff" && takenBack(p.sh.r.out.Commands) {
		p.effect(KindHistory, "worktree", true)
	}
	p.beyondTables()
	p.verbsOfOthers()
	p.verbsOfOptions()
	p.leadsOut()
	if in := p.sh.stdin; rawPeers[p.name()] && in.known {
		(&guesser{p.call}).types(in.text)
	}
	p.sendsContent()
	p.streams()
	p.abroadSQL()
	if dry {
		p.dryRun(byOptions)
	}
	m := emptying{p.call, p.called, p.a}
	m.empties()
	m.copiesNothing(p.from)
	if known, ok := (&printing{p.call, p.called, p.a}).prints(words); ok {
		return known
	}
	return out
}

// inMode lays the first mode that fits over the entry, and sorts the words by it. done is true where the mode has
// subcommands, which then are followed.
func (p *applier) inMode(words []Word) (out output, done bool) {
	for i := range p.e.Modes {
		m := &p.e.Modes[i]
		if _, ok := parseCondition(m.If).holds(p.a); !ok {
			continue
		}
		p.e = p.e.over(m).ready(p.sh.r.t)
		if words == nil {
			break
		}
		if m.Sub != nil {
			p.a = p.e.sort(words, true)
			return p.subcommand(), true
		}
		before := len(p.a.given)
		p.a = p.e.sort(words, p.e.stops())
		p.options = append(p.options[:len(p.options)-min(before, len(p.options))], p.a.given...)
		break
	}
	return output{}, false
}

// followOperands follows the operands, or the command or the input that the program runs.
func (p *applier) followOperands() output {
	if p.e.runsCommand() {
		return p.runs()
	}
	p.operands()
	if p.e.Open {
		return p.reads()
	}
	if in := p.sh.stdin; p.e.Reads != "" && in.known {
		p.code(p.e.Reads, literal(in.text))
	}
	return output{origin: p.called}
}

// effects adds the effects that the entry has: each time, and by conditions.
func (p *applier) effects() {
	e, a := p.e, p.a
	p.fillIn(e.effects, a, nil)
	if slices.ContainsFunc(e.effects, func(t template) bool {
		return t.kind == "run" && strings.Contains(t.target, "project:")
	}) {
		p.runsCodeOfProject()
	}
	if slices.ContainsFunc(e.effects, func(t template) bool {
		return t.kind == "run" && t.target != "project:hooks" || t.kind == "install"
	}) {
		p.runsGiven()
	}
	for _, w := range e.with {
		if _, ok := w.when.holds(a); ok {
			p.fillIn(w.effects, a, nil)
		}
	}
	for _, w := range p.outer {
		all := *a
		all.given = p.options
		if _, ok := w.when.holds(&all); ok {
			p.fillIn(w.effects, &all, nil)
		}
	}
	for _, w := range e.wordWith {
		p.whereFits(w)
	}
}

// fillIn gives effects of the entry. by is the operand that a condition fitted.
func (p *applier) fillIn(list []template, a *args, by *Word) {
	(&filler{call: p.call, e: p.e, a: a, by: by}).give(list)
}

// runsCodeOfProject follows the words of a program that runs code of the project: names of scripts, a folder,
// variables of make.
func (p *applier) runsCodeOfProject() {
	p.scripts()
	if env := p.sh.r.env.Cwd; p.cwd != "" && env != "" && !strings.HasPrefix(p.cwd+"/", env+"/") &&
		!strings.HasPrefix(env+"/", p.cwd+"/") {
		p.doubt(DoubtProgram, p.called+" runs code of "+p.cwd+", which is not of this project")
	}
	for _, w := range p.a.operands { // make CMD='rm -rf src'
		if p.sh.where == "" && p.isMadeWord(w) {
			p.doubt(DoubtMade, "the line makes "+w.Text+" and "+p.called+" runs it")
		}
		if _, value, _ := strings.Cut(w.Text, "="); isAssignment.MatchString(w.Text) && looksLikeLine(value) {
			sh := p.nested(p.called)
			sh.guess = true
			p.shellText(sh, w.with(value))
		}
	}
}

// dryRun takes back the effects that a dry run does not have. byOptions is where the effects of the options end:
// an option runs its program in a dry run, too.
func (p *applier) dryRun(byOptions int) {
	out := p.sh.r.out
	all := out.Effects
	out.Effects = slices.Clip(all[:p.from])
	for i, e := range all[p.from:] {
		ofOption := p.from+i < byOptions && e.Command != p.index
		if ofOption || e.Kind == KindRead || e.Kind == KindSecret || e.Kind == KindConnect {
			out.Effects = append(out.Effects, e)
		}
	}
}

// takenBack reports whether the line turns the differences of the work tree around: git diff -R.
func takenBack(commands []Command) bool {
	return slices.ContainsFunc(commands, func(k Command) bool {
		isDiff, isOption := func(w Word) bool { return w.Text == "diff" }, func(w Word) bool { return w.Text == "-R" }
		return slices.ContainsFunc(k.Words, isDiff) && slices.ContainsFunc(k.Words, isOption)
	})
}

// leadsOut adds the doubt of a word that leads outside of the project, where the tables give it no use.
func (p *applier) leadsOut() {
	if p.sh.where != "" || p.e.Elsewhere != "" || p.e.runsCommand() || quietPrograms[p.name()] ||
		looksOnly[p.called[strings.LastIndexByte(p.called, ' ')+1:]] {
		return
	}
	silent := func(ro role, w Word) {
		if ro.name != "" && ro.name != "_" || w.Kind == Unknown || w.Text == "" ||
			strings.IndexByte("/~.", w.Text[0]) < 0 || !beyond.MatchString(w.Text) {
			return
		}
		if target, _ := p.absolute(w.Text); !p.isAtHome(target) && !strings.HasPrefix(target, "/tmp/") {
			p.doubt(DoubtWord, "what "+p.name()+" does with "+w.Text+" is not known")
		}
	}
	roles := p.a.rolesOf(p.e.words)
	for i, w := range p.a.operands {
		if ro := roleAt(roles, i, len(p.a.operands)); ro.name == "command" {
			break
		} else {
			silent(ro, w)
		}
	}
	for _, g := range p.a.given {
		if g.value != nil {
			silent(g.role, *g.value)
		}
	}
}

// runsGiven adds the doubt of a program that runs a project, where the command names something else for it: an
// address, its input, a file that the line makes, or one of no project. The tables need not know such words.
func (p *applier) runsGiven() {
	if p.sh.where != "" {
		return
	}
	stops, scripts := p.e.stops(), scriptRunners[p.name()]
	before := ""
	for _, w := range p.words[1:] {
		isOption := strings.HasPrefix(w.Text, "-") && w.Text != "-"
		option, text := before, w.Text
		if isOption {
			option, text, _ = strings.Cut(w.Text, "=")
			text = text[strings.LastIndexByte(text, '=')+1:] // --override_repository=NAME=FOLDER
		}
		raw := w
		w = w.with(text)
		isOperand := !isOption && len(p.a.operands) > 0 && sameWord(p.a.operands[0], raw)
		if before = ""; isOption {
			before = raw.Text
		}
		switch {
		case raw.Text == "--":
			return
		case text == "" || scripts && option == "":
		case (isURL(text) || remoteSpec.MatchString(text)) && !localHosts[hostOf(text)] &&
			!strings.HasPrefix(text, "file://"):
			if !namesPeer.MatchString(option) {
				p.doubt(DoubtMade, p.name()+" may run what it fetches from "+hostOf(text))
			}
		case text == "-" && p.sh.stdin.has && !p.sh.stdin.known && !strings.HasPrefix(p.sh.stdin.origin, "file "),
			strings.HasPrefix(text, "/dev/fd/") && w.from != "",
			w.Kind == Unknown && fetchers[w.from] && w.from != "git":
			p.doubt(DoubtEval, p.name()+" may run what "+cmp.Or(w.from, p.sh.stdin.origin, "its input")+" gives it")
		case w.Kind == Unknown || namesProduct.MatchString(option):
		case p.isMadeWord(w):
			if m := p.sh.r.madeAt(p.anyPath(w)); fetchers[m.by] {
				p.doubt(DoubtMade, "the line makes "+text+", which "+p.name()+" may run")
			}
		case strings.HasPrefix(text, "//") || strings.Contains(text, ":") || p.e.Elsewhere != "": // a target, a volume
		case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~/") || strings.HasPrefix(text, "../"):
			p.abroad(w)
		}
		if isOperand && stops {
			return
		}
	}
}

// beyond finds a path that may lead out of a project, to files of a person or of the system.
var beyond = lazyregexp.New(`^(?:~|\.\.|/(?:home|root|Users|etc|var|srv|mnt|media|data|boot|Volumes|Library))(?:/|$)|^/$`)

// namesPeer finds an option for the peer of a program: --base-url.
var namesPeer = lazyregexp.New(`(?i)(?:url|host|server|proxy|registry|endpoint|origin|target|address|remote)$`)

// whereFits gives the effects of a condition on operands: for each that fits, where the target
// names it.
func (p *applier) whereFits(w conditional) {
	by, ok := w.when.holds(p.a)
	if !ok {
		return
	}
	p.fillIn(w.effects, p.a, by)
	if !slices.ContainsFunc(w.effects, func(t template) bool { return strings.Contains(t.target, "$*") }) {
		return
	}
	for i := range p.a.operands {
		one := &args{operands: p.a.operands[i : i+1], given: p.a.given, dashed: p.a.dashed}
		if by, ok := w.when.holds(one); ok && by != nil {
			p.fillIn(w.effects, p.a, &p.a.operands[i])
		}
	}
}

// escalates adds that the command runs with other rights.
func (p *applier) escalates() {
	if p.e.As == "none" {
		return
	}
	user := strings.TrimPrefix(p.fill(p.e.As), "user:")
	for _, g := range p.a.given {
		if g.role.name == "user" && g.value != nil && g.value.Text != "" {
			user = g.value.Text
		}
	}
	p.effect(KindEscalate, "user:"+user, true)
}

// operands follows the operands by their roles.
func (p *applier) operands() {
	for i, w := range p.a.after {
		p.role(roleAt(p.e.after, i, len(p.a.after)), w, p.a, p.a.after)
	}
	roles := p.a.rolesOf(p.e.words)
	if len(roles) == 0 {
		return
	}
	if p.e.Target != "" { // -t: the folder is an option's value, and all operands are of the first role
		for name := range strings.FieldsSeq(p.e.Target) {
			if slices.ContainsFunc(p.a.given, func(g given) bool { return g.name == name }) {
				roles = []role{roles[0]}
				roles[0].repeats = true
				break
			}
		}
	}
	for i, w := range p.a.operands {
		ro := roleAt(roles, i, len(p.a.operands))
		if ro.name == "command" {
			sh := p.nested(p.name())
			sh.run(p.a.operands[i:], &call{text: p.text, span: p.span, env: p.env})
			return
		}
		p.role(ro, w, p.a, p.a.operands)
	}
}

// rolesOf leaves out the roles that options take the place of.
func (a *args) rolesOf(roles []role) (list []role) {
	for _, ro := range roles {
		if slices.ContainsFunc(ro.unless, func(name string) bool {
			return slices.ContainsFunc(a.given, func(g given) bool { return g.name == name })
		}) {
			continue
		}
		list = append(list, ro)
	}
	return list
}

// roleAt is the role of the operand at an index of n: a role that repeats takes the operands that
// the others leave.
func roleAt(roles []role, i, n int) role {
	at := slices.IndexFunc(roles, func(r role) bool { return r.repeats })
	if at < 0 {
		if i < len(roles) {
			return roles[i]
		}
		return role{name: "_"}
	}
	behind := len(roles) - at - 1
	switch {
	case i < at:
		return roles[i]
	case behind > 0 && i >= n-behind && n > behind:
		return roles[len(roles)-(n-i)]
	}
	return roles[at]
}

// runs follows the command that a program runs: sudo, env, xargs, ssh.
func (p *applier) runs() (all output) {
	e := p.e
	operands := p.beforeCommand()
	sh := p.nested(p.called)
	if p.cwd != "" {
		sh.cwd = p.cwd
	}
	if text, ok := p.splitByEnv(operands); ok {
		return p.shellText(sh, text)
	}
	operands = p.assigns(operands)
	if len(operands) > 0 && strings.HasPrefix(operands[0].Text, ":::") { // parallel ::: LINE LINE
		for _, w := range operands[1:] {
			p.shellText(sh, w)
		}
		return output{origin: p.called}
	}
	if len(operands) == 0 {
		return p.runsInput(sh)
	}
	if e.Elsewhere != "" {
		sh.where, sh.cwd = p.fill(e.Elsewhere), ""
		if in := p.sh.stdin; in.has && (in.origin != "" || in.text != "") && strings.HasPrefix(sh.where, "host:") {
			p.effect(KindSend, sh.where, true)
		}
	}
	if e.Runs == "shell" {
		return p.shellText(sh, joinedLine(operands))
	}
	if !e.Feeds {
		return sh.run(operands, &call{text: p.text, span: p.span, env: p.env})
	}
	sh.stdin = input{has: true, known: true}
	all.known = true
	for _, words := range (&xargs{p.sh, p.options}).commands(operands) {
		out := sh.fork().run(words, &call{text: p.text, span: p.span, env: p.env})
		all.known, all.text, all.origin = all.known && out.known, all.text+out.text, cmp.Or(all.origin, out.origin)
	}
	return all
}

// beforeCommand follows the operands that stand before the command, and returns those of the command.
func (p *applier) beforeCommand() []Word {
	operands := p.a.operands
	if len(p.a.after) > 0 {
		operands = append(slices.Clip(operands), p.a.after...)
	}
	skip := min(p.e.Skip, len(operands))
	for i, w := range operands[:skip] {
		p.role(roleAt(p.e.words, i, skip), w, p.a, operands)
	}
	operands = operands[skip:]
	if skip > 0 && len(operands) > 0 && strings.HasPrefix(operands[0].Text, "-") { // ssh HOST -p 22 ls
		more := p.e.sort(operands, true)
		for _, g := range more.given {
			p.options = append(p.options, g)
			p.given(g, more)
		}
		operands = more.operands
	}
	if len(operands) > 1 && operands[0].Text == "-" && p.called == "env" {
		operands = operands[1:]
	}
	return operands
}

// splitByEnv is the line of env -S 'a b' c; ok is false where the command is no such one.
func (p *applier) splitByEnv(operands []Word) (line Word, ok bool) {
	if p.called != "env" || len(operands) == 0 {
		return Word{}, false
	}
	i := slices.IndexFunc(p.a.given, func(g given) bool { return g.role.name == "shell" && g.value != nil })
	if i < 0 {
		return Word{}, false
	}
	line = p.a.given[i].value.with(splitByEnv(p.a.given[i].value.Text))
	for _, w := range operands {
		line.Text += " " + quote(w)
		if w.Kind == Unknown {
			line.Kind = Unknown
		}
	}
	return line, true
}

// assigns follows the variables that stand before a command: env A=B ls. It returns the words behind them.
func (p *applier) assigns(operands []Word) []Word {
	if !slices.ContainsFunc(p.e.words, func(r role) bool { return r.name == "assign" }) {
		return operands
	}
	for len(operands) > 0 && strings.IndexByte(operands[0].Text, '=') >= 0 {
		name, value, _ := strings.Cut(operands[0].Text, "=")
		w := operands[0].with(value)
		p.env = append(p.env, Assign{name, w})
		p.variable(name, w)
		operands = operands[1:]
	}
	return operands
}

// runsInput follows a program that is given no command: it may read commands from its input.
func (p *applier) runsInput(sh *shell) output {
	if !p.e.Open || p.a.has("-W") {
		return output{origin: p.called}
	}
	if p.e.Elsewhere != "" {
		sh.where, sh.cwd = p.fill(p.e.Elsewhere), ""
	}
	k := *p.call
	k.sh = sh
	inner := applier{call: &k, e: p.e, called: p.called, a: &args{given: p.a.given}}
	return inner.reads()
}

// fill fills the placeholders of a text that belongs to no effect.
func (p *applier) fill(text string) string { return (&filler{call: p.call, a: p.a}).fill(text) }

// joinedLine is the line that words make.
func joinedLine(words []Word) Word {
	line := literal(joinWordsText(words))
	if slices.ContainsFunc(words, func(w Word) bool { return w.Kind == Unknown }) {
		line.Kind, line.from = Unknown, words[0].from
	}
	return line
}

// splitByEnv makes of a text that env splits a line of a shell: # begins a comment up to its end.
func splitByEnv(text string) string {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '#' && (i == 0 || strings.IndexByte(" \t\n\v\f\r", text[i-1]) >= 0):
			return ofEnv.Replace(text[:i])
		}
	}
	return ofEnv.Replace(text)
}

var ofEnv = strings.NewReplacer(`\_`, " ", "\v", " ", "\f", " ", "\r", " ")

// shellText follows a text as a line of a shell.
func (c *call) shellText(sh *shell, w Word) output {
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

// reads follows an interpreter that has no script: it reads its input.
func (p *applier) reads() output {
	for _, g := range p.a.given {
		switch g.role.name {
		case "shell", "code", "module", "command":
			return output{origin: p.called}
		case "script", "program":
			if g.name != "--rcfile" && g.name != "--init-file" && g.name != "-r" && g.name != "--require" &&
				g.name != "--import" {
				return output{origin: p.called}
			}
		}
	}
	if p.a.has("--test") || p.a.has("--run") { // node finds the tests
		return output{origin: p.called}
	}
	forced := slices.ContainsFunc(p.a.given, func(g given) bool { return g.name == "-s" && p.e.isShell() })
	if len(p.a.operands) > 0 && !forced && p.e.hasScript() {
		return output{origin: p.called}
	}
	p.fromInput(p.e.language())
	return output{origin: p.called}
}

func (e *entry) isShell() bool { return e == known().program("bash") || e == known().program("fish") }

// hasScript reports whether the first operand is a script, and not a database or a host.
func (e *entry) hasScript() bool {
	return slices.ContainsFunc(e.words, func(r role) bool {
		return r.name == "script" || r.name == "program" || r.name == "code" || r.name == "shell" || r.name == "read"
	})
}

// has reports whether an option is given.
func (a *args) has(name string) bool {
	return slices.ContainsFunc(a.given, func(g given) bool { return g.name == name })
}

// language is the language of an interpreter's input.
func (e *entry) language() string {
	switch {
	case e.Reads != "":
		return e.Reads
	case e.Runs == "shell" || e.isShell():
		return "sh"
	}
	for _, r := range e.words {
		if r.name == "script" || r.name == "code" {
			return r.arg
		}
	}
	for _, o := range e.options.byName {
		if o.role.name == "code" && o.role.arg != "" {
			return o.role.arg
		}
	}
	return ""
}
