package dispatch

import (
	"sync"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// maxSessions bounds how many sessions' prompts are remembered.
const maxSessions = 10_000

// prompts remembers when each session's last prompt was submitted by a person, for the
// duration_ms of payloads for which the agent does not have it.
type prompts struct {
	mu     sync.Mutex
	times  map[string]time.Time
	oldest []string
}

func newPrompts() *prompts { return &prompts{times: map[string]time.Time{}} }

// note takes the time of an event that submits a prompt.
func (p *prompts) note(e *events.Event) {
	if e.Contract.Kind != events.KindPromptSubmit || e.ByAgent || e.SessionID == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.times[e.SessionID]; !known {
		if p.oldest = append(p.oldest, e.SessionID); len(p.oldest) > maxSessions {
			delete(p.times, p.oldest[0])
			p.oldest = p.oldest[1:]
		}
	}
	p.times[e.SessionID] = e.Time
}

// since returns how long ago the session's last prompt was submitted.
func (p *prompts) since(session string) (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.times[session]
	return time.Since(at), ok
}
