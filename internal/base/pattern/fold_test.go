package pattern

import "testing"

func TestFold(t *testing.T) {
	f, err := CompileFold("/Home/*/.ENV", '/')
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"/Home/u/.ENV": true, "/home/U/.env": true, "/home/u/v/.env": false, "/home/u/.env2": false, "": false,
	} {
		if got := f.Match(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
	for _, text := range []string{"caf\u00e9", "cafe\u0301"} {
		f, err := CompileFold("/*/"+text, '/')
		if err != nil || !f.Match("/a/CAF\u00c9") || !f.Match("/a/Cafe\u0301") || f.Match("/a/cafe") {
			t.Errorf("%q does not match each way to write it: %v", text, err)
		}
	}
	if (Fold{}).Match("") || MatchAny(nil, "a") || MatchAny([]Fold{f}) || !MatchAny([]Fold{{}, f}, "a", "/home/u/.env") {
		t.Error("nothing matches, or all does")
	}
	if _, err := CompileFold("[a"); err == nil {
		t.Error("a broken pattern is accepted")
	}
}
