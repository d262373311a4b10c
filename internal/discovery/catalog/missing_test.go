package catalog

import "testing"

func TestMeant(t *testing.T) {
	loaded := []string{"guard-rm", "gallery/secret-guard", "team/lint", "log"}
	for name, want := range map[string]string{
		"secret-guard":          "did you mean gallery/secret-guard? ",
		"lint":                  "did you mean team/lint? ",
		"guard-mr":              "did you mean guard-rm? ",
		"command-guard":         "the gallery has one: `hookd add gallery/command-guard`; ",
		"gallery/command-guard": "the gallery has one: `hookd add gallery/command-guard`; ",
		"comand-guard":          "the gallery has one: `hookd add gallery/command-guard`; ",
		"entirely-else":         "",
		"":                      "",
	} {
		if got := Meant(name, loaded); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
