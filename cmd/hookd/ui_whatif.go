package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/catalog"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/rehearse"
	"github.com/hookd/hookd/internal/ui"
)

// mostShown is how many changes of each kind the page gets.
const mostShown = 500

func (f hookFiles) Texts(name string) (map[string]string, error) {
	cfg, err := f.load()
	if err != nil {
		return nil, err
	}
	h, err := named(cfg, name)
	if err != nil {
		return nil, err
	}
	return rehearse.Texts(h)
}

// WhatIf does for the page what `hookd whatif` does.
func (f hookFiles) WhatIf(ctx context.Context, q ui.Question, asking func(sum func() any)) (any, error) {
	w := whatIf{
		since: cmp.Or(q.Since, "7d"), until: q.Until, session: q.Session, agent: q.Agent, tool: q.Tool, limit: q.Limit,
	}
	query, err := w.query()
	if err != nil {
		return nil, err
	}
	cfg, err := f.load()
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
	past := pastEvents(ctx, f.client, query, h, q.Limit)
	sum, err := rehearse.WhatIfLocal(ctx, cfg, h, past, func(a *rehearse.Asking) {
		asking(func() any { return a.Sum().Shortened(mostShown) })
	})
	sum.Since = query.Since
	return sum.Shortened(mostShown), err
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
