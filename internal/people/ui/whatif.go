package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

const (
	mostAsked   = 2       // rehearsals that run at once: each runs a hook some hundred times a second
	mostAnswers = 8       // rehearsals of which the answer is kept
	mostPast    = 100_000 // events of one rehearsal
	usualPast   = 1000
)

// Question is a question to a hook about the past, in the words of `hookd guard what-if`.
type Question struct {
	Hook    string            `json:"hook"`            // its name, or its folder as a whole path
	Texts   map[string]string `json:"texts,omitempty"` // files in its folder that are to be other than they are
	Since   string            `json:"since,omitempty"`
	Until   string            `json:"until,omitempty"`
	Session string            `json:"session,omitempty"`
	Agent   string            `json:"agent,omitempty"`
	Tool    string            `json:"tool,omitempty"`
	Limit   int               `json:"limit,omitempty"` // events at most
}

// rehearsals are the rehearsals that this process's pages asked for. The zero value has
// none.
type rehearsals struct {
	mu      sync.Mutex
	list    []*rehearsal // oldest first
	running sync.WaitGroup
}

// rehearsal is one question to a hook. It goes on while the page that asked is closed or
// loaded again, and ends with the Server.
type rehearsal struct {
	id       string
	question Question
	stop     context.CancelFunc

	mu    sync.Mutex
	sum   func() any // what is known so far; nil = nothing is
	ended bool
	err   error
}

// answerTo is a rehearsal as the page reads it.
type answerTo struct {
	ID       string   `json:"id"`
	Question Question `json:"question"`
	Running  bool     `json:"running"`
	Sum      any      `json:"sum"` // as `hookd guard what-if -o json` prints it; null = nothing is known yet
	Error    string   `json:"error,omitempty"`
}

func (r *rehearsal) runs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended
}

func (r *rehearsal) answer() answerTo {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := answerTo{ID: r.id, Question: r.question, Running: !r.ended}
	if r.sum != nil {
		a.Sum = r.sum()
	}
	if r.err != nil {
		a.Error = r.err.Error()
	}
	return a
}

// begin starts a rehearsal with do, unless too many run; then it returns nil.
func (all *rehearsals) begin(
	q Question, do func(ctx context.Context, asking func(sum func() any)) (any, error),
) *rehearsal {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.list = slices.DeleteFunc(all.list, func(r *rehearsal) bool {
		return len(all.list) >= mostAnswers && r == all.list[0] && !r.runs()
	})
	running := 0
	for _, r := range all.list {
		if r.runs() {
			running++
		}
	}
	if running >= mostAsked {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &rehearsal{id: secret()[:16], question: q, stop: stop}
	all.list = append(all.list, r)
	all.running.Go(func() {
		defer stop()
		sum, err := do(ctx, func(sum func() any) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.sum = sum
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ended, r.err = true, err; err == nil {
			r.sum = func() any { return sum }
		}
	})
	return r
}

func (all *rehearsals) find(id string) *rehearsal {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.list {
		if r.id == id {
			return r
		}
	}
	return nil
}

// end stops all and waits for their hooks to end.
func (all *rehearsals) end() {
	all.mu.Lock()
	for _, r := range all.list {
		r.stop()
	}
	all.mu.Unlock()
	all.running.Wait()
}

// askPast begins a rehearsal. It runs a hook, perhaps with a text that was typed into
// the page: an act.
func (s *Server) askPast(w http.ResponseWriter, r *http.Request) {
	q := Question{Limit: usualPast}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Hook == "" || s.opt.Hooks == nil {
		refuse(w, http.StatusBadRequest, "bad_json", `send {"hook":"NAME"}, and what else `+"`hookd guard what-if`"+` takes`)
		return
	}
	if q.Limit < 1 || q.Limit > mostPast {
		refuse(w, http.StatusBadRequest, "bad_request", "limit is a number of events from 1 to 100000")
		return
	}
	asked := s.past.begin(q, func(ctx context.Context, asking func(sum func() any)) (any, error) {
		return s.opt.Hooks.WhatIf(ctx, q, asking)
	})
	if asked == nil {
		refuse(w, http.StatusTooManyRequests, "queue_full", "two rehearsals run already: wait for one, or stop it")
		return
	}
	answer(w, asked.answer())
}

// pastAnswer is the answer of a rehearsal until now.
func (s *Server) pastAnswer(w http.ResponseWriter, r *http.Request) {
	if asked := s.pastOf(w, r); asked != nil {
		answer(w, asked.answer())
	}
}

// stopPast ends a rehearsal; its answer until then stays.
func (s *Server) stopPast(w http.ResponseWriter, r *http.Request) {
	if asked := s.pastOf(w, r); asked != nil {
		asked.stop()
		answer(w, map[string]bool{"ok": true})
	}
}

func (s *Server) pastOf(w http.ResponseWriter, r *http.Request) *rehearsal {
	asked := s.past.find(r.PathValue("id"))
	if asked == nil {
		refuse(w, http.StatusNotFound, "not_found", "hookd ui does not know this rehearsal any more: ask again")
	}
	return asked
}

// texts gives the files of a hook that can be edited.
func (s *Server) texts(w http.ResponseWriter, r *http.Request) {
	if s.opt.Hooks == nil || !s.opt.Act {
		refuse(w, http.StatusForbidden, "forbidden", "this page only shows: start it with `hookd ui --act`")
		return
	}
	texts, err := s.opt.Hooks.Texts(r.URL.Query().Get("hook"))
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "rejected", err.Error())
		return
	}
	answer(w, map[string]map[string]string{"texts": texts})
}
