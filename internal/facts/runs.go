package facts

import (
	"cmp"
	"slices"
	"strings"
)

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
	if len(operands) == 0 {
		return p.runsInput(sh)
	}
	if e.Elsewhere != "" {
		sh.where, sh.cwd = p.fill(e.Elsewhere), ""
		if in := p.sh.stdin; in.has && (in.origin != "" || in.text != "") && strings.HasPrefix(sh.where, "host:") {
			p.effect(KindSend, sh.where, true)
		}
	}
	switch {
	case e.Runs == "shell" && e.Feeds:
		return p.parallel(sh, operands)
	case e.Runs == "shell":
		return p.shellText(sh, joinedLine(operands))
	}
	if !e.Feeds {
		return sh.run(operands, &finder{text: p.text, span: p.span, env: p.env})
	}
	sh.stdin = input{has: true, known: true}
	all.known = true
	for _, words := range (&xargs{p.sh, p.options}).commands(operands) {
		out := sh.fork().run(words, &finder{text: p.text, span: p.span, env: p.env})
		all.known, all.text, all.origin = all.known && out.known, all.text+out.text, cmp.Or(all.origin, out.origin)
	}
	return all
}

// parallel follows a line for each of the words behind :::, or of its input. The word stands for {}, or at the end.
func (p *applier) parallel(sh *shell, operands []Word) output {
	isMark := func(w Word) bool { return strings.HasPrefix(w.Text, ":::") }
	x := &xargs{p.sh, p.options}
	at := slices.IndexFunc(operands, isMark)
	var values []Word
	if at < 0 {
		at, values = len(operands), x.added(x.input(), "")
	} else {
		values = slices.DeleteFunc(slices.Clone(operands[at:]), isMark)
	}
	mark := cmp.Or(x.mark(), "{}")
	for _, value := range values[:min(len(values), mostItems)] {
		line, argument := joinedLine(operands[:at]), "$"+parallelWord
		if at == 0 {
			line = value
		} else if value.Kind == Literal {
			argument = quote(value)
		}
		if strings.Contains(line.Text, mark) {
			line.Text = strings.ReplaceAll(line.Text, mark, argument)
		} else if at > 0 {
			line.Text += " " + argument
		}
		sh.vars[parallelWord] = value
		p.shellText(sh.fork(), line)
	}
	return output{origin: p.called}
}

// parallelWord is the variable that has a word in a line which parallel runs.
const parallelWord = "PARALLEL_WORD"

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
	k := *p.finder
	k.sh = sh
	inner := applier{finder: &k, e: p.e, called: p.called, a: &args{given: p.a.given}}
	return inner.reads()
}

// fill fills the placeholders of a text that belongs to no effect.
func (p *applier) fill(text string) string { return (&filler{finder: p.finder, a: p.a}).fill(text) }

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
	isScript := func(r role) bool { return scriptRoles[r.name] }
	if len(p.a.operands) > 0 && !forced && slices.ContainsFunc(p.e.words, isScript) {
		return output{origin: p.called}
	}
	p.fromInput(p.e.language())
	return output{origin: p.called}
}

func (e *entry) isShell() bool {
	return e == programs().program("bash") || e == programs().program("fish")
}

// scriptRoles are those of a first operand that is a script, and not a database or a host.
var scriptRoles = names("script program code shell read")

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
