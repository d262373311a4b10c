package hookfiles

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/people/ui"
	"github.com/hookd/hookd/internal/run/rehearse"
	"github.com/hookd/hookd/wire"
)

// mostShown is how many changes of each kind the page gets.
const mostShown = 500

// Texts returns the files in a hook's folder that can be edited, by their paths in it.
func (f Files) Texts(name string) (map[string]string, error) {
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	h, err := named(cfg, name)
	if err != nil {
		return nil, err
	}
	return rehearse.Texts(h)
}

// WhatIf makes the rehearsal of `hookd guard what-if`, also with files that have other texts.
func (f Files) WhatIf(ctx context.Context, q ui.Question, asking func(sum func() any)) (any, error) {
	query, err := queryOf(q)
	if err != nil {
		return nil, err
	}
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	h, err := named(cfg, q.Hook)
	if err != nil {
		return nil, err
	}
	if len(q.Texts) > 0 {
		dir, err := os.MkdirTemp("", "hookd-whatif-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if h, err = rehearse.Edited(cfg, h, dir, q.Texts); err != nil {
			return nil, err
		}
	}
	past := Past(ctx, f.Client, query, h, q.Limit)
	sum, err := rehearse.WhatIfLocal(ctx, cfg, h, past, func(a *rehearse.Asking) {
		asking(func() any { return a.Sum().Shortened(mostShown) })
	})
	sum.Since = query.Since
	return sum.Shortened(mostShown), err
}

// queryOf selects the events that a question is about: of the last 7 days, unless it says
// otherwise.
func queryOf(q ui.Question) (client.EventQuery, error) {
	values := url.Values{}
	for key, value := range map[string]string{
		"since": cmp.Or(q.Since, "7d"), "until": q.Until, "session": q.Session, "agent": q.Agent, "tool": q.Tool,
	} {
		if value != "" {
			values.Set(key, value)
		}
	}
	query, bad := wire.ParseEventQuery(values, time.Now())
	if bad != nil {
		return client.EventQuery{}, bad
	}
	return client.EventQuery(query), nil
}

// named returns the hook of that name, or the one in a folder that is given as a whole
// path: the page has no current directory.
func named(cfg config.Config, name string) (*hook.Hook, error) {
	if inHome, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		name = filepath.Join(home, inHome)
	}
	if filepath.IsAbs(name) {
		return catalog.Find(cfg, name)
	}
	return catalog.Named(cfg, name)
}

// Past returns the function that gives h the events of the history that fit q and that it is for,
// at most limit, the newest; 0 is all.
func Past(
	ctx context.Context, c *client.Client, q client.EventQuery, h *hook.Hook, limit int,
) func(each func(rehearse.Past) error) error {
	single := match.NewSingle(h, nil)
	return func(each func(rehearse.Past) error) error {
		left := limit
		err := c.Past(ctx, q, func(e client.StoredEvent) error {
			if !single.Reaches(events.Dialect(e.Dialect), e.Event) {
				if !h.Rules.Looks() {
					return nil
				}
				p := pastOf(e, nil)
				p.Other = true
				return each(p)
			}
			if left--; limit > 0 && left < 0 {
				return errEnough
			}
			return each(pastOf(e, others(ctx, c, e.EventID, h.Name)))
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	}
}

// errEnough ends the reading of the history.
var errEnough = errors.New("enough")

// others returns the decisions of an event's other hooks.
func others(ctx context.Context, c *client.Client, eventID, hook string) func() ([]wire.Outcome, error) {
	return func() (list []wire.Outcome, err error) {
		runs, err := c.Runs(ctx, client.RunQuery{EventID: eventID, Limit: wire.MaxRuns})
		for _, r := range runs {
			if r.Hook != hook && r.Awaited && r.Decision != "" {
				list = append(list, wire.Outcome(r.Decision))
			}
		}
		return list, err
	}
}

// pastOf returns an event of the history as a hook is asked about it. others is as in
// rehearse.Past.
func pastOf(e client.StoredEvent, others func() ([]wire.Outcome, error)) rehearse.Past {
	p := rehearse.Past{
		Envelope: events.Received(e.Envelope), EventID: e.EventID, Time: e.Time, Tool: e.Tool, Subject: e.Subject,
		Whole: e.Whole, Redacted: e.Redacted, Others: others,
	}
	if d := e.Decision; d != nil {
		p.Decision = &wire.Decision{
			Decision: wire.Outcome(d.Decision), Reason: d.Reason, DecidedBy: d.DecidedBy, Rewrote: d.Rewrote,
		}
		if d.Answered != nil && d.Answered.By != "permit" {
			p.Decision.Decision = wire.OutcomeAsk // the hooks asked, and another one answered
		}
	}
	return p
}
