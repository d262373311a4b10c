package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/builtin"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/undo"
	"github.com/hookd/hookd/wire"
)

// undoKeeper fits dispatch.UndoKeeper.
type undoKeeper struct{ d *Daemon }

var _ dispatch.UndoKeeper = undoKeeper{}

// openVault makes the room that keeps the files that calls destroy. A vault that cannot be made stops no
// daemon: then nothing is kept, which each record says.
func (u undoKeeper) openVault(c config.Config) {
	if c.System { // the files are other users'
		return
	}
	vault, err := undo.Open(vaultDir(c), u.d.opts.Log)
	if err != nil {
		u.d.log.Error("nothing is kept of what calls destroy", zap.Error(err))
		return
	}
	vault.Configure(undoSettings(c))
	u.d.undo = vault
	for _, old := range []string{c.DataDir(), vaultDir(c)} { // of versions that took snapshots with git
		if err := os.RemoveAll(filepath.Join(old, "snapshots")); err != nil {
			u.d.log.Warn("old snapshots stay", zap.Error(err))
		}
	}
}

// vaultDir is where the vault is: in the home, unless that is in a working tree, where git clean
// would take it along.
func vaultDir(c config.Config) string {
	if git.Top(c.State) == "" {
		return c.VaultDir()
	}
	home, err := os.UserHomeDir()
	if err != nil || git.Top(home) != "" {
		return c.VaultDir() // no call that would destroy it is let pass
	}
	return filepath.Join(home, fmt.Sprintf(".hookd-vault-%d", os.Geteuid()), "home")
}

func undoSettings(c config.Config) undo.Settings {
	s := undo.DefaultSettings()
	s.Off, s.Wait, s.Max, s.MaxAge = !c.Undo.Keep, c.Undo.Wait, c.Undo.MaxBytes, c.Undo.MaxAge
	s.LargeAge = min(s.LargeAge, s.MaxAge)
	if c.Undo.Late != config.UndoWait {
		s.Most = 0
	}
	home, _ := os.UserHomeDir() // without one, ~ stays
	for _, glob := range c.Undo.Never {
		if rest, is := strings.CutPrefix(glob, "~/"); is && home != "" {
			glob = filepath.Join(home, rest)
		}
		if p, err := pattern.Compile(glob, '/'); err == nil { // the settings were checked
			s.Never = append(s.Never, p)
		}
	}
	return s
}

// How often calls are looked for whose results did not come, and kept contents that are too old.
const (
	settleEvery = time.Minute // while there are such calls, and after others have begun
	expireEvery = time.Hour
)

// tendVault settles calls whose results did not come, and drops kept contents that are too old or too much.
func (u undoKeeper) tendVault(ctx context.Context) {
	if u.d.undo == nil {
		return
	}
	for {
		u.d.undo.SettleOld(time.Now())
		u.d.undo.Expire(time.Now())
		if len(u.d.undo.Unsettled("")) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(expireEvery):
				continue
			case <-u.d.undo.Began:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settleEvery):
		}
	}
}

func (u undoKeeper) Keep(e *events.Event) dispatch.Keeping {
	r, looked := u.keep(e)
	if !looked {
		return dispatch.Keeping{}
	}
	return u.said(e, r)
}

// keep keeps the files that a call is about to destroy; looked is false where it can destroy nothing.
func (u undoKeeper) keep(e *events.Event) (r undo.Copied, looked bool) {
	call := dialect.Call(e)
	if u.d.undo == nil || call.Own == "" && call.Tool == "" {
		return r, false
	}
	cwd := cmp.Or(e.Cwd, u.d.reader.Home)
	f := u.d.reader.Read(call, cwd)
	later := string(rawjson.Get(call.Given, "run_in_background")) == "true"
	r = u.d.undo.Keep(undo.KeptCall{
		ID: e.EventID, Time: e.Time, Session: e.SessionID, Agent: cmp.Or(string(e.Dialect), e.AgentName),
		CallID: e.CallID, Tool: e.Tool, Subject: e.Subject, Cwd: undo.Path(cwd), Later: later,
	}, f)
	return r, true
}

// undoable reports whether an effect of a call can be taken back: to know it, the call is kept.
func (u undoKeeper) undoable(e *events.Event, of *facts.Effect) bool {
	if u.d.undo == nil || !strings.HasPrefix(of.Target, "/") || e.Contract.Kind != events.KindToolBefore {
		return false
	}
	r, looked := u.keep(e)
	return looked && u.d.config.Load().Undo.Keep && r.Undoable()
}

// said is a result as a verdict and its record have it.
func (u undoKeeper) said(e *events.Event, r undo.Copied) (k dispatch.Keeping) {
	if r.Deny != "" {
		return dispatch.Keeping{Deny: r.Deny}
	}
	if r.Word == "" {
		return k
	}
	k.Kept = &wire.Kept{
		Word: r.Word, Files: r.Files, Bytes: r.Bytes, Late: r.Late, Lost: r.Lost,
		MS: float64(r.Took.Microseconds()) / 1000,
	}
	k.Tell = r.Known()
	if !r.Late {
		return k
	}
	u.d.log.Warn("there was no time to keep all that a call destroys", zap.String("event_id", e.EventID),
		zap.Int("kept", r.Files), zap.Duration("took", r.Took))
	why := fmt.Sprintf("it destroys more than could be kept in %v", r.Took.Round(time.Millisecond))
	if len(r.Lost) > 0 {
		why += ": " + r.Lost[len(r.Lost)-1].Why
	}
	switch u.d.config.Load().Undo.Late {
	case config.UndoAsk, config.UndoWait:
		k.Ask = why
	case config.UndoDeny:
		k.Deny = why
	}
	return k
}

func (u undoKeeper) Drop(e *events.Event) {
	if u.d.undo != nil {
		go u.d.undo.Discard(e.EventID) // it may wait for a file system
	}
}

func (u undoKeeper) Follow(e *events.Event) {
	if u.d.undo == nil || e.SessionID == "" {
		return
	}
	switch e.Contract.Kind {
	case events.KindToolAfter:
		for _, c := range u.d.undo.Unsettled(e.SessionID) {
			if c.CallID != "" && c.CallID == e.CallID {
				u.d.undo.Ran(c.ID)
			}
		}
	case events.KindSessionStart:
		u.d.undo.Warm(e.Cwd)
	case events.KindTurnStop, events.KindPromptSubmit, events.KindSessionEnd:
		if !e.ByAgent { // else other calls of the session go on
			u.d.undo.Ended(e.SessionID)
		}
	}
}

// steps fits builtin.Steps.
type steps struct{ d *Daemon }

func (s steps) Begin(c *builtin.Invocation, mark string) error {
	if s.d.undo == nil {
		return nil
	}
	now := time.Now()
	return s.d.undo.Begin(undo.KeptCall{
		ID: events.NewID(now), Time: now.UTC(), Session: c.SessionID, Mark: mark, Cwd: undo.Path(c.Cwd),
		Tool: undo.Step, Subject: "changes of a " + strings.SplitN(mark, ":", 2)[0],
	})
}

func (s steps) End(session, mark string) {
	if s.d.undo != nil {
		s.d.undo.End(session, mark)
	}
}

func (s steps) Forget(session string) {
	if s.d.undo != nil {
		s.d.undo.Forget(session)
	}
}

// Undoable fits server.Undo.
func (c *control) Undoable(_ context.Context, q wire.UndoQuery) (wire.UndoList, *wire.Error) {
	if c.d.undo == nil {
		return wire.UndoList{}, noVault()
	}
	return c.d.undo.List(q), nil
}

// TakeBack fits server.Undo. A preview is free; only a person takes back.
func (c *control) TakeBack(
	_ context.Context, from server.Peer, r wire.UndoRequest,
) (wire.UndoAnswer, *wire.Error) {
	if c.d.undo == nil {
		return wire.UndoAnswer{}, noVault()
	}
	if !r.Preview {
		if bad := (persons{c.d}).mayUndo(from); bad != nil {
			return wire.UndoAnswer{}, bad
		}
	}
	a, bad := c.d.undo.Undo(events.NewID(time.Now()), r)
	if bad == nil && a.ID != "" {
		by := personAt(from)
		c.d.store.Audit(time.Now().UTC(), audit.Undone, undoneBy{Undo: a.ID, Calls: ids(a.Calls), Word: a.Word, By: by})
		c.d.logAct("calls were taken back", from, zap.String("undo", a.ID), zap.Strings("calls", ids(a.Calls)),
			zap.String("word", a.Word))
	}
	return a, bad
}

// AddDump fits server.Undo. An agent may not: its command would be shown to a person.
func (c *control) AddDump(
	_ context.Context, from server.Peer, call string, r wire.DumpRequest,
) (wire.Dump, *wire.Error) {
	if c.d.undo == nil {
		return wire.Dump{}, noVault()
	}
	if why := (persons{c.d}).notAPerson(from); why != "" && !ofRun(from) {
		return wire.Dump{}, &wire.Error{
			Code: wire.CodeForbidden, Message: "refused: hooks and people put dumps into the vault, and " + why,
			Hint: "call it from a hook of the event",
		}
	}
	return c.d.undo.Dumps.Add(call, r)
}

// Purge fits server.Undo.
func (c *control) Purge(_ context.Context, id string) (wire.UndoPurged, *wire.Error) {
	if c.d.undo == nil {
		return wire.UndoPurged{}, noVault()
	}
	n, bad := c.d.undo.Purge(id)
	return wire.UndoPurged{Calls: n}, bad
}

// undoneBy is the record of an undo.
type undoneBy struct {
	Undo  string        `json:"undo"`
	Calls []string      `json:"calls"`
	Word  string        `json:"word"`
	By    wire.Answerer `json:"by"`
}

func ids(calls []wire.UndoCall) (list []string) {
	for _, c := range calls {
		list = append(list, c.ID)
	}
	return list
}

func noVault() *wire.Error {
	return &wire.Error{
		Code: wire.CodeNotFound, Message: "this hookd keeps nothing of what calls destroy", Hint: "see why: hookd doctor",
	}
}

// mayUndo refuses an undo unless a person may have asked for it: it can overwrite newer work.
func (p persons) mayUndo(from server.Peer) *wire.Error {
	by := personAt(from)
	why := p.notAPerson(from)
	if why == "" && ofRun(from) {
		why = "it comes from a hook"
	}
	if why == "" {
		return nil
	}
	p.d.store.Audit(time.Now().UTC(), audit.Refused, weakening{What: "undo", Why: why, From: by})
	return &wire.Error{
		Code: wire.CodeForbidden, Message: "refused: only a person takes back what a call did, and " + why,
		Hint: "a person types it in a terminal of their own, or here once the agent has ended; --dry-run is free",
	}
}
