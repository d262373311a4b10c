package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// named makes a bundle of another name with the same key.
func (s signer) named(t testing.TB, name string, sequence uint64) []byte {
	t.Helper()
	c := pack.Content{{Path: "hooks/lax/HOOK.yaml", Data: []byte("name: lax\nevents: [pre_tool_use]\ntype: script\nscript: 'true'\n")}}
	text, err := Build(c, name, sequence, nil, s.key)
	hooktest.Must(t, err)
	return text
}

// A source cannot put another bundle of the same key in place: neither when it is asked
// again, nor when it is set again; a person who means that says the name.
func TestABundleIsBoundToItsName(t *testing.T) {
	s, h := newSigner(t), NewHome(filepath.Join(t.TempDir(), "policy"))
	file := filepath.Join(t.TempDir(), "acme.bundle")
	put := func(text []byte) { hooktest.Must(t, os.WriteFile(file, text, 0o600)) }
	put(s.bundle(t, 3, nil))
	if _, err := h.Set(t.Context(), file, s.public, "", "other", anything); err == nil {
		t.Error("a bundle of another name than the one that is wanted is in force")
	}
	_, err := h.Set(t.Context(), file, s.public, "", "", anything)
	hooktest.Must(t, err)

	put(s.named(t, "lax", 9))
	_, err = h.Update(t.Context(), anything)
	if err == nil || !strings.Contains(err.Error(), "it has the bundle lax, not acme") || inForce(t, h) != 3 {
		t.Errorf("asked again: %v, %d is in force", err, inForce(t, h))
	}
	if _, err := h.Set(t.Context(), file, s.public, "", "", anything); err == nil || inForce(t, h) != 3 {
		t.Errorf("set again: %v, %d is in force", err, inForce(t, h))
	}
	c, _, err := h.Current()
	hooktest.Must(t, err)
	c.State.Name = "" // what an older hookd has written
	hooktest.Must(t, h.write("policy.json", c.State))
	if _, err := h.Update(t.Context(), anything); err == nil || inForce(t, h) != 3 {
		t.Errorf("after an upgrade: %v, %d is in force", err, inForce(t, h))
	}
	put(s.bundle(t, 4, nil))
	if _, err := h.Update(t.Context(), anything); err != nil || inForce(t, h) != 4 {
		t.Errorf("a newer one of the name: %v, %d is in force", err, inForce(t, h))
	}
	put(s.named(t, "lax", 9))
	if _, err := h.Set(t.Context(), file, s.public, "", "lax", anything); err != nil || inForce(t, h) != 9 {
		t.Errorf("with its name: %v, %d is in force", err, inForce(t, h))
	}
}

// Of a folder the newest bundle of the name counts.
func TestAFolderWithBundlesOfSeveralNames(t *testing.T) {
	s, h, dir := newSigner(t), NewHome(filepath.Join(t.TempDir(), "policy")), t.TempDir()
	put := func(name string, text []byte) {
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, name+Ending), text, 0o600))
	}
	put("a", s.bundle(t, 3, nil))
	_, err := h.Set(t.Context(), dir, s.public, "", "", anything)
	hooktest.Must(t, err)
	put("0", s.named(t, "lax", 50))
	put("z", s.named(t, "lax", 51))
	put("b", s.bundle(t, 5, nil))
	if _, err := h.Update(t.Context(), anything); err != nil || inForce(t, h) != 5 {
		t.Errorf("%v, %d is in force", err, inForce(t, h))
	}
}
