package facts

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

// filler gives the effects that an entry has as templates, and fills their placeholders with the words of a command.
type filler struct {
	*finder
	e       *entry // nil = the placeholders are of no entry
	a       *args
	by      *Word // the operand that a condition fitted
	each    *Word // the operand that $@ stands for
	unknown bool  // a value of the last text is only known when it runs
}

// give gives effects of the entry.
func (f *filler) give(list []template) {
	for _, t := range list {
		if t.kind == "doubt" {
			if t.target != "none" {
				f.doubt(DoubtKind(t.target), short(f.text))
			}
			continue
		}
		if t.target == "$found" {
			if f.a.has("-empty") && !f.a.has("-o") && !f.a.has("-or") { // nothing is lost
				continue
			}
			found := f.found(f.a)
			if len(found) == 0 { // in a folder that is not known
				found = []Word{darkValue.word}
			}
			for _, w := range found {
				f.path(EffectKind(t.kind), w)
			}
			continue
		}
		if strings.Contains(t.target, "$@") || strings.Contains(t.target, "${@") ||
			strings.Contains(t.target, "$/@") {
			f.perOperand(t)
			continue
		}
		f.one(EffectKind(t.kind), t.target, nil)
	}
}

// perOperand gives an effect for each operand.
func (f *filler) perOperand(t template) {
	if len(f.a.operands) == 0 {
		text := t.target
		if at := strings.Index(text, "${@|"); at >= 0 {
			rest := text[at+4:]
			def, after, _ := strings.Cut(rest, "}")
			f.one(EffectKind(t.kind), text[:at]+def+after, nil)
		} else {
			f.one(EffectKind(t.kind), strings.NewReplacer("$@", "", "$/@", "").Replace(text), nil)
		}
		return
	}
	for i := range f.a.operands {
		text := t.target
		if at := strings.Index(text, "${@|"); at >= 0 {
			_, after, _ := strings.Cut(text[at+4:], "}")
			text = text[:at] + "$@" + after
		}
		f.one(EffectKind(t.kind), text, &f.a.operands[i])
	}
}

// one gives one effect with its target filled in. each is the operand that $@ stands for.
func (f *filler) one(kind EffectKind, text string, each *Word) {
	f.each = each
	filled := f.fill(text)
	if !slices.Contains(Kinds, kind) {
		return
	}
	if kind == KindRun && strings.HasPrefix(filled, "image:") && !f.unknown {
		filled = f.image(filled)
	}
	isPath := strings.HasPrefix(filled, "/") || strings.HasPrefix(filled, "~") || strings.HasPrefix(filled, ".")
	switch {
	case isPath && (kind == KindRead || kind == KindWrite || kind == KindDelete || kind == KindMove ||
		kind == KindConfigure ||
		kind == KindGuard || kind == KindSecret || kind == KindRun):
		t := filled
		if f.sh.where == "" {
			t, _ = f.absolute(filled)
		} else {
			t = f.sh.where + ":" + filled
		}
		if kind == KindRead || kind == KindWrite || kind == KindDelete || kind == KindMove {
			f.onPath(kind, t, !f.unknown)
			return
		}
		f.effect(kind, t, !f.unknown)
	case f.unknown && (filled == "" || filled == "*" ||
		strings.HasSuffix(filled, ":*") && !strings.Contains(text, "*")):
		f.effect(kind, filled, false)
	default:
		if f.sh.where != "" && filled != "" {
			filled = f.sh.where + ":" + filled
		}
		f.effectWhy(kind, cmp.Or(filled, string(kind)+":"), true, "")
		if kind == KindRun && strings.HasSuffix(filled, "program:agent") && (f.sh.where != "" || f.isElsewhere()) {
			f.effectWhy(KindGuard, "program:agent", true, "starts an agent where its hooks are not")
		}
	}
	if kind == KindRun && strings.HasPrefix(filled, "project:") {
		f.runsProject()
	}
	if kind == KindRun && isPath {
		f.runsMade(filled, "", filled)
	}
}

// opensContainer are options by which a container reaches this machine, or goes on running.
var opensContainer = wordLists["opensContainer"]

// image is the target of a container that runs. An image with the name of the project belongs to the project. An
// image of another name that gets nothing of this machine is an unknown program.
func (f *filler) image(target string) string {
	name := strings.TrimPrefix(target, "image:")
	last := path.Base(name)
	if own, _, _ := strings.Cut(last, ":"); own == path.Base(f.sh.r.env.Cwd) {
		return "image:" + last
	}
	network := ""
	for _, g := range f.a.given {
		switch {
		case opensContainer[g.name]:
			return target
		case (g.name == "--network" || g.name == "--net") && g.value != nil:
			network = g.value.Text
		}
	}
	if !strings.Contains(name, "/") || network != "" && network != "none" && network != "bridge" {
		return target
	}
	if network != "none" {
		f.doubt(DoubtProgram, "the image "+name+" is not of this project")
	}
	return "container:" + name
}

// isElsewhere reports whether the command has another home folder than the user.
func (f *filler) isElsewhere() bool {
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		w, known := f.sh.vars[name]
		if i := slices.IndexFunc(f.env, func(a Assign) bool { return a.Name == name }); i >= 0 {
			w, known = f.env[i].Value, true
		}
		if known && w.Text != f.sh.r.env.Home {
			return true
		}
	}
	return false
}

// fill fills the placeholders of a text.
func (f *filler) fill(text string) string {
	f.unknown = false
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		rest := text[i+1:]
		name, n := "", 0
		switch {
		case rest[0] == '{':
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				b.WriteByte('$')
				continue
			}
			name, n = rest[1:end], end+1
		case rest[0] == '/' && len(rest) > 1:
			name, n = rest[:2], 2
		case rest[0] == '-':
			n = 1
			for n < len(rest) && (rest[n] == '-' || rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' &&
				rest[n] <= 'Z') {
				n++
			}
			name = rest[:n]
		case strings.HasPrefix(rest, "host"):
			name, n = "host", 4
		default:
			name, n = rest[:1], 1
		}
		whole := strings.HasSuffix(b.String(), "url:")
		b.WriteString(f.placeholder(name, whole))
		i += n
	}
	return strings.ReplaceAll(b.String(), "host:host:", "host:")
}

// placeholder is the value of one placeholder: the first of its alternatives that is given. whole
// means as it is written, and not the host of an address.
func (f *filler) placeholder(name string, whole bool) string {
	names, def, _ := strings.Cut(name, "|")
	for alt := range strings.FieldsSeq(names) {
		last := strings.HasPrefix(alt, "/")
		alt = strings.TrimPrefix(alt, "/")
		var w *Word
		ro := role{}
		switch {
		case alt == "*":
			w = f.by
		case alt == "@":
			if w = f.each; w != nil && f.e != nil {
				for i := range f.a.operands {
					if &f.a.operands[i] == f.each {
						ro = roleAt(f.a.rolesOf(f.e.words), i, len(f.a.operands))
					}
				}
			}
		case alt == "last":
			if n := len(f.a.operands); n > 0 {
				w = &f.a.operands[n-1]
				if f.e != nil {
					ro = roleAt(f.a.rolesOf(f.e.words), n-1, n)
				}
			}
		case alt == "host":
			w = f.hostWord()
			ro = role{name: "host"}
		case strings.HasPrefix(alt, "-"):
			for i := range f.options {
				if f.options[i].name == alt && f.options[i].value != nil {
					w, ro = f.options[i].value, f.options[i].role
				}
			}
		default:
			if n, err := strconv.Atoi(alt); err == nil && n >= 1 && n <= len(f.a.operands) {
				w = &f.a.operands[n-1]
				if f.e != nil {
					ro = roleAt(f.a.rolesOf(f.e.words), n-1, len(f.a.operands))
				}
			}
		}
		if w == nil || w.Text == "" {
			continue
		}
		if w.Kind == Unknown {
			f.unknown = true
		}
		if whole {
			ro = role{}
		}
		return f.shown(*w, ro, last)
	}
	return def
}

// shown is a word as it stands in a target.
func (f *filler) shown(w Word, ro role, last bool) string {
	text := strings.ReplaceAll(w.Text, unknownPart, "*")
	if last {
		text, _, _ = strings.Cut(text, "?")
		return strings.TrimSuffix(path.Base(strings.TrimSuffix(text, "/")), ".git")
	}
	switch ro.name {
	case "read", "write", "delete", "move", "into", "script", "program", "cd":
		if t, ok := f.target(w); t != "" || ok {
			return t
		}
		return ""
	case "name":
		return ro.arg + ":" + text
	case "user", "unit", "process", "table":
		return ro.name + ":" + text
	case "remote":
		if isURL(text) || isScpLike(text) {
			return "host:" + hostOf(text)
		}
		if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") {
			return f.anyPath(w)
		}
		return "remote:" + text
	case "from", "to":
		if head, _, _ := strings.Cut(text, "/"); strings.Contains(head, ":") {
			return "host:" + hostOf(text)
		}
		return f.anyPath(w)
	case "host", "url", "address":
		return "host:" + hostOf(text)
	}
	return text
}

// hostWord is the word that says which host a command is about.
func (f *filler) hostWord() *Word {
	for i := range f.options {
		switch f.options[i].role.name {
		case "host", "url", "remote":
			if f.options[i].value != nil {
				return f.options[i].value
			}
		case "name": // psql --dbname=postgres://HOST/shop
			if v := f.options[i].value; v != nil && isURL(v.Text) {
				return v
			}
		}
	}
	if f.e == nil {
		return nil
	}
	for i := range f.a.operands {
		switch roleAt(f.a.rolesOf(f.e.words), i, len(f.a.operands)).name {
		case "host", "url", "remote":
			return &f.a.operands[i]
		case "name":
			if isURL(f.a.operands[i].Text) {
				return &f.a.operands[i]
			}
		}
	}
	return nil
}
