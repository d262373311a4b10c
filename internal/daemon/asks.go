package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/people/ask"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

// newAsks makes the room that holds asks, with the grants that the store has.
func (d *Daemon) newAsks() *ask.Holder {
	h := ask.New(context.Background(), ask.Options{
		Store: d.store, Tree: treeOf, Log: d.opts.Log, Redact: d.redact, Hooked: d.answeredElsewhere,
		Prompt: d.lastPrompt, Look: d.lookAt(),
		Emit: func(name string, data json.RawMessage) {
			_, _ = d.dispatch.EmitOwn(events.Envelope{Event: name, Data: data, Sender: "hookd"}) // as emitOwn
		},
		Record: func(rec *wire.Decision) { d.recorder.Decided(rec) },
	})
	h.Configure(askSettings(*d.config.Load()))
	return h
}

// promptTime is how long the prompt of a session is looked for.
const promptTime = 300 * time.Millisecond

// answeredElsewhere reports whether a person can be there who answers from elsewhere: a
// hook runs for asks, or approvers of the fleet can see them now.
func (d *Daemon) answeredElsewhere() bool {
	joined, approvers := d.fleet, d.config.Load().Fleet.Approvers
	approved := joined != nil && len(approvers) > 0 && joined.program.Broker.State().Connected
	return approved || d.hooked.Load()
}

// lastPrompt fits ask.Options.
func (d *Daemon) lastPrompt(session string, of events.Dialect) string {
	if session == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), promptTime)
	defer cancel()
	past, _ := d.history.Accepted(ctx, wire.EventQuery{Session: session, Limit: 200}) // without it, the card has none
	for _, e := range past.Events {
		if e.Kind == events.KindPromptSubmit && e.Dialect == of && !e.Tried && !e.ByAgent {
			return e.Subject
		}
	}
	return ""
}

// repoTime is how long the repository of a folder is looked for.
const repoTime = 200 * time.Millisecond

// lookAt returns the function for ask.Options.
func (d *Daemon) lookAt() func(e *events.Event) ask.Look {
	patience := readfile.NewPatience(repoTime, nil)
	return func(e *events.Event) (seen ask.Look) {
		if call := dialect.Call(e); call.Own != "" || call.Tool != "" {
			f := d.reader.Read(call, cmp.Or(e.Cwd, d.reader.Home))
			seen.Effects, seen.Text = f.Says(), f.Text
		}
		repo := card.Repo{}
		found := func() {
			if r, is := project.Find(e.Cwd); is {
				repo = card.Repo{Name: filepath.Base(r.Root), Branch: r.Branch()}
			}
		}
		if filepath.IsAbs(e.Cwd) && patience.Try(e.Cwd, found) {
			seen.Repo = &repo
		}
		return seen
	}
}

func askSettings(c config.Config) ask.Settings {
	return ask.Settings{Hold: c.AskHold, Timeout: c.AskTimeout}
}

// treeOf fits ask.Options.
func treeOf(pid int) ask.Tree {
	tree, ok := proc.LineageOf(pid)
	if !ok {
		return nil
	}
	return tree
}

// retainAsks gives the asks the hooks that are about to be in force.
func (d *Daemon) retainAsks(snap *hook.Snapshot) {
	d.hooked.Store(slices.ContainsFunc(snap.Entries, func(e hook.Entry) bool { return runsFor(e, events.EventAsk) }))
	d.asks.Retain(snap.Runnable())
	d.noteAnnounced(snap)
	d.snoozes.note()
}

// runsFor reports whether a hook runs for an event of hookd's own.
func runsFor(e hook.Entry, event string) bool {
	matches := func(p pattern.Pattern) bool { return p.Reserved() && p.Match(event) }
	return e.Hook != nil && (e.State == hook.Active || e.State == hook.Degraded) &&
		slices.ContainsFunc(e.Hook.Patterns, matches)
}

func (c *control) Asks(context.Context) wire.Asks {
	answering, hooked := c.d.asks.Presence()
	return wire.Asks{Asks: c.d.asks.List(), Approvers: answering, Hooked: hooked}
}

func (c *control) Ask(_ context.Context, id string) (wire.Ask, *wire.Error) {
	return c.d.asks.Get(id)
}

func (c *control) FollowAsks(q wire.FollowAsks) server.Subscription {
	return c.d.asks.Follow(q.Answers)
}

func (c *control) AnswerAsk(
	ctx context.Context,
	from server.Peer,
	id string,
	r wire.Reply,
) (wire.Replied, *wire.Error) {
	r.Door = cmp.Or(r.Door, from.Door)
	by := ask.From{Answerer: personAt(from), OfRun: ofRun(from)}
	by.Not = func() string { return c.d.persons.notAPerson(from) }
	return c.d.asks.Answer(ctx, by, id, r)
}

// personAt returns the known facts about the process that sent a request, and about its user.
func personAt(from server.Peer) wire.Answerer {
	at := wire.Answerer{
		UID: from.UID, PID: from.PID, Program: proc.Program(from.PID), Door: cmp.Or(from.Door, "socket"),
	}
	if c := connectedBy(from); c != nil && c.HasEnded() {
		at.Program = "" // the number may be another process's
	}
	if u, err := user.LookupId(strconv.Itoa(from.UID)); err == nil {
		at.User = u.Username
	}
	return at
}

// logAct logs an act of a person, or of a program for them. The history does not keep such an act
// with its sender.
func (d *Daemon) logAct(what string, from server.Peer, more ...zap.Field) {
	at := personAt(from)
	d.log.Info(what, append(more, zap.String("user", at.User), zap.Int("pid", at.PID),
		zap.String("program", at.Program), zap.String("door", at.Door))...)
}

func (c *control) Grants(context.Context) wire.Grants { return wire.Grants{Grants: c.d.asks.Grants()} }

// revoked is a grant that a person has ended, as the chain of records keeps it.
type revoked struct {
	wire.Grant
	By wire.Answerer `json:"by"`
}

func (c *control) RevokeGrant(ctx context.Context, from server.Peer, id string) (wire.Grant, *wire.Error) {
	g, bad := c.d.asks.Revoke(ctx, id)
	if bad == nil {
		c.d.store.Audit(time.Now().UTC(), audit.Revoked, revoked{g, personAt(from)})
	}
	return g, bad
}
