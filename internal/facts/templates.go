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
	host    *Word // the word that $host stands for; nil = the first
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
		if strings.Contains(t.target, "$host") || strings.Contains(t.target, "${host") {
			f.perHost(t)
			continue
		}
		f.one(EffectKind(t.kind), t.target, nil)
	}
}

// perHost gives an effect for each host, or with the default of the placeholder: without a default none.
func (f *filler) perHost(t template) {
	hosts := f.hostWords()
	for _, f.host = range hosts {
		f.one(EffectKind(t.kind), t.target, nil)
	}
	if f.host = nil; len(hosts) == 0 && strings.Contains(t.target, "|") {
		f.one(EffectKind(t.kind), t.target, nil)
	}
}

// perOperand gives an effect for each operand.
func (f *filler) perOperand(t template) {
	text := t.target
	before, rest, hasDefault := strings.Cut(text, "${@|")
	def, after, _ := strings.Cut(rest, "}")
	switch {
	case hasDefault && len(f.a.operands) == 0:
		f.one(EffectKind(t.kind), before+def+after, nil)
	case hasDefault:
		text = before + "$@" + after
	case len(f.a.operands) == 0:
		f.one(EffectKind(t.kind), strings.NewReplacer("$@", "", "$/@", "").Replace(text), nil)
	}
	for i := range f.a.operands {
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
			w = f.each
			for i := range f.a.operands {
				if &f.a.operands[i] == f.each {
					w, ro = f.operand(i)
				}
			}
		case alt == "last":
			w, ro = f.operand(len(f.a.operands) - 1)
		case alt == "host":
			if w = f.host; w == nil {
				if hosts := f.hostWords(); len(hosts) > 0 {
					w = hosts[0]
				}
			}
			ro = role{name: "host"}
		case strings.HasPrefix(alt, "-"):
			for i := range f.options {
				if f.options[i].name == alt && f.options[i].value != nil {
					w, ro = f.options[i].value, f.options[i].role
				}
			}
		default:
			if n, err := strconv.Atoi(alt); err == nil {
				w, ro = f.operand(n - 1)
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

// operand is the operand at an index, with its role; nil = there is none.
func (f *filler) operand(i int) (w *Word, ro role) {
	if n := len(f.a.operands); i < 0 || i >= n {
		return nil, ro
	} else if f.e != nil {
		ro = roleAt(f.a.rolesOf(f.e.words), i, n)
	}
	return &f.a.operands[i], ro
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

// hostWords are the words that say which hosts a command is about: options, then operands. A variable of the line does
// where neither is given.
func (f *filler) hostWords() (list []*Word) {
	names := func(ro role, w *Word) {
		switch {
		case w == nil:
		case ro.name == "host", ro.name == "url", ro.name == "remote",
			ro.name == "name" && isURL(w.Text), // psql --dbname=postgres://HOST/shop
			ro.name == "repo" && repoHost(w.Text, ro.arg) != "":
			list = append(list, w)
		case ro.name == "backup":
			if at := w.with(backupAddress(w.Text)); at.Text != "" {
				list = append(list, &at)
			}
		}
	}
	for i := range f.options {
		names(f.options[i].role, f.options[i].value)
	}
	if f.e != nil {
		for i := range f.a.operands {
			names(roleAt(f.a.rolesOf(f.e.words), i, len(f.a.operands)), &f.a.operands[i])
		}
	}
	for i := range f.obeyed {
		if len(list) == 0 {
			names(f.obeyed[i].role, f.obeyed[i].value)
		}
	}
	return list
}

// repoHost is the host that a repository of a forge lies on: that of an address, or of HOST/OWNER/NAME; "" = the line
// does not say. With an argument of the role an address alone counts: the word may also be a branch.
func repoHost(text, arg string) string {
	if isURL(text) || isScpLike(text) && strings.Contains(text, "@") || arg == "" && strings.Count(text, "/") == 2 {
		return hostOf(text)
	}
	return ""
}

// backupAddress is the address at which a program of backups finds its repository; "" = that is a folder of this
// machine: sftp:me@host:/folder, s3:host/bucket, rest:https://host, me@host:folder::archive.
func backupAddress(text string) string {
	service, rest, _ := strings.Cut(text, ":")
	switch {
	case strings.HasPrefix(text, "file:"):
		return ""
	case backupServices[service] && !strings.HasPrefix(rest, "//"):
		return rest
	case isURL(text), isScpLike(text) && (strings.Contains(service, "@") || strings.HasPrefix(rest, "/") ||
		strings.HasPrefix(rest, ":/")):
		return text
	}
	return ""
}

// backupServices stand before the address of a repository.
var backupServices = names("sftp rest s3 b2 gs azure swift rclone webdav")
