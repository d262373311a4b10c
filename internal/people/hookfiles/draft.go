package hookfiles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
	"github.com/hookd/hookd/internal/people/ui"
	"github.com/hookd/hookd/internal/run/rehearse"
	"github.com/hookd/hookd/wire"
)

// Checked is what hookd says of a hook with other texts. Its files are named as in the hook's folder.
type Checked struct {
	OK       bool           `json:"ok"` // the hook can be read
	Problems []wire.Problem `json:"problems"`
	Tests    *wire.Tests    `json:"tests,omitempty"` // nil = it cannot be read, or has none
}

// Check reads a hook with other texts, as `hookd validate` does, and runs the tests in its file.
func (f Files) Check(ctx context.Context, name string, texts map[string]string) (any, error) {
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	h, err := named(cfg, name)
	if err != nil {
		return nil, err
	}
	checked, err := check(ctx, cfg, h, texts)
	return checked, err
}

func check(ctx context.Context, cfg config.Config, h *hook.Hook, texts map[string]string) (c Checked, err error) {
	dir, err := os.MkdirTemp("", "hookd-draft-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	edited, unread := rehearse.Edited(cfg, h, dir, texts)
	folder := filepath.Join(dir, filepath.Base(filepath.Dir(h.File)))
	read, err := catalog.Validate(cfg, []string{folder}, false)
	if err != nil {
		return c, errors.Join(unread, err)
	}
	c.Problems = []wire.Problem{}
	for _, v := range read.Hooks {
		for _, p := range v.Problems {
			p.File = strings.TrimPrefix(p.File, folder+"/")
			c.Problems = append(c.Problems, p)
		}
	}
	if unread != nil && len(c.Problems) == 0 {
		return c, unread
	}
	if c.OK = unread == nil; !c.OK || len(edited.Tests) == 0 {
		return c, nil
	}
	tests, err := rehearse.TestsLocal(ctx, cfg, edited)
	c.Tests = &tests
	return c, err
}

// Save writes other texts into the folder of a hook of the user, and allows that version. It does neither where
// the files are not as d.Was says, where the hook cannot be read with d.Texts, or where a test fails and d.Reason
// says nothing. The reason is kept with the approval.
func (f Files) Save(ctx context.Context, name string, d ui.Draft) error {
	cfg, err := f.Load()
	if err != nil {
		return err
	}
	h, err := named(cfg, name)
	if err != nil {
		return err
	}
	if h.Layer != hook.LayerUser || h.Source.Type != hookdir.SourceType {
		return fmt.Errorf("hook %s is not yours alone: it is of a %s", name, h.Layer.Text())
	}
	folder, sums := filepath.Dir(h.File), map[string]string{}
	for path, sum := range h.Seal.Contents() { // with those that have no text
		if inside, err := filepath.Rel(folder, path); err == nil {
			sums[inside] = sum
		}
	}
	for _, texts := range []map[string]string{d.Was, d.Texts} {
		for path, text := range texts {
			sums[path] = trust.Sum([]byte(text))
		}
	}
	if now, err := rehearse.Texts(h); err != nil || !maps.Equal(now, d.Was) {
		return errors.Join(ui.ErrChanged, err)
	}
	c, err := check(ctx, cfg, h, d.Texts)
	if err != nil {
		return err
	}
	door, reason := Door, strings.Join(strings.Fields(d.Reason), " ")
	switch {
	case !c.OK:
		return fmt.Errorf("%s:%d: %s", c.Problems[0].File, c.Problems[0].Line, c.Problems[0].Message)
	case c.Tests != nil && c.Tests.Failed > 0 && reason == "":
		const why = "%d of %d tests fail: mend them, or say why it is saved all the same"
		return fmt.Errorf(why, c.Tests.Failed, len(c.Tests.Tests))
	case c.Tests != nil && c.Tests.Failed > 0:
		door += fmt.Sprintf(", with %d failing tests: %s", c.Tests.Failed, reason)
	}
	for path, text := range d.Texts { // each is a file of the hook: check knows
		if err := replacefile.Rewrite(filepath.Join(folder, path), []byte(text)); err != nil {
			return fmt.Errorf("save %s: %w", path, err)
		}
	}
	for _, w := range catalog.Waiting(cfg) {
		if w.Name != h.Name || w.Gone {
			continue
		}
		if !w.Is(folder, sums) {
			return ui.ErrChanged
		}
		w.Door = door
		return catalog.Allow(cfg, w)
	}
	return nil // it was allowed before
}

// Version is a version of a hook that was allowed.
type Version struct {
	Digest string            `json:"digest"`
	At     time.Time         `json:"at"`
	By     string            `json:"by"`
	Texts  map[string]string `json:"texts"` // by their paths in its folder
	Diffs  []ui.Diff         `json:"diffs"` // from the version before; empty for the first that is known
}

// Versions returns the versions of a hook that were allowed, the newest first.
func (f Files) Versions(name string) (any, error) {
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	list := []Version{}
	for _, a := range catalog.Allowed(cfg, name) {
		v := Version{Digest: a.Digest, At: a.At, By: a.By, Texts: map[string]string{}, Diffs: []ui.Diff{}}
		for path, text := range a.Texts {
			if inside, err := filepath.Rel(filepath.Dir(a.File), path); err == nil && filepath.IsLocal(inside) {
				v.Texts[inside] = string(text)
			}
		}
		list = append(list, v)
	}
	for i := range list[:max(0, len(list)-1)] {
		now, was := list[i].Texts, list[i+1].Texts
		for path := range joined(now, was) {
			if now[path] != was[path] {
				list[i].Diffs = append(list[i].Diffs, ui.Diff{Path: path, Lines: Lines(was[path], now[path])})
			}
		}
	}
	return list, nil
}

// joined has the paths of both.
func joined(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
