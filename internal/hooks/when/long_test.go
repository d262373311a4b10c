package when

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/facts"
)

// Lines that repeat a pattern's words are looked at once, not once for each way to
// leave words out: the longest that is read takes a moment.
func TestLongLines(t *testing.T) {
	for _, pattern := range []string{
		"docker system prune", "docker system prune all now", "docker --force -abc system", "docker system prune --all",
	} {
		p, err := facts.ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{
			"-x system ", "-x docker -x system ", "-x docker -x system -x prune -x all ", "-a -b docker ",
		} {
			line := "nohup docker "
			line += strings.Repeat(unit, (16<<10-len(line))/len(unit))
			c := facts.Line(line, facts.Env{})
			if unit == "-x system " && has(c, &p) {
				t.Errorf("%q is in repeated %q", pattern, unit)
			}
			has(c, &p)
		}
	}
}
