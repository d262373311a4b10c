package connect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// givenFile is a file of an agent that has none in a place of its own.
func givenFile(a *agent) []byte {
	if a.Format == neutral.FormatJSON {
		return []byte("{\"name\": \"mine\", \"tools\": [\"*\"]}\n")
	}
	return []byte("agents:\n  root:\n    model: m\n")
}

// beginnings are settings as people have them, before another program's hooks.
var beginnings = map[neutral.Format]string{
	neutral.FormatJSON: "{\r\n\t// mine\r\n\t\"theme\": \"dark\", /* and\r\n\tthis */\r\n\t\"list\": [1,2 , 3],\r\n}",
	neutral.FormatTOML: "# mine\ntheme = 'dark'   # and this\n\n[list]\nof = [1,2 , 3]\n",
	neutral.FormatYAML: "# mine\ntheme:   dark  # and this\nlist: [1,2 , 3]\n",
}

// Disconnect takes out byte for byte all text that connect adds to the settings of any agent:
// between comments and another program's hooks, through a link, and in a file that
// only its owner can read.
func TestEveryAgentByteForByte(t *testing.T) {
	for _, a := range agents() {
		if a.Manual != "" || a.files != nil {
			continue
		}
		t.Run(string(a.name), func(t *testing.T) {
			before := []byte(beginnings[a.Format])
			path := a.At
			if a.Given && a.Format == neutral.FormatYAML {
				before, path = givenFile(a), []string{"agents", "root", "hooks"}
			}
			rows := a.rows()
			others := []leaf{
				a.leaf(path, rows[0].Name, call{program: "/opt/other/guard", agent: "x"}),
				a.leaf(path, rows[len(rows)-1].Name, call{program: "/opt/other/logger", agent: "y"}),
			}
			before, err := a.format.add(before, slices.Concat(a.Beside, others))
			if err != nil {
				t.Fatal(err)
			}
			o, at := options(t, string(a.name), nil)
			real := filepath.Join(t.TempDir(), "dotfiles")
			write(t, real, before)
			for _, err := range []error{os.Chmod(real, 0o400), os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(real, at)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, all := range []bool{false, true} {
				o.AllEvents = all
				apply(t, Connect, o)
			}
			if s := Inspect(o); len(s.Missing) > 0 || len(s.Events) == 0 {
				t.Errorf("connected: %+v", s)
			}
			if has := readOrNil(t, at); !bytes.Contains(has, []byte("/opt/other/guard")) || !bytes.Contains(has, []byte("/opt/other/logger")) {
				t.Errorf("another program's hooks are gone:\n%s", has)
			}
			apply(t, Disconnect, o)
			if got := readOrNil(t, at); !bytes.Equal(got, before) {
				t.Errorf("got\n%s\nwant\n%s", got, before)
			}
			link, err := os.Readlink(at)
			if info, err2 := os.Stat(at); err != nil || link != real || err2 != nil || info.Mode().Perm() != 0o400 {
				t.Errorf("the link leads to %q, mode %v, %v, %v", link, info.Mode(), err, err2)
			}
			if left, _ := os.ReadDir(filepath.Dir(real)); len(left) != 1 {
				t.Errorf("left beside it: %v", left)
			}
		})
	}
}

// An agent whose hooks are files gets them beside those of others, which may be read-only,
// in a folder that a link may lead to; and they go alone.
func TestEveryPluginAlone(t *testing.T) {
	for _, a := range agents() {
		if a.files == nil {
			continue
		}
		t.Run(string(a.name), func(t *testing.T) {
			o, dir := options(t, string(a.name), nil)
			real := filepath.Join(t.TempDir(), "dotfiles")
			mine := filepath.Join(dir, "mine.ts")
			for _, err := range []error{
				os.Mkdir(real, 0o755), os.MkdirAll(filepath.Dir(filepath.Dir(dir)), 0o755), os.Symlink(real, filepath.Dir(dir)),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			write(t, mine, []byte("// mine\n"))
			if err := os.Chmod(mine, 0o400); err != nil {
				t.Fatal(err)
			}
			apply(t, Connect, o)
			if s := Inspect(o); len(s.Missing) > 0 || len(s.Events) == 0 {
				t.Errorf("connected: %+v", s)
			}
			apply(t, Disconnect, o)
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 || !bytes.Equal(readOrNil(t, mine), []byte("// mine\n")) {
				t.Errorf("left: %v, %v", left, err)
			}
			link, err := os.Readlink(filepath.Dir(dir))
			if info, err2 := os.Stat(mine); err != nil || link != real || err2 != nil || info.Mode().Perm() != 0o400 {
				t.Errorf("the link leads to %q, mode %v, %v, %v", link, info.Mode(), err, err2)
			}
		})
	}
}

// The manifest of a plugin that is hookd's own comes and goes with its hooks; a manifest that
// a person has changed stays.
func TestManifest(t *testing.T) {
	o, path := options(t, "goose", nil)
	manifest := filepath.Join(filepath.Dir(path), "..", "plugin.json")
	apply(t, Connect, o)
	if text := readOrNil(t, manifest); !bytes.Contains(text, []byte(`"name": "hookd"`)) {
		t.Errorf("plugin.json is %s", text)
	}
	apply(t, Disconnect, o)
	if _, err := os.Stat(filepath.Dir(manifest)); !os.IsNotExist(err) {
		t.Errorf("the plugin's folder is left: %v", err)
	}
	write(t, manifest, []byte("{\"name\": \"mine\"}\n"))
	apply(t, Connect, o)
	apply(t, Disconnect, o)
	if text := string(readOrNil(t, manifest)); text != "{\"name\": \"mine\"}\n" {
		t.Errorf("a person's plugin.json is %q", text)
	}
}
