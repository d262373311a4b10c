package connect

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	oldToken = strings.Repeat("0a", 32)
	newToken = strings.Repeat("1b", 32)
)

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// Whatever mode the settings had, with the token in them they are the user's
// alone, and have their mode back without it.
func TestTokenIsPrivate(t *testing.T) {
	before := []byte("{\n  \"model\": \"opus\"\n}\n")
	o, path := options(t, "claude-code", before)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	command := o
	o.Post = &Post{URL: post.URL, Token: oldToken}
	apply(t, Connect, o)
	if got := modeOf(t, path); got != 0o600 {
		t.Errorf("with the token the mode is %o", got)
	}
	if err := os.Chmod(path, 0o664); err != nil { // as an older hookd, or an editor, leaves it
		t.Fatal(err)
	}
	apply(t, Connect, o)
	if got := modeOf(t, path); got != 0o600 {
		t.Errorf("connected again, the mode is %o", got)
	}
	if p, err := Connect(o); err != nil || len(p.Changes) != 0 {
		t.Errorf("a third time: %+v, %v", p, err)
	}
	apply(t, Connect, command)
	apply(t, Connect, o)
	if got := modeOf(t, path); got != 0o600 {
		t.Errorf("there and back, the mode is %o", got)
	}
	apply(t, Disconnect, command)
	if got := modeOf(t, path); got != 0o644 || !bytes.Equal(readOrNil(t, path), before) {
		t.Errorf("disconnected, the mode is %o", got)
	}
}

// A diff is shown to people and kept by terminals: the token is not in it.
func TestDiffShowsNoToken(t *testing.T) {
	o, _ := options(t, "claude-code", nil)
	o.Post = &Post{URL: post.URL, Token: oldToken}
	p, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := p.Diff(); bytes.Contains(diff, []byte(oldToken)) || !bytes.Contains(diff, []byte("Bearer TOKEN")) {
		t.Errorf("got %s", diff)
	}
}

// All copies get the new token and no other byte, and are private then.
func TestRetoken(t *testing.T) {
	o, path := options(t, "claude-code", []byte("{}"))
	o.Post = &Post{URL: post.URL, Token: oldToken}
	apply(t, Connect, o)
	text := readOrNil(t, path)
	dir := filepath.Dir(path)
	other := []byte(`{"env": {"X": "` + strings.Repeat("2c", 32) + `"}}`)
	for name, content := range map[string][]byte{
		"settings.json.bak": text, "settings.json~": text, ".settings.json.swp": append([]byte("b0VIM\x00"), text...),
		tempPrefix + "1": text, "settings.local.json": other,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	copies, err := TokenCopies(o, oldToken)
	if err != nil || len(copies) != 5 {
		t.Fatalf("got %+v, %v", copies, err)
	}
	for _, c := range copies {
		if c.Exposed() != (c.Path != path) || !c.Current {
			t.Errorf("got %+v", c)
		}
	}
	o.Post = &Post{URL: post.URL, Token: newToken}
	for range 2 { // the second time with a file whose token is no longer known
		p, err := Retoken(o, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	want := bytes.ReplaceAll(text, []byte(oldToken), []byte(newToken))
	if !bytes.Equal(readOrNil(t, path), want) {
		t.Errorf("got %s", readOrNil(t, path))
	}
	copies, err = TokenCopies(o, newToken)
	if err != nil || len(copies) != 5 {
		t.Fatalf("got %+v, %v", copies, err)
	}
	for _, c := range copies {
		if c.Exposed() || !c.Current {
			t.Errorf("got %+v", c)
		}
	}
	if local := filepath.Join(dir, "settings.local.json"); !bytes.Equal(readOrNil(t, local), other) || modeOf(t, local) != 0o644 {
		t.Error("a file without a token of hookd's was changed")
	}

	// A door of another hookd is not ours to change.
	o.Post = &Post{URL: "http://127.0.0.1:7999/agents/claude-code", Token: oldToken}
	if p, err := Retoken(o, ""); err != nil || len(p.Changes) != 0 {
		t.Errorf("got %+v, %v", p, err)
	}
}
