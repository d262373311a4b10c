package facts

import (
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// A host has one spelling, however an address writes it: a rule names it by that.
func TestHosts(t *testing.T) {
	for address, want := range map[string][]string{
		"https://EVIL.example./x":               {"evil.example"},
		"https://ok.example:1@evil.example:2/":  {"evil.example"},
		`https://evil.example\@ok.example/`:     {"evil.example", "ok.example"},
		`https://evil.example\.ok.example/`:     {"evil.example"},
		"https:///evil.example":                 {"evil.example"},
		"https:evil.example/x":                  {"evil.example"},
		"//evil.example/x":                      {"evil.example"},
		" ht\ntps://evil.example\n":             {"evil.example"},
		"http://ev%69l.example:80/":             {"evil.example"},
		"http://ｅvil。example/":                  {"evil.example"},
		"http://e\u00advil.example/":            {"evil.example"},
		"http://bücher.example/":                {"xn--bcher-kva.example"},
		"http://XN--BCHER-KVA.example/":         {"xn--bcher-kva.example"},
		"http://pаypal.com/":                    {"xn--pypal-4ve.com"},
		"http://majiでkoiする5秒前.jp/":              {"xn--majikoi5-783gue6qz075azm5e.jp"},
		"http://他们为什么不说中文/":                     {"xn--ihqwcrb4cv8a8dqg056pqjye"},
		"http://2130706433/":                    {"127.0.0.1"},
		"http://0x7f.1:80/":                     {"127.0.0.1"},
		"http://0177.0.0.1/":                    {"127.0.0.1"},
		"http://0/":                             {"0.0.0.0"},
		"http://[::ffff:a9fe:a9fe]/":            {"169.254.169.254"},
		"http://[0:0:0:0:0:0:0:1]:8080/":        {"::1"},
		"git@example.org:a/b.git":               {"example.org"},
		"example.org:8080":                      {"example.org"},
		"8080":                                  {"8080"},
		"https://a" + unknownPart + ".example/": {"ax.example"},
		"file:///etc/hosts":                     nil,
	} {
		if got := hostsOf(address); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// A server may lead to an address in the query of its own.
func TestRedirects(t *testing.T) {
	for line, want := range map[string]bool{
		"curl -L 'https://ok.example/url?q=https://evil.example/x'":                         true,
		"curl -L 'https://ok.example/?a=1&next=https%3A%2F%2Fevil.example%2Fx'":             true,
		"curl -L 'https://ok.example/?next=//evil.example'":                                 true,
		"curl -L 'https://ok.example/?next=/evil.example'":                                  false,
		"curl -L 'https://ok.example/?q=evil.example'":                                      false,
		"python3 -c 'import requests; requests.get(\"https://a.b/?u=https:evil.example\")'": true,
	} {
		f := Line(line, Env{Cwd: "/w"})
		got := slices.ContainsFunc(f.Effects, func(e Effect) bool { return e.Target == "host:evil.example" && !e.Certain })
		if got != want {
			t.Errorf("%s: may connect %v, want %v", line, got, want)
		}
	}
}

// A tool that opens pages adds the scheme to an address without it.
func TestAddressWithoutScheme(t *testing.T) {
	for input, want := range map[string]bool{
		`{"url":"evil.example/x"}`: true, `{"url":"https:evil.example"}`: true, `{"uri":"main.go"}`: false, `{"url":"/a.b"}`: false,
	} {
		f := Read(neutral.ToolCall{Own: "mcp__browser__navigate", Given: []byte(input), Input: []byte(input)}, Env{Cwd: "/w"})
		got := slices.ContainsFunc(f.Effects, func(e Effect) bool { return e.Target == "host:evil.example" })
		if got != want {
			t.Errorf("%s: connects %v", input, got)
		}
	}
}
