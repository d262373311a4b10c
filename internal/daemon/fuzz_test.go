package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/config"
)

// FuzzChanges: whatever the record of changes holds, it is read; what is added
// stands there at the next start, behind all that could be read before.
func FuzzChanges(f *testing.F) {
	for _, s := range []string{
		"", "\n\n", `{"hook":"a","change":"added","to":"1"}` + "\n", `{"hook":"a","change":"added","to":"1"}` + "\n" + `{"hook":"a","chan`,
		`{"hook":"a","change":"waiting","from":"1","to":"2"}` + "\n" + `{"hook":"a","change":"removed"}` + "\n", "null\n[]\n{}\n", `{"hook":"a","change":"broken","time":"x"}` + "\n",
		"{\"hook\":\"a\\u0000\",\"change\":\"\"}\r\n", "\x00\xff\n",
	} {
		f.Add([]byte(s))
	}
	c := config.Default(f.TempDir())
	if err := os.MkdirAll(filepath.Dir(c.ChangesFile()), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(c.ChangesFile(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		before := slices.Collect(changesIn(text))
		for _, l := range before {
			if l.Hook == "" {
				t.Fatalf("%q holds a change of no hook", text)
			}
		}
		record(openChanges(c, zap.NewNop()), api.Change{Hook: "fresh", Change: "added", To: "d", File: "/h\n"})
		again := openChanges(c, zap.NewNop())
		again.mu.Lock() // it has been read
		defer again.mu.Unlock()
		if after := slices.Collect(changesIn(again.text())); len(after) != len(before)+1 || again.last["fresh"].digest != "d" {
			t.Fatalf("of %d changes in %q and one more, %d are in %q", len(before), text, len(after), again.text())
		}
		if now, err := os.ReadFile(c.ChangesFile()); err != nil || !bytes.HasSuffix(now, []byte("\n")) || again.size != int64(len(now)) {
			t.Fatalf("%q: %v, and its size is %d", now, err, again.size)
		}
	})
}
