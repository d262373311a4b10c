package shellsafe

import "strings"

// command looks at one command: what it destroys, what it runs, and if it is
// neither, whether it is known to read.
func (s *scan) command(args []arg, in input, depth int) {
	name := args[0]
	if name.dynamic || name.pattern && name.text != "[" && name.text != "[[" {
		s.computed(args, in, depth)
		return
	}
	if depth > maxDepth {
		s.unknown(name.text, "runs too many commands within commands")
		return
	}
	what := written(name.written(), args[1:])
	path, genuine := s.known.programName(name.text)
	program, args := path[0], append(literals(path[1:]), args[1:]...)
	l := sortArgs(args, s.known.Programs[program].Valued)
	destroys := s.destroys(program, what, &l, in.text)
	bad, reads := s.reads(program, args)
	switch {
	case genuine && reads:
	case s.runs(program, args, &l, in, depth):
	case destroys:
	case !genuine:
		s.unknown(what, "is not where the known program of that name is")
	case bad != "":
		s.unknown(beside(what, bad), shortened(bad)+" is not known to only read")
	default:
		s.unknown(what, "is not known to only read")
	}
}

// beside is the part of a line that is too long to be told, with what matters
// in it.
func beside(what, matters string) string {
	if len(what) <= maxPart || matters == "" {
		return what
	}
	return shortened(what[:maxPart/2]) + " ... " + matters
}

// computed looks at a command whose name is only known when it runs. It may
// turn out to be what a variable holds, or empty: then the next word is one.
func (s *scan) computed(args []arg, in input, depth int) {
	s.unknown(written(args[0].written(), args[1:]), "has a name that is computed")
	if depth > maxDepth {
		return
	}
	s.guessing(func() {
		if name := args[0].guess; name != "" {
			s.command(append(literals(strings.Fields(name)), args[1:]...), in, depth+1)
		}
		if len(args) > 1 {
			s.command(args[1:], in, depth+1)
		}
	})
}

func literals(words []string) []arg {
	args := make([]arg, len(words))
	for i, w := range words {
		args[i].text = w
	}
	return args
}

// destroys adds the worst entry that fits and reports whether one did.
func (s *scan) destroys(program, what string, l *line, stdin string) bool {
	var worst *entry
	for _, e := range s.known.destructiveFor(program) {
		if e.fits(l, stdin) && (worst == nil || rank[e.Radius] > rank[worst.Radius]) {
			worst = e
		}
	}
	if worst == nil {
		return false
	}
	s.add(finding{worst.Radius, worst.Category, beside(what, worst.culprit(l)), worst.Reason})
	return true
}

// reads reports whether the command is known to only read; bad is the part of
// it for which it is not.
func (s *scan) reads(program string, args []arg) (bad string, ok bool) {
	if refuses := builtins[program]; refuses != nil {
		return refuses(s, args)
	}
	// without a command a wrapper does nothing
	if w, ok := s.known.Wrappers[program]; ok && w.Changes == "" && program != "env" {
		own := w.harmless.read(args)
		return own.bad, own.bad == "" && len(own.rest) == 0
	}
	return readers().refuses(program, args)
}
