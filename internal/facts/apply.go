package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// applier follows a command by an entry of the tables: of its program, or of its subcommand.
type applier struct {
	*finder
	e      *entry
	called string // the names of the program and of its subcommands
	a      *args
	from   int // where the effects of the options, the operands and the entry begin
}

// entry follows a command by an entry of the tables.
func (c *finder) entry(e *entry, called string, words []Word) output {
	e.ready(c.sh.r.t)
	if e.isShell() {
		if out, ok := c.shellProgram(called, words); ok {
			return out
		}
	}
	hasSub := len(e.subs) > 0
	p := applier{finder: c, e: e, called: called, a: e.sort(words, e.stops() || hasSub)}
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
		case "script", "program", "command", "shell", "module":
			return true
		case "code":
			return !r.repeats && r.arg != "jq" // sqlite3 takes options between statements, jq anywhere
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
		p.nested(p.called).run(a.operands, &finder{text: p.text, span: p.span, env: p.env})
	}
	return p.entry(sub.under(e), p.called+" "+first.Text, a.operands[1:])
}

// actBy follows the command by another entry.
func (p *applier) actBy(e *entry) output {
	other := applier{finder: p.finder, e: e.ready(p.sh.r.t), called: p.called, a: p.a}
	return other.act(nil)
}

// withoutSubcommand follows a program with subcommands that is given none.
func (p *applier) withoutSubcommand() output {
	e := p.e
	if e.Bare != nil {
		if p.e.isLookedUp(p.a, p.called) { // npm -v
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
		one := applier{finder: p.finder, e: p.e, called: p.called, a: &full}
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
// and no option or operand before it runs something. On a Mac, options of rm and the like end at the first operand.
func (e *entry) isLookedUp(a *args, called string) bool {
	own, hasSub := strings.Fields(e.Lookups), strings.Contains(called, " ")
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
		if slices.Contains(own, g.name) && g.as == g.name && !named(g.name) && !g.loose { // not a letter of -Pch
			return true
		}
	}
	for _, w := range a.unknown {
		if named(w.Text) || !hasSub && len(a.operands) > 0 && w.span.From > a.operands[0].span.From {
			continue
		}
		if slices.Contains(lookups, w.Text) || slices.Contains(own, w.Text) {
			return true
		}
	}
	for _, g := range a.given {
		if (g.as == "--help" || g.as == "--version" && !named(g.as)) && g.value == nil && !g.loose {
			return true
		}
	}
	return false
}

// namesFolder finds a variable whose value is a folder, or a list of folders.
var namesFolder = lazyregexp.New(`(?:PATH|LIB|ROOT)$`)

// own follows the variables that the program obeys, before the command or exported.
func (p *applier) own() {
	if len(p.e.Env) == 0 {
		return
	}
	list := slices.Clip(p.env)
	for _, name := range sorted(p.sh.vars) {
		set := slices.ContainsFunc(p.env, func(a Assign) bool { return a.Name == name })
		if !set && (p.sh.exports[name] || p.sh.exports["*"]) {
			list = append(list, Assign{name, p.sh.vars[name]})
		}
	}
	for _, v := range list {
		for name, what := range p.e.Env {
			if v.Name != name && !globMatch(name, v.Name) {
				continue
			}
			t := v.Value.Text
			if namesFolder.MatchString(name) && !strings.ContainsAny(t, "/.") && v.Value.Kind == Literal {
				v.Value.Text = "./" + t
			}
			ro := parseRole(what)
			if (ro.name == "shell" || ro.name == "program") && variables().isHarmless(v.Name, v.Value) {
				continue
			}
			p.obeyed = append(p.obeyed, given{option: &option{name: v.Name, role: ro}, value: &v.Value})
			p.role(ro, v.Value, p.a, nil)
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
		(&guesser{p.finder}).optionVerb(p.name(), w.Text)
		if _, value, has := strings.Cut(w.Text, "="); has && looksLikeLine(value) &&
			strings.ContainsAny(value, " ;|&") {
			sh := p.nested(p.name())
			sh.guess = true
			sh.line(value)
		}
	}
}

// mayHoldOptions reports whether a variable may hold options, where one of the entry's options runs, writes or
// destroys something: go test $X, git checkout $X. A word behind -- is none, nor is perhaps a word behind an option.
// People name machines, branches and the like by variables: those are left alone.
func (a *args) mayHoldOptions(e *entry, words []Word) bool {
	if len(a.operands) == 0 || e.options.style == styleNone || e.language() == "sql" || !e.hasGraveOption() {
		return false
	}
	roles, n := a.rolesOf(e.words), len(a.operands)
	for i, w := range words[1:] {
		at := slices.IndexFunc(a.operands, func(o Word) bool { return sameWord(o, w) })
		if w.Kind == Literal && w.Text == "--" || at > 0 && e.stops() {
			return false
		}
		if at >= 0 && w.several && !w.safe && (w.from == "" || strings.HasPrefix(w.from, "${")) &&
			!strings.HasPrefix(words[i].Text, "-") && !namesOther[roleAt(roles, at, n).name] {
			return true
		}
	}
	return false
}

// namesOther are the roles of words that name no file of this machine, graveRoles those of values by which an option
// runs or changes something.
var (
	namesOther = names("host url address remote refspec repo user unit process seek")
	graveRoles = names("shell program command code script opens options write delete")
	mildKinds  = names("doubt read connect")
)

// hasGraveOption reports whether an option of the entry runs, writes or takes away something.
func (e *entry) hasGraveOption() bool {
	for _, o := range e.options.byName {
		if graveRoles[o.role.name] {
			return true
		}
	}
	isOption := func(a atom) bool { return !a.not && len(a.text) > 1 && a.text[0] == '-' && a.text != "--" }
	byOption := func(all []atom) bool { return slices.ContainsFunc(all, isOption) }
	grave := func(t template) bool { return !mildKinds[t.kind] }
	return slices.ContainsFunc(e.with, func(c conditional) bool {
		return slices.ContainsFunc(c.when, byOption) && slices.ContainsFunc(c.effects, grave)
	})
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
		if len(g.more) == 1 && strings.Contains(g.more[0].Text, " ") { // xterm -e 'rm -r x'
			p.shellText(p.nested(p.name()), g.more[0])
		}
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
		host, is := strings.CutPrefix(e.Target, "host:")
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
	p.nested(p.name()).run(inner, &finder{text: p.text, span: p.span, env: p.env})
}

// act follows the options, the operands and the effects of an entry. words are those of the command, where its
// mode may sort them in another way; nil = it may not.
func (p *applier) act(words []Word) output {
	if out, done := p.inMode(words); done {
		return out
	}
	p.own()
	if p.e.isLookedUp(p.a, p.called) {
		return output{origin: p.called}
	}
	p.folderOption()
	if p.e.As != "" {
		p.escalates()
	}
	dry := false
	if p.e.Without != "" {
		_, dry = parseCondition(p.e.Without).holds(p.a.on())
	}
	p.from = len(p.sh.r.out.Effects)
	p.followOptions()
	if p.a.mayHoldOptions(p.e, p.words) {
		p.doubt(DoubtWord, "an option of "+short(p.text)+" is only known when it runs")
	}
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
	writesOut(p)
	if in := p.sh.stdin; rawPeers[p.name()] && in.known {
		(&guesser{p.finder}).types(in.text)
	}
	p.sendsNothing()
	p.sendsContent()
	p.streams()
	p.abroadSQL()
	if dry {
		p.dryRun(byOptions)
	}
	m := emptying{p.finder, p.called, p.a}
	m.empties()
	m.copiesNothing(p.from)
	p.logsIn()
	p.ofOtherDaemon()
	if known, ok := (&printing{p.finder, p.called, p.a}).prints(words); ok {
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
	(&filler{finder: p.finder, e: p.e, a: a, by: by}).give(list)
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
		name, value, _ := strings.Cut(w.Text, "=")
		if !isAssignment.MatchString(w.Text) {
			continue
		}
		name = strings.TrimSuffix(name, "+")
		if _, obeyed := variables().code(name); obeyed {
			p.variable(name, w.with(value))
		}
		if looksLikeLine(value) {
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

// logsIn takes the secrets in the words of curl back where it gives them to this machine alone, or to their own
// service, and does not print them: curl -H "Authorization: Bearer $TOKEN" localhost:3000.
func (p *applier) logsIn() {
	isProxy := func(a Assign) bool { return strings.HasSuffix(strings.ToLower(a.Name), "_proxy") }
	if p.name() != "curl" || p.shown == 0 || p.shown > p.from || slices.ContainsFunc(p.a.given, showsRequest) ||
		slices.ContainsFunc(p.env, isProxy) {
		return
	}
	for name := range p.sh.vars {
		if isProxy(Assign{Name: name}) {
			return
		}
	}
	var hosts []string
	follows := p.a.has("-L") || p.a.has("--location")
	for _, e := range p.sh.r.out.Effects[p.from:] {
		if host, is := strings.CutPrefix(e.Target, "host:"); is {
			hosts = append(hosts, host)
		}
	}
	p.takeBack(p.shown-1, func(e Effect) bool {
		name, is := strings.CutPrefix(e.Target, "env:")
		service, _, _ := strings.Cut(strings.ToLower(name), "_")
		return is && e.Kind == KindSecret && e.Command < 0 && len(hosts) > 0 &&
			!slices.ContainsFunc(hosts, func(host string) bool {
				own := owners[service] != "" && strings.HasSuffix("."+host, "."+owners[service])
				return !localHosts[host] && (follows || !own)
			})
	})
}

// takeBack leaves out effects behind the first ones.
func (p *applier) takeBack(first int, which func(Effect) bool) {
	out := p.sh.r.out
	out.Effects = append(out.Effects[:first:first], slices.DeleteFunc(slices.Clone(out.Effects[first:]), which)...)
}

// ofOtherDaemon adds that containers end, or are deleted, which another daemon than this machine's runs.
func (p *applier) ofOtherDaemon() {
	other := func(g given) bool { return daemonOptions[g.name] && (g.value == nil || g.value.Text != "default") }
	if !containerPrograms[p.name()] || !slices.ContainsFunc(slices.Concat(p.options, p.obeyed), other) {
		return
	}
	for _, e := range p.sh.r.out.Effects[p.from:] {
		if (e.Kind == KindKill || e.Kind == KindDelete) && strings.HasPrefix(e.Target, "container:") {
			p.effect(e.Kind, "host:docker", e.Certain)
		}
	}
}

var (
	containerPrograms = names("docker podman nerdctl finch docker-compose podman-compose")
	daemonOptions     = names("-H --host -c --context --connection --url DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST")
)

// showsRequest reports whether an option of curl prints its request, or sends it by another host.
func showsRequest(g given) bool { return !quietOptions[g.name] }

// quietOptions neither print the request nor lead it elsewhere.
var quietOptions = wordLists["quietOptions"]

// owners are the services whose logins variables hold, by the beginning of the variable's name.
var owners = map[string]string{
	"github": "github.com", "gh": "github.com", "gitlab": "gitlab.com", "openai": "openai.com",
	"anthropic": "anthropic.com", "stripe": "stripe.com", "slack": "slack.com", "cloudflare": "cloudflare.com", "vercel": "vercel.com",
	"notion": "notion.com", "sentry": "sentry.io", "linear": "linear.app", "npm": "registry.npmjs.org",
}

// sendsNothing takes the sending back where the input is empty: openssl s_client < /dev/null.
func (p *applier) sendsNothing() {
	in := p.sh.stdin
	text := strings.TrimSpace(in.text)
	if p.called == "openssl s_client" && in.has && in.known && (text == "" || text == "Q" || text == "QUIT") {
		p.takeBack(p.from, func(e Effect) bool { return e.Kind == KindSend })
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
		if ro.name != "" && ro.name != "_" && ro.name != "repo" || w.Kind == Unknown || w.Text == "" ||
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

// namesOutput finds an option for the file or the folder that a program writes: -o, --out-dir, --output.
var namesOutput = lazyregexp.New(`^--?(?:o|[a-z-]*(?:out(?:put|file|dir)?|dest|destination|log|report)(?:[-_]?(?:file|dir|directory|path|folder))?)$`)

// writesOut adds what a program writes outside of the project, where it takes any option and one of these names an
// output: deno compile -o ~/.bashrc.
func writesOut(p *applier) {
	if !p.e.options.any || p.sh.where != "" || p.e.Elsewhere != "" || p.e.runsCommand() {
		return
	}
	for i, w := range p.words {
		option, value, joined := strings.Cut(w.Text, "=")
		if !joined && i > 0 {
			option, value = p.words[i-1].Text, w.Text
		}
		if w.Kind == Literal && beyond.MatchString(value) && namesOutput.MatchString(option) &&
			p.e.options.byName[option] == nil {
			p.path(KindWrite, w.with(value))
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
			if !indexes[hostOf(text)] && (!namesPeer.MatchString(option) || namesIndex.MatchString(option)) {
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

// namesIndex finds an option for the source of packages; indexes are the usual sources.
var (
	namesIndex = lazyregexp.New(`(?i)(?:registry|index-url|index)$`)
	indexes    = names("registry.npmjs.org registry.yarnpkg.com npm.pkg.github.com pypi.org test.pypi.org download.pytorch.org")
)

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
			sh.run(p.a.operands[i:], &finder{text: p.text, span: p.span, env: p.env})
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
