// Package secrets finds secrets of real providers in text and replaces them by
// [REDACTED].
//
// Why it is hookd's own. docker-agent uses github.com/docker/portcullis
// (Apache-2.0), which the Go module proxy does not serve. Of the modules that it serves,
// github.com/zricethezav/gitleaks/v8 (MIT, v8.30.1) was tried as a library: it
// links 172 packages outside the standard library (a configuration framework,
// an archive reader, a terminal styler), needs 4 s for 5 MB of log because it
// runs its rules over whole fragments, drops tokens by entropy and word lists
// (a low-entropy npm_ token, AWS_SECRET_ACCESS_KEY=… of the AWS documentation),
// has no rule for the password in a database URL, and reports lines and columns
// of its findings, not the bytes to cut. It is made to review commits; here a miss
// is a leak and a span must be exact. The rules in rules.json are written from
// the providers' documented token formats.
//
// Its promises: the same text always gives the same result; Redact of its
// own result changes nothing; text that is valid UTF-8 stays so; of a rule with
// a named group "secret" only that span goes; overlapping spans become one
// marker; text written with the escapes of JSON is decoded before the
// search, JSON within JSON strings too; JSON stays valid, and a byte that is
// no part of a secret stays as it is; no checksum has to be right, so made-up samples are found too. Time
// is linear in the text: one pass over it finds the key words of all rules
// (Aho-Corasick), and an expression only ever runs from a key word on. It never
// fails and never blocks. It does not look inside encoded text (base64,
// compressed data), and finds no secret that has neither a known form nor a
// telling name before it.
package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// Marker stands in the place of the redacted text.
const Marker = "[REDACTED]"

// Hit is one secret in a text.
type Hit struct {
	Rule       string // id of the rule that found it
	Start, End int    // bytes of the secret itself
}

// Redact returns s with each secret replaced by Marker, and s itself if it has
// none.
func Redact(s string) string {
	if harmless(s) {
		return s
	}
	for looks := 1; ; looks++ {
		spans := newSearch(s).spans(s)
		if len(spans) == 0 {
			return s
		}
		s = replace(s, widened(spans, s, looks))
		// A secret that a neighbour has hidden may show now. Each look takes away
		// bytes that no marker covers, so there is a last one: nearly always this.
	}
}

// RedactBytes is Redact for bytes, which it does not change: it returns s itself if it has no
// secret.
func RedactBytes(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 && plain(s) {
		return s // as harmless says of a string
	}
	was := string(s)
	if now := Redact(was); now != was {
		return []byte(now)
	}
	return s
}

// harmless reports whether one look shows that s has no secret, as in most texts: nothing has
// to be decoded, and there is no key word, neither in a text nor in its name. A payload of
// 300 bytes is done in a third of the time.
func harmless(s string) bool {
	return strings.IndexByte(s, '\\') < 0 && plain(s)
}

// plain reports whether no key word is in s that may begin a secret.
func plain[T string | []byte](s T) bool {
	rules := loaded()
	if !anyIn(rules.words, s) {
		return true
	}
	found := false
	each(rules.words, s, func(at int, users []int32) {
		found = found || slices.ContainsFunc(users, func(i int32) bool { return hasDot(rules.all[i], s, at) })
	})
	return !found
}

// widened stretches the finds of a later look: to the whole word, and then to all
// text between quotes or escapes. So a chain of secrets in which each hides the next
// does not take a look for each.
func widened(spans []span, s string, looks int) []span {
	if looks < 4 {
		return spans
	}
	ends := func(b byte) bool { return b == '"' || b == '\\' || looks < 6 && (b <= ' ' || isQuote(b)) }
	var wide []span
	for _, sp := range spans {
		reached := 0 // each byte is looked at once
		if n := len(wide); n > 0 {
			reached = wide[n-1].end
		}
		if sp.end <= reached {
			continue
		}
		for sp.end < len(s) && !ends(s[sp.end]) {
			sp.end++
		}
		from := sp.start
		for from > reached && !ends(s[from-1]) {
			from--
		}
		if from > 0 && s[from-1] == '\\' {
			length, _, _ := escape(s[from-1:])
			from += length - 1 // an escape is not cut
		}
		wide = append(wide, span{max(reached, min(sp.start, from)), sp.end})
	}
	return wide
}

// Find returns the secrets in s as it stands, with no escape decoded, in the
// order of their starts. Hits of different rules may overlap.
func Find(s string) []Hit {
	hits, _ := find(s)
	return hits
}

// find also returns how much of s the expressions that failed have read.
func find(s string) (hits []Hit, f fuel) {
	rules := loaded()
	var after []int // by rule: where its last match ended; nil = no key word was met
	end := 0        // of the match that reaches furthest: a new token may begin there
	each(rules.words, s, func(at int, users []int32) {
		if after == nil {
			after = make([]int, len(rules.all))
		}
		for _, i := range users {
			if at < after[i] {
				continue // inside what this rule has already found
			}
			hit, until, ok := rules.all[i].match(s, at, end, &f)
			after[i] = max(after[i], until)
			if ok {
				end = max(end, hit.End)
				hits = append(hits, hit)
			}
		}
	})
	slices.SortStableFunc(hits, func(a, b Hit) int { return a.Start - b.Start })
	return hits, f
}

// span is a part of a text that one marker replaces.
type span struct{ start, end int }

// merge joins hits that overlap, and stretches them over markers that they
// cut, so that no marker is ever halved. A hit that is a marker is none.
func merge(hits []Hit, s string) []span {
	var spans []span
	for _, h := range hits {
		next := stretch(span{h.Start, h.End}, s)
		if strings.ReplaceAll(s[next.start:next.end], Marker, "") == "" {
			continue
		}
		if n := len(spans); n > 0 && next.start < spans[n-1].end {
			spans[n-1].end = max(spans[n-1].end, next.end)
			continue
		}
		spans = append(spans, next)
	}
	return spans
}

// stretch widens sp so that it holds every marker that it touches whole.
func stretch(sp span, s string) span {
	near := len(Marker) - 1
	marker := func(from, at int) (start int, covers bool) {
		start = from + strings.LastIndex(s[from:min(len(s), at+near)], Marker)
		return start, start >= from && start < at && start+len(Marker) > at
	}
	if start, covers := marker(max(0, sp.start-near), sp.start); covers {
		sp.start = start
	}
	if start, covers := marker(max(sp.start, sp.end-near), sp.end); covers {
		sp.end = start + len(Marker)
	}
	return sp
}

func replace(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.start])
		b.WriteString(Marker)
		at = sp.end
	}
	b.WriteString(s[at:])
	return b.String()
}
