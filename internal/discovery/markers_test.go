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
		if err := m.Disable(name); err != nil {
			t.Fatal(err)
		}
		if err := m.Disable(name); err != nil {
			t.Errorf("second Disable(%q): %v", name, err)
		}
		if !m.Disabled()(name) {
			t.Errorf("Disable(%q) had no effect", name)
		}
		if err := m.Enable(name); err != nil {
			t.Fatal(err)
		}
		if err := m.Enable(name); err != nil {
			t.Errorf("second Enable(%q): %v", name, err)
		}
		if m.Disabled()(name) {
			t.Errorf("Enable(%q) had no effect", name)
		}
	}
	if (Markers{}).Disabled()("guard") {
		t.Error("the zero Markers disables a hook")
	}
}
