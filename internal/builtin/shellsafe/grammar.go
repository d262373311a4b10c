package shellsafe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// reads.json is all that is known about commands that only read; its first
// member says how to read it.
//
//go:embed reads.json
var readsJSON []byte

// reading is reads.json, ready for use.
type reading struct {
	open   map[string]bool
	before map[string]*grammar
	known  map[string][]*grammar // by program and subcommands
	paths  map[string]bool       // every beginning of a command in known and before
}

// grammar is what may follow a command for it to only read.
type grammar struct {
	flags      map[string]valueKind
	need       []string // one of these flags must be given; nil = none
	max        int      // other words, -1 = any number
	word, plus *regexp.Regexp
	oneDash    bool // -name is --name, and there are no clusters
	bundled    bool // the first word may be flags without a dash
	computed   bool // a computed word may be a flag
	numeric    bool // -20 is a flag
	stops      bool // the first other word ends the flags
}

// valueKind says whether a flag has a value.
type valueKind byte

const (
	noValue       valueKind = iota
	takesValue              // joined, or the next word
	optionalValue           // joined or none
)

// readers reads the embedded table once. A broken one is a mistake in the
// program, found by any test.
var readers = sync.OnceValue(func() *reading {
	var file struct {
		About  string            `json:"about"`
		Open   string            `json:"open"`
		Sets   map[string]string `json:"sets"`
		Before map[string]string `json:"before"`
		Reads  map[string]string `json:"reads"`
	}
	dec := json.NewDecoder(strings.NewReader(string(readsJSON)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		panic(fmt.Sprintf("read reads.json: %v", err))
	}
	r := &reading{
		open: map[string]bool{}, before: map[string]*grammar{},
		known: map[string][]*grammar{}, paths: map[string]bool{},
	}
	for _, name := range strings.Fields(file.Open) {
		r.open[name] = true
	}
	for name, spec := range file.Before {
		r.before[name] = newGrammar(spec, file.Sets)
		r.before[name].stops = true
		r.addPath(name)
	}
	for command, specs := range file.Reads {
		for spec := range strings.SplitSeq(specs, "||") {
			r.known[command] = append(r.known[command], newGrammar(spec, file.Sets))
		}
		r.addPath(command)
	}
	return r
})

func (r *reading) addPath(command string) {
	for command != "" {
		r.paths[command] = true
		command = command[:max(0, strings.LastIndexByte(command, ' '))]
	}
}

// newGrammar reads one specification. sets may be nil.
func newGrammar(spec string, sets map[string]string) *grammar {
	g := &grammar{flags: map[string]valueKind{}, max: -1}
	for token := range strings.FieldsSeq(spec) {
		key, value, _ := strings.Cut(token, "=")
		switch {
		case token == "-#":
			g.numeric = true
		case token[0] == '-':
			g.addFlag(token)
		case token[0] == '@':
			g.include(newGrammar(sets[token[1:]], sets))
		case key == "max":
			g.max, _ = strconv.Atoi(value)
		case key == "word":
			g.word = regexp.MustCompile(value)
		case key == "plus":
			g.plus = regexp.MustCompile(value)
		case key == "need":
			g.need = append(g.need, strings.Split(value, ",")...)
		case token == "go":
			g.oneDash = true
		case token == "old":
			g.bundled = true
		case token == "computed":
			g.computed = true
		default:
			panic("reads.json: unknown " + token)
		}
	}
	return g
}

func (g *grammar) addFlag(token string) {
	switch token[len(token)-1] {
	case ':':
		g.flags[token[:len(token)-1]] = takesValue
	case '?':
		g.flags[token[:len(token)-1]] = optionalValue
	default:
		g.flags[token] = noValue
	}
}

// include takes over a set.
func (g *grammar) include(set *grammar) {
	maps.Copy(g.flags, set.flags)
	g.need = append(g.need, set.need...)
	g.max = max(g.max, set.max)
	g.numeric, g.oneDash = g.numeric || set.numeric, g.oneDash || set.oneDash
}

// words is what a grammar makes of a command's words.
type words struct {
	rest  []arg    // words that are no flags, nor values of flags
	given []string // names of flags
	bad   string   // the first part that is not understood, as written; "" = none
	end   int      // how many words were read
}

// read reads words by the grammar, to the first part that it does not know.
func (g *grammar) read(args []arg) (w words) {
	for w.end < len(args) {
		a := args[w.end]
		w.end++
		switch {
		case a.text == "--" && !a.dynamic:
			w.rest = append(w.rest, args[w.end:]...)
			w.end = len(args)
			return w
		case a.mayBeFlag() && g.computed && !strings.HasPrefix(a.text, "-"):
			w.rest = append(w.rest, a)
		case a.mayBeFlag():
			w.bad = a.written()
			return w
		case len(a.text) < 2 || a.text[0] != '-':
			if g.stops {
				w.end--
				w.rest = args[w.end:]
				return w
			}
			if g.bundled && len(w.rest) == 0 && len(w.given) == 0 {
				a.text, g = "-"+a.text, g.unbundled()
				if g.manyValues(a.text) {
					w.bad = a.written()
					return w
				}
				if w.bad = g.flag(a, args, &w); w.bad != "" {
					return w
				}
				continue
			}
			w.rest = append(w.rest, a)
		default:
			if w.bad = g.flag(a, args, &w); w.bad != "" {
				return w
			}
		}
	}
	return w
}

func (g *grammar) unbundled() *grammar {
	plain := *g
	plain.bundled = false
	return &plain
}

// manyValues reports whether a flag before the last of a cluster has a value:
// without a dash they all take theirs from the words that follow.
func (g *grammar) manyValues(cluster string) bool {
	for i := 1; i < len(cluster)-1; i++ {
		if g.flags["-"+cluster[i:i+1]] != noValue {
			return true
		}
	}
	return false
}

// flag reads one word of flags and its value; args[w.end] is the next word. It
// returns the part that it does not know.
func (g *grammar) flag(a arg, args []arg, w *words) (bad string) {
	if _, ok := g.flags[a.text]; ok && strings.Contains(a.text, "=") && !a.dynamic {
		w.given = append(w.given, a.text)
		return ""
	}
	name, _, joined := strings.Cut(a.text, "=")
	if g.oneDash && strings.HasPrefix(name, "--") {
		name = name[1:]
	}
	kind, known := g.flags[name]
	switch {
	case !known && !g.oneDash && !strings.HasPrefix(name, "--"):
		return g.cluster(a, args, w)
	case !known, a.dynamic && !joined, a.dynamic && a.split, joined && kind == noValue:
		return a.written()
	}
	w.given = append(w.given, name)
	if kind == takesValue && !joined {
		return w.value(a, args)
	}
	return ""
}

// cluster reads short flags in one word, such as -la or -n5.
func (g *grammar) cluster(a arg, args []arg, w *words) (bad string) {
	if g.numeric && isNumber(a.text[1:]) && !a.dynamic {
		return ""
	}
	for i := 1; i < len(a.text); i++ {
		name := "-" + a.text[i:i+1]
		kind, known := g.flags[name]
		if !known {
			return a.written()
		}
		w.given = append(w.given, name)
		last := i == len(a.text)-1
		switch {
		case kind == noValue:
		case a.dynamic && (last || a.split): // an empty value would take the next word
			return a.written()
		case kind == takesValue && last:
			return w.value(a, args)
		default:
			return ""
		}
	}
	if a.dynamic {
		return a.written()
	}
	return ""
}

// value takes the next word as the value of a flag. One that looks like a flag
// is none to a version of the program in which this flag has no value.
func (w *words) value(a arg, args []arg) (bad string) {
	if w.end == len(args) {
		return ""
	}
	v := args[w.end]
	w.end++
	if v.split || v.vanish || v.pattern || len(v.text) > 1 && v.text[0] == '-' && !isNumber(v.text[1:]) {
		return a.written() + " " + v.written()
	}
	return ""
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// refuses returns the part of a command's words for which it is not known to
// only read, as written; ok says that there is none.
func (g *grammar) refuses(args []arg) (bad string, ok bool) {
	w := g.read(args)
	if w.bad != "" {
		return w.bad, false
	}
	count := 0
	for _, a := range w.rest {
		if g.plus != nil && !a.dynamic && !a.pattern && g.plus.MatchString(a.text) {
			continue
		}
		count++
		switch {
		case g.max >= 0 && (count > g.max || a.pattern || a.split):
			return a.written(), false
		case g.word != nil && (a.dynamic || a.pattern || !g.word.MatchString(a.text)):
			return a.written(), false
		}
	}
	if g.need != nil && !slices.ContainsFunc(w.given, func(f string) bool { return slices.Contains(g.need, f) }) {
		return "", false
	}
	return "", true
}

// refuses returns the part of a command for which it is not known to only
// read; "" with false if there is no such part but the command itself.
func (r *reading) refuses(program string, args []arg) (bad string, ok bool) {
	if r.open[program] {
		return "", true
	}
	path, grammars, rest := program, r.known[program], args
	for {
		if before := r.before[path]; before != nil {
			w := before.read(rest)
			if w.bad == "" && path == "git" {
				w.bad = unknownConfig(rest[:w.end])
			}
			if w.bad != "" {
				return refusesAll(grammars, args, w.bad)
			}
			rest = w.rest
		}
		if len(rest) == 0 || rest[0].dynamic || rest[0].pattern || !r.hasBelow(path, rest[0].text) {
			break
		}
		path += " " + rest[0].text
		if rest = rest[1:]; r.known[path] != nil || r.before[path] != nil {
			grammars, args = r.known[path], rest
		}
	}
	return refusesAll(grammars, args, "")
}

// hasBelow reports whether the table has a subcommand called name.
func (r *reading) hasBelow(path, name string) bool { return r.paths[path+" "+name] }

// refusesAll is for a command with several grammars: one must take all of it.
func refusesAll(grammars []*grammar, args []arg, bad string) (string, bool) {
	for _, g := range grammars {
		b, ok := g.refuses(args)
		if ok {
			return "", true
		}
		if bad == "" {
			bad = b
		}
	}
	return bad, false
}

var harmlessConfig = regexp.MustCompile(
	`^(?i:color\.[a-z.]+|core\.(?:quotepath|abbrev|ignorecase|precomposeunicode)|log\.[a-z]+|column\.[a-z]+|` +
		`diff\.(?:renames|renamelimit|algorithm|context|mnemonicprefix|noprefix|colormoved|submodule)|advice\.[a-z]+|` +
		`status\.[a-z]+|grep\.(?:linenumber|column|patterntype|fullname)|blame\.[a-z]+|i18n\.[a-z]+)(?:=|$)|` +
		`^core\.pager=(?:cat)?$|^pager\.[a-z]+=(?:false|cat)?$`)

// unknownConfig returns the first git -c whose setting may run a program.
func unknownConfig(args []arg) string {
	for i, a := range args {
		isJoined := len(a.text) > 2 && strings.HasPrefix(a.text, "-c")
		if a.text == "-c" && (i+1 == len(args) || args[i+1].dynamic || !harmlessConfig.MatchString(args[i+1].text)) ||
			isJoined && (a.dynamic || !harmlessConfig.MatchString(a.text[2:])) {
			if i+1 < len(args) && a.text == "-c" {
				return a.written() + " " + args[i+1].written()
			}
			return a.written()
		}
	}
	return ""
}
