package secrets

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// rules.json lists the kinds of secret, one object a line. A match begins at
// one of the keywords, or at most lead characters of a word before it.
//
//   - pattern is a regular expression (RE2) for the match.
//   - value, instead, is one for the value assigned to a name that begins with a
//     keyword: `keyword_api_key = "value"`, `--keyword-token value`, JSON, YAML.
//     Only the value is the secret.
//   - assigned, instead, leaves the judgement to Go, see named.go.
//   - inside lets the match begin in the middle of a word; value does too.
//   - solid keeps it from beginning after any of - _ + / = as well, for long forms
//     whose parts could otherwise be tried again and again.
//   - window is how many bytes may decide whether a match begins; 0 = 1 KiB.
//   - dot is where the match has a dot, from its key word on; 0 = nothing is known. So a key word that is
//     in every path is turned down at once.
//   - mixed wants a digit and a letter in the secret, which prose lacks.
//
//go:embed rules.json
var rulesJSON []byte

type rule struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Keywords []string `json:"keywords"` // lower case
	Pattern  string   `json:"pattern"`
	Value    string   `json:"value"`
	Assigned bool     `json:"assigned"`
	Lead     int      `json:"lead"`
	Inside   bool     `json:"inside"`
	Solid    bool     `json:"solid"`
	Mixed    bool     `json:"mixed"`
	Window   int      `json:"window"`
	Dot      int      `json:"dot"`

	compiled func() *regexp.Regexp // on first use: most rules never meet their key word
	group    int                   // of the secret; 0 = the whole match
}

// ruleset is the rules and the automaton of their keywords. It is immutable.
type ruleset struct {
	all   []*rule
	words *automaton
}

// loaded reads the embedded rules once. A rule that is broken is a mistake in
// the program, found by any test.
var loaded = sync.OnceValue(func() *ruleset {
	set := &ruleset{}
	if err := json.Unmarshal(rulesJSON, &set.all); err != nil {
		panic(fmt.Sprintf("read rules.json: %v", err))
	}
	words := map[string][]int32{}
	for i, r := range set.all {
		r.prepare()
		for _, k := range r.Keywords {
			words[k] = append(words[k], int32(i))
		}
	}
	set.words = newAutomaton(words)
	return set
})

func (r *rule) prepare() {
	text := `\A(?:` + r.expression() + `)`
	r.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
	if strings.Contains(text, "(?P<secret>") {
		r.group = 1 // the only group that captures; a test holds rules to it
	}
}

// expression is the rule's pattern, or the pattern that its value stands for.
func (r *rule) expression() string {
	if r.Value == "" {
		return r.Pattern
	}
	names := make([]string, len(r.Keywords))
	for i, k := range r.Keywords {
		names[i] = regexp.QuoteMeta(k)
	}
	const (
		rest   = `[\w.-]{0,40}` // of the name
		assign = `(?:\\?["'\x60]?\]?[ \t]{0,8}(?::=|=>|==?|:)[ \t]{0,8}|[ \t]{1,4})`
		open   = `(?:\\?["'\x60])?`
		border = `(?:[^\w+/=.~-]|\.?\z|\.\s)`
	)
	return `(?i:` + strings.Join(names, "|") + `)` + rest + assign + open + `(?P<secret>` + r.Value + `)` + border
}

// match tries the rule on the key word at s[at]. until is where the match, not
// only its secret, ends; it is 0 if there is none. A match that is not ok looks
// right but has no mixed secret; nothing within it has. A token may also begin
// at free, where the last found one ended.
func (r *rule) match(s string, at, free int, f *fuel) (h Hit, until int, ok bool) {
	if r.Assigned {
		if start, end, ok := assigned(s, at); ok {
			return Hit{r.ID, start, end}, end, true
		}
		return Hit{}, 0, false
	}
	first := at
	for first > 0 && at-first < r.Lead && isWord(s[first-1]) {
		first--
	}
	for start := first; start <= at; start++ {
		if !r.mayBegin(s, start, free) {
			continue
		}
		if f.empty(at) {
			end := wordEnd(s, at)
			return Hit{r.ID, start, end}, end, true
		}
		if h, until, ok = r.matchFrom(s, start, f); until > 0 {
			return h, until, ok
		}
	}
	return Hit{}, 0, false
}

// hasDot reports whether the dot of a match that begins at s[at] is there.
func hasDot[T string | []byte](r *rule, s T, at int) bool {
	return r.Dot == 0 || at+r.Dot < len(s) && s[at+r.Dot] == '.'
}

// mayBegin turns most key words down before an expression has to.
func (r *rule) mayBegin(s string, at, free int) bool {
	if !hasDot(r, s, at) {
		return false
	}
	if r.Value != "" {
		return named(s, at)
	}
	if r.Inside || at == free {
		return true
	}
	if r.Solid && at > 0 && strings.IndexByte("-_+/=", s[at-1]) >= 0 {
		return false
	}
	return border(s, at)
}

func (r *rule) matchFrom(s string, at int, f *fuel) (h Hit, until int, ok bool) {
	loc := r.find(s[at:], f)
	if loc == nil {
		return Hit{}, 0, false
	}
	h = Hit{r.ID, at + loc[2*r.group], at + loc[2*r.group+1]}
	value := s[h.Start:h.End]
	return h, at + loc[1], value != "" && (!r.Mixed || mixed(value)) && (r.group == 0 || !isWords(value))
}

// find runs the expression on the shortest beginning of s that decides. So a match costs
// its own length, and a failure the length that the expression has read.
func (r *rule) find(s string, f *fuel) []int {
	for n := cmp.Or(r.Window, 1<<10); ; n *= 4 {
		part := s[:min(n, len(s))]
		in := strings.NewReader(part)
		loc := r.compiled().FindReaderSubmatchIndex(in)
		if loc == nil {
			f.spent += len(part) - in.Len()
		}
		if loc == nil || loc[1] < len(part) || len(part) == len(s) {
			return loc
		}
	}
}

// fuel bounds how much of a text failing expressions may read: a few times the length
// of the text before them, and a little to begin with. Text that takes more
// is made of key words, one within the form that another begins. The text
// there then counts as a secret unread: to find out would take the square of its length.
type fuel struct{ spent int }

const (
	firstFuel   = 16 << 10
	fuelPerByte = 4
)

// empty reports whether nothing is left for a key word at that place.
func (f *fuel) empty(at int) bool { return f.spent > firstFuel+fuelPerByte*at }

// wordEnd returns where the word at s[at] ends: at a blank, a quote or an escape.
func wordEnd(s string, at int) int {
	for at < len(s) && s[at] > ' ' && s[at] != '\\' && !isQuote(s[at]) {
		at++
	}
	return at
}

// maxName is longer than any keyword of a value rule with the rest of its name.
const maxName = 80

// named reports whether the name at s[at] ends where something can be assigned
// to it.
func named(s string, at int) bool {
	for i := at; i < min(len(s), at+maxName); i++ {
		if b := s[i]; !isAlnum(b) && b != '_' && b != '.' && b != '-' {
			return strings.IndexByte("=: \t\"'`]\\", b) >= 0
		}
	}
	return false
}

// border reports whether a word may begin at s[at]: after anything that is no
// letter or digit, and after a few lookalikes of one: an escaped line break
// (\n in JSON), a %3D of a URL, the end of a terminal's colour code.
func border(s string, at int) bool {
	if at == 0 || !isAlnum(s[at-1]) {
		return true
	}
	before := s[max(0, at-8):at]
	if n := len(before); n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtfbv", before[n-1]) >= 0 {
		return true
	}
	if n := len(before); n >= 3 && before[n-3] == '%' && isHex(before[n-2]) && isHex(before[n-1]) {
		return true
	}
	if i := strings.LastIndexByte(before, '\x1b'); i >= 0 {
		return strings.HasSuffix(before, "m") && strings.Trim(before[i+1:len(before)-1], "[0123456789;") == ""
	}
	return false
}

// mixed reports whether s has a digit and a letter.
func mixed(s string) bool {
	digit, letter := false, false
	for i := 0; i < len(s) && !(digit && letter); i++ {
		digit = digit || isDigit(s[i])
		letter = letter || isAlnum(s[i]) && !isDigit(s[i])
	}
	return digit && letter
}

func isAlnum(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' }

func isWord(b byte) bool {
	return isAlnum(b) || b == '_' || b == '~' || b == '.' || b == '+' || b == '-'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isHex(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f' }
