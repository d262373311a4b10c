package roster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// connected is a home with one agent that was connected.
func connected(t *testing.T) (hookd string, o connect.Options) {
	t.Helper()
	dir := t.TempDir()
	o = connect.Options{Agent: "claude-code", Home: dir + "/me", Bridge: dir + "/bin/hookd-bridge"}
	o.Getenv = func(string) string { return "" }
	hooktest.Write(t, o.Bridge, "#!/bin/sh\n", 0o755)
	hooktest.Write(t, o.Home+"/.claude/settings.json", "{}\n", 0o600)
	p, err := connect.Connect(o)
	hooktest.Must(t, err)
	hooktest.Must(t, p.Apply())
	hooktest.Must(t, Note(dir+"/hookd-home", o))
	return dir + "/hookd-home", o
}

// A fault of an agent's settings or its bridge is found, with the command that mends it.
func TestLook(t *testing.T) {
	for name, tt := range map[string]struct {
		breaks func(t *testing.T, o connect.Options)
		why    string
	}{
		"nothing": {func(*testing.T, connect.Options) {}, ""},
		"gone":    {func(t *testing.T, o connect.Options) { hooktest.Must(t, os.Remove(o.Bridge)) }, "is gone"},
		"closed":  {func(t *testing.T, o connect.Options) { hooktest.Must(t, os.Chmod(o.Bridge, 0o644)) }, "cannot be executed"},
		"another": {func(t *testing.T, o connect.Options) { hooktest.Write(t, o.Bridge, "#!/bin/sh\nexit 0\n", 0o755) }, "is another program"},
		"another, and the one beside hookd": {func(t *testing.T, o connect.Options) {
			hooktest.Write(t, o.Bridge, "newer", 0o755)
			hooktest.Write(t, filepath.Dir(o.Bridge)+"/own", "newer", 0o755)
		}, "is another program"},
		"a folder": {func(t *testing.T, o connect.Options) {
			hooktest.Must(t, os.Remove(o.Bridge))
			hooktest.Must(t, os.Mkdir(o.Bridge, 0o755))
		}, "cannot be executed"},
		"settings emptied": {func(t *testing.T, o connect.Options) {
			hooktest.Write(t, o.Home+"/.claude/settings.json", "{}\n", 0o600)
		}, "does not call hookd any more"},
		"settings removed": {func(t *testing.T, o connect.Options) {
			hooktest.Must(t, os.RemoveAll(o.Home+"/.claude"))
		}, "does not call hookd any more"},
		"settings that cannot be read": {func(t *testing.T, o connect.Options) {
			hooktest.Write(t, o.Home+"/.claude/settings.json", "{", 0o600)
		}, "cannot be read"},
		"its guard taken out": {func(t *testing.T, o connect.Options) {
			file := o.Home + "/.claude/settings.json"
			text, err := os.ReadFile(file)
			hooktest.Must(t, err)
			hooktest.Write(t, file, strings.Replace(string(text), `"PreToolUse"`, `"PreToolOther"`, 1), 0o600)
		}, "does not call hookd for PreToolUse"},
		"its guard narrowed": {func(t *testing.T, o connect.Options) {
			file := o.Home + "/.claude/settings.json"
			text, err := os.ReadFile(file)
			hooktest.Must(t, err)
			before, after, _ := strings.Cut(string(text), `"PreToolUse"`)
			after = strings.Replace(after, `"*"`, `"Read"`, 1)
			hooktest.Write(t, file, before+`"PreToolUse"`+after, 0o600)
		}, `for "Read" alone`},
		"another program for its guard alone": {func(t *testing.T, o connect.Options) {
			file := o.Home + "/.claude/settings.json"
			text, err := os.ReadFile(file)
			hooktest.Must(t, err)
			other := filepath.Dir(o.Bridge) + "/other/hookd-bridge"
			hooktest.Write(t, other, "#!/bin/sh\nexit 0\n", 0o755)
			before, after, _ := strings.Cut(string(text), `"PreToolUse"`)
			after = strings.Replace(after, o.Bridge, other, 1)
			hooktest.Write(t, file, before+`"PreToolUse"`+after, 0o600)
		}, "other/hookd-bridge is another program"},
		"switched off": {func(t *testing.T, o connect.Options) {
			file := o.Home + "/.claude/settings.json"
			text, err := os.ReadFile(file)
			hooktest.Must(t, err)
			hooktest.Write(t, file, strings.Replace(string(text), "{", `{"disableAllHooks": true,`, 1), 0o600)
		}, "disableAllHooks"},
	} {
		t.Run(name, func(t *testing.T) {
			home, o := connected(t)
			tt.breaks(t, o)
			var l Looker
			hooktest.Must(t, Adopt(home, filepath.Dir(o.Bridge)+"/own"))
			for range 2 { // the second look remembers
				faults, err := l.Look(home)
				hooktest.Must(t, err)
				switch {
				case tt.why == "" && len(faults) == 0:
				case len(faults) != 1 || tt.why == "" || !strings.Contains(faults[0].Why, tt.why) || faults[0].Do != "hookd connect claude-code":
					t.Errorf("found %+v, want %q", faults, tt.why)
				}
			}
		})
	}
}

// The bridge beside hookd is usually the bridge that agents call. It is told when it is replaced, after a
// restart, too, unless hookd was replaced with it; and again when it is replaced after such an upgrade.
func TestReplacedBridgeBesideHookd(t *testing.T) {
	home, o := connected(t)
	replaced := func(text string) { hooktest.Write(t, o.Bridge, text, 0o755) }
	upgraded := func() { // hookd, since it was connected
		list, err := List(home)
		hooktest.Must(t, err)
		list[0].Hookd = "of the hookd before"
		hooktest.Must(t, write(home, list))
	}
	const evil, newer = "#!/bin/sh\nexit 0\n", "a newer\npath\tgithub.com/hookd/hookd/cmd/hookd-bridge\n"
	for _, tt := range []struct {
		name   string
		do     func()
		faults int
	}{
		{"nothing changed", func() {}, 0},
		{"replaced alone", func() { replaced(newer) }, 1},
		{"upgraded, and the bridge is not hookd's", func() { replaced(evil); upgraded() }, 1},
		{"both upgraded", func() { replaced(newer); upgraded() }, 0},
		{"replaced after that", func() { replaced(newer + "and worse") }, 1},
		{"put back", func() { replaced(newer) }, 0},
		{"hookd alone upgraded", upgraded, 0},
		{"replaced after that, too", func() { replaced(newer + "and worse") }, 1},
	} {
		tt.do()
		var running Looker
		before, err := running.Look(home)
		hooktest.Must(t, err)
		hooktest.Must(t, Adopt(home, o.Bridge)) // hookd starts again
		var l Looker
		faults, err := l.Look(home)
		hooktest.Must(t, err)
		if len(faults) != tt.faults || len(before) < tt.faults {
			t.Errorf("%s: found %+v, and %+v after a restart, want %d", tt.name, before, faults, tt.faults)
		}
	}
}

// An agent is remembered once, until it is disconnected.
func TestForget(t *testing.T) {
	home, o := connected(t)
	hooktest.Must(t, Note(home, o))
	if list, err := List(home); err != nil || len(list) != 1 || list[0].Bridge != o.Bridge || list[0].Sum == "" {
		t.Errorf("got %+v, %v", list, err)
	}
	hooktest.Must(t, Forget(home, o))
	if list, err := List(home); err != nil || len(list) != 0 {
		t.Errorf("after Forget: %+v, %v", list, err)
	}
	hooktest.Write(t, path(home), "[", 0o600)
	if err := Note(home, o); err == nil {
		t.Error("a file that cannot be read was written over")
	}
}
