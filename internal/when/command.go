package when

import (
	"slices"

	"github.com/hookd/hookd/internal/dialect/neutral"
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

// has reports whether a command of the call may be the one that p stands for.
func has(read *facts.Facts, p *facts.CommandPattern) bool {
	return slices.ContainsFunc(read.Doubts, func(d facts.Doubt) bool {
		return slices.Contains(hiding, d.Kind) || d.Kind == facts.DoubtTool && read.Tool == neutral.Shell
	}) || slices.ContainsFunc(read.Commands, func(c facts.Command) bool { return p.Fit(&c) != facts.No })
}
