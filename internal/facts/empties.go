package facts

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// sedAll finds a sed program that deletes each line.
var sedAll = lazyregexp.New(`^\s*(?:(?:1|0),\$\s*)?d\s*;?\s*$|^\s*(?:/\.\*/|/^/)\s*d\s*$`)

// emptying is a command that may leave a file without its content.
type emptying struct {
	*finder
	name string // of the program, and of its subcommand
	a    *args
}

// empties adds that a command leaves a file without its content: the emptied file is written, and its
// old content is deleted.
func (m *emptying) empties() {
	a := m.a
	m.emptiedInPlace()
	given := func(names ...string) *Word {
		i := slices.IndexFunc(a.given, func(g given) bool { return slices.Contains(names, g.name) })
		if i < 0 {
			return nil
		}
		if v := a.given[i].value; v != nil {
			return v
		}
		return &Word{}
	}
	switch m.name {
	case "tee", "gtee", "sponge":
		in := m.sh.stdin
		if in.has && isBlank(output{known: in.known, text: in.text}) && given("-a", "--append") == nil {
			m.deletes(a.operands...)
		}
	case "dd", "gdd":
		if n, to := given("count"), given("of"); n != nil && to != nil && n.Text == "0" && given("conv") == nil {
			m.deletes(*to)
		}
		if from, to := given("if"), given("of"); from != nil && to != nil &&
			slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}, from.Text) {
			m.deletes(*to)
		}
	case "new-item", "ni":
		if given("-force") != nil && given("-value") == nil && len(a.operands) > 0 &&
			(given("-itemtype") == nil || strings.EqualFold(given("-itemtype").Text, "file")) {
			m.deletes(a.operands[0])
		}
	case "out-file":
		if in := m.sh.stdin; in.has && isBlank(output{known: in.known, text: in.text}) && len(a.operands) > 0 {
			m.deletes(a.operands[0])
		}
		if in := given("-inputobject"); in != nil && len(a.operands) > 0 &&
			(in.Text == "" || in.Text == "$null" || in.Kind == Unknown) {
			m.deletes(a.operands[0])
		}
	case "set-content":
		if in := m.sh.stdin; in.has && isBlank(output{known: in.known, text: in.text}) && len(a.operands) == 1 {
			m.deletes(a.operands[0])
		}
		value := given("-value")
		if value == nil && len(a.operands) > 1 {
			value = &a.operands[1]
		}
		if value != nil && len(a.operands) > 0 &&
			(value.Kind == Literal && strings.TrimSpace(value.Text) == "" || value.Text == "$null") {
			m.deletes(a.operands[0])
		}
	case "sort", "gsort":
		if to := given("-o", "--output"); to != nil && a.takesNothing() {
			m.deletes(*to)
		}
	case "sed", "gsed":
		if given("-i", "--in-place", "-I") == nil {
			return
		}
		program, files := given("-e", "--expression"), a.operands
		if program == nil && len(files) > 0 {
			program, files = &files[0], files[1:]
		}
		if program != nil && sedAll.MatchString(program.Text) {
			m.deletes(files...)
		}
	}
}

// copiesNothing adds that a filter of texts leaves its target without content, as its source is empty:
// uniq /dev/null notes.md. from is where the effects of the command begin.
func (m *emptying) copiesNothing(from int) {
	a := m.a
	n := len(a.operands)
	if n == 0 || a.operands[n-1].Text == "/dev/null" && !a.has("-o") && !a.has("--output") ||
		!slices.ContainsFunc(a.operands, func(w Word) bool { return w.Text == "/dev/null" }) {
		return
	}
	for _, e := range slices.Clone(m.sh.r.out.Effects[from:]) {
		if e.Kind == KindWrite && strings.HasPrefix(e.Target, "/") {
			m.onPath(KindDelete, e.Target, e.Certain)
		}
	}
}

func (m *emptying) deletes(files ...Word) {
	for _, w := range files {
		m.path(KindDelete, w)
	}
}

var (
	// printsWords are words by which a program of an editor in place keeps a line.
	printsWords = lazyregexp.New(`\b(?:print|printf|say|puts|putc|write|p|pp|display)\b`)
	// blanksAll replaces the whole of each line: s/.*//, s/^.*$//s.
	blanksAll = lazyregexp.New(`^\s*s([/|#,!~])\^?\.[*+]\$?|^\s*(?:undef\s+)?\$_\s*(?:=\s*(?:""|'')\s*)?;?\s*$`)
	// blankFile prints nothing into a file: printf "" > "notes.md".
	blankFile = lazyregexp.New(`\bprintf?\s*\(?\s*""\s*\)?\s*>\s*"([^"]+)"`)
)

// emptiedInPlace adds that a program given as text leaves the files that it edits without content:
// perl -i -ne ”, gawk -i inplace 0, or sed -n -i with nothing to print.
func (m *emptying) emptiedInPlace() {
	name, a := m.name, m.a
	var inPlace, quiet, has bool
	text, files := "", a.operands
	for _, g := range a.given {
		value := ""
		if g.value != nil {
			value = g.value.Text
		}
		switch g.name {
		case "-i", "--in-place", "-I":
			inPlace = g.name == "-i" || g.name == "--in-place" || name != "perl"
			if name == "gawk" || name == "awk" {
				inPlace = strings.HasPrefix(value, "inplace")
			}
		case "--include":
			inPlace = strings.HasPrefix(value, "inplace")
		case "-n", "--quiet", "--silent":
			quiet = true
		case "-e", "-E", "--expression", "--source":
			has, text = true, text+value+"\n"
		}
	}
	switch name {
	case "awk", "gawk", "mawk", "nawk", "sed", "gsed":
		if !has && len(files) > 0 {
			text, files, has = files[0].Text, files[1:], true
		}
	}
	if !has || strings.Contains(text, unknownPart) {
		return
	}
	bare := printsWords.ReplaceAllString(text, "")
	switch name {
	case "perl", "perl5", "ruby":
		if inPlace && (quiet && len(bare) == len(text) || blanksAll.MatchString(text)) {
			m.deletes(files...)
		}
	case "sed", "gsed":
		if inPlace && (quiet && !strings.ContainsAny(text, "pPlwir") || blanksAll.MatchString(text)) {
			m.deletes(files...)
		}
	case "awk", "gawk", "mawk", "nawk":
		if code := strings.TrimSpace(text); inPlace && len(bare) == len(text) &&
			(code == "0" || strings.Contains(code, "{")) {
			m.deletes(files...)
		}
		for _, found := range blankFile.FindAllStringSubmatch(text, -1) {
			m.deletes(literal(found[1]))
		}
	}
}
