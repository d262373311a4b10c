package connect

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

func TestCallOf(t *testing.T) {
	for line, want := range map[string]call{
		"/usr/local/bin/hookd-bridge codex":           {program: "/usr/local/bin/hookd-bridge", agent: "codex", args: []string{}},
		"hookd-bridge codex PreToolUse --fail-closed": {program: "hookd-bridge", agent: "codex", args: []string{"PreToolUse", "--fail-closed"}},
		"'/opt/my hookd/hookd-bridge' codex":          {program: "/opt/my hookd/hookd-bridge", agent: "codex", args: []string{}},
		`"/opt/my hookd/hookd-bridge"  codex`:         {program: "/opt/my hookd/hookd-bridge", agent: "codex", args: []string{}},
		`/opt/my\ hookd/hookd-bridge codex`:           {program: "/opt/my hookd/hookd-bridge", agent: "codex", args: []string{}},
		"/x/hookd bridge codex --ask=none":            {program: "/x/hookd", agent: "codex", args: []string{"--ask=none"}},
		"hookd-bridge codex || { echo 'gone' >&2; exit 2; }": {
			program: "hookd-bridge", agent: "codex", args: []string{}, fallback: " || { echo 'gone' >&2; exit 2; }",
		},
		"hookd-bridge codex || { echo $(rm x) >&2; exit 2; }": {},
		"hookd-bridge codex || exec other":                    {},
		"hookd-bridge gemini-cli":                             {},
		"hookd-bridge":                                        {},
		"hookd bridge":                                        {},
		"hookd emit codex":                                    {},
		"test -S x && hookd-bridge codex":                     {},
		"hookd-bridge codex | tee log":                        {},
		"hookd-bridge codex; rm -rf x":                        {},
		"hookd-bridge codex $(x)":                             {},
		`hookd-bridge "$x" codex`:                             {},
		"my-hookd-bridge codex":                               {},
		"'hookd-bridge codex":                                 {},
		"sh -c 'hookd-bridge codex'":                          {},
		"/usr/local/bin/hookd-bridge codex # and a comment":   {},
	} {
		got, ok := callOf(line, "codex")
		if ok != (want.program != "") || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v %t, want %+v", line, got, ok, want)
		}
	}
}

// A shell takes a call apart as callOf does.
func TestCallInShell(t *testing.T) {
	for _, program := range []string{"/a/hookd-bridge", "/my own/$HOME/it's \"x\"/hookd-bridge", "/ü/~/hookd-bridge"} {
		c := call{program: program, agent: "codex", args: []string{"Stop", "a b"}}
		out, err := exec.Command("/bin/sh", "-c", "printf '%s\\n' "+c.String()).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Split(strings.TrimSpace(string(out)), "\n"), []string{program, "codex", "Stop", "a b"}; !reflect.DeepEqual(got, want) {
			t.Errorf("a shell reads %q, want %q", got, want)
		}
		if got, ok := callOf(c.String(), "codex"); !ok || !reflect.DeepEqual(got, c) {
			t.Errorf("callOf reads %+v %t, want %+v", got, ok, c)
		}
	}
}
