package familiar

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program says where a command's arguments are program text.
type program struct {
	letters  string // an option that ends in one of these is followed by program text
	operands [2]int // operands from the first to before the second are program text, if no option was
	stdin    bool   // without program and operands it reads its program from stdin
	valued   string // letters of options that have a value of their own
}

const all = 1 << 20

// programs are the commands whose arguments are programs, or name the things that
// are run or changed.
var programs = map[string]program{
	"eval":      {operands: [2]int{0, all}},
	"alias":     {operands: [2]int{0, all}},
	"trap":      {operands: [2]int{0, 1}},
	".":         {operands: [2]int{0, 1}},
	"source":    {operands: [2]int{0, 1}},
	"unset":     {operands: [2]int{0, all}},
	"read":      {operands: [2]int{0, all}, valued: "p"},
	"printf":    {letters: "v"},
	"sh":        {letters: "c", operands: [2]int{0, 1}, stdin: true, valued: "o"},
	"python":    {letters: "c", operands: [2]int{0, 1}, stdin: true, valued: "mWX"},
	"perl":      {letters: "eE", operands: [2]int{0, 1}, stdin: true, valued: "I"},
	"ruby":      {letters: "e", operands: [2]int{0, 1}, stdin: true, valued: "Ir"},
	"node":      {letters: "ep", operands: [2]int{0, 1}, stdin: true, valued: "r"},
	"php":       {letters: "rBRE", operands: [2]int{0, 1}, stdin: true, valued: "d"},
	"lua":       {letters: "e", operands: [2]int{0, 1}, stdin: true, valued: "l"},
	"osascript": {letters: "e", operands: [2]int{0, 1}, stdin: true, valued: "l"},
	"awk":       {letters: "e", operands: [2]int{0, 1}, valued: "vFf"},
	"sed":       {letters: "e", operands: [2]int{0, 1}, valued: "fl"},
	"jq":        {operands: [2]int{0, 1}, valued: "fL"},
	"sqlite":    {operands: [2]int{1, all}, stdin: true},
	"psql":      {letters: "c", stdin: true, valued: "dhpUfv"},
	"mysql":     {letters: "e", stdin: true, valued: "uhPD"},
	"ssh":       {operands: [2]int{1, all}, valued: "iplopFJLRDbcEeImOQSwW"},
	"su":        {letters: "c"},
}

// others are further names of the commands above.
var others = map[string]string{
	"bash": "sh", "dash": "sh", "ash": "sh", "ksh": "sh", "mksh": "sh", "zsh": "sh", "fish": "sh",
	"gawk": "awk", "mawk": "awk", "nawk": "awk", "gsed": "sed", "deno": "node", "bun": "node", "nodejs": "node",
	"mariadb": "mysql",
}

// base is a command's name as programs has it: without folder and version.
func base(name string) string {
	if name == "." {
		return name
	}
	name = strings.TrimRight(path.Base(name), "0123456789.")
	if other := others[name]; other != "" {
		return other
	}
	return name
}

// declaring are the commands that some shells let compute the text before
// the = of their arguments.
var declaring = []string{"local", "export", "readonly", "declare", "typeset"}

// programText returns the arguments of the command name that are program text.
func programText(name string, args []*syntax.Word) []*syntax.Word {
	if name == "[" || name == "test" {
		return afterOption(args, "-v")
	}
	if slices.Contains(declaring, name) {
		return slices.DeleteFunc(slices.Clone(args), namesItself)
	}
	p, ok := programs[name]
	if !ok {
		return nil
	}
	found, operands := p.split(args)
	if len(found) > 0 || p.letters != "" && hasProgram(p, args) {
		return found
	}
	from, to := min(p.operands[0], len(operands)), min(p.operands[1], len(operands))
	return operands[from:to]
}

// namesItself reports whether w is NAME=… with a name that no value is part of.
func namesItself(w *syntax.Word) bool {
	name, _, found := strings.Cut(literalStart(w), "=")
	return found && !strings.ContainsFunc(name, func(r rune) bool { return r >= firstMark })
}

// afterOption returns the words that stand right after option.
func afterOption(args []*syntax.Word, option string) (words []*syntax.Word) {
	for i := range len(args) - 1 {
		if static(args[i]) == option {
			words = append(words, args[i+1])
		}
	}
	return words
}

func hasProgram(p program, args []*syntax.Word) bool {
	return slices.ContainsFunc(args, func(w *syntax.Word) bool { return p.takes(static(w)) })
}

// takes reports whether option brings program text, after it or in it.
func (p program) takes(option string) bool {
	if slices.Contains(longOptions, option) {
		return true
	}
	return len(option) > 1 && option[0] == '-' && option[1] != '-' && strings.ContainsAny(option[1:], p.letters)
}

var longOptions = []string{"--eval", "--expression", "--print", "--command"}

// split sorts arguments into the program text that options bring and operands.
func (p program) split(args []*syntax.Word) (texts, operands []*syntax.Word) {
	for i := 0; i < len(args); i++ {
		option := literalStart(args[i])
		switch {
		case option == "--":
			return texts, append(operands, args[i+1:]...)
		case len(option) < 2 || option[0] != '-':
			return texts, append(operands, args[i:]...)
		case p.takes(option):
			texts = append(texts, args[i:min(i+2, len(args))]...)
			i++
		case strings.HasPrefix(option, "--arg"): // jq --arg name value
			i += 2
		case len(option) == 2 && strings.Contains(p.valued, option[1:]):
			i++
		}
	}
	return texts, operands
}

// wrappers run the command in their arguments; the number is how many
// operands of their own come first.
var wrappers = map[string]struct {
	operands int
	valued   string
}{
	"command": {}, "builtin": {}, "exec": {valued: "a"}, "nohup": {}, "setsid": {}, "time": {valued: "fo"},
	"nice": {valued: "n"}, "sudo": {valued: "ugCDhpRTU"}, "doas": {valued: "uC"}, "env": {valued: "uCS"},
	"stdbuf": {valued: "ioe"}, "timeout": {1, "ks"}, "xargs": {valued: "adEeIiLlnPs"}, "busybox": {},
	"caffeinate": {valued: "tw"},
}

// unwrapped returns the innermost command of sudo env A=b nice sh -c ….
func unwrapped(args []*syntax.Word) []*syntax.Word {
	for len(args) > 0 {
		w, ok := wrappers[path.Base(static(args[0]))]
		if !ok {
			return args
		}
		_, args = program{valued: w.valued}.split(args[1:])
		for len(args) > 0 {
			if _, isAssignment := assigned(args[0]); !isAssignment {
				break
			}
			args = args[1:]
		}
		args = args[min(w.operands, len(args)):]
	}
	return nil
}

// commandIn returns the command that find -exec runs.
func commandIn(name string, args []*syntax.Word) []*syntax.Word {
	for i, w := range args {
		if name == "find" && slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, static(w)) {
			return args[i+1:]
		}
	}
	return nil
}

// readsProgram returns the name of the interpreter that s is, if it reads its
// program from stdin.
func readsProgram(s *syntax.Stmt) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return ""
	}
	args := unwrapped(call.Args)
	if len(args) == 0 {
		return ""
	}
	name := base(static(args[0]))
	p, ok := programs[name]
	if !ok || !p.stdin || hasProgram(p, args[1:]) {
		return ""
	}
	_, operands := p.split(args[1:])
	if name == "sqlite" || name == "psql" || name == "mysql" || len(operands) == 0 || static(operands[0]) == "-" {
		return name
	}
	return ""
}

// static returns a word's text if it is the same for every run, else "".
func static(w *syntax.Word) string {
	text, whole := staticParts(w.Parts)
	if !whole {
		return ""
	}
	return text
}

// literalStart returns a word's text as far as it is the same for every run.
func literalStart(w *syntax.Word) string {
	text, _ := staticParts(w.Parts)
	return text
}

func staticParts(parts []syntax.WordPart) (text string, whole bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			inner, whole := staticParts(p.Parts)
			text += inner
			if !whole {
				return text, false
			}
		default:
			return text, false
		}
	}
	return text, true
}
