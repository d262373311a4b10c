package secrets

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// maxNamed is the longest value that is read together with its key.
const maxNamed = 4096

// maxDepth is how deep encoding/json reads.
const maxDepth = 10_000

// RedactJSON replaces the secrets in the strings of valid JSON and reports
// whether there were any; every other byte stays as it is, and the result is
// valid. name is the key that the value itself has. Values of the keys in skip
// are left alone, but not within a tool call's arguments, where a key means
// nothing, and not in JSON that a string holds.
func RedactJSON(value json.RawMessage, name string, skip map[string]bool) (json.RawMessage, bool) {
	s, changed := string(value), false
	if name == "" && harmless(s) {
		return value, false
	}
	for looks := 1; ; looks++ {
		spans, ok := newSearch(s).document(s, name, skip)
		if !ok || len(spans) == 0 {
			return json.RawMessage(s), changed
		}
		s, changed = replace(s, widened(spans, s, looks)), true
	}
}

// place is where in a JSON value a string stands.
type place struct {
	key       string // of the string, or of the list it is in
	list      string // the list's own key; the key of an element may be the flag before it
	named     string // {"name": NAME, "value": …}
	inList    bool
	arguments bool // within those of a tool call
}

// document finds the secrets in the strings of s, which may be several JSON
// values one after another. It is not ok if s is anything else. Strings are
// decoded first, and each is read with its name: {"password": "…"},
// ["--password", "…"], {"name": "PASSWORD", "value": "…"}.
func (w *search) document(s, name string, skip map[string]bool) (found []span, ok bool) {
	if first := strings.TrimLeft(s, blanks); first == "" || strings.IndexByte(`{["`, first[0]) < 0 {
		return nil, false
	}
	var outer []place
	here := place{key: name}
	tokens := rawjson.Lex(s)
	for tokens.Next() {
		switch tokens.Kind {
		case '{', '[':
			if len(outer) == maxDepth {
				return nil, false
			}
			outer = append(outer, here)
			here.arguments = here.arguments || here.key == "input" || here.key == "arguments" || here.key == "args"
			here.inList, here.list, here.named = tokens.Kind == '[', here.key, ""
		case '}', ']':
			if len(outer) == 0 || here.inList != (tokens.Kind == ']') {
				return nil, false
			}
			here, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case rawjson.KindKey, rawjson.KindString:
			inside := s[tokens.Start+1 : tokens.End-1]
			isKey := tokens.Kind == rawjson.KindKey
			found = append(found, shifted(w.literal(inside, isKey, &here, skip), tokens.Start+1)...)
		}
	}
	return found, tokens.AtEnd() && len(outer) == 0
}

// literal finds the secrets in a string. inside is the text between its quotes.
func (w *search) literal(inside string, isKey bool, here *place, skip map[string]bool) []span {
	text := inside
	if strings.IndexByte(inside, '\\') >= 0 && len(inside) <= w.left {
		w.left -= len(inside)
		text = decode(inside)
	}
	var found []span
	switch {
	case isKey:
		here.key = text
		found = w.spans(text)
	case here.arguments || !skip[here.member()]:
		found = w.value(text, here.name())
	}
	if !isKey {
		here.follow(text)
	}
	if len(text) != len(inside) {
		found = encoded(inside, found)
	}
	return found
}

// member is the key that the string or its list has.
func (p *place) member() string {
	if p.inList {
		return p.list
	}
	return p.key
}

// name is the name of the string that stands here.
func (p *place) name() string {
	if p.named != "" && strings.EqualFold(p.key, "value") {
		return p.named
	}
	return p.key
}

// follow notes the hint of a string about the one after it.
func (p *place) follow(text string) {
	switch {
	case p.inList:
		p.key = p.list
		if len(text) <= maxName && strings.HasPrefix(text, "-") {
			p.key = text
		}
	case strings.EqualFold(p.key, "name") || strings.EqualFold(p.key, "key"):
		p.named = text
	}
}

// value finds the secrets in the text of a string. Its key may give
// a secret away.
func (w *search) value(text, key string) []span {
	found := w.spans(text)
	if key == "" || text == "" || len(key) > maxName {
		return found
	}
	var room [maxName + 5]byte
	prefix := append(append(append(room[:0], '"'), key...), `":"`...)
	if !anyIn(loaded().words, prefix) {
		return found // as most keys
	}
	if c := classify(key); c != public && plausible(text, c, given) {
		return []span{{0, len(text)}}
	}
	if len(text) > maxNamed {
		return found
	}
	var beside []span
	whole := string(prefix) + text + `"`
	for _, sp := range merge(Find(whole), whole) {
		if sp.start >= len(prefix) && sp.end <= len(prefix)+len(text) {
			beside = append(beside, span{sp.start - len(prefix), sp.end - len(prefix)})
		}
	}
	return join(found, beside)
}

func shifted(spans []span, by int) []span {
	for i := range spans {
		spans[i].start += by
		spans[i].end += by
	}
	return spans
}

const blanks = " \t\r\n"
