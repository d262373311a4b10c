package docs

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/hooktest"
)

// What makes a guard fast changes no answer: on the lines of its own test and on random
// ones made of their words, it says what it says without its short cuts. HOOKD_LINES is
// how many random lines are tried, with other words each time.
func TestShortCutsOfGuards(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	seed, n := uint64(7), 300
	if many, err := strconv.Atoi(os.Getenv("HOOKD_LINES")); err == nil {
		seed, n = uint64(time.Now().UnixNano()), many
	}
	for _, name := range []string{"command-guard", "secret-guard", "self-guard"} {
		t.Run(name, func(t *testing.T) {
			home, hooks := linkedHome(t), t.TempDir()
			hooktest.Must(t, gallery.Copy(name, filepath.Join(hooks, name)))
			var in bytes.Buffer
			out := json.NewEncoder(&in)
			for _, line := range mixed(t, name, home, rand.New(rand.NewPCG(seed, 2)), n) {
				hooktest.Must(t, out.Encode(line))
			}
			cmd := exec.CommandContext(t.Context(), "python3", "testdata/guard_shortcuts.py", hooks, name, home)
			cmd.Env = append(os.Environ(), "HOME="+home)
			cmd.Stdin, cmd.Stderr = &in, os.Stderr
			said, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Split(strings.TrimSpace(string(said)), "\n")
			for _, differs := range all[:len(all)-1] {
				t.Errorf("seed %d: %s", seed, differs)
			}
			if denied, err := strconv.Atoi(all[len(all)-1]); err != nil || denied < 50 {
				t.Errorf("too few calls were denied: %s", all[len(all)-1])
			}
		})
	}
}

// linkedHome makes a home whose project has links to files that guards protect.
func linkedHome(t *testing.T) string {
	home := t.TempDir()
	for _, file := range []string{".ssh/id_ed25519", ".claude/settings.json", ".librefang/hookd.yaml", "project/src/a.go"} {
		hooktest.Write(t, filepath.Join(home, file), "{}", 0o600)
	}
	for link, target := range map[string]string{
		"keys": "../.ssh", "key": "../.ssh/id_ed25519", "rules": "../.claude", "settings": "rules/settings.json",
		"src/up": "../..", "gone": "../.ssh/none", "round": "round",
	} {
		hooktest.Must(t, os.Symlink(target, filepath.Join(home, "project", link)))
	}
	return home
}

// mixed returns the lines of testdata/NAME.txt, and random ones of their words and of the
// names in linkedHome.
func mixed(t *testing.T, name, home string, r *rand.Rand, n int) []string {
	var all, words []string
	for line := range strings.Lines(read(t, filepath.Join("testdata", name+".txt"))) {
		_, line, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		line = strings.NewReplacer("␤", "\n", "/home/me", home).Replace(strings.TrimSpace(line))
		all, words = append(all, line), append(words, strings.Fields(line)...)
	}
	names := []string{
		"keys/id_ed25519", "key", "rules/settings.json", "settings", "src/up/.ssh/id_ed25519", "src/up/.librefang/hookd.yaml", "gone",
		"round", "round/.env", "src/a.go", "keys", ".ENV", "~/.SSH/id_rsa", "'src/up/.netrc'", "\"key\"", "a=key", "x:settings", "-Ikeys/id_rsa",
	}
	between := []string{" ", " ", " ", " ", "  ", " | ", "; ", " && ", "\n", " > ", " < ", "'", "\"", "\\", "$x", ""}
	for range n {
		var line strings.Builder
		for range 1 + r.IntN(6) {
			from := words
			if r.IntN(3) == 0 {
				from = names
			}
			line.WriteString(from[r.IntN(len(from))] + between[r.IntN(len(between))])
		}
		all = append(all, line.String())
	}
	return all
}
