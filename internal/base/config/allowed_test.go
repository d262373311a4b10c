package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// With reload.mode: ask each setting of hookd.yaml that could change which programs run
// has its allowed value until the new one is allowed, also reload.mode itself.
func TestSettingsThatAsk(t *testing.T) {
	const allowed = "reload: {mode: ask}\nhooks_dir: mine\nsources: [{type: familiar, path: a.md}]\nenv: {A: b}\npath: /bin\nlog: {level: warn}\n"
	for name, tt := range map[string]struct {
		text string // "-" = no file
		held []string
	}{
		"same":          {allowed, nil},
		"other writing": {"# words\nreload.mode: ask\npath: '/bin'\nenv:\n  A: 'b'\nhooks_dir: ./mine/\nsources:\n- path: ./a.md\n  type: familiar\nlog.level: warn\n", nil},
		"log, history":  {allowed + "history: {max_runs: 5}\n", nil},
		"hooks_dir":     {"reload: {mode: ask}\nsources: [{type: familiar, path: a.md}]\nenv: {A: b}\npath: /bin\n", []string{"hooks_dir"}},
		"mode":          {"reload: {mode: auto}\nhooks_dir: mine\nsources: [{type: familiar, path: a.md}]\nenv: {A: b}\npath: /bin\n", []string{"reload.mode"}},
		"gone":          {"-", []string{"hooks_dir", "sources", "env", "path", "reload.mode"}},
		"empty":         {"", []string{"hooks_dir", "sources", "env", "path", "reload.mode"}},
		"more": {allowed + "timeouts: {command: 50ms}\nmax_event_bytes: 1\nsocket: /tmp/x\nstore: {path: /tmp/y}\nslots: {decidable: 1}\nagents: {a: {command: [x]}}\n",
			[]string{"socket", "slots.decidable", "store.path", "max_event_bytes", "timeouts.command", "agents"}},
		"env": {"reload: {mode: ask}\nhooks_dir: mine\nsources: [{type: familiar, path: a.md}]\nenv: {A: b, BASH_ENV: /tmp/x}\npath: /bin\n", []string{"env"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.Chmod(home, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(home, "hookd.yaml")
			write := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			load := func(flags map[string]string) Config {
				c, err := Load(home, flags, nil)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			write(allowed)
			before := load(nil)
			if before.Asks {
				t.Error("it asks before anything was allowed")
			}
			if err := (Allowed{By: "me", Text: before.File}).Allow(home); err != nil {
				t.Fatal(err)
			}
			write(tt.text)
			if tt.text == "-" {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			now := load(nil)
			if !now.Asks || !reflect.DeepEqual(now.Held, tt.held) {
				t.Errorf("asks %v, held %q, want %q", now.Asks, now.Held, tt.held)
			}
			for _, c := range []*Config{&before, &now} { // what does not ask, and what is about the text
				c.LogLevel, c.HistoryMaxRuns, c.File, c.Asks, c.AllowedText, c.Held = "", 0, nil, false, nil, nil
			}
			if !reflect.DeepEqual(before, now) {
				t.Errorf("in force is %+v,\nallowed was %+v", now, before)
			}
			if c := load(map[string]string{"hooks_dir": "/typed"}); c.HooksDir != "/typed" {
				t.Errorf("a flag waits: %s", c.HooksDir)
			}
			if c := load(map[string]string{"reload.mode": "auto"}); c.Asks || len(c.Held) > 0 {
				t.Errorf("started with --reload-mode auto it asks: %q", c.Held)
			}
		})
	}
}

// A file that others could have written, or that is broken, allows nothing.
func TestAllowedSettingsAreTheUsersOwn(t *testing.T) {
	home := t.TempDir()
	if err := (Allowed{Text: []byte("reload: {mode: ask}")}).Allow(home); err != nil {
		t.Fatal(err)
	}
	file := Config{Home: home}.AllowedFile()
	for _, spoil := range []func() error{
		func() error { return os.Chmod(file, 0o666) },
		func() error { return os.WriteFile(file, []byte("{"), 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(home, nil, nil); err == nil {
			t.Error("it counts")
		}
	}
}
