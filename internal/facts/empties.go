package facts

import (
	"regexp"
	"slices"
	"strings"
)

// sedAll finds a sed program that deletes each line.
var sedAll = regexp.MustCompile(`^\s*(?:(?:1|0),\$\s*)?d\s*;?\s*$|^\s*(?:/\.\*/|/^/)\s*d\s*$`)

// empties adds that a command leaves a file without its content: the emptied file is written, and its
// old content is deleted.
func (c *call) empties(name string, a *args) {
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
		if from, to := given("if"), given("of"); from != nil && to != nil && from.Text == "/dev/null" {
			c.deletes(*to)
		}
	case "set-content":
		value := given("-value")
		if value == nil && len(a.operands) > 1 {
			value = &a.operands[1]
		}
		if value != nil && value.Kind == Literal && strings.TrimSpace(value.Text) == "" && len(a.operands) > 0 {
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

func (c *call) deletes(files ...Word) {
	for _, w := range files {
		c.path(KindDelete, w)
	}
}
