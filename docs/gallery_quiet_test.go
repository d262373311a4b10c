package docs

import (
	"strings"
	"testing"
)

// Quiet allows calls that only read, and has no opinion of others.
func TestGalleryAllowsReads(t *testing.T) {
	home := newHome(t)
	install(t, home, "quiet", nil)
	p := past{house: start(t, home), session: "s", cwd: t.TempDir()}
	p.says("git status", "allow")
	p.says("git push", "no opinion")
	p.says("git status; ./unknown", "no opinion")
}

// Contain has a program that no table knows run in a box, or asks where this machine makes none.
func TestGalleryContains(t *testing.T) {
	home := newHome(t)
	install(t, home, "contain", nil)
	p := past{house: start(t, home), session: "s", cwd: t.TempDir()}
	p.says("ls", "no opinion")
	v := p.send(p.event("PreToolUse", "c1", "Bash", map[string]any{"command": "./unknown --all"})).Verdict
	boxed := v.PermissionDecision == "allow" && strings.Contains(string(v.UpdatedInput), " box ")
	if v.PermissionDecision != "ask" && !boxed {
		t.Errorf("an unknown program: %s, with the input %s", describe(v), v.UpdatedInput)
	}
}
