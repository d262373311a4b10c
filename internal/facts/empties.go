package facts

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// sedAll finds a sed program that deletes each line.
var sedAll = lazyregexp.New(`^\s*(?:(?:1|0),\$\s*)?d\s*;?\s*$|^\s*(?:/\.\*/|/^/)\s*d\s*$`)

// empties adds that a command leaves a file without its content: the emptied file is written, and its
// old content is deleted.
func (c *call) empties(name string, a *args) {
	c.emptiedInPlace(name, a)
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
	switch name {
	case "tee", "gtee", "sponge":
		in := c.sh.stdin
		if in.has && isBlank(output{known: in.known, text: in.text}) && given("-a", "--append") == nil {
			c.deletes(a.operands...)
		}
	case "dd", "gdd":
		if n, to := given("count"), given("of"); n != nil && to != nil && n.Text == "0" && given("conv") == nil {
			c.deletes(*to)
		}
		if from, to := given("if"), given("of"); from != nil && to != nil &&
			slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}, from.Text) {
			c.deletes(*to)
		}
	case "new-item", "ni":
		if given("-force") != nil && given("-value") == nil && len(a.operands) > 0 &&
			(given("-itemtype") == nil || strings.EqualFold(given("-itemtype").Text, "file")) {
			c.deletes(a.operands[0])
		}
	case "out-file":
		if in := c.sh.stdin; in.has && isBlank(output{known: in.known, text: in.text}) && len(a.operands) > 0 {
			c.deletes(a.operands[0])
		}
		if in := given("-inputobject"); in != nil && len(a.operands) > 0 &&
			(in.Text == "" || in.Text == "$null" || in.Kind == Unknown) {
			c.deletes(a.operands[0])
		}
	case "set-content":
		if in := c.sh.stdin; in.has && isBlank(output{known: in.known, text: in.text}) && len(a.operands) == 1 {
			c.deletes(a.operands[0])
		}
		value := given("-value")
		if value == nil && len(a.operands) > 1 {
			value = &a.operands[1]
		}
		if value != nil && len(a.operands) > 0 &&
			(value.Kind == Literal && strings.TrimSpace(value.Text) == "" || value.Text == "$null") {
			c.deletes(a.operands[0])
		}
	case "sort", "gsort":
		if to := given("-o", "--output"); to != nil && c.takesNothing(a) {
			c.deletes(*to)
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
			c.deletes(files...)
		}
	}
}

// copiesNothing adds that a filter of texts leaves its target without content, as its source is empty:
// uniq /dev/null notes.md. from is where the effects of the command begin.
func (c *call) copiesNothing(a *args, from int) {
	n := len(a.operands)
	if n == 0 || a.operands[n-1].Text == "/dev/null" && !c.has(a, "-o") && !c.has(a, "--output") ||
		!slices.ContainsFunc(a.operands, func(w Word) bool { return w.Text == "/dev/null" }) {
		return
	}
	for _, e := range slices.Clone(c.sh.r.out.Effects[from:]) {
		if e.Kind == KindWrite && strings.HasPrefix(e.Target, "/") {
			c.onPath(KindDelete, e.Target, e.Certain)
		}
	}
}

func (c *call) deletes(files ...Word) {
	for _, w := range files {
		c.path(KindDelete, w)
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
func (c *call) emptiedInPlace(name string, a *args) {
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
			c.deletes(files...)
		}
	case "sed", "gsed":
		if inPlace && (quiet && !strings.ContainsAny(text, "pPlwir") || blanksAll.MatchString(text)) {
			c.deletes(files...)
		}
	case "awk", "gawk", "mawk", "nawk":
		if code := strings.TrimSpace(text); inPlace && len(bare) == len(text) &&
			(code == "0" || strings.Contains(code, "{")) {
			c.deletes(files...)
		}
		for _, m := range blankFile.FindAllStringSubmatch(text, -1) {
			c.deletes(Word{Text: m[1], Kind: Literal})
		}
	}
}
