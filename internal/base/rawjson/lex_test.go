package rawjson

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLex(t *testing.T) {
	for src, want := range map[string]string{
		``:                            "",
		" \n":                         "",
		`{}`:                          "{ }",
		` {"a" : [1, -2.5e+3,true]} `: `{ key"a" [ 1 -2.5e+3 true ] }`,
		`{"a\"b":"c:"}{"d":null}`:     `{ key"a\"b" "c:" } { key"d" null }`,
		"{\"k\"\n:\"v\",}":            `{ key"k" "v" }`,
		`["a" "b"]]`:                  `[ "a" "b" ] ]`,
		`truefalse`:                   "true false",
		`"open`:                       "(bad)",
		`"open\"`:                     "(bad)",
		`"open\`:                      "(bad)",
		`{"a":x}`:                     `{ key"a" (bad)`,
		`[e1]`:                        "[ (bad)",
		`[tru]`:                       "[ (bad)",
	} {
		l := Lex(src)
		var got []string
		for l.Next() {
			mark := ""
			if l.Kind == KindKey {
				mark = "key"
			}
			got = append(got, mark+src[l.Start:l.End])
		}
		if !l.AtEnd() {
			got = append(got, "(bad)")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, want %s", src, got, want)
		}
	}
}

// decoded returns the tokens of encoding/json, nil if src is no valid JSON.
func decoded(src []byte) (tokens []string) {
	d := json.NewDecoder(strings.NewReader(string(src)))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return tokens
		}
		if err != nil {
			return nil
		}
		switch v := token.(type) {
		case json.Delim:
			tokens = append(tokens, v.String())
		case string:
			tokens = append(tokens, "text "+v)
		case json.Number:
			tokens = append(tokens, v.String())
		case bool:
			tokens = append(tokens, map[bool]string{true: "true", false: "false"}[v])
		case nil:
			tokens = append(tokens, "null")
		}
	}
}

func FuzzLex(f *testing.F) {
	for _, src := range []string{`{"a":[1,2e3,{"b":"\u00e9\\"}]}`, `[true,false,null,-0.1]`, "{\"a\"\t: \"b\"}\n[]", `"`, `{"`, `\`} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var got []string
		l, twin := Lex(src), Lex(string(src))
		for end := 0; l.Next(); end = l.End {
			if !twin.Next() || l.Start < end || l.End <= l.Start || l.Start != twin.Start || l.End != twin.End || l.Kind != twin.Kind {
				t.Fatalf("%q: token %d to %d behind %d; of the string: %+v", src, l.Start, l.End, end, twin)
			}
			part := string(src[l.Start:l.End])
			if l.Kind == KindKey || l.Kind == KindString {
				part = "text " + Unescape(src[l.Start+1:l.End-1])
			}
			got = append(got, part)
		}
		if !utf8.Valid(src) || !json.Valid(src) {
			return
		}
		if want := decoded(src); !l.AtEnd() || !slices.Equal(got, want) {
			t.Fatalf("%s: got %q, want %q", src, got, want)
		}
	})
}
