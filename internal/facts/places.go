package facts

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// placeSet finds the places that paths are in.
type placeSet struct {
	rules []placeRule
	found *foundPlaces
}

// mostFound is how many answers a placeSet remembers: calls name the same files again and again.
const mostFound = 256

// foundPlaces are the last answers of find.
type foundPlaces struct {
	mu sync.Mutex
	of map[placeQuestion]placeAnswer
}

type placeQuestion struct {
	target, home string
	above        bool
}

type placeAnswer struct {
	why string
	ok  bool
}

type placeRule struct {
	Paths  list   `yaml:"paths"`
	Except list   `yaml:"except"`
	Why    string `yaml:"why"`
	Name   string `yaml:"name"`

	re    []placeGlob
	tails []placeGlob // of Except with a slash
}

type placeGlob struct {
	home  bool // it begins with ~
	text  string
	plain string             // text without what means all below it
	inner bool               // it has any folders within
	re    *lazyregexp.Regexp // of the part below the home folder, or of the whole path; few are asked for

	literal string // see literalOf
}

// placeTable is places.yaml.
type placeTable struct {
	configure, secret, guard placeSet
	caches                   []string
}

var places = sync.OnceValue(func() *placeTable {
	var file struct {
		Configure []placeRule `yaml:"configure"`
		Secret    []placeRule `yaml:"secret"`
		Guard     []placeRule `yaml:"guard"`
		Caches    []string    `yaml:"caches"`
	}
	readTable("places.yaml", &file)
	return &placeTable{newPlaces(file.Configure), newPlaces(file.Secret), newPlaces(file.Guard), file.Caches}
})

// Caches returns the folders below a home that programs fill again. home "" = none are known.
func Caches(home string) (folders []string) {
	if home == "" {
		return nil
	}
	for _, p := range places().caches {
		folders = append(folders, home+strings.TrimPrefix(p, "~"))
	}
	return folders
}

func readTable(name string, to any) {
	text, err := otherFiles.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, to)
	}
	if err != nil {
		panic(name + ": " + err.Error())
	}
}

func newPlaces(rules []placeRule) placeSet {
	for i := range rules {
		for _, p := range rules[i].Paths {
			rules[i].re = append(rules[i].re, newPlaceGlob(p))
		}
		for _, p := range rules[i].Except {
			if strings.Contains(p, "/") {
				rules[i].tails = append(rules[i].tails, newPlaceGlob("**/"+p))
			}
		}
	}
	return placeSet{rules, &foundPlaces{of: map[placeQuestion]placeAnswer{}}}
}

// newPlaceGlob compiles a glob: ~ is the home, `**/` any folders, a `/**` or `/` at its end
// all below it and itself. Letter case does not count, as on some file systems.
func newPlaceGlob(text string) placeGlob {
	g := placeGlob{text: text, plain: strings.TrimSuffix(strings.TrimSuffix(text, "/**"), "/")}
	g.inner = strings.Contains(strings.TrimSuffix(text, "/**"), "/**/")
	rest, home := strings.CutPrefix(text, "~")
	g.home = home
	below := false
	if strings.HasSuffix(rest, "/**") {
		rest, below = strings.TrimSuffix(rest, "/**"), true
	} else if strings.HasSuffix(rest, "/") && rest != "/" {
		rest, below = strings.TrimSuffix(rest, "/"), true
	}
	var b strings.Builder
	b.WriteString(`(?is)\A`)
	if !home && !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "**/") {
		b.WriteString(`(?:.*/)?`)
	}
	for i := 0; i < len(rest); {
		switch {
		case strings.HasPrefix(rest[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case strings.HasPrefix(rest[i:], "**"):
			b.WriteString(`.*`)
			i += 2
		case rest[i] == '*':
			b.WriteString(`[^/]*`)
			i++
		case rest[i] == '?':
			b.WriteString(`[^/]`)
			i++
		case rest[i] == '{':
			if end := strings.IndexByte(rest[i:], '}'); end > 0 {
				var parts []string
				for part := range strings.SplitSeq(rest[i+1:i+end], ",") {
					parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(part), `\*`, `[^/]*`))
				}
				b.WriteString("(?:" + strings.Join(parts, "|") + ")")
				i += end + 1
				continue
			}
			b.WriteString(`\{`)
			i++
		case rest[i] == '[':
			if end := strings.IndexByte(rest[i:], ']'); end > 1 {
				b.WriteString(strings.Replace(rest[i:i+end+1], "[!", "[^", 1))
				i += end + 1
				continue
			}
			b.WriteString(`\[`)
			i++
		default:
			b.WriteString(regexp.QuoteMeta(rest[i : i+1]))
			i++
		}
	}
	if below {
		b.WriteString(`(?:/.*)?`)
	}
	b.WriteString(`\z`)
	g.re = lazyregexp.New(b.String())
	g.literal = literalOf(rest)
	return g
}

// find says why a path is in one of the places. above means that a change of a folder
// changes the places below the folder.
func (s placeSet) find(target, home string, above bool) (why string, ok bool) {
	if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "~") {
		return "", false
	}
	if lowerASCII(target) == "" { // some file systems leave out characters that are never seen
		target = strings.Map(shown, target)
	}
	q := placeQuestion{target, home, above}
	s.found.mu.Lock()
	a, known := s.found.of[q]
	s.found.mu.Unlock()
	if known {
		return a.why, a.ok
	}
	a.why, a.ok = s.search(target, home, above)
	if len(target) > 256 {
		return a.why, a.ok
	}
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	if len(s.found.of) >= mostFound {
		clear(s.found.of)
	}
	s.found.of[q] = a
	return a.why, a.ok
}

// search is find without the remembered answers.
func (s placeSet) search(target, home string, above bool) (why string, ok bool) {
	lower, wild := lowerASCII(target), strings.ContainsAny(target, "*?[")
	if folder := path.Dir(target); folder == "/home" || folder == "/Users" { // that of another user
		home = target
	}
	for i := range s.rules {
		r := &s.rules[i]
		if slices.ContainsFunc(r.re, func(g placeGlob) bool {
			return g.mayFit(lower) && g.fits(target, home) || above && g.below(target, home, wild) ||
				wild && g.perhaps(target, home)
		}) && !r.leavesOut(target, lower, home) {
			return cmp.Or(r.Why, r.Name), true
		}
	}
	return "", false
}

// leavesOut reports whether a path is an exception of the rule.
func (r *placeRule) leavesOut(target, lower, home string) bool {
	return slices.ContainsFunc(r.Except, func(glob string) bool { return globMatch(glob, path.Base(target)) }) ||
		slices.ContainsFunc(r.tails, func(g placeGlob) bool { return g.mayFit(lower) && g.fits(target, home) })
}

// lowerASCII is a path in small letters; "" where it has others than those of ASCII.
func lowerASCII(target string) string {
	for i := range len(target) {
		if target[i] >= 0x80 {
			return ""
		}
	}
	return strings.ToLower(target)
}

// literalOf is the longest text that each path has which a glob fits, in small letters. Most paths
// do not have it, and need no expression: that is two thirds of the time of a call with paths.
func literalOf(glob string) (longest string) {
	depth := 0
	for part := range strings.FieldsFuncSeq(strings.TrimSuffix(glob, "/"), func(r rune) bool {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			return true
		}
		return depth > 0 || r == '*' || r == '?' || r == '{' || r == '['
	}) {
		if part = strings.Trim(part, "/"); len(part) > len(longest) {
			longest = part
		}
	}
	return strings.ToLower(longest)
}

// mayFit reports whether the glob can fit a path: lower is the result of lowerASCII for the path.
func (g placeGlob) mayFit(lower string) bool {
	return lower == "" || strings.Contains(lower, g.literal)
}

func (g placeGlob) fits(target, home string) bool {
	if !g.home {
		return g.re.MatchString(target)
	}
	if rest, ok := strings.CutPrefix(target, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		return g.re.MatchString(rest)
	}
	for _, other := range []string{"/root", "~"} {
		if rest, ok := strings.CutPrefix(target, other); ok && (rest == "" || rest[0] == '/') {
			return g.re.MatchString(rest)
		}
	}
	for _, root := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(target, root); ok {
			_, below, _ := strings.Cut(rest, "/")
			return g.re.MatchString("/" + below)
		}
	}
	return false
}

// perhaps reports whether a pattern can stand for the place. A pattern of nothing but
// wildcards and an ending, such as *.json, is taken for the files of a project.
func (g placeGlob) perhaps(target, home string) bool {
	if g.inner {
		return false
	}
	dir, base := path.Split(target)
	if base == "" {
		return false
	}
	text := g.plain
	if name, anywhere := strings.CutPrefix(text, "**/"); anywhere {
		if strings.Contains(name, "/") {
			return fitsTail(target, strings.Split(name, "/"))
		}
		if at := strings.IndexAny(base, "*?["); at >= 0 && at < 2 && base[0] != '.' {
			return false
		}
		return base[0] == '.' == (name[0] == '.') && name[0] != '*' &&
			globMatch(base, strings.ReplaceAll(name, "*", "x"))
	}
	if name := path.Base(text); base[0] == '.' != (name[0] == '.') && !strings.Contains(target, "/**/") {
		return false
	}
	if g.home {
		text = home + strings.TrimPrefix(text, "~")
	}
	if root, _, deep := strings.Cut(target, "/**/"); deep { // any file of that name below a folder
		whole := strings.HasSuffix(g.text, "/**") || strings.HasSuffix(g.text, "/")
		return strings.HasPrefix(text, root+"/") && (globMatch(base, path.Base(text)) || whole && base == "*")
	}
	folder, name := path.Split(text)
	return name != "" && base[0] == '.' == (name[0] == '.') && globMatch(base, strings.ReplaceAll(name, "*", "x")) &&
		globMatch(strings.TrimSuffix(dir, "/"), strings.TrimSuffix(folder, "/"))
}

// fitsTail reports whether the last folders and the name of a pattern can stand for a place, of which all folders are
// named.
func fitsTail(target string, place []string) bool {
	for i := len(place) - 1; i >= 0; i-- {
		at := strings.LastIndexByte(target, '/')
		name := target[at+1:]
		last := i == len(place)-1
		if strings.Contains(place[i], "*") || !last && name != place[i] || last && !globMatch(name, place[i]) ||
			at < 0 && i > 0 {
			return false
		}
		target = target[:max(at, 0)]
	}
	return true
}

// below reports whether the place, which is in a known folder, lies below the target.
func (g placeGlob) below(target, home string, wild bool) bool {
	text := g.text
	if rest, anywhere := strings.CutPrefix(text, "**/"); anywhere { // .claude of .claude/settings.json
		folder, _, has := strings.Cut(rest, "/")
		return has && folder[0] == '.' && !strings.Contains(folder, "*") && path.Base(target) == folder
	}
	switch {
	case !g.home && !strings.HasPrefix(text, "/"), g.home && home == "":
		return false
	case !wild && g.home: // without a new text for each
		rest, under := strings.CutPrefix(target, home)
		return under && (rest == "" || strings.HasPrefix(g.plain[1:], rest) &&
			(len(g.plain)-1 == len(rest) || g.plain[1+len(rest)] == '/' || strings.HasSuffix(rest, "/"))) ||
			!under && strings.HasPrefix(home, strings.TrimSuffix(target, "/")+"/")
	case g.home:
		text = home + strings.TrimPrefix(text, "~")
	}
	return holdsPlace(strings.TrimSuffix(strings.TrimSuffix(text, "/**"), "/"), false, target, true)
}

// variableTable is variables.yaml.
type variableTable struct {
	Harmless list                         `yaml:"harmless"`
	Code     map[string]string            `yaml:"code"`
	Secret   list                         `yaml:"secret"`
	Except   list                         `yaml:"except"`
	Settings map[string]map[string]string `yaml:"settings"`
	Paths    map[string]string            `yaml:"paths"`

	plain map[string]bool // of Harmless without wildcards
	globs []variableGlob  // of Harmless
	codes []variableGlob  // of Code, by the glob
}

// variableGlob is a glob for variables, with one for their values or with the role of those.
type variableGlob struct {
	name, value, role string
	hasValue          bool
}

var variables = sync.OnceValue(func() *variableTable {
	t := &variableTable{plain: map[string]bool{}}
	readTable("variables.yaml", t)
	for _, h := range t.Harmless {
		for name := range strings.FieldsSeq(h) {
			if strings.ContainsAny(name, "*?[=") {
				name, value, has := strings.Cut(name, "=")
				t.globs = append(t.globs, variableGlob{name: name, value: value, hasValue: has})
			} else {
				t.plain[name] = true
			}
		}
	}
	for _, glob := range slices.Sorted(maps.Keys(t.Code)) {
		if strings.ContainsAny(glob, "*?[") {
			t.codes = append(t.codes, variableGlob{name: glob, role: t.Code[glob]})
		}
	}
	return t
})

// loadsCode finds options of compilers that name a program, or load code.
var loadsCode = lazyregexp.New(`(?:^|\s)(?:-fplugin|-B|-wrapper|--?specs|-fuse-ld=/|-load|-Xclang|-Z|--config)|linker=|runner=|wrapper=`)

// isHarmless reports whether a variable changes nothing that matters: its name is on the list, or each word of its
// value is.
func (t *variableTable) isHarmless(name string, w Word) bool {
	if strings.HasSuffix(name, "FLAGS") && loadsCode.MatchString(w.Text) {
		return false
	}
	if t.plain[name] {
		return true
	}
	words, plain := strings.Fields(w.Text), w.Kind != Unknown && !strings.Contains(w.Text, "/..")
	if len(words) == 0 {
		words = []string{""}
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		return !slices.ContainsFunc(t.globs, func(g variableGlob) bool {
			return globMatch(g.name, name) && (!g.hasValue || plain && globMatch(g.value, word))
		})
	})
}

// code is the role of a variable's value; ok is false where the variable runs nothing.
func (t *variableTable) code(name string) (role string, ok bool) {
	if what, ok := t.Code[name]; ok {
		return what, true
	}
	for _, g := range t.codes {
		if globMatch(g.name, name) {
			return g.role, true
		}
	}
	return "", false
}

func isSecretVariable(name string) bool {
	t := variables()
	any := func(globs list) bool {
		return slices.ContainsFunc(globs, func(g string) bool {
			return slices.ContainsFunc(
				strings.Fields(g),
				func(one string) bool { return globMatch(one, strings.ToUpper(name)) || globMatch(one, name) },
			)
		})
	}
	return any(t.Secret) && !any(t.Except)
}

// setting is the role of a setting's value.
func (t *variableTable) setting(of, key string) (what string, known bool) {
	all := t.Settings[of]
	if what, ok := all[key]; ok {
		return what, true
	}
	best := ""
	for glob := range all {
		if g := strings.ToLower(glob); g != "*" && globMatch(g, key) && len(glob) > len(best) {
			best = glob
		}
	}
	if best != "" {
		return all[best], true
	}
	what, known = all["*"]
	return what, known
}
