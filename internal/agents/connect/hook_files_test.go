package connect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/agents/bridge/shims"
)

// A script is renewed when the bridge has moved, keeps flags of its own, and
// can be run; one of the user's stops everything before it begins.
func TestScripts(t *testing.T) {
	o, dir := options(t, "cline", nil)
	apply(t, Connect, o)
	own := filepath.Join(dir, "PreToolUse")
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%s: got %v %v, want mode 0755", own, info, err)
	}
	write(t, own, []byte("#!/bin/sh\nexec "+bridge+" cline PreToolUse --ask=none\n"))
	if p, err := Connect(o); err != nil || len(p.Changes) != 0 {
		t.Errorf("flags: got %v, %s, want no change", err, p.Diff())
	}
	o.Bridge = "/new/hookd-bridge"
	if p := apply(t, Connect, o); len(p.Changes) != len(find("cline").events(true)) {
		t.Errorf("a new bridge: got %d changes", len(p.Changes))
	}
	if p, err := Connect(o); err != nil || len(p.Changes) != 0 {
		t.Errorf("again: got %v, %s", err, p.Diff())
	}
	foreign := filepath.Join(dir, "TaskStart")
	write(t, foreign, []byte("#!/bin/sh\necho mine\n"))
	var where *FileError
	if _, err := Connect(o); !errors.As(err, &where) || where.Path != foreign {
		t.Errorf("got %v, want an error about %s", err, foreign)
	}
	apply(t, Disconnect, o)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "TaskStart" {
		t.Errorf("after disconnect: got %v %v, want TaskStart alone", left, err)
	}
}

// Plugins stand where package shims says that the agents look.
func TestPlugins(t *testing.T) {
	for _, name := range Names() {
		p, ok := shims.For(name)
		if !ok {
			continue
		}
		o, dir := options(t, name, nil)
		if want := filepath.Join(o.Home, p.Dir); dir != want {
			t.Errorf("%s: got %s, want %s", name, dir, want)
		}
		if find(name).Project != p.ProjectDir || find(name).OwnDir != p.Own {
			t.Errorf("%s: project %q, own folder %t, want %q, %t", name, find(name).Project, find(name).OwnDir, p.ProjectDir, p.Own)
		}
		apply(t, Connect, o)
		for _, f := range p.Files {
			if got := readOrNil(t, filepath.Join(dir, f.Name)); string(got) != string(f.Text) {
				t.Errorf("%s: %s is not what shims has", name, f.Name)
			}
		}
		if s := Inspect(o); s.State != Connected {
			t.Errorf("%s: got %+v, want connected", name, s)
		}
		write(t, filepath.Join(dir, p.Files[0].Name), append(slices.Clone(p.Files[0].Text), "// older\n"...))
		if s := Inspect(o); s.State != Partly || !strings.Contains(s.Note, "hookd connect "+name) {
			t.Errorf("%s, another version: got %+v, want partly", name, s)
		}
		apply(t, Disconnect, o)
		if left, err := os.ReadDir(dir); p.Own && err == nil || len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

func TestInspect(t *testing.T) {
	o, path := options(t, "codex", nil)
	if s := Inspect(o); s.State != NotConnected || s.File != path {
		t.Errorf("got %+v, want not connected", s)
	}
	o.Bridge = filepath.Join(o.Home, "hookd-bridge")
	apply(t, Connect, o)
	if s := Inspect(o); s.State != Partly || !strings.Contains(s.Note, "hookd-bridge is missing") {
		t.Errorf("without the bridge: got %+v, want partly", s)
	}
	write(t, o.Bridge, nil)
	if err := os.Chmod(o.Bridge, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(path), "config.toml"), []byte("[features]\nhooks = false\n\n[[hooks.Stop]]\n"))
	s := Inspect(o)
	if s.State != Connected || s.Bridge != o.Bridge || len(s.Missing) > 0 {
		t.Errorf("got %+v, want connected", s)
	}
	if len(s.Notes) != 2 || !strings.Contains(s.Notes[0], "`features.hooks` is false") || !strings.Contains(s.Notes[1], "has hooks too") {
		t.Errorf("notes: got %q", s.Notes)
	}
	text := strings.Replace(string(readOrNil(t, path)), `"Stop"`, `"Stopped"`, 1)
	write(t, path, []byte(text))
	if s := Inspect(o); s.State != Partly || !slices.Equal(s.Missing, []string{"Stop"}) {
		t.Errorf("got %+v, want Stop missing", s)
	}
	write(t, path, []byte("{"))
	if s := Inspect(o); s.State != Unreadable || !strings.Contains(s.Note, "hooks.json:1:") {
		t.Errorf("got %+v, want unreadable", s)
	}
	for name, want := range map[string]string{"familiar": "AGENT.md", "librefang": "socket", "docker-agent": "--file", "nobody": "unknown agent"} {
		if s := Inspect(Options{Agent: name, Home: o.Home}); s.State != ByHand || !strings.Contains(s.Note, want) {
			t.Errorf("%s: got %+v, want a note with %q", name, s, want)
		}
	}
}
