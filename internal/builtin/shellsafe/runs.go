package shellsafe

import (
	"regexp"
	"slices"
	"strings"
)

// runs looks at the command lines and commands that a command runs, and
// reports whether that is all there is to it.
func (s *scan) runs(program string, args []arg, l *line, in input, depth int) bool {
	if slices.Contains(s.known.Shells, program) {
		s.shell(program, args, in, depth)
		return true
	}
	switch program {
	case "eval":
		s.evaluated(program, args, depth)
		return true
	case "source", ".":
		s.unknown(written(program, args), "runs a file")
		return true
	case "trap":
		s.trap(args, depth)
		return true
	case "alias":
		s.unknown(written(program, args), "changes what a name runs")
		for _, a := range args {
			_, value, _ := strings.Cut(a.text, "=")
			s.guessing(func() { s.line(value, depth+1) })
		}
		return true
	case "find", "fd":
		return s.eachFound(program, args, depth)
	case "git":
		s.gitAliases(args, depth)
	}
	if w, rest, ok := s.carrier(program, l); ok {
		s.wrapped(program, w, rest, in, depth)
		return true
	}
	w, ok := s.known.Wrappers[program]
	if !ok || len(w.Sub) > 0 && (len(l.words) == 0 || !slices.Contains(w.Sub, l.words[0].text)) {
		return false
	}
	if len(args) == 0 {
		return false
	}
	if len(w.Sub) > 0 {
		args = args[slices.IndexFunc(args, func(a arg) bool { return a.text == l.words[0].text })+1:]
	}
	return s.wrapped(program, w, args, in, depth)
}

// carrier finds the entry for a subcommand that runs a command, such as docker
// exec, and the words after the subcommand.
func (s *scan) carrier(program string, l *line) (w wrapper, rest []arg, ok bool) {
	for name, w := range s.known.Carriers {
		path := strings.Fields(name)
		if path[0] != program || !l.begins(path[1:]) {
			continue
		}
		rest = l.all
		for _, p := range path[1:] {
			rest = rest[slices.IndexFunc(rest, func(a arg) bool { return strings.ToLower(a.text) == p })+1:]
		}
		return w, rest, true
	}
	return wrapper{}, nil, false
}

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=`)

// wrapped looks at the command that a wrapper runs. It reports false if there
// is none.
func (s *scan) wrapped(program string, w wrapper, args []arg, in input, depth int) bool {
	if w.Changes != "" {
		s.unknown(written(program, args), w.Changes)
	} else if bad := w.harmless.read(args).bad; bad != "" {
		s.unknown(written(program, args), bad+" is not known to change nothing")
	}
	before := len(s.found)
	rest, lines, ok := w.inner(args)
	for _, text := range lines {
		s.evaluated(program, []arg{text}, depth)
	}
	if !ok {
		return true // it only looks something up
	}
	variables, rest := s.innerAssigns(w, rest)
	defer func() {
		for _, a := range variables {
			s.environment(assignment.FindStringSubmatch(a.text)[1], a, len(s.found) > before)
		}
	}()
	if w.Stop != "" {
		if i := slices.IndexFunc(rest, func(a arg) bool { return strings.HasPrefix(a.text, w.Stop) }); i >= 0 {
			rest = rest[:i]
		}
	}
	if len(rest) == 0 {
		return w.Changes != "" || len(lines) > 0
	}
	if w.Feeds {
		rest = fed(args, rest)
		in = input{piped: true}
	}
	look := func() {
		if w.Joined {
			s.evaluated(program, rest, depth)
		} else {
			s.command(rest, in, depth+1)
		}
	}
	if w.Opaque || w.Changes != "" {
		s.guessing(look) // it asks anyway: only what is destroyed adds to that
	} else {
		look()
	}
	for i := before; i < len(s.found) && w.Category != ""; i++ {
		if f := &s.found[i]; f.radius != Unknown {
			f.category, f.radius = w.Category, High
		}
	}
	return true
}

// inner finds where the inner command begins: after the wrapper's flags, their
// values and the words that are its own. lines are command lines given by
// flags. ok is false if the wrapper was only asked to look a command up.
func (w wrapper) inner(args []arg) (rest, lines []arg, ok bool) {
	skip := w.Skip
	for len(args) > 0 {
		text := args[0].text
		name, value, inline := strings.Cut(text, "=")
		switch {
		case text == "--" && !args[0].dynamic:
			if skip == 0 {
				return args[1:], lines, true
			}
			args = args[1:]
			continue
		case len(text) < 2 || text[0] != '-':
			if skip == 0 {
				return args, lines, true
			}
			skip--
			args = args[1:]
			continue
		case slices.Contains(w.Lookup, text):
			return nil, nil, false
		}
		args = args[1:]
		switch {
		case slices.Contains(w.Text, name) && inline:
			lines = append(lines, arg{text: value})
		case textFlag(w.Text, text) != "":
			if rest := strings.TrimPrefix(text, textFlag(w.Text, text)); rest != "" {
				lines = append(lines, arg{text: rest})
			} else if len(args) > 0 {
				lines, args = append(lines, args[0]), args[1:]
			}
		case slices.Contains(w.Valued, text) && len(args) > 0:
			args = args[1:]
		}
	}
	return nil, lines, true
}

// fed returns the command of an xargs with the words that it adds, or puts in
// the place of a mark.
func fed(args, command []arg) []arg {
	mark := ""
	for i, a := range args[:len(args)-len(command)] {
		switch {
		case a.text == "-I" && i+1 < len(args):
			mark = args[i+1].text
		case strings.HasPrefix(a.text, "-I"):
			mark = a.text[2:]
		case a.text == "-i" || a.text == "--replace":
			mark = "{}"
		case strings.HasPrefix(a.text, "--replace="):
			mark = strings.TrimPrefix(a.text, "--replace=")
		case strings.HasPrefix(a.text, "-i"):
			mark = a.text[2:]
		}
	}
	if mark == "" {
		return append(slices.Clip(command), arg{dynamic: true, split: true})
	}
	return marked(command, mark, "")
}

// marked returns a command's words with what takes the place of mark computed;
// each such word then begins with start.
func marked(command []arg, mark, start string) []arg {
	out := slices.Clone(command)
	for i, a := range command {
		if before, _, ok := strings.Cut(a.text, mark); ok {
			if before == "" {
				before = start
			}
			out[i] = arg{text: before, dynamic: true, guess: strings.ReplaceAll(a.text, mark, "./file"), src: a.src}
		}
	}
	return out
}

// textFlag returns the flag of flags that text is, or begins with if that is a
// short one; "" if there is none.
func textFlag(flags []string, text string) string {
	for _, f := range flags {
		if text == f || len(f) == 2 && strings.HasPrefix(text, f) {
			return f
		}
	}
	return ""
}

// innerAssigns takes NAME=value off the front of the inner command.
func (s *scan) innerAssigns(w wrapper, rest []arg) (variables, command []arg) {
	for i, a := range rest {
		if !assignment.MatchString(a.text) || a.split || !w.Assigns && w.Changes == "" {
			return rest[:i], rest[i:]
		}
	}
	return rest, nil
}

// evaluated looks at words that become a command line.
func (s *scan) evaluated(program string, words []arg, depth int) {
	var parts []string
	computed := false
	for _, a := range words {
		if a.dynamic && a.guess != "" {
			parts, computed = append(parts, a.guess), true
			continue
		}
		parts, computed = append(parts, a.text), computed || a.dynamic
	}
	text := strings.Join(parts, " ")
	if !computed {
		s.line(text, depth+1)
		return
	}
	s.unknown(written(program, words), "runs text that is computed")
	s.guessing(func() { s.line(text, depth+1) })
}

// plainShells are those whose language is read here; the others have their own.
var plainShells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"}

var (
	shellFlag = regexp.MustCompile(`^(?:-[euxvlfsp]+|--(?:login|norc|noprofile|posix)|-)$`)
	shellText = regexp.MustCompile(`^-[euxvlfsp]*c[euxvlfsp]*$`)
)

// shell looks at what a shell is told to run: its -c, a file, or its input.
func (s *scan) shell(program string, args []arg, in input, depth int) {
	what := written(program, args)
	if !slices.Contains(plainShells, program) {
		s.unknown(what, "runs the text of another language")
	}
	for i, a := range args {
		text, flag := a.text, len(a.text) > 1 && strings.ContainsAny(a.text[:1], "-+")
		switch {
		case a.mayBeFlag():
			s.unknown(what, "has flags that are computed")
			return
		case a.dynamic || !flag && text != "-" && text != "/dev/stdin":
			s.unknown(what, "runs a file")
			return
		case flag && text[0] == '-' && !strings.HasPrefix(text, "--") && strings.Contains(text, "c"):
			if !shellText.MatchString(text) {
				s.unknown(what, text+" is not known to change nothing")
			}
			s.commandText(program, args[i+1:], depth)
			return
		case flag && !shellFlag.MatchString(text):
			s.unknown(what, text+" is not known to change nothing")
			isPrefix := func(f string) bool { return strings.HasPrefix(text, f) }
			if slices.ContainsFunc([]string{"-o", "+o", "-O", "--"}, isPrefix) {
				s.afterOption(program, args[i+1:], depth)
				return
			}
		}
	}
	if in.text != "" {
		s.evaluated(program, []arg{{text: in.text, dynamic: !in.known, guess: in.text}}, depth)
	}
	if !in.known {
		s.unknown(what, "runs what it reads")
	}
}

// afterOption looks for the text to run behind a flag that is not known.
func (s *scan) afterOption(program string, rest []arg, depth int) {
	for i, a := range rest {
		if len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' && strings.Contains(a.text, "c") {
			s.commandText(program, rest[i+1:], depth)
			return
		}
	}
}

// commandText looks at the text after -c. Further flags may stand before it.
func (s *scan) commandText(program string, rest []arg, depth int) {
	for len(rest) > 0 && !rest[0].dynamic && len(rest[0].text) > 1 && strings.ContainsAny(rest[0].text[:1], "-+") {
		if !shellFlag.MatchString(rest[0].text) {
			s.unknown(rest[0].written(), "is a flag of "+program+" that is not known to change nothing")
		}
		rest = rest[1:]
	}
	if len(rest) == 0 {
		s.unknown(program+" -c", "has no text to run")
		return
	}
	s.evaluated(program, rest[:1], depth)
}

// trap looks at the action of trap ACTION SIGNAL.
func (s *scan) trap(args []arg, depth int) {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) > 0 && args[0].text == "-" && !args[0].dynamic || len(args) == 1 && args[0].text == "-l" {
		return
	}
	for _, a := range args[min(1, len(args)):] {
		if a.dynamic || !signalName.MatchString(a.text) {
			s.unknown(written("trap", args), a.written()+" is no signal that is known")
		}
	}
	if len(args) < 2 {
		return
	}
	s.evaluated("trap", args[:1], depth)
}

// eachFound looks at the commands that find -exec and fd -x run for each file,
// and reports whether what is left of the command only finds.
func (s *scan) eachFound(program string, args []arg, depth int) bool {
	runsEach := []string{"-exec", "-execdir", "-ok", "-okdir"}
	if program == "fd" {
		runsEach = []string{"-x", "--exec", "-X", "--exec-batch"}
	}
	var own []arg
	ran := false
	for i := 0; i < len(args); i++ {
		if !slices.Contains(runsEach, args[i].text) {
			own = append(own, args[i])
			continue
		}
		end := i + 1
		for end < len(args) && args[end].text != ";" && (args[end].text != "+" || program == "fd") {
			end++
		}
		ran = true
		s.eachFile(args[i+1:end], depth)
		i = end
	}
	if !ran {
		return false
	}
	if program == "fd" { // it adds the file where it is not told
		s.unknown(written(program, args), "runs a command for each file")
		return true
	}
	bad, ok := s.reads(program, own)
	if !ok {
		s.unknown(written(program, args), bad+" is not known to only find")
	}
	return true
}

// eachFile looks at a command that gets the names of files: what it destroys,
// it destroys everywhere.
func (s *scan) eachFile(args []arg, depth int) {
	if len(args) == 0 {
		s.unknown("find -exec", "has no command")
		return
	}
	args = marked(args, "{}", "./")
	before := len(s.found)
	s.command(args, input{}, depth+1)
	for i := before; i < len(s.found); i++ {
		if f := &s.found[i]; f.radius == Low || f.radius == Medium {
			f.radius = High
		}
	}
}

// gitAliases looks at git -c alias.name='!command'.
func (s *scan) gitAliases(args []arg, depth int) {
	for _, a := range args {
		_, value, ok := strings.Cut(a.text, "=!")
		if ok && strings.HasPrefix(strings.ToLower(a.text), "alias.") {
			s.line(value, depth+1)
		}
	}
}
