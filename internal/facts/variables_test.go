package facts_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
)

// A line may name the folder of an agent's settings by the variable that the agent reads.
func TestVariablesOfAgentsHaveTheirFolders(t *testing.T) {
	const home = "/home/ann"
	all := dialect.AgentsWith(func(s *neutral.Settings) bool { return s.DirEnv != "" || s.HomeEnv != "" })
	for _, agent := range all {
		s := dialect.Settings(events.Dialect(agent))
		for variable, folder := range map[string]string{s.DirEnv: filepath.Join(home, s.Dir), s.HomeEnv: home} {
			if variable == "" {
				continue
			}
			line := "rm -r $" + variable + "/x"
			f := facts.Line(line, facts.Env{Cwd: "/work", Home: home})
			if !slices.ContainsFunc(f.Effects, func(e facts.Effect) bool {
				return e.Kind == facts.KindDelete && e.Target == folder+"/x"
			}) {
				t.Errorf("%s: %q has the effects %+v, want that %s/x is deleted", agent, line, f.Effects, folder)
			}
		}
	}
	if len(all) < 10 {
		t.Errorf("%d agents have such variables: %v", len(all), all)
	}
}
