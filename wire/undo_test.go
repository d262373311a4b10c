package wire

import "testing"

// The sentence for a person has every known loss and no contradiction.
func TestKeptSays(t *testing.T) {
	unknown := Lost{What: LostElse, Why: "not known: deploy is not in the tables; its repository is kept, nothing outside"}
	for want, kept := range map[string]Kept{
		"it can be undone: 1 file kept":  {Word: "kept", Files: 1},
		"it can be undone: 3 files kept": {Word: "kept", Files: 3},
		"it CANNOT be undone; not kept: /a: too large, /b: it is no file": {
			Word: "none", Lost: []Lost{{What: "/a", Why: "too large"}, {What: "/b", Why: "it is no file"}},
		},
		"what it destroys is not known: deploy is not in the tables; its repository is kept, nothing outside": {
			Word: "none", Lost: []Lost{unknown},
		},
		"a part can be undone: 2 files kept; what else it destroys is " + unknown.Why: {
			Word: "part", Files: 2, Lost: []Lost{unknown},
		},
		"it CANNOT be undone; not kept: /a: too large; what else it destroys is " + unknown.Why: {
			Word: "none", Lost: []Lost{unknown, {What: "/a", Why: "too large"}},
		},
	} {
		if got := kept.Says(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if label, text := unknown.Says(); label != LostElse || text != unknown.Why {
		t.Errorf("the unknown effects are called %q, %q", label, text)
	}
	if label, text := (Lost{What: "/a", Why: "too large"}).Says(); label != "cannot come back" || text != "/a: too large" {
		t.Errorf("a loss is called %q, %q", label, text)
	}
}
