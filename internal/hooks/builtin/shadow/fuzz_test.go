package shadow

import (
	"os"
	"reflect"
	"testing"
	"time"
)

// FuzzState: whatever state.json holds, it is refused or is the same again when
// it is saved, and can be marked in.
func FuzzState(f *testing.F) {
	for _, s := range []string{
		"", "{}", "null", "[]", `{"next":7,"marks":null,"checkpoints":[{"n":1,"from":"a","to":"b","files":[{"path":"x","status":"added"}]}],"large":["y"]}`,
		`{"marks":{"s":{"time":"2026-01-02T03:04:05Z","trees":null}}}`, `{"marks":{"s":null}}`, `{"next":-1,"NEXT":1e3}`, `{"marks":{"s":{"trees":{"":"-x"}}}`,
	} {
		f.Add([]byte(s))
	}
	r := &Repo{dir: f.TempDir()}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(r.stateFile(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		st, err := r.load()
		if err != nil {
			return
		}
		if st.Marks == nil {
			t.Fatalf("%q has no marks", text)
		}
		st.Marks["fresh"] = mark{Time: time.Now().UTC(), Trees: map[string]string{"k": "t"}}
		if err := r.save(st); err != nil {
			return // a time that JSON cannot hold
		}
		again, err := r.load()
		if err != nil || again.Next != st.Next || again.Root != st.Root || again.Marks["fresh"].Trees["k"] != "t" || len(again.Marks) != len(st.Marks) ||
			len(again.Checkpoints) != len(st.Checkpoints) || !reflect.DeepEqual(again.Large, st.Large) && len(st.Large) > 0 {
			t.Fatalf("%q: saved %+v, got %+v, %v", text, st, again, err)
		}
	})
}
