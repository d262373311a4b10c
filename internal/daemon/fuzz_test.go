package daemon

import (
	"bytes"
	"os"
	"path/filepath"
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
		r := openChanges(c, zap.NewNop())
		before := len(r.list)
		for _, l := range r.list {
			if l.Hook == "" {
				t.Fatalf("%q holds a change of no hook", text)
			}
		}
		r.write([]api.Change{{Hook: "fresh", Change: "added", To: "d", File: "/h\n"}})
		again := openChanges(c, zap.NewNop())
		if len(again.list) != before+1 || again.last["fresh"].digest != "d" {
			now, _ := os.ReadFile(c.ChangesFile())
			t.Fatalf("of %d changes in %q and one more, %d are in %q", before, text, len(again.list), now)
		}
		if now, err := os.ReadFile(c.ChangesFile()); err != nil || !bytes.HasSuffix(now, []byte("\n")) || again.size != int64(len(now)) {
			t.Fatalf("%q: %v, and its size is %d", now, err, again.size)
		}
	})
}
