package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A project's links do not make connect write outside the project, for any agent: not the file,
// nor a folder on the way, whether there is something or not.
func TestProjectsLinksLeadNowhereElse(t *testing.T) {
	for _, agent := range Names() {
		o := Options{Agent: agent, Home: t.TempDir(), Bridge: "/opt/hookd-bridge", Getenv: func(string) string { return "" }}
		o.Project = t.TempDir()
		plan, err := Connect(o)
		if err != nil || len(plan.Changes) == 0 {
			continue // it has no project's settings
		}
		rel, err := filepath.Rel(o.Project, plan.Changes[0].Path)
		hooktest.Must(t, err)
		steps := strings.Split(rel, "/")
		for n := range steps {
			for _, there := range []bool{true, false} {
				o.Project = t.TempDir()
				link, target := filepath.Join(o.Project, filepath.Join(steps[:n+1]...)), filepath.Join(t.TempDir(), "elsewhere")
				hooktest.Must(t, os.MkdirAll(filepath.Dir(link), 0o755))
				if isFile := n == len(steps)-1; there && isFile {
					hooktest.Write(t, target, "", 0o644)
				} else if there {
					hooktest.Must(t, os.Mkdir(target, 0o755))
				}
				hooktest.Must(t, os.Symlink(target, link))
				if plan, err := Connect(o); err == nil {
					t.Errorf("%s: %s is a link, there: %v: %v, %v", agent, link, there, plan.Changes, err)
				}
			}
		}

		// A link to another place in the project, and a project that is one, are a person's own.
		real := t.TempDir()
		o.Project = filepath.Join(t.TempDir(), "project")
		hooktest.Must(t, os.Symlink(real, o.Project))
		if len(steps) > 1 {
			hooktest.Must(t, os.Mkdir(filepath.Join(real, "settings"), 0o755))
			hooktest.Must(t, os.Symlink("settings", filepath.Join(real, steps[0])))
		}
		if _, err := Connect(o); err != nil {
			t.Errorf("%s: links within the project: %v", agent, err)
		}
	}
}
