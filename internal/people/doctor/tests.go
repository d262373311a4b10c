package doctor

import (
	"context"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// testsTime is how long the tests of all guards may take together.
const testsTime = 30 * time.Second

// tests has the daemon run the tests of guards.
func (v *visit) tests(ctx context.Context) {
	if v.status == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, testsTime)
	defer cancel()
	guards := map[string]bool{}
	for _, h := range v.scan.Runnable() {
		guards[h.Name] = h.WouldGuard()
	}
	right, of := 0, 0
	for _, h := range v.hooks {
		if h.Tests == 0 || !guards[h.Name] || hook.State(h.State) == hook.Disabled {
			continue
		}
		of++
		tests, err := v.Client.RunTests(ctx, h.ID)
		failed, all := tests.Failed, len(tests.Tests)
		do := "hookd test " + escape.Quote(h.Name)
		switch {
		case err != nil:
			v.say("tests", Problem, do, "the tests of %s were not run: %v", h.Name, err)
		case failed > 0:
			v.say("tests", Problem, do, "%d of the %d tests of %s are not as expected", failed, all, h.Name)
			v.fail = append(v.fail, do)
		default:
			right++
		}
	}
	if right > 0 {
		v.say("tests", OK, "", "%d of %d guards with tests answer as expected", right, of)
	}
}
