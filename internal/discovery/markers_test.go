package discovery

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestMarkersSwitchOffAndOn(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not-there-yet")
	m := NewMarkers(home)
	for _, name := range []string{"guard", "../../escape", "a b/ü", ".", ".."} {
		if m.Disabled()(name) {
			t.Errorf("%q is disabled before its marker exists", name)
		}
		if err := m.Disable(name, "mira"); err != nil {
			t.Fatal(err)
		}
		if err := m.Disable(name, "mira again"); err != nil {
			t.Errorf("second Disable(%q): %v", name, err)
		}
		if !m.Disabled()(name) {
			t.Errorf("Disable(%q) had no effect", name)
		}
		if by := m.By(name); by != "mira again" {
			t.Errorf("%q was switched off by %q", name, by)
		}
		if err := m.Enable(name, "ed"); err != nil {
			t.Fatal(err)
		}
		if err := m.Enable(name, "nothing to do"); err != nil {
			t.Errorf("second Enable(%q): %v", name, err)
		}
		if m.Disabled()(name) {
			t.Errorf("Enable(%q) had no effect", name)
		}
		if by := m.By(name); by != "ed" {
			t.Errorf("%q was switched on by %q", name, by)
		}
	}
	if (Markers{}).Disabled()("guard") {
		t.Error("the zero Markers disables a hook")
	}
}

// A marker is replaced as a whole: on a full disk none stays that is cut off, which would have no end.
func TestAMarkerIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	m := NewMarkers(dir)
	hooktest.Must(t, m.Snooze("guard", "me", time.Now().Add(time.Hour)))
	before, err := os.ReadFile(filepath.Join(dir, "guard.off"))
	hooktest.Must(t, err)
	hooktest.Must(t, os.Link(filepath.Join(dir, "guard.off"), filepath.Join(dir, "old")))
	hooktest.Must(t, m.Disable("guard", "you"))
	if text, err := os.ReadFile(filepath.Join(dir, "old")); err != nil || string(text) != string(before) {
		t.Errorf("the marker before was written to: %q, %v", text, err)
	}
}

func TestSnoozeEndsByItself(t *testing.T) {
	dir := t.TempDir()
	m := NewMarkers(dir)
	over, lasting := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	hooktest.Must(t, m.Snooze("pack/over", "mira (uid 1)", over))
	hooktest.Must(t, m.Snooze("lasting", "mira (uid 1)", lasting))
	hooktest.Must(t, m.Disable("off", "mira (uid 1)"))
	off := m.Disabled()
	if off("pack/over") || !off("lasting") || !off("off") {
		t.Errorf("off are %v %v %v, want false true true", off("pack/over"), off("lasting"), off("off"))
	}
	list := m.Snoozed()
	if len(list) != 2 {
		t.Fatalf("got %v, want two snoozes", list)
	}
	for _, s := range list {
		want := map[string]time.Time{"pack/over": over, "lasting": lasting}[s.Hook]
		if s.By != "mira (uid 1)" || s.Until.Sub(want).Abs() > time.Second {
			t.Errorf("got %+v, want until %s", s, want)
		}
	}
	if hooktest.Must(t, m.Snooze("years", "mira (uid 1)", lasting.AddDate(4, 0, 0))); m.Disabled()("years") {
		t.Error("a hook is off for years since the clock was set back")
	}
	hooktest.Must(t, m.Enable("years", "ed"))
	hooktest.Must(t, m.Enable("lasting", "ed"))
	if len(m.Snoozed()) != 1 || m.Disabled()("lasting") {
		t.Error("an ended snooze is still there")
	}
}
