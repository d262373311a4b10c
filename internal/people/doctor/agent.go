package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/proc"
)

// AgentOptions of LookAgent.
type AgentOptions struct {
	Options
	Connect connect.Options // whose settings; Agent is required
	Again   string          // the command that connects it
	Bridge  string          // hookd-bridge where nothing is registered; "" = there is none
	Commit  string          // of this program; "" = not compared
	Cwd     string          // where the probe's agent works; "" = the home
	NoProbe bool
}

// AgentReport is the result of LookAgent.
type AgentReport struct {
	Agent    string     `json:"agent"`
	Findings []Finding  `json:"findings"`
	Probe    *Probe     `json:"probe,omitempty"`  // nil = not made
	Calls    []CallKind `json:"calls,omitempty"`  // by kind; nil without a probe
	Ways     []Way      `json:"ways,omitempty"`   // in which the agent makes calls; nil without a daemon
	Cannot   []Lack     `json:"cannot,omitempty"` // what hooks cannot make the agent do
}

// Lack is an ability that the agent does not have.
type Lack struct {
	Ability string `json:"ability"`
	Else    string `json:"else"` // what happens to such an answer
}

// LookAgent examines the way of an event from the agent to its hooks and back.
func LookAgent(ctx context.Context, o AgentOptions) AgentReport {
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	w := &exam{
		visit:   visit{Options: o.Options},
		o:       o,
		dialect: events.Dialect(o.Connect.Agent),
		cwd:     cmp.Or(o.Cwd, o.Config.Home),
	}
	w.look(short, "settings", "its settings", (*exam).registered)
	w.look(short+w.Patience, "bridge", "its bridge", (*exam).program)
	w.daemon(ctx)
	if len(w.hung) == 0 {
		w.sameSocket()
	}
	w.seen(ctx)
	r := AgentReport{Agent: o.Connect.Agent}
	if !o.NoProbe {
		r.Probe = w.probe(ctx)
		r.Calls = w.calls(ctx, r.Probe)
	}
	r.Ways = w.waysOf(ctx)
	r.Findings = w.found
	for _, a := range dialect.Abilities(w.dialect) {
		if !a.Can {
			r.Cannot = append(r.Cannot, Lack{a.Name, a.Else})
		}
	}
	return r
}

// exam is one examination of an agent.
type exam struct {
	visit
	o       AgentOptions
	dialect events.Dialect

	settings connect.Status
	cwd      string
	bridge   string // the program that can be started; "" = none

	arrivals map[string]bool // ids of the probes that have arrived
	saidHTTP bool            // that the probes say nothing of the HTTP listener
}

// look is visit.look for a look at an agent.
func (w *exam) look(patience time.Duration, check, at string, f func(*exam)) {
	w.found = slices.Clip(w.found)
	if !w.hung[at] && !inTime(patience, w, f) {
		w.hangs(check, at)
	}
}

// registered checks the agent's own settings.
func (w *exam) registered() {
	s := connect.Inspect(w.o.Connect)
	w.settings = s
	switch s.State {
	case connect.Connected:
		w.say("settings", OK, "", "%s calls hookd for %d events", s.File, len(s.Events))
		if s.Note != "" {
			w.say("settings", Note, w.again(), "%s", s.Note)
		}
	case connect.Partly:
		what := s.Note
		if len(s.Missing) > 0 {
			what = strings.TrimSpace("not for " + names(slices.Clone(s.Missing)) + " " + s.Note)
		}
		w.say("settings", Problem, w.again(), "%s calls hookd, but %s", s.File, what)
	case connect.ByHand:
		w.say("settings", Note, byHand(s), "%s", s.Note)
	case connect.Unreadable:
		w.say("settings", Problem, w.o.Again+" --dry-run", "its settings cannot be read: %s", s.Note)
	default:
		w.say("settings", Problem, w.o.Again, "%s does not call hookd: no event of %s reaches a hook", s.File, s.Agent)
	}
	if s.Hurries {
		w.say("settings", Note, w.again(), "its deadline ends an ask before `asks.timeout`")
	}
	for _, n := range s.Notes {
		level := Problem
		if strings.Contains(n, "has hooks too") {
			level = Note
		}
		w.say("settings", level, w.o.Again+" --dry-run", "%s", n)
	}
	if s.State == connect.Connected || s.State == connect.Partly {
		w.changeable(s.File)
	}
}

// changeable reports when other users can remove hookd from the agent's settings.
func (w *exam) changeable(file string) {
	for _, r := range trust.New().Seal(trust.Files{Read: []string{file}}).Refusals() {
		w.say("settings", Note, r.Do, "others could take hookd out of them: %s %s", r.Path, r.Fact)
	}
}

// again returns the command that registers the bridge, and installs it first if it is
// missing.
func (w *exam) again() string {
	if w.o.Bridge == "" && w.bridged() {
		return "make install && " + w.o.Again
	}
	return w.o.Again
}

// bridged reports whether the agent calls the bridge; else it has a plugin.
func (w *exam) bridged() bool {
	a := dialect.Agent(w.dialect)
	return a != nil && a.Answer != nil
}

// byHand returns the command to type where nothing can be registered.
func byHand(s connect.Status) string {
	if _, do, ok := strings.Cut(s.Note, "name its file: "); ok {
		return do
	}
	return "hookd log events"
}

// program checks the bridge that is registered, or would be.
func (w *exam) program() {
	if !w.bridged() {
		return
	}
	path := cmp.Or(w.settings.Bridge, w.o.Bridge)
	if own := w.o.Bridge; own != "" && path != own && filepath.IsAbs(path) {
		w.say("bridge", Note, w.again(), "it calls %s, and this hookd's is %s", path, own)
	}
	if path == "" {
		w.say("bridge", Problem, "make install", "there is no hookd-bridge beside hookd or in PATH")
		return
	}
	if !filepath.IsAbs(path) {
		found := w.elsewhere(path)
		if found == "" {
			w.say(
				"bridge",
				Problem,
				w.o.Again,
				"%s is not in this shell's PATH; the agent has the PATH of where it was started",
				path,
			)
			return
		}
		w.say(
			"bridge",
			Note,
			w.o.Again,
			"%s is found through PATH: an agent that was started elsewhere may not find it",
			path,
		)
		path = found
	}
	if err := proc.Check(proc.Spec{Path: path, Env: []string{"PATH=" + w.UserPath}}); err != nil {
		found, do := advice(err)
		w.say("bridge", Problem, cmp.Or(w.connectIf(!exists(path)), do), "%s", found)
		return
	}
	w.bridge = path
	var refusal *trust.Refusal
	if err := trust.New().Check(path); errors.As(err, &refusal) {
		w.say("bridge", Problem, refusal.Do, "others could replace hookd-bridge: %s %s", refusal.Path, refusal.Fact)
	}
	w.version()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (w *exam) connectIf(moved bool) string {
	if moved {
		return w.again()
	}
	return ""
}

// version compares the bridge with this program: an old one knows only old versions of
// its agent.
func (w *exam) version() {
	if filepath.Base(w.bridge) == "hookd" {
		w.say("bridge", OK, "", "%s", w.bridge)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.bridge, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	words := strings.Fields(string(out))
	switch {
	case err != nil || len(words) < 1 || words[0] != "hookd-bridge":
		w.say(
			"bridge",
			Note,
			"make install",
			"%s does not print its version: it is older than hookd, or something else",
			w.bridge,
		)
	case len(words) < 2:
		w.say("bridge", OK, "", "%s, built without a version", w.bridge)
	case w.Version != "" && words[1] != w.Version || len(words) > 2 && w.o.Commit != "" && words[2] != w.o.Commit:
		w.say(
			"bridge",
			Note,
			"make install",
			"%s is version %s, hookd is %s: install both from one build",
			w.bridge,
			strings.Join(words[1:], " "),
			strings.TrimSpace(w.Version+" "+w.o.Commit),
		)
	default:
		w.say("bridge", OK, "", "%s, version %s", w.bridge, words[1])
	}
}

// sameSocket checks that the bridge, which does not read hookd.yaml, dials the socket
// on which the daemon listens.
func (w *exam) sameSocket() {
	dials, want := cmp.Or(w.settings.Socket, client.DefaultSocket()), w.Client.Socket()
	if dials != want {
		w.say("socket", Problem, w.o.Again, "the bridge dials %s, the daemon is at %s", dials, want)
	}
}

// seen reports when the agent itself last sent an event: that it is connected does not
// prove that it calls hookd.
func (w *exam) seen(ctx context.Context) {
	if w.status == nil {
		return
	}
	ctx, cancel := w.ask(ctx)
	defer cancel()
	e, err := w.Client.Last(ctx, string(w.dialect), Session)
	var refused *client.Error
	switch {
	case err == nil:
		w.say(
			"events",
			OK,
			"",
			"its last event came at %s: %s (%s)",
			e.Time.Local().Format("2006-01-02 15:04:05"),
			e.Event,
			e.EventID,
		)
	case errors.As(err, &refused) && refused.Code == client.CodeNotFound:
		w.say(
			"events",
			Note,
			"hookd log events",
			"no event of %s has ever arrived, as far back as the history goes: restart it, let it call a tool, and look again",
			w.dialect,
		)
	default:
		w.say("events", Note, "hookd log runs", "it is not known whether an event of %s has arrived: %v", w.dialect, err)
	}
}

// names of the hooks that match, and their results.
func (h Hooked) String() string {
	switch {
	case h.Result == "":
		return h.Hook + " (observes)"
	case h.Error != "":
		return fmt.Sprintf("%s (%s: %s)", h.Hook, h.Result, h.Error)
	}
	return fmt.Sprintf("%s (%s, %.1f ms)", h.Hook, h.Result, h.DurationMS)
}
