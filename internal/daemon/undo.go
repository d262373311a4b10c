package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/pause"
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

// vault keeps files that calls destroy. It fits dispatch.UndoKeeper.
type vault struct {
	undo   *undo.Keeper // nil = nothing is kept
	reader *facts.Reader
	config *atomic.Pointer[config.Config]
	log    *zap.Logger
}

var _ dispatch.UndoKeeper = vault{}

// openVault opens the vault, which keeps the files that calls destroy. A vault that cannot be made stops
// no daemon: it is nil, nothing is kept, and each record says so.
func openVault(c config.Config, log *zap.Logger) *undo.Keeper {
	if c.System { // the files are other users'
		return nil
	}
	keeper, err := undo.Open(vaultDir(c), log)
	log = log.Named("daemon")
	if err != nil {
		log.Error("nothing is kept of what calls destroy", zap.Error(err))
		return nil
	}
	keeper.Configure(undoSettings(c))
	return keeper
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
func tendVault(ctx context.Context, keeper *undo.Keeper) {
	if keeper == nil {
		return
	}
	for {
		keeper.CloseOld(time.Now())
		keeper.Expire(time.Now())
		if len(keeper.OpenCalls("")) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(expireEvery):
				continue
			case <-keeper.Began:
			}
		}
		if !pause.For(settleEvery, ctx.Done()) {
			return
		}
	}
}

func (v vault) Keep(e *events.Event) dispatch.Keeping {
	r, looked := v.keep(e)
	if !looked {
		return dispatch.Keeping{}
	}
	return v.said(e, r)
}

// keep keeps the files that a call is about to destroy; looked is false where it can destroy nothing.
func (v vault) keep(e *events.Event) (r undo.Copied, looked bool) {
	call := dialect.Call(e)
	if v.undo == nil || call.Own == "" && call.Tool == "" {
		return r, false
	}
	cwd := cmp.Or(e.Cwd, v.reader.Home)
	f := v.reader.Read(call, cwd)
	later := string(rawjson.Get(call.Given, "run_in_background")) == "true"
	r = v.undo.Keep(undo.KeptCall{
		ID: e.EventID, Time: e.Time, Session: e.SessionID, Agent: cmp.Or(e.AgentName, string(e.Dialect)),
		CallID: e.CallID, Tool: e.Tool, Subject: e.Subject, Cwd: undo.Path(cwd), Later: later,
	}, f)
	return r, true
}

// undoable reports whether an effect of a call can be taken back: to know it, the call is kept.
func (v vault) undoable(e *events.Event, of *facts.Effect) bool {
	if v.undo == nil || !strings.HasPrefix(of.Target, "/") || e.Contract.Kind != events.KindToolBefore {
		return false
	}
	r, looked := v.keep(e)
	return looked && v.config.Load().Undo.Keep && r.Undoable()
}

// said is a result as a verdict and its record have it.
func (v vault) said(e *events.Event, r undo.Copied) (k dispatch.Keeping) {
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
	v.log.Warn("there was no time to keep all that a call destroys", zap.String("event_id", e.EventID),
		zap.Int("kept", r.Files), zap.Duration("took", r.Took))
	why := fmt.Sprintf("it destroys more than could be kept in %v", r.Took.Round(time.Millisecond))
	if len(r.Lost) > 0 {
		why += ": " + r.Lost[len(r.Lost)-1].Why
	}
	switch v.config.Load().Undo.Late {
	case config.UndoAsk, config.UndoWait:
		k.Ask = why
	case config.UndoDeny:
		k.Deny = why
	}
	return k
}

func (v vault) Drop(e *events.Event) {
	if v.undo != nil {
		go v.undo.Discard(e.EventID) // it may wait for a file system
	}
}

// mark sets Gone of a decision whose call has nothing in the vault any more.
func (v vault) mark(d *wire.Decision) {
	if d.Kept != nil && d.Kept.Word != undo.None && (v.undo == nil || !undo.Has(v.undo, d.EventID)) {
		kept := *d.Kept // others have the record, too
		kept.Gone = true
		d.Kept = &kept
	}
}

func (v vault) Note(e *events.Event) {
	if v.undo == nil || e.SessionID == "" {
		return
	}
	switch e.Contract.Kind {
	case events.KindToolAfter:
		for _, c := range v.undo.OpenCalls(e.SessionID) {
			if c.CallID != "" && c.CallID == e.CallID {
				v.undo.Ran(c.ID)
			}
		}
	case events.KindSessionStart:
		v.undo.Warm(e.Cwd)
	case events.KindTurnStop, events.KindPromptSubmit, events.KindSessionEnd:
		if !e.ByAgent { // else other calls of the session go on
			v.undo.Ended(e.SessionID)
		}
	}
}

// steps fits builtin.Steps.
type steps struct{ undo *undo.Keeper }

func (s steps) Begin(c *builtin.Invocation, mark string) error {
	if s.undo == nil {
		return nil
	}
	now := time.Now()
	return s.undo.Begin(undo.KeptCall{
		ID: events.NewID(now), Time: now.UTC(), Session: c.SessionID, Mark: mark, Cwd: undo.Path(c.Cwd),
		Tool: undo.Step, Subject: "changes of a " + strings.SplitN(mark, ":", 2)[0],
	})
}

func (s steps) End(session, mark string) {
	if s.undo != nil {
		s.undo.End(session, mark)
	}
}

func (s steps) Forget(session string) {
	if s.undo != nil {
		s.undo.Forget(session)
	}
}

// Undoable fits server.Undo.
func (c *control) Undoable(_ context.Context, q wire.UndoQuery) (wire.UndoList, *wire.Error) {
	if c.d.vault.undo == nil {
		return wire.UndoList{}, noVault()
	}
	return c.d.vault.undo.List(q), nil
}

// TakeBack fits server.Undo. A preview is free; only a person takes back.
func (c *control) TakeBack(_ context.Context, from server.Peer, r wire.UndoRequest) (wire.UndoAnswer, *wire.Error) {
	if c.d.vault.undo == nil {
		return wire.UndoAnswer{}, noVault()
	}
	if !r.Preview {
		if bad := c.d.persons.mayUndo(from); bad != nil {
			return wire.UndoAnswer{}, bad
		}
	}
	a, bad := c.d.vault.undo.Undo(events.NewID(time.Now()), r)
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
	if c.d.vault.undo == nil {
		return wire.Dump{}, noVault()
	}
	if why := c.d.persons.notAPerson(from); why != "" && !ofRun(from) {
		return wire.Dump{}, &wire.Error{
			Code: wire.CodeForbidden, Message: "refused: hooks and people put dumps into the vault, and " + why,
			Hint: "call it from a hook of the event",
		}
	}
	return c.d.vault.undo.Dumps.Add(call, r)
}

// Purge fits server.Undo.
func (c *control) Purge(_ context.Context, id string) (wire.UndoPurged, *wire.Error) {
	if c.d.vault.undo == nil {
		return wire.UndoPurged{}, noVault()
	}
	n, bad := c.d.vault.undo.Purge(id)
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
