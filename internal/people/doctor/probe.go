package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
)

// Session is the session of a probe. Hooks and people can distinguish it from a real event
// by that.
const Session = events.ProbeSession

// probeTime is how long the bridge and its hooks may take.
const probeTime = time.Minute

// Probe is an event that was sent as the agent would send it, and the answer that the
// agent would get.
type Probe struct {
	Event    string          `json:"event"`
	Command  []string        `json:"command,omitempty"` // nil = sent without a bridge, as a plugin does
	Payload  json.RawMessage `json:"payload"`
	Stdout   string          `json:"stdout"` // the verdict, where there is no bridge
	Stderr   string          `json:"stderr"`
	ExitCode int             `json:"exit_code"`
	TookMS   float64         `json:"took_ms"`
	EventID  string          `json:"event_id,omitempty"` // "" = hookd did not get it
	Hooks    []Hooked        `json:"hooks"`              // that matched
}

// Hooked is a hook that the probe reached.
type Hooked struct {
	Hook       string        `json:"hook"`
	Result     client.Result `json:"result,omitempty"` // "" = it has not ended: a sender does not wait for an observer
	DurationMS float64       `json:"duration_ms,omitempty"`
	Error      string        `json:"error,omitempty"`
}

// probe sends the first and judges its result; nil when there is no way to.
func (w *exam) probe(ctx context.Context) *Probe {
	p := w.send(ctx, dialect.Probe(w.dialect))
	if p != nil {
		w.judge(p)
	}
	return p
}

// send sends an event as the agent would; nil when there is no way to.
func (w *exam) send(ctx context.Context, event neutral.Probe) *Probe {
	p := &Probe{Hooks: []Hooked{}}
	p.Event, p.Payload = event.Event, event.With(Session, w.cwd, time.Now())
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	begin := time.Now()
	switch a := dialect.Agent(w.dialect); {
	case a != nil && a.Answer == nil:
		w.emit(ctx, p)
	case w.bridge == "":
		return nil
	default:
		w.call(ctx, p)
	}
	p.TookMS = float64(time.Since(begin).Microseconds()) / 1000
	w.arrived(ctx, p)
	w.matched(ctx, p)
	return p
}

// call runs the command line that is registered for the event, or would be.
func (w *exam) call(ctx context.Context, p *Probe) {
	p.Command = []string{w.bridge, string(w.dialect), p.Event}
	switch line := w.settings.Calls[p.Event]; {
	case len(line) > 0:
		p.Command = append([]string{w.bridge}, line[1:]...)
	case w.settings.Calls != nil && slices.Contains(w.settings.Events, p.Event) && !w.saidHTTP:
		w.saidHTTP = true
		w.say(
			"probe",
			Note,
			w.o.Again+" --http --dry-run",
			"%s is registered over HTTP; the probe goes through the bridge, and says nothing of the listener",
			p.Event,
		)
	}
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(p.Payload), &out, &errOut, time.Second
	err := cmd.Run()
	p.Stdout, p.Stderr, p.ExitCode = out.String(), errOut.String(), cmd.ProcessState.ExitCode()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Stderr += err.Error()
	}
}

// emit sends it as a plugin does.
func (w *exam) emit(ctx context.Context, p *Probe) {
	answer, err := w.Client.EmitWait(
		ctx,
		client.Event{
			Event: p.Event, Dialect: client.Dialect(w.dialect), SessionID: Session, Cwd: w.cwd, Data: p.Payload,
		},
	)
	if err != nil {
		p.Stderr, p.ExitCode = err.Error(), 1
		return
	}
	p.EventID = answer.EventID
	if verdict, err := json.Marshal(answer.Verdict); err == nil {
		p.Stdout = string(verdict)
	}
}

// arrived finds the event in the stream of events since the daemon's status was read.
func (w *exam) arrived(ctx context.Context, p *Probe) {
	if w.status == nil || p.EventID != "" {
		return
	}
	ctx, cancel := w.ask(ctx)
	defer cancel()
	since := w.status.Seq
	err := w.Client.Tail(
		ctx,
		client.TailOptions{Match: []string{p.Event}, Since: &since, Epoch: w.status.Epoch, Once: true},
		func(record json.RawMessage) error {
			var e struct {
				Type string `json:"type"`
				client.EventRecord
			}
			isProbe := json.Unmarshal(record, &e) == nil && e.Type == client.RecordEvent && e.SessionID == Session
			if isProbe && !w.arrivals[e.EventID] { // the others were sent before
				p.EventID = e.EventID
			}
			return nil
		},
	)
	if err != nil {
		w.say("probe", Note, "hookd log events", "the stream cannot be read: %v", err)
	}
	if w.arrivals == nil {
		w.arrivals = map[string]bool{}
	}
	w.arrivals[p.EventID] = true
}

// matched adds the hooks that the event reached, with their results.
func (w *exam) matched(ctx context.Context, p *Probe) {
	env := events.Envelope{
		Event:     p.Event,
		Dialect:   w.dialect,
		SessionID: Session,
		Cwd:       w.cwd,
		Data:      p.Payload,
		Wait:      true,
	}
	for _, m := range catalog.Match(w.Config, env).Hooks {
		if m.Runs {
			p.Hooks = append(p.Hooks, Hooked{Hook: m.Hook})
		}
	}
	if p.EventID == "" {
		return
	}
	ctx, cancel := w.ask(ctx)
	defer cancel()
	runs, err := w.runs(ctx, p.EventID)
	// An answer comes before its record.
	for try := 0; err == nil && len(runs) == 0 && len(p.Hooks) > 0 && try < 20; try++ {
		if !pause.For(25*time.Millisecond, ctx.Done()) {
			return
		}
		runs, err = w.runs(ctx, p.EventID)
	}
	if err != nil {
		return
	}
	for _, r := range runs {
		i := slices.IndexFunc(p.Hooks, func(h Hooked) bool { return h.Hook == r.Hook })
		if i < 0 { // the daemon has hooks of its command line, too
			i, p.Hooks = len(p.Hooks), append(p.Hooks, Hooked{Hook: r.Hook})
		}
		p.Hooks[i].Result, p.Hooks[i].DurationMS, p.Hooks[i].Error = r.Result, r.DurationMS, r.Error
	}
}

// runs are those of the probe. Where an agent has called doctor, the probe counts as the agent's call.
func (w *exam) runs(ctx context.Context, event string) ([]client.Run, error) {
	for _, test := range []bool{true, false} {
		runs, err := w.Client.Runs(ctx, client.RunQuery{EventID: event, Test: test})
		if err != nil && !errors.Is(err, client.ErrRecent) {
			return nil, err
		}
		if len(runs) > 0 {
			return runs, nil
		}
	}
	return nil, nil
}

// matching returns the names of the hooks that match.
func (p *Probe) matching() []string {
	list := make([]string, len(p.Hooks))
	for i, h := range p.Hooks {
		list[i] = h.Hook
	}
	return list
}

// judge reports the result of the probe.
func (w *exam) judge(p *Probe) {
	row := events.For(w.dialect, p.Event)
	failed := slices.IndexFunc(p.Hooks, func(h Hooked) bool {
		return h.Result != "" && h.Result != client.ResultOK && h.Result != client.ResultDeny
	})
	switch {
	case w.status == nil:
		w.say(
			"probe",
			Note,
			"hookd serve",
			"%s came back after %.0f ms with no verdict: hookd is not running",
			p.Event,
			p.TookMS,
		)
	case p.EventID == "":
		w.say(
			"probe",
			Problem,
			"hookd log events",
			"%s was sent and hookd did not get it (exit code %d): %s",
			p.Event,
			p.ExitCode,
			strings.TrimSpace(p.Stderr),
		)
	case failed >= 0:
		w.say(
			"probe",
			Problem,
			"hookd log runs --session "+Session,
			"hook %s failed on %s: %s",
			p.Hooks[failed].Hook,
			p.Event,
			string(p.Hooks[failed].Result)+" "+p.Hooks[failed].Error,
		)
	case len(p.Hooks) == 0:
		w.say(
			"probe",
			Note,
			"hookd match "+p.Event+" --tool Bash",
			"%s reached hookd and came back after %.0f ms; no hook matches it",
			p.Event,
			p.TookMS,
		)
	default:
		w.say(
			"probe",
			OK,
			"",
			"%s came back after %.0f ms; hooks that match: %s",
			p.Event,
			p.TookMS,
			strings.Join(p.matching(), ", "),
		)
	}
	if row != nil && !row.Decidable {
		w.say("probe", Note, "hookd events "+p.Event, "no agent waits for the answer to %s: hooks only watch", p.Event)
	}
}
