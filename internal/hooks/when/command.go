package when

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts"
)

// hiding are the doubts behind which any command may be.
var hiding = []facts.DoubtKind{
	facts.DoubtParse, facts.DoubtEval, facts.DoubtCode, facts.DoubtOpen, facts.DoubtMade, facts.DoubtVariable,
	facts.DoubtLimits,
}

// fitsCommand reports whether the call runs one of the commands. In doubt it does.
func (f *Facts) fitsCommand(patterns []facts.CommandPattern) bool {
	if has, unsure := f.hasTool(); !has {
		return unsure
	}
	if f.read == nil {
		f.read = facts.Read(*f.callOf(), facts.Env{Cwd: f.event.Cwd})
	}
	return slices.ContainsFunc(patterns, func(p facts.CommandPattern) bool { return has(f.read, &p) })
}

// fittedCommand says which command of the call is one of those, or why one may be.
func (f *Facts) fittedCommand(patterns []facts.CommandPattern) string {
	if f.read == nil {
		return "command: the event names no tool"
	}
	perhaps := ""
	for _, p := range patterns {
		for _, c := range f.read.Commands {
			switch p.Fit(&c) {
			case facts.Sure:
				return fmt.Sprintf("command %s: %q", p.Text, c.Text)
			case facts.Perhaps:
				perhaps = cmp.Or(perhaps, fmt.Sprintf("perhaps command %s: %q", p.Text, c.Text))
			}
		}
	}
	if perhaps == "" && len(f.read.Doubts) > 0 {
		perhaps = "command in doubt: " + f.read.Doubts[0].Text
	}
	return perhaps
}

// has reports whether a command of the call may be the command that p stands for.
func has(read *facts.Facts, p *facts.CommandPattern) bool {
	return slices.ContainsFunc(read.Doubts, func(d facts.Doubt) bool {
		return slices.Contains(hiding, d.Kind) || d.Kind == facts.DoubtTool && read.Tool == neutral.Shell
	}) || slices.ContainsFunc(read.Commands, func(c facts.Command) bool { return p.Fit(&c) != facts.No })
}
