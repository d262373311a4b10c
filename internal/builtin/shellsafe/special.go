package shellsafe

import (
	"regexp"
	"slices"
	"strings"
)

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// runsWithin is text that an arithmetic expression or an array's index would run.
	runsWithin = regexp.MustCompile("\\[.*(?:\\$|`)")
	// shellFlags are options of the shell that change neither what a word is nor what a name runs.
	shellFlags   = regexp.MustCompile(`^[-+][euxvfCEThB]+$`)
	shellOptions = regexp.MustCompile(`^(?:pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|errtrace|functrace|` +
		`braceexpand)$`)
	bashOptions = regexp.MustCompile(`^(?:nullglob|failglob|globstar|dotglob|extglob|nocaseglob|nocasematch|` +
		`globasciiranges|inherit_errexit|huponexit|checkwinsize)$`)
	signalName = regexp.MustCompile(`^(?:[0-9]+|EXIT|ERR|(?:SIG)?(?:HUP|INT|QUIT|TERM|PIPE|USR1|USR2|ALRM|CHLD|WINCH))$`)
	status     = regexp.MustCompile(`^-?[0-9]+$`)
)

// builtins are commands of the shell with rules of their own: each returns the
// part for which it is not known to only read.
var builtins = map[string]func(s *scan, args []arg) (bad string, ok bool){
	"sed":      func(_ *scan, args []arg) (string, bool) { return sedRefuses(args) },
	"awk":      func(_ *scan, args []arg) (string, bool) { return awkRefuses(args) },
	"tar":      func(_ *scan, args []arg) (string, bool) { return tarRefuses(args) },
	"find":     func(_ *scan, args []arg) (string, bool) { return findRefuses(args) },
	"test":     func(_ *scan, args []arg) (string, bool) { return testRefuses(args) },
	"[":        (*scan).bracketRefuses,
	"printf":   func(_ *scan, args []arg) (string, bool) { return printfRefuses(args) },
	"read":     (*scan).readRefuses,
	"mapfile":  (*scan).readRefuses,
	"unset":    (*scan).namesRefuses,
	"getopts":  (*scan).getoptsRefuses,
	"set":      func(_ *scan, args []arg) (string, bool) { return setRefuses(args) },
	"shopt":    func(_ *scan, args []arg) (string, bool) { return shoptRefuses(args) },
	"let":      (*scan).letRefuses,
	"exit":     func(_ *scan, args []arg) (string, bool) { return statusRefuses(args) },
	"wait":     func(_ *scan, args []arg) (string, bool) { return waitRefuses(args) },
	"export":   (*scan).exportRefuses,
	"local":    (*scan).declareRefuses,
	"declare":  (*scan).declareRefuses,
	"typeset":  (*scan).declareRefuses,
	"readonly": (*scan).declareRefuses,
}

func init() {
	builtins["readarray"] = builtins["mapfile"]
	for _, name := range []string{"return", "break", "continue", "shift"} {
		builtins[name] = builtins["exit"]
	}
}

// findWords are the words of a find that only finds.
var findWords = func() map[string]bool {
	plain := "-H -L -P -E -X -s -x -d -O0 -O1 -O2 -O3 -depth -daystart -follow -ignore_readdir_race -noignore_readdir_race -mount " +
		"-noleaf -nowarn -warn -xdev -empty -executable -readable -writable -nouser -nogroup -true -false -print -print0 -ls -prune " +
		"-quit -a -and -o -or -not ! ( ) ,"
	valued := "-D -maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname " +
		"-iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type " +
		"-uid -used -user -wholename -xtype -printf -flags -Bmin -Btime -depth"
	words := map[string]bool{}
	for w := range strings.FieldsSeq(plain) {
		words[w] = false
	}
	for w := range strings.FieldsSeq(valued) {
		words[w] = true
	}
	words["-depth"] = false
	return words
}()

// tarRefuses knows a tar that lists. An archive with a colon in its name is on
// another machine.
func tarRefuses(args []arg) (bad string, ok bool) {
	for _, a := range args {
		if a.dynamic && !a.solid && a.text == "" || strings.Contains(a.text, ":") {
			return a.written(), false
		}
	}
	return readers().refuses("tar", args)
}

var newerThan = regexp.MustCompile(`^-newer[aBcm][aBcmt]$`)

// findRefuses knows the expressions of find that print and nothing else.
func findRefuses(args []arg) (bad string, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		valued, known := findWords[a.text]
		switch {
		case a.mayBeFlag():
			return a.written(), false
		case known && !valued && !a.dynamic:
		case (known || newerThan.MatchString(a.text)) && !a.dynamic:
			if i++; i < len(args) && args[i].split {
				return args[i].written(), false
			}
		case len(a.text) > 1 && a.text[0] == '-':
			return a.written(), false
		}
	}
	return "", true
}

// testWords are the operators of test whose operands are text, files or plain
// numbers to every shell. -v and -R look at a variable: its name is looked at.
var testWords = regexp.MustCompile(
	`^(?:-[abcdefghkLNnOoprSstuwxzG]|=|==|!=|<|>|=~|-nt|-ot|-ef|!|\(|\)|-eq|-ne|-lt|-le|-gt|-ge|-v|-R)$`)

// testRefuses knows test EXPRESSION. An operator that is only known when the
// line runs may be -v, which runs what stands in an array's index.
func testRefuses(args []arg) (bad string, ok bool) {
	for i, a := range args {
		operator := !a.dynamic && testWords.MatchString(a.text)
		before := i > 0 && !args[i-1].dynamic && testWords.MatchString(args[i-1].text)
		switch {
		case a.split:
			return a.written(), false
		case runsWithin.MatchString(a.text):
			return a.written(), false
		case i > 0 && (args[i-1].text == "-v" || args[i-1].text == "-R") &&
			(a.dynamic || !variableName.MatchString(a.text)):
			return a.written(), false
		case a.mayBeFlag() && !operator && !before && len(args) > 1 && !isOperand(args, i):
			return a.written(), false
		}
	}
	return "", true
}

// isOperand reports whether an operator of two sides stands behind the word.
func isOperand(args []arg, i int) bool {
	return i+1 < len(args) && !args[i+1].dynamic && testWords.MatchString(args[i+1].text)
}

func (s *scan) bracketRefuses(args []arg) (bad string, ok bool) {
	if n := len(args); n > 0 && args[n-1].text == "]" && !args[n-1].dynamic {
		return testRefuses(args[:n-1])
	}
	return "", false
}

// printfRefuses knows a printf that prints; -v assigns to a variable. Some
// shells evaluate numbers as expressions.
func printfRefuses(args []arg) (bad string, ok bool) {
	if len(args) > 0 && (args[0].mayBeFlag() || strings.HasPrefix(args[0].text, "-v")) {
		return args[0].written(), false
	}
	for _, a := range args {
		if runsWithin.MatchString(a.text) && len(args) > 1 {
			return a.written(), false
		}
	}
	return "", true
}

var (
	readFlags    = newGrammar("-r -s -e -a: -d: -n: -N: -p: -t: -u: -i:", nil)
	mapfileFlags = newGrammar("-t -d: -n: -O: -s: -u:", nil)
)

// readRefuses knows read and mapfile into variables that change nothing.
func (s *scan) readRefuses(args []arg) (bad string, ok bool) {
	w := readFlags.read(args)
	if w.bad != "" {
		if w = mapfileFlags.read(args); w.bad != "" {
			return w.bad, false
		}
	}
	for i, a := range args {
		if a.text == "-a" && i+1 < len(args) {
			w.rest = append(w.rest, args[i+1])
		}
	}
	return s.plainNames(w.rest)
}

func (s *scan) namesRefuses(args []arg) (bad string, ok bool) {
	if len(args) > 0 && args[0].text == "-v" {
		args = args[1:]
	}
	return s.plainNames(args)
}

// plainNames returns the first word that is not the name of a variable that
// may change: an index would be evaluated.
func (s *scan) plainNames(args []arg) (bad string, ok bool) {
	for _, a := range args {
		if a.dynamic || !variableName.MatchString(a.text) || s.known.isDangerous(a.text) || s.functions[a.text] {
			return a.written(), false
		}
	}
	return "", true
}

func (s *scan) getoptsRefuses(args []arg) (bad string, ok bool) {
	if len(args) < 2 {
		return "", false
	}
	return s.plainNames(args[1:2])
}

func setRefuses(args []arg) (bad string, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "--" && !a.dynamic:
			return "", true
		case a.mayBeFlag():
			return a.written(), false
		case len(a.text) < 2 || a.text[0] != '-' && a.text[0] != '+':
			return "", true
		case a.text == "-o", a.text == "+o",
			strings.HasSuffix(a.text, "o") && shellFlags.MatchString(a.text[:len(a.text)-1]):
			if i++; i < len(args) && (args[i].dynamic || !shellOptions.MatchString(args[i].text)) {
				return a.written() + " " + args[i].written(), false
			}
		case a.dynamic || !shellFlags.MatchString(a.text):
			return a.written(), false
		}
	}
	return "", true
}

func shoptRefuses(args []arg) (bad string, ok bool) {
	for _, a := range args {
		if a.dynamic || !slices.Contains([]string{"-s", "-u", "-q", "-p"}, a.text) && !bashOptions.MatchString(a.text) {
			return a.written(), false
		}
	}
	return "", true
}

var plainLet = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*(?:\+\+|--|[-+*/%]?=[0-9]+))$`)

// letRefuses is for shells whose parser takes let for a command.
func (s *scan) letRefuses(args []arg) (bad string, ok bool) {
	for _, a := range args {
		if a.dynamic || !plainLet.MatchString(a.text) {
			return a.written(), false
		}
	}
	return "", true
}

func statusRefuses(args []arg) (bad string, ok bool) {
	for _, a := range args {
		if !a.dynamic && !status.MatchString(a.text) || a.dynamic && a.text != "" {
			return a.written(), false
		}
	}
	return "", true
}

func waitRefuses(args []arg) (bad string, ok bool) {
	for _, a := range args {
		job := a.text == "-n" || a.text == "-f" || isNumber(strings.TrimPrefix(a.text, "%"))
		if a.dynamic && a.text != "" || !a.dynamic && !job {
			return a.written(), false
		}
	}
	return "", true
}

var (
	declareFlags = regexp.MustCompile(`^[-+][aAgrxlupfFt]+$`)
	declared     = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_]*)(=.*)?$`)
)

// exportRefuses is for the same, and for a declaration behind command or builtin.
func (s *scan) exportRefuses(args []arg) (bad string, ok bool) {
	for _, a := range args {
		name, _, _ := strings.Cut(a.text, "=")
		if variableName.MatchString(name) && !s.known.harmless.MatchString(name) {
			return a.written(), false
		}
	}
	return s.declareRefuses(args)
}

// declareRefuses is for shells whose parser takes a declaration for a command.
func (s *scan) declareRefuses(args []arg) (bad string, ok bool) {
	exported := slices.ContainsFunc(args, func(a arg) bool {
		return declareFlags.MatchString(a.text) && strings.Contains(a.text, "x")
	})
	for _, a := range args {
		m := declared.FindStringSubmatch(a.text)
		switch {
		case m != nil && exported && !s.known.harmless.MatchString(m[1]):
			return a.written(), false
		case m == nil && (a.dynamic || !declareFlags.MatchString(a.text)), m != nil && a.dynamic && m[2] == "":
			return a.written(), false
		case m != nil && s.known.isDangerous(m[1]):
			return a.written(), false
		}
	}
	return "", true
}
