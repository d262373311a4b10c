package discovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// FuzzApproval: whatever the file of an approval has, it allows nothing or is of
// that hook, and stays the same when it is stored again.
func FuzzApproval(f *testing.F) {
	const id = "guard"
	for _, a := range []Approval{{Hook: id, Digest: "d"}, {Hook: "other", Digest: "d"}, {Hook: id, Digest: "d", Files: map[string]string{"/a": "b"}, Texts: map[string][]byte{"/a": {0}}}} {
		text, err := json.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, s := range []string{"", "{}", "null", `{"hook":"guard"}`, `{"HOOK":"guard","digest":"d"}`, `{"hook":"guard","digest":"d"}x`, `{"hook":"guard","digest":"d","files":[]}`, `{"hook":"guard","digest":"d","at":"x"}`} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	approvals := NewApprovals(dir)
	file := approvals.file(id)
	h := &hook.Hook{ID: id, File: filepath.Join(dir, "HOOK.yaml"), Sum: "s"}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, ok := approvals.Get(id)
		if !ok {
			if !reflect.DeepEqual(a, Approval{}) {
				t.Fatalf("nothing is allowed, and yet %+v", a)
			}
			return
		}
		if a.Hook != id || a.Digest == "" || !json.Valid(text) {
			t.Fatalf("%q allows %+v", text, a)
		}
		if _, other := approvals.Get(id + "x"); other {
			t.Fatalf("%q allows another hook", text)
		}
		a.Changes(h)
		if err := approvals.Put(a); err != nil {
			return // a time that JSON cannot hold
		}
		again, ok := approvals.Get(id)
		if !ok || len(again.Files) != len(a.Files) || len(again.Texts) != len(a.Texts) || again.Sum != a.Sum || again.By != a.By || !again.At.Equal(a.At) {
			t.Fatalf("stored %+v, got %+v", a, again)
		}
	})
}
