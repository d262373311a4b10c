package daemon

import (
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// suspects are guards that load and do not work: the interpreter cannot read the guard, the
// guard says nothing while its program fails, or its tests fail. The knowledge about a hook
// holds for one version, and until it works: a program that it needs may be installed later.
// Without hooks it knows nothing.
type suspects struct {
	log   *zap.Logger
	mu    sync.Mutex // guards what is below
	hooks map[string]suspect
}

// suspect is the knowledge about one version of a hook; "" = nothing.
type suspect struct {
	digest, broken, tests string
	tool                  string // of the call that showed it as broken
}

// change changes the knowledge about h, and reports whether that is news.
func (s *suspects) change(h *hook.Hook, to func(*suspect)) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hooks == nil {
		s.hooks = map[string]suspect{}
	}
	was := s.hooks[h.ID]
	if was.digest != h.Digest {
		was = suspect{digest: h.Digest}
	}
	now := was
	to(&now)
	if now == was {
		return false
	}
	s.hooks[h.ID] = now
	return true
}

// problems are those of the version of h.
func (s *suspects) problems(h *hook.Hook) (list []wire.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.hooks[h.ID]
	if known.digest != h.Digest {
		return nil
	}
	if known.broken != "" {
		list = append(list, wire.Problem{
			File: h.File, Message: known.broken,
			Hint: "hookd log output " + escape.Quote(h.Name),
		})
	}
	if known.tests != "" {
		list = append(list, wire.Problem{
			File: h.File, Message: known.tests, Hint: "hookd test " + escape.Quote(h.Name),
		})
	}
	return list
}

// suspect notes a guard that seems broken, and warns about it once. Without a why it ran as it should: a call
// of the same tool ends the suspicion.
func (s *suspects) suspect(h *hook.Hook, tool, why string) {
	news := s.change(h, func(of *suspect) {
		if why != "" && why != of.broken || why == "" && tool == of.tool {
			of.broken, of.tool = why, tool
		}
	})
	if news && why != "" {
		s.log.Warn("a guard does not work",
			zap.String("hook", h.Name), zap.String("why", why), zap.String("see", "hookd log output "+h.Quoted()))
	}
}

// noteTests notes the outcome of a guard's tests.
func (s *suspects) noteTests(h *hook.Hook, t wire.Tests) {
	why := ""
	if t.Failed > 0 && h.WouldGuard() {
		why = fmt.Sprintf("%d of its %d tests are not as expected", t.Failed, len(t.Tests))
	}
	s.change(h, func(of *suspect) { of.tests = why })
}
