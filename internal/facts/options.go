package facts

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookd/hookd/internal/base/pattern"
)

// Styles of options.
const (
	styleGNU        = ""
	styleSingle     = "single"     // one dash is as good as two, and options do not cluster
	styleAssign     = "assign"     // NAME=value
	styleOld        = "old"        // the first word may be options without a dash
	styleFind       = "find"       // an expression: long options with one dash
	stylePowershell = "powershell" // -Name value, any case, any prefix
	styleSlash      = "slash"      // /x and -x, any case
	styleNone       = "none"       // every word is an operand
)

// option is the known meaning of one option.
type option struct {
	name  string
	value valueKind
	role  role
}

type valueKind int

const (
	noValue      valueKind = iota
	oneValue               // joined, after =, or the next word
	joinedValue            // only joined or after =, and may be absent
	maybeValue             // joined, after =, or the next word unless that is an option; may be absent
	twoValues              // two next words
	commandValue           // the words up to ; or +
)

// optionSet is the options of an entry.
type optionSet struct {
	style  string
	byName map[string]*option
	long   []string // names with two dashes, or of any length in other styles
	any    bool     // others are flags
	number bool     // -20
}

// optionSet reads the options of an entry. A set of options that stands in another file is
// read when it is asked for.
func (t *tables) optionSet(text, style string) *optionSet {
	s := &optionSet{style: style, byName: map[string]*option{}}
	t.addOptions(s, text, 0)
	slices.Sort(s.long)
	return s
}

func (t *tables) addOptions(s *optionSet, text string, depth int) {
	for word := range strings.FieldsSeq(text) {
		switch {
		case strings.HasPrefix(word, "@") && depth < 8:
			t.addOptions(s, t.set(word), depth+1)
		case word == "*":
			s.any = true
		case word == "-#":
			s.number = true
		case strings.HasPrefix(word, "--[no-]"):
			name := strings.TrimPrefix(word, "--[no-]")
			s.add("--"+name, s.value(name))
			base, _, _ := strings.Cut(name, "=")
			s.add("--no-"+base, s.value(""))
		default:
			s.add(word, s.value(word))
		}
	}
}

// value reads the part of an option behind its name.
func (s *optionSet) value(word string) option {
	_, text, has := strings.Cut(word, "=")
	if !has {
		return option{}
	}
	o := option{value: oneValue}
	switch {
	case strings.HasPrefix(text, "??"):
		o.value, text = maybeValue, text[2:]
	case strings.HasPrefix(text, "?"):
		o.value, text = joinedValue, text[1:]
	case strings.HasPrefix(text, "_") && len(text) > 1:
		o.value, text = twoValues, strings.TrimLeft(text[1:], "2,")
	case strings.HasSuffix(text, ";"):
		o.value = commandValue
	case strings.HasSuffix(text, ",_"):
		o.value, text = twoValues, strings.TrimSuffix(text, ",_")
	}
	o.role = parseRole(text)
	return o
}

func (s *optionSet) add(word string, o option) {
	name, _, _ := strings.Cut(word, "=")
	if s.style == stylePowershell || s.style == styleSlash {
		name = strings.ToLower(name)
	}
	o.name = name
	s.byName[name] = &o
	if len(name) > 2 {
		s.long = append(s.long, name)
	}
}

// given is one option that a command has.
type given struct {
	*option
	as    string // as it is written
	value *Word  // nil = none
	more  []Word // of twoValues and commandValue: all of them
	loose bool   // it may be the value of an option before it, which the entry does not have
}

// args are the words of a command, sorted.
type args struct {
	given    []given
	operands []Word
	after    []Word // behind --, where the entry has roles for them
	dashed   bool   // there was a --
	unknown  []Word // options that the entry does not have
}

// on is the arguments without the options that a value switches off, or may: --dry-run=false. Of one given twice, it
// may be the other value that counts. Nor is one there that the program may take for a value, or not know: --dry.
func (a *args) on() *args {
	off := func(g given) bool {
		return g.loose || strings.HasPrefix(g.name, "--") && len(g.as) < len(g.name) || g.value != nil &&
			g.option.value != oneValue && (g.value.Kind == Unknown || offWords[strings.ToLower(g.value.Text)])
	}
	if !slices.ContainsFunc(a.given, off) {
		return a
	}
	on := *a
	on.given = slices.DeleteFunc(slices.Clone(a.given), func(g given) bool {
		return slices.ContainsFunc(a.given, func(o given) bool { return o.name == g.name && off(o) })
	})
	return &on
}

var offWords = names("false f 0 no off none never")

// sort splits words into options and operands. stop ends the options at the first operand.
func (e *entry) sort(words []Word, stop bool) *args {
	a := &args{}
	s := e.options
	if s.style == styleOld && len(words) > 0 && words[0].Kind == Literal && !strings.HasPrefix(words[0].Text, "-") &&
		!strings.ContainsAny(words[0].Text, "/.=") && s.isCluster(words[0].Text) {
		first := words[0]
		words = words[1:]
		for _, c := range first.Text {
			words = a.take(s, s.byName["-"+string(c)], "-"+string(c), nil, words)
		}
	}
	loose := false
	for len(words) > 0 {
		w := words[0]
		text, n := w.known(), len(a.given)
		switch {
		case s.style == styleNone, !s.isOption(text) || w.wholly():
			if s.style == styleAssign && a.assign(s, w) {
				words = words[1:]
				continue
			}
			if stop {
				a.rest(words)
				return a
			}
			a.operands, words, loose = append(a.operands, w), words[1:], false
		case text == "--" && w.Kind != Unknown:
			if a.dashed = true; e.after != nil {
				a.after = words[1:]
			} else {
				a.rest(words[1:])
			}
			return a
		default:
			words = a.option(s, w, text, words[1:])
			for i := range a.given[n:] {
				g := &a.given[n+i]
				g.loose, loose = loose, g.value == nil && s.byName[g.name] == nil
			}
			if stop && len(a.given) > 0 && a.given[len(a.given)-1].endsOptions() {
				a.rest(words)
				return a
			}
		}
	}
	return a
}

// rest takes all words as operands. It copies none where they are the only ones: of commands that run commands, each
// would copy those behind it.
func (a *args) rest(words []Word) {
	if len(a.operands) == 0 {
		a.operands = words[:len(words):len(words)]
		return
	}
	a.operands = append(a.operands, words...)
}

// endsOptions reports whether the words behind an option belong to its value: python -m MODULE, env -S PROGRAM.
func (g given) endsOptions() bool {
	if g.role.name == "shell" && g.value != nil && (g.name == "-S" || g.name == "--split-string") {
		return true
	}
	return g.role.name == "module" && g.role.arg == "python" && g.value != nil
}

// mayEnd reports whether a word is a ; behind what may be nothing: find . -exec ls "$@"\; -exec rm {} \;
func mayEnd(w Word) bool { return w.Kind == Unknown && strings.Trim(w.Text, unknownPart) == ";" }

// wholly reports whether nothing is known of how a word begins.
func (w Word) wholly() bool {
	return w.Kind == Unknown && (w.safe && w.Text[0] != '-' || strings.HasPrefix(w.Text, unknownPart))
}

// known is the part of a word before its unknown part.
func (w Word) known() string {
	if w.Kind != Unknown {
		return w.Text
	}
	head, _, _ := strings.Cut(w.Text, unknownPart)
	return head
}

// unknownPart stands in the text of a word for the unknown part.
const unknownPart = "…"

func (s *optionSet) isOption(text string) bool {
	switch s.style {
	case styleSlash:
		return len(text) > 1 && (text[0] == '/' && !strings.Contains(text[1:], "/") || text[0] == '-')
	case stylePowershell:
		return len(text) > 1 && text[0] == '-' && (unicode.IsLetter(rune(text[1])) || text[1] == '-')
	}
	return len(text) > 1 && text[0] == '-'
}

func (s *optionSet) isCluster(text string) bool {
	for _, c := range text {
		if s.byName["-"+string(c)] == nil {
			return false
		}
	}
	return text != ""
}

// assign takes NAME=value of a program in that style.
func (a *args) assign(s *optionSet, w Word) bool {
	name, value, has := strings.Cut(w.Text, "=")
	o := s.byName[name]
	if !has || o == nil && !s.any {
		return false
	}
	if o == nil {
		o = &option{name: name}
	}
	v := w.with(value)
	a.given = append(a.given, given{option: o, as: name, value: &v})
	return true
}

// option takes the option in w, and its values of the words behind it.
func (a *args) option(s *optionSet, w Word, text string, words []Word) []Word {
	switch s.style {
	case stylePowershell, styleSlash:
		return a.caseless(s, w, words)
	case styleSingle, styleFind:
		return a.single(s, w, words)
	}
	if strings.HasPrefix(text, "--") {
		return a.long(s, w, text, words)
	}
	return a.cluster(s, w, text, words)
}

// take adds an option with its value: joined, or of the words behind it.
func (a *args) take(s *optionSet, o *option, as string, joined *Word, words []Word) []Word {
	g := given{option: o, as: as, value: joined}
	switch {
	case o.value == commandValue:
		end := slices.IndexFunc(
			words,
			func(w Word) bool { return w.Kind == Literal && (w.Text == ";" || w.Text == "+") || mayEnd(w) },
		)
		if end < 0 {
			g.more, words = words, nil
		} else {
			g.more, words = words[:end], words[end+1:]
		}
	case joined != nil || o.value == noValue || o.value == joinedValue:
	case o.value == twoValues:
		n := min(2, len(words))
		if g.more = words[:n]; n > 0 {
			g.value = &words[n-1]
			if o.role.name != "" && o.role.name != "_" && s.style == styleFind {
				g.value = &words[0] // -fprintf FILE FORMAT
			}
		}
		words = words[n:]
	case len(words) > 0 && (o.value == oneValue || !s.isOption(words[0].Text)):
		g.value, words = &words[0], words[1:]
	}
	a.given = append(a.given, g)
	return words
}

// long takes --name and --name=value; every beginning of a name counts as that option.
func (a *args) long(s *optionSet, w Word, text string, words []Word) []Word {
	name, value, has := strings.Cut(w.Text, "=")
	var joined *Word
	if has {
		v := w.with(value)
		joined = &v
	}
	if strings.Contains(name, unknownPart) {
		a.unknown = append(a.unknown, w)
		return words
	}
	if o := s.byName[name]; o != nil {
		return a.take(s, o, name, joined, words)
	}
	at, _ := slices.BinarySearch(s.long, name)
	var found []*option
	for ; at < len(s.long) && strings.HasPrefix(s.long[at], name); at++ {
		found = append(found, s.byName[s.long[at]])
	}
	if len(found) == 0 || len(name) < 3 {
		if !s.any {
			a.unknown = append(a.unknown, w)
		} else {
			a.given = append(a.given, given{option: &option{name: name}, as: name, value: joined})
		}
		return words
	}
	rest := words
	for i, o := range found {
		left := a.take(s, o, name, joined, words)
		if i == 0 || len(left) > len(rest) {
			rest = left
		}
	}
	return rest
}

// cluster takes joined short options.
func (a *args) cluster(s *optionSet, w Word, text string, words []Word) []Word {
	if o := s.byName[text]; o != nil && w.Kind != Unknown {
		return a.take(s, o, text, nil, words)
	}
	if _, err := strconv.Atoi(text[1:]); err == nil && s.number {
		return words
	}
	if name, _, has := strings.Cut(text, "="); has && len(name) > 2 && s.byName[name] != nil {
		return a.long(s, w, text, words)
	}
	letters, seen := []rune(text[1:]), map[rune]bool{}
	for i, c := range letters {
		if seen[c] { // a flag, given again
			continue
		}
		seen[c] = true
		o := s.byName["-"+string(c)]
		if o == nil {
			if s.number && unicode.IsDigit(c) {
				continue
			}
			if s.any {
				a.given = append(a.given, given{option: &option{name: "-" + string(c)}, as: "-" + string(letters)})
				if strings.ContainsRune(w.Text, '=') { // the rest may be its value: -Phost=h
					return words
				}
				continue
			}
			a.unknown = append(a.unknown, w)
			return words
		}
		if o.value == noValue {
			words = a.take(s, o, "-"+string(letters), nil, words)
			continue
		}
		rest := strings.TrimPrefix(w.Text, "-"+string(letters[:i+1]))
		if rest == "" {
			return a.take(s, o, o.name, nil, words)
		}
		v := w.with(strings.TrimPrefix(rest, "="))
		return a.take(s, o, o.name, &v, words)
	}
	if w.Kind == Unknown {
		a.unknown = append(a.unknown, w)
	}
	return words
}

// single takes -name, --name, -name=value and -name value.
func (a *args) single(s *optionSet, w Word, words []Word) []Word {
	name, value, has := strings.Cut(w.Text, "=")
	var joined *Word
	if has {
		v := w.with(value)
		joined = &v
	}
	bare := "-" + strings.TrimLeft(name, "-")
	for _, n := range []string{name, bare, "-" + bare} {
		if o := s.byName[n]; o != nil {
			return a.take(s, o, n, joined, words)
		}
	}
	for i := len(bare) - 1; i >= 2; i-- { // -Xmx1g, -Dname
		if o := s.byName[bare[:i]]; o != nil && (o.value == joinedValue || o.value == oneValue && i == 2) {
			v := w.with(w.Text[i:])
			return a.take(s, o, o.name, &v, words)
		}
	}
	switch {
	case s.number && strings.Trim(bare[1:], "0123456789") == "":
	case s.any:
		a.given = append(a.given, given{option: &option{name: name}, as: name, value: joined})
	default:
		a.unknown = append(a.unknown, w)
	}
	return words
}

// caseless takes -Name, /x and their beginnings.
func (a *args) caseless(s *optionSet, w Word, words []Word) []Word {
	name, value, has := strings.Cut(strings.ToLower(w.Text), ":")
	var joined *Word
	if has {
		v := w.with(w.Text[len(w.Text)-len(value):])
		joined = &v
	}
	names := []string{name}
	if s.style == styleSlash {
		names = append(names, "/"+name[1:], "-"+name[1:])
	}
	for _, n := range names {
		if o := s.byName[n]; o != nil {
			return a.take(s, o, n, joined, words)
		}
	}
	if s.style == stylePowershell {
		for _, n := range sorted(s.byName) {
			if strings.HasPrefix(n, name) {
				return a.take(s, s.byName[n], n, joined, words)
			}
		}
	}
	if s.any {
		a.given = append(a.given, given{option: &option{name: name}, as: name, value: joined})
	} else {
		a.unknown = append(a.unknown, w)
	}
	return words
}

// condition is alternatives of atoms that must all hold.
type condition [][]atom

type atom struct {
	text   string // an option, #N, or a glob of an operand
	value  string // -x=GLOB
	not    bool
	valued bool
}

func parseCondition(text string) (c condition) {
	for word := range strings.FieldsSeq(text) {
		var all []atom
		for part := range strings.SplitSeq(word, "&") {
			a := atom{text: part}
			a.text, a.not = strings.CutPrefix(part, "!")
			if name, value, has := strings.Cut(a.text, "="); has && name != "" &&
				(name[0] == '-' || name[0] == '/' || !strings.ContainsAny(name, "*?[")) {
				a.text, a.value, a.valued = name, value, true
			}
			all = append(all, a)
		}
		c = append(c, all)
	}
	return c
}

// holds reports whether the condition holds for the words of a command, and the operand
// that made it so.
func (c condition) holds(a *args) (by *Word, ok bool) {
	if len(c) == 0 { // a mode without `if` fits always
		return nil, true
	}
	for _, all := range c {
		ok = true
		for _, one := range all {
			of := a
			if one.not && !one.valued {
				of = a.on()
			}
			w, is := one.holds(of)
			if is == one.not {
				ok = false
				break
			}
			if w != nil {
				by = w
			}
		}
		if ok {
			return by, true
		}
	}
	return nil, false
}

func (at atom) holds(a *args) (by *Word, ok bool) {
	if n, is := strings.CutPrefix(at.text, "#"); is && n != "" && n[0] >= '0' && n[0] <= '9' {
		more := strings.HasSuffix(n, "+")
		want, err := strconv.Atoi(strings.TrimSuffix(n, "+"))
		return nil, err == nil && (len(a.operands) == want || more && len(a.operands) > want)
	}
	if at.text == "--" {
		return nil, a.dashed
	}
	if at.text == "$1" { // the first operand
		return nil, len(a.operands) > 0 && globMatch(at.value, a.operands[0].Text)
	}
	name := at.text
	for i := range a.given {
		g := &a.given[i]
		if g.name != name && !(strings.HasPrefix(name, "-") && strings.EqualFold(g.name, name) && len(name) > 2) {
			continue
		}
		if !at.valued {
			return nil, true
		}
		if glob, literal := strings.CutPrefix(at.value, "="); g.value != nil &&
			(g.value.Kind == Unknown && !literal || globMatch(glob, g.value.Text)) {
			return nil, true
		}
	}
	if strings.HasPrefix(at.text, "-") || at.valued {
		return nil, false
	}
	for i, w := range a.operands {
		if (w.Kind != Unknown || !strings.HasPrefix(w.Text, unknownPart)) && globMatch(at.text, w.Text) { // +$BRANCH
			return &a.operands[i], true
		}
	}
	return nil, false
}

// mostGlobs is how many compiled globs are kept.
const mostGlobs = 16 << 10

// globMatch holds a glob of a table against a text. A glob without wildcards is a text.
func globMatch(glob, text string) bool {
	if glob != "" && strings.IndexByte(`*?[{\!`, glob[0]) < 0 && (text == "" || text[0] != glob[0]) {
		return false // most fail here
	}
	if !strings.ContainsAny(glob, "*?[{") {
		return glob == text
	}
	t := programs()
	if p, ok := t.globs.Load(glob); ok {
		return p.(pattern.Pattern).Match(text)
	}
	p, err := pattern.Compile(glob)
	if err != nil {
		p = pattern.Pattern{Text: glob}
	}
	if t.kept.Add(1) > mostGlobs { // lines bring new ones
		t.globs.Clear()
		t.kept.Store(0)
	}
	t.globs.Store(glob, p)
	return p.Match(text)
}
