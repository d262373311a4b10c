package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"os/user"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/ask"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/pattern"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/server"
)

// newAsks makes the room that holds asks, with the grants that the store has.
func (d *Daemon) newAsks() *ask.Holder {
	h := ask.New(context.Background(), ask.Options{
		Store: d.store, Tree: treeOf, Log: d.opts.Log, Redact: d.redact, Hooked: d.answeredElsewhere,
		Prompt: d.lastPrompt,
		Emit: func(name string, data json.RawMessage) {
			_, _ = d.dispatch.EmitOwn(events.Envelope{Event: name, Data: data, Sender: "hookd"}) // as emitOwn
		},
		Record: func(rec *events.Decided) { d.recorder.Decided(rec) },
	})
	h.Configure(askSettings(*d.config.Load()))
	return h
}

// promptTime is how long the prompt of a session is looked for.
const promptTime = 300 * time.Millisecond

// lastPrompt fits ask.Options.
func (d *Daemon) lastPrompt(session string, of events.Dialect) string {
	if session == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), promptTime)
	defer cancel()
	past, _ := d.history.Accepted(ctx, api.EventQuery{Session: session, Limit: 200}) // without it, the card has none
	for _, e := range past.Events {
		if e.Kind == events.KindPromptSubmit && e.Dialect == of {
			return e.Subject
		}
	}
	return ""
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
	d.hooked.Store(slices.ContainsFunc(snap.Entries, runsForAsks))
	d.asks.Retain(snap.Runnable())
}

// runsForAsks reports whether a hook runs when there is an ask.
func runsForAsks(e hook.Entry) bool {
	matches := func(p pattern.Pattern) bool { return p.Reserved() && p.Match(events.EventAsk) }
	return e.Hook != nil && (e.State == hook.Active || e.State == hook.Degraded) &&
		slices.ContainsFunc(e.Hook.Patterns, matches)
}

func (c *control) Asks(context.Context) api.Asks {
	followers, hooked := c.d.asks.Approvers()
	return api.Asks{Asks: c.d.asks.List(), Approvers: followers, Hooked: hooked}
}

func (c *control) Ask(_ context.Context, id string) (events.Ask, *events.Error) {
	return c.d.asks.Get(id)
}

func (c *control) FollowAsks(q api.FollowAsks) server.Subscription { return c.d.asks.Follow(q.Answers) }

func (c *control) AnswerAsk(
	ctx context.Context,
	from server.Peer,
	id string,
	r api.Reply,
) (api.Replied, *events.Error) {
	r.Door = cmp.Or(r.Door, from.Door)
	by := ask.From{Answerer: personAt(from), OfRun: ofRun(from)}
	by.Not = func() string { return c.d.notAPerson(from) }
	return c.d.asks.Answer(ctx, by, id, r)
}

// personAt returns what is known of the process that sent a request, and of its user.
func personAt(from server.Peer) events.Answerer {
	at := events.Answerer{
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

// logAct logs what a person did, or a program for them, that is not in the history with
// its sender.
func (d *Daemon) logAct(what string, from server.Peer, more ...zap.Field) {
	at := personAt(from)
	d.log.Info(what, append(more, zap.String("user", at.User), zap.Int("pid", at.PID),
		zap.String("program", at.Program), zap.String("door", at.Door))...)
}

func (c *control) Grants(context.Context) api.Grants { return api.Grants{Grants: c.d.asks.Grants()} }

func (c *control) RevokeGrant(ctx context.Context, id string) (events.Grant, *events.Error) {
	return c.d.asks.Revoke(ctx, id)
}
