package discovery

import (
	"path/filepath"
	"testing"
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
