package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// entryTexts are settings of OpenClaw as people have them.
var entryTexts = map[string]string{
	"json":     "{\n  \"agents\": {\"defaults\": {\"workspace\": \"~/w\"}},\n  \"plugins\": {\n    \"entries\": {\n      \"other\": {\"enabled\": true}\n    }\n  }\n}\n",
	"json5":    "// my OpenClaw\n{\n  gateway: { port: 0x4965, bind: 'loopback', ratio: .5, most: +1, end: 5., inf: Infinity, text: 'it\\'s \"so\" \\x41\\\n b', },\n  /* plugins */ plugins: {\n    allow: ['other',], // mine\n    entries: {\n      other: { enabled: true },\n    },\n  },\n}\n",
	"inline":   `{plugins:{entries:{}},agents:{}}`,
	"crlf":     "{\r\n\t\"plugins\": {},\r\n\t\"x\": 1\r\n}\r\n",
	"mark":     "\ufeff{\"a\": 1}\n",
	"allowed":  `{"plugins": {"allow": ["hookd", "x"]}}`,
	"own":      "{plugins: {entries: {hookd: {hooks: {timeoutMs: 9000}}}}}\n",
	"empty":    "",
	"nonascii": "{\n  ünï: 'é\u2028', \u00a0 'ключ': [1, 2,], // é\n}\n",
}

// The entry is added and taken out again, and nothing else changes: after
// disconnect the file is byte for byte as before.
func TestEntryOfOpenClaw(t *testing.T) {
	for name, before := range entryTexts {
		t.Run(name, func(t *testing.T) {
			o, dir := options(t, "openclaw", nil)
			path := filepath.Join(o.Home, ".openclaw", "openclaw.json")
			write(t, path, []byte(before))
			apply(t, Connect, o)
			after := string(readOrNil(t, path))
			tree, err := json5Format{}.parse([]byte(strings.TrimPrefix(after, "\ufeff")))
			if err != nil {
				t.Fatalf("%v\n%s", err, after)
			}
			hookd, _ := neutral.Value(tree, "plugins", "entries", "hookd").(map[string]any)
			if hookd["enabled"] != true || neutral.Value(hookd, "hooks", "allowConversationAccess") != true {
				t.Errorf("got %v in\n%s", hookd, after)
			}
			if list, ok := neutral.Value(tree, "plugins", "allow").([]any); ok && !reflect.DeepEqual(list[len(list)-1], any("hookd")) && list[0] != "hookd" {
				t.Errorf("allow is %v", list)
			}
			if p, err := Connect(o); err != nil || len(p.Changes) != 0 {
				t.Errorf("again: %v, %s", err, p.Diff())
			}
			if s := Inspect(o); s.State != Connected || s.Note != "" || len(s.Notes) != 0 {
				t.Errorf("got %+v", s)
			}
			apply(t, Disconnect, o)
			if got := readOrNil(t, path); string(got) != before {
				t.Errorf("after disconnect\n%q\nwant\n%q", got, before)
			}
			if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 0 {
				t.Errorf("the plugin stays: %v", left)
			}
			if _, err := os.Stat(path + BackupSuffix); err == nil {
				t.Error("the backup stays")
			}
		})
	}
}

// OpenClaw rewrites its settings while hookd is connected, and people edit them.
func TestEntryInSettingsThatChanged(t *testing.T) {
	o, _ := options(t, "openclaw", nil)
	path := filepath.Join(o.Home, ".openclaw", "openclaw.json")
	apply(t, Connect, o) // there was no file
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	var tree map[string]any
	if err := json.Unmarshal(readOrNil(t, path), &tree); err != nil {
		t.Fatal(err)
	}
	tree["meta"] = map[string]any{"lastTouchedVersion": "1"}
	neutral.Value(tree, "plugins", "entries").(map[string]any)["other"] = map[string]any{"enabled": true}
	text, _ := json.Marshal(tree)
	write(t, path, text)
	apply(t, Disconnect, o)
	if got, want := string(readOrNil(t, path)), `{"meta":{"lastTouchedVersion":"1"},"plugins":{"entries":{"other":{"enabled":true}}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, text := range map[string]string{"enabled": `{plugins: {enabled: false}}`, "entry": `{plugins: {entries: {hookd: {enabled: false}}}}`} {
		write(t, path, []byte(text))
		if p := apply(t, Connect, o); !strings.Contains(strings.Join(p.Notes, "\n"), "is false there") {
			t.Errorf("%s: got notes %q", name, p.Notes)
		}
		if s := Inspect(o); len(s.Notes) == 0 {
			t.Errorf("%s: got %+v, want a note", name, s)
		}
		apply(t, Disconnect, o)
	}
	write(t, path, []byte("{plugins: {$include: './p.json5'}}"))
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "enabled: true") {
		t.Errorf("got %v, want what to add by hand", err)
	}
	write(t, path, []byte("{\n  plugins: {\n    x: 'y' z\n  }\n}\n"))
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "openclaw.json:3:") {
		t.Errorf("got %v, want line 3", err)
	}
}

// A plugin without its entry is a plugin whose hooks are never called.
func TestInspectWithoutEntry(t *testing.T) {
	o, _ := options(t, "openclaw", nil)
	apply(t, Connect, o)
	path := filepath.Join(o.Home, ".openclaw", "openclaw.json")
	write(t, path, []byte("{}"))
	if s := Inspect(o); s.State != Partly || len(s.Missing) == 0 || !strings.Contains(s.Note, "plugins.entries.hookd.enabled") {
		t.Errorf("got %+v", s)
	}
	elsewhere := filepath.Join(o.Home, "conf", "own.json")
	o.Getenv = func(name string) string {
		if name == "OPENCLAW_CONFIG_PATH" {
			return "~/conf/own.json"
		}
		return ""
	}
	apply(t, Connect, o)
	if got := readOrNil(t, elsewhere); !strings.Contains(string(got), "hookd") {
		t.Errorf("got %q", got)
	}
}

func FuzzJSON5(f *testing.F) {
	for _, text := range entryTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := json5Format{}.parse(text)
		if err != nil {
			return
		}
		leaves := find("openclaw").Entry.Leaves(before)
		missing := missingLeaves(before, leaves)
		added, err := json5Format{}.add(text, missing)
		if err != nil {
			return
		}
		after, err := json5Format{}.parse(added)
		if err != nil || !reflect.DeepEqual(without(before, leaves), without(after, leaves)) {
			t.Fatalf("%q became %q: %v", text, added, err)
		}
		removed, err := json5Format{}.drop(added, missing, func(path []string) bool { return holds(before, path) })
		if err != nil {
			t.Fatal(err)
		}
		if again, err := (json5Format{}).parse(removed); err != nil || !reflect.DeepEqual(before, again) {
			t.Fatalf("%q became %q, then %q: %v", text, added, removed, err)
		}
	})
}
