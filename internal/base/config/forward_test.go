package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A target is called as its type unless it has a name; paths are below the home.
func TestForward(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	c, err := load(t, `forward:
- {type: otlp, url: "https://otel.example.com:4318"}
- {type: webhook, name: siem, url: "http://127.0.0.1:9/x", headers: {X-Key: "file:~/key", X-Org: "7"}, sign: "env:SIGN", ca: ca.pem}
- {type: file, path: log/decisions.ndjson}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Forward{
		{Name: "otlp", Type: ForwardOTLP, URL: "https://otel.example.com:4318"},
		{
			Name: "siem", Type: ForwardWebhook, URL: "http://127.0.0.1:9/x", Sign: "env:SIGN",
			Headers: map[string]string{"X-Key": "file:/home/u/key", "X-Org": "7"}, CA: filepath.Join(c.Home, "ca.pem"),
		},
		{Name: "file", Type: ForwardFile, Path: filepath.Join(c.Home, "log/decisions.ndjson")},
	}
	if !reflect.DeepEqual(c.Forward, want) {
		t.Errorf("got %+v", c.Forward)
	}
}

func TestForwardThatCannotBe(t *testing.T) {
	for yaml, want := range map[string]string{
		`{type: webhook}`:                                           "want a list such as",
		`[{type: webhok, url: "https://x"}]`:                        "did you mean `webhook`?",
		`[{url: "https://x"}]`:                                      `type "", want otlp, webhook, file`,
		`[{type: webhook, urll: "https://x"}]`:                      "did you mean `url`?",
		`[{type: file, path: a, sign: "env:A"}]`:                    `file has no key "sign"`,
		`[{type: webhook}]`:                                         "webhook: there is no url",
		`[{type: file}]`:                                            "file: there is no path",
		`[{type: otlp, url: "http://example.com"}]`:                 "http:// is for this machine alone",
		`[{type: otlp, url: "https://me:pw@example.com"}]`:          "a password in the URL",
		`[{type: otlp, url: "localhost:4318"}]`:                     "is no https:// address",
		`[{type: webhook, url: "https://x", sign: geheim}]`:         "the key is never in hookd.yaml",
		`[{type: webhook, url: "https://x", headers: {"a b": c}}]`:  "no name of a header",
		`[{type: webhook, url: "https://x", headers: {a: "b\nc"}}]`: "want one line",
		`[{type: file, path: a}, {type: file, path: b}]`:            `two are called "file"`,
		`[{type: file, path: a, name: "A b"}]`:                      `name "A b"`,
		"[" + strings.Repeat(`{type: file, path: a},`, 9) + "]":     "there are 9, want at most 8",
		`[{type: webhook, url: "https://x", headers: [a]}]`:         "want {type: otlp",
		`[{type: webhook, url: "https://x", url: "https://y"}]`:     "want {type: otlp",
	} {
		if _, err := load(t, "forward: "+yaml+"\n", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", yaml, err, want)
		}
	}
}

// The output of `hookd config` has no secret, and hookd.yaml takes it.
func TestForwardAsItIsShown(t *testing.T) {
	yaml := `[{type: webhook, url: "https://x", headers: {A: geheim, B: "env:B"}, sign: "env:S"}]`
	c, err := load(t, "forward: "+yaml+"\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Effective(nil, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name != "forward" {
			continue
		}
		if strings.Contains(s.Value, "geheim") || !strings.Contains(s.Value, "(hidden)") || !strings.Contains(s.Value, "env:B") {
			t.Errorf("shown as %s", s.Value)
		}
		if _, err := load(t, "forward: "+s.Value+"\n", nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := load(t, "", map[string]string{"forward": yaml}); err != nil {
		t.Errorf("as a flag: %v", err)
	}
}
