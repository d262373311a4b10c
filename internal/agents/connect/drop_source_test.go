package connect

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDropSource(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string // "" = refused
	}{
		{"a: 1\nsources:\n- {type: x, path: a} # one\n- type: y\n  path: b\n\n# end\n", 1, "a: 1\nsources:\n- {type: x, path: a} # one\n\n# end\n"},
		{"sources:\n  - type: y\n    path: b\nb: 2\n", 0, "sources: []\nb: 2\n"},
		{"sources: [{type: x, path: a}, {type: y, path: \"b,]\"}]\r\n", 0, "sources: [{type: y, path: \"b,]\"}]\r\n"},
		{"sources: [{type: x, path: a}, {type: y, path: \"b,]\"}]", 1, "sources: [{type: x, path: a}]"},
		{"sources: [{type: x, path: a}]\n", 0, "sources: []\n"},
		{"sources:\n-\n  type: y\n  path: b\n", 0, ""},
		{"sources: []\n", 0, ""},
		{"sources: [\n", 0, ""},
		{"", 0, ""},
	} {
		path := filepath.Join(t.TempDir(), "hookd.yaml")
		write(t, path, []byte(c.text))
		change, err := DropSource(path, c.n)
		if err != nil && (c.want != "" || !strings.Contains(err.Error(), "hookd.yaml")) || err == nil && string(change.After) != c.want {
			t.Errorf("%q without %d: got %q, %v, want %q", c.text, c.n, change.After, err, c.want)
		}
	}
}
