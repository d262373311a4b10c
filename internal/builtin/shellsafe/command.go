package shellsafe

import (
	"regexp"
	"slices"
	"strings"
)

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
	path, genuine := s.known.programName(name.text)
	program, args := path[0], append(literals(path[1:]), args[1:]...)
	l := sortArgs(args, s.known.Programs[program].Valued)
	destroys := s.destroys(program, &l, in.text)
	switch {
	case s.functions[name.text]: // its body is looked at
	case genuine && s.reads(program, &l):
	case s.runs(program, args, &l, in, depth):
	case !destroys:
		s.unknown(name.text, "is not known to only read like this")
	}
}

// computed looks at a command whose name is only known when it runs. It may
// turn out to be what a variable holds, or empty: then the next word is one.
func (s *scan) computed(args []arg, in input, depth int) {
	s.unknown("a command", "has a name that is computed")
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
func (s *scan) destroys(program string, l *line, stdin string) bool {
	var worst *entry
	for _, e := range s.known.destructiveFor(program) {
		if e.fits(l, stdin) && (worst == nil || rank[e.Radius] > rank[worst.Radius]) {
			worst = e
		}
	}
	if worst == nil {
		return false
	}
	s.add(finding{worst.Radius, worst.Category, strings.Join(append([]string{program}, worst.path...), " "), worst.Reason})
	return true
}

// reads reports whether the command is known to only read.
func (s *scan) reads(program string, l *line) bool {
	switch program {
	case "sed":
		return sedReads(l)
	case "awk":
		return awkReads(l)
	case "printf": // -v assigns to a variable, and only counts in front
		return len(l.all) == 0 || !l.all[0].mayBeFlag() && !strings.HasPrefix(l.all[0].text, "-v")
	case "read", "mapfile", "readarray":
		return !slices.ContainsFunc(l.all, func(a arg) bool { return a.dynamic || s.known.dangerous.MatchString(a.text) }) && !l.has("-C")
	case "xargs", "parallel", "env", "exec", "command", "builtin", "nohup", "time":
		return len(l.words) == 0 && len(l.flags) == 0
	}
	p := s.known.Programs[program]
	return slices.ContainsFunc(s.known.safe[program], func(e *entry) bool { return e.vouches(l, p) })
}

var (
	sedAddress = `(?:[0-9]+(?:~[0-9]+)?|\$|/[^/\\\n]*/I?)`
	sedCommand = `(?:` + sedAddress + `(?:,[+~]?` + sedAddress + `)?!?)?[pdqln=]`
	sedReplace = `(?:` + sedAddress + `(?:,` + sedAddress + `)?)?s(?:/[^/\n]*/[^/\n]*/|\|[^|\n]*\|[^|\n]*\||#[^#\n]*#[^#\n]*#|,[^,\n]*,[^,\n]*,)[gpiI0-9]*`
	sedPart    = `\s*(?:` + sedCommand + `|` + sedReplace + `)\s*`
	sedScript  = regexp.MustCompile(`^` + sedPart + `(?:[;\n]` + sedPart + `)*;?$`)
	sedFlags   = []string{"-n", "-E", "-r", "-e", "-s", "-u", "-z", "-nE", "-En", "-nr", "-ne", "-Ee", "--quiet", "--silent", "--regexp-extended", "--expression", "--posix"}
)

// sedReads reports whether a sed prints, deletes or replaces on its way to
// standard output: its commands can also write files (w) and run commands (e).
func sedReads(l *line) bool {
	if slices.ContainsFunc(l.exact, func(f string) bool { return !slices.Contains(sedFlags, f) }) || slices.ContainsFunc(l.all, arg.mayBeFlag) || len(l.words) == 0 {
		return false
	}
	script := !l.has("-e") && !l.has("--expression")
	for i, w := range l.words {
		isScript := script && i == 0
		for j, a := range l.all {
			if j > 0 && a.text == w.text && (l.all[j-1].text == "--expression" || strings.HasPrefix(l.all[j-1].text, "-") && strings.HasSuffix(l.all[j-1].text, "e")) {
				isScript = true
			}
		}
		if isScript && (w.dynamic || !sedScript.MatchString(w.text)) {
			return false
		}
	}
	return !slices.ContainsFunc(l.all, func(a arg) bool { return strings.HasPrefix(a.text, "--expression=") })
}

// awkWrites is what an awk program may write or run with.
var awkWrites = regexp.MustCompile(`[>|@]|system|getline|close|load`)

// awkReads reports whether an awk program has nothing to write with. A
// comparison by > looks the same as writing to a file.
func awkReads(l *line) bool {
	flags := []string{"-F", "-v", "--field-separator", "--assign"}
	for i, a := range l.all {
		name, _, _ := strings.Cut(a.text, "=")
		if strings.HasPrefix(a.text, "-") && a.text != "-" && !slices.ContainsFunc(flags, func(f string) bool {
			return name == f || len(f) == 2 && strings.HasPrefix(a.text, f)
		}) {
			return false
		}
		if a.dynamic && (a.split || a.text == "") || awkWrites.MatchString(a.text) && !(i > 0 && l.all[i-1].text == "-F") && !strings.HasPrefix(a.text, "-F") {
			return false
		}
	}
	return len(l.words) > 0
}
