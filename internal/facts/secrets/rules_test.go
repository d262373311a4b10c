package secrets

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// sample makes a text that a regular expression matches: of each choice the
// pick-th, of each repetition the fewest, of each class letters and digits in
// turn where it has both.
func sample(re *syntax.Regexp, pick *int) string {
	*pick++
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(runeOf(re.Rune, *pick))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(sample(sub, pick))
		}
		return b.String()
	case syntax.OpAlternate:
		return sample(re.Sub[*pick%len(re.Sub)], pick)
	case syntax.OpCapture, syntax.OpPlus:
		return sample(re.Sub[0], pick)
	case syntax.OpRepeat:
		var b strings.Builder
		for range re.Min {
			b.WriteString(sample(re.Sub[0], pick))
		}
		return b.String()
	}
	return "" // an assertion, or a repetition that may be nothing
}

func runeOf(ranges []rune, pick int) rune {
	var plain []rune
	for _, r := range "k4w9b2x7Q8" {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				plain = append(plain, r)
			}
		}
	}
	if len(plain) == 0 {
		return ranges[0]
	}
	return plain[pick%len(plain)]
}

func parsed(t *testing.T, text string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return re
}

// text makes a text with a secret of the rule's kind, and the secret.
func (r *rule) sample(t *testing.T, pick int) (text, secret string) {
	t.Helper()
	if r.Assigned {
		return strings.Trim(r.Keywords[pick%len(r.Keywords)], "\"") + "=\"" + fill(20+pick) + "\"\n", fill(20 + pick)
	}
	if r.Value != "" {
		secret = sample(parsed(t, r.Value), &pick)
		return r.Keywords[pick%len(r.Keywords)] + "_x = \"" + secret + "\"\n", secret
	}
	text = sample(parsed(t, r.Pattern), &pick)
	loc := regexp.MustCompile(r.Pattern).FindStringSubmatchIndex(text)
	if loc == nil {
		t.Fatalf("%s: its own sample %q does not match", r.ID, text)
	}
	if len(loc) > 2 {
		return text, text[loc[2]:loc[3]]
	}
	return text, text[loc[0]:loc[1]]
}

func TestRulesAreSound(t *testing.T) {
	rules := loaded().all
	if len(rules) < 150 {
		t.Errorf("got %d rules, want at least 150", len(rules))
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.ID] {
			t.Errorf("%s stands twice", r.ID)
		}
		seen[r.ID] = true
		if r.Name == "" || len(r.Keywords) == 0 || (r.Pattern != "") == (r.Value != "") && !r.Assigned {
			t.Errorf("%s: wants a name, keywords, and a pattern or a value", r.ID)
		}
		for _, k := range r.Keywords {
			if len(k) < 2 || k != strings.ToLower(k) {
				t.Errorf("%s: keyword %q is not two lower case bytes or more", r.ID, k)
			}
			if strings.Contains(k, `":`) {
				t.Errorf("%s: keyword %q stands across a name and its value, where harmless may miss a blank", r.ID, k)
			}
		}
		re := r.compiled()
		if re.NumSubexp() != r.group || r.group == 1 && re.SubexpNames()[1] != "secret" {
			t.Errorf("%s: captures something but the secret", r.ID)
		}
	}
}

// Each rule finds the secrets that its own expression describes, alone, quoted,
// escaped in JSON, after colours and in a URL, and hides nothing else.
func TestEachRuleFindsItsKind(t *testing.T) {
	for _, r := range loaded().all {
		t.Run(r.ID, func(t *testing.T) {
			for pick := range 7 {
				text, secret := r.sample(t, pick)
				for _, around := range [][2]string{{"", ""}, {"see ", " ok"}, {`{"a":"x\n`, `\n"}`}, {"\x1b[31m", "\x1b[0m"}} {
					in := around[0] + text + around[1]
					got := Redact(in)
					if strings.Contains(got, secret) {
						t.Fatalf("%q: secret %q is still in %q", in, secret, got)
					}
					if !strings.Contains(got, Marker) {
						t.Fatalf("%q: no marker in %q", in, got)
					}
					if again := Redact(got); again != got {
						t.Fatalf("redacting %q again gives %q", got, again)
					}
				}
			}
		})
	}
}

// The expression of a rule must begin where its key word is found: it is never
// run anywhere else.
func TestKeywordsBeginMatches(t *testing.T) {
	for _, r := range loaded().all {
		for pick := range 7 {
			text, _ := r.sample(t, pick)
			lower := strings.ToLower(text)
			if !slices.ContainsFunc(r.Keywords, func(k string) bool {
				i := strings.Index(lower, k)
				return i >= 0 && i <= r.Lead
			}) {
				t.Errorf("%s: no keyword at the start of %q", r.ID, text)
			}
		}
	}
}
