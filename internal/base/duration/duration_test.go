package duration

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "30": 30 * time.Second, "0.5": 500 * time.Millisecond, "30s": 30 * time.Second,
		"500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "7d": 7 * day, "1d12h": 36 * time.Hour,
		"0d": 0, "-5s": -5 * time.Second, "36500d": 36500 * day,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "1 h", "d", "-1d", "1.5d", "1d-1h", "1d 2h", "106752d", "106751d24h", "NaN",
		"Inf", "1e300", "5x", "7days"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
}

// A duration that is written is read as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1h", "7d", "30", "1d12h", "0.5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(d.String()); err != nil || again != d {
			t.Errorf("%q is %v, which is read as %v, %v", text, d, again, err)
		}
	})
}

func TestValue(t *testing.T) {
	var v Value
	if err := v.Set("2d"); err != nil || v.String() != "48h0m0s" {
		t.Errorf("got %s, %v", v.String(), err)
	}
	if err := v.Set("later"); err == nil || v.String() != "48h0m0s" {
		t.Errorf("got %s, %v", v.String(), err)
	}
}
