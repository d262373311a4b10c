package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// telling is a daemon whose verdicts, where it holds, wait until the sender is gone.
type telling struct {
	*daemon
	heard chan *events.Hearing
	gone  chan struct{}
	holds bool
}

func (e *telling) Begin(_ Peer, env *events.Envelope) (wire.Answer, Rest, *wire.Error) {
	hearing := env.Hearing
	return wire.Answer{}, func() (wire.Answer, *wire.Error) {
		if e.heard <- hearing; e.holds {
			<-e.gone
		}
		return wire.Answer{EventID: "e", Verdict: &verdict.Verdict{Allowed: true, Continue: true}}, nil
	}, nil
}

// A sender's report on its agent reaches the events before it, also when the sender is gone then;
// without a word it is not known.
func TestTell(t *testing.T) {
	const event = `{"event":"pre_tool_use","wait":true,"tells":true}` + "\n"
	const denied = `{"told":{"decision":"deny","reason":"no"}}` + "\n"
	for name, tt := range map[string]struct {
		before, after string // lines sent before and after the answer was read
		gone          bool   // the sender does not wait for the answer
		want          []string
	}{
		"after the answer":       {event, denied, false, []string{"deny no"}},
		"of all before it":       {event + event, denied, false, []string{"deny no", "deny no"}},
		"not of those behind it": {event, denied + event, false, []string{"deny no", "unsure"}},
		"before it was closed":   {event + denied, "", true, []string{"deny no"}},
		"not a word":             {event, "", false, []string{"unsure"}},
		"closed at once":         {event, "", true, []string{"unsure"}},
		"of another shape":       {event, `{"told":7}` + "\n", false, []string{"unsure"}},
		"no promise":             {`{"event":"pre_tool_use","wait":true}` + "\n", denied, false, []string{"none"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &telling{heard: make(chan *events.Hearing, 8), gone: make(chan struct{}), holds: tt.gone}
			f := start(t, func(o *Options) { e.daemon, o.Emitter = o.Emitter.(*daemon), e })
			heard, gone := e.heard, e.gone
			conn := f.dial()
			conn.send(tt.before)
			var list []*events.Hearing
			for range strings.Count(tt.before, "event") {
				list = append(list, <-heard)
				if tt.gone {
					continue
				}
				conn.read()
			}
			if !tt.gone {
				conn.send(tt.after)
			}
			for range strings.Count(tt.after, "event") {
				list = append(list, <-heard)
			}
			conn.Close()
			close(gone)
			var got []string
			for _, h := range list {
				if h == nil {
					got = append(got, "none")
					continue
				}
				told := h.Wait(t.Context(), hooktest.Patience)
				if told.Unsure != "" {
					got = append(got, "unsure")
					continue
				}
				got = append(got, fmt.Sprint(told.Decision, " ", told.Reason))
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
