//go:build agents

package bridge

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// playAll plays each scenario and returns the agent's row of the table.
func (s *stage) playAll(t *testing.T) []string {
	t.Helper()
	asked := s.work1(t)
	plays := map[string]func(*testing.T){
		"deny":      func(t *testing.T) { s.checkDenied(t, asked) },
		"rewrite":   s.checkRewritten,
		"context":   func(t *testing.T) { s.checkShown(t, "context", asked[0], theContext) },
		"result":    func(t *testing.T) { s.checkResult(t, asked[len(asked)-1]) },
		"agent:end": s.checkEnd,
		"together":  func(t *testing.T) { s.together(t, "together") },
		"decoys":    func(t *testing.T) { s.together(t, "decoys") },
		"subagent":  s.subagent,
		"killed":    s.killed,
		"restarted": s.restarted,
		"once":      s.once,
		"guarded":   s.guarded,
	}
	row := []string{s.name, s.says(t)}
	for _, name := range scenarios {
		cell := "yes"
		if s.cannot[name] != "" {
			cell = s.cannot[name]
		}
		if !t.Run(name, plays[name]) {
			cell = "FAILED"
		}
		row = append(row, cell)
	}
	return row
}

// guarded wants hookd to have been asked about each call of all that was played, and obeyed.
func (s *stage) guarded(t *testing.T) {
	list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Decision: "not asked,disobeyed", Parts: true, Limit: 500})
	hooktest.Must(t, err)
	for _, d := range list {
		t.Errorf("%s: %s of %s, call %q: %s (%s)", d.Outcome, d.Event, d.Subject, d.CallID, d.Reason, d.Tool)
	}
	all, err := s.client().Decisions(t.Context(), client.DecisionQuery{Event: "tool.before", Limit: 500})
	hooktest.Must(t, err)
	rewritten, ran := map[string]string{}, 0
	for _, d := range all {
		if d.Guarded != client.GuardedAsked {
			t.Errorf("%s is on record as %q", d.Subject, d.Guarded)
		}
		if d.Ran != nil {
			ran++
		}
		if d.NewSubject != "" {
			rewritten[d.CallID] = d.NewSubject
		}
	}
	after, err := s.client().Accepted(t.Context(), client.EventQuery{Limit: 500})
	hooktest.Must(t, err)
	for _, e := range after {
		if want := rewritten[e.CallID]; want != "" && e.Kind == "tool.after" {
			t.Logf("the event after a rewritten call has %q; hooks gave it %q", e.Subject, want)
		}
	}
	status, err := s.client().Status(t.Context())
	hooktest.Must(t, err)
	for _, u := range status.Unguarded {
		if u.NotAsked+u.Disobeyed > 0 || u.Executed != nil && u.Executed.Commands > 0 {
			t.Errorf("%s: %d not asked, %d disobeyed, programs %+v", u.Agent, u.NotAsked, u.Disobeyed, u.Executed)
		} else if u.Executed != nil {
			t.Logf("programs: %d within calls, %d later, %d outside, none of these a model's command",
				u.Executed.Asked, u.Executed.Later, u.Executed.Unasked)
		}
	}
	t.Logf("%d calls were asked about, %d have a result", len(all), ran)
}

// says returns the version that the agent's program says it has.
func (s *stage) says(t *testing.T) string {
	t.Helper()
	r := s.begin(t, []string{"--version"})
	r.end(t)
	return regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(r.out.String())
}

// work1 lets the agent do the commands, and returns the requests to the model. Where a
// denial ends its run, each command has a run.
func (s *stage) work1(t *testing.T) (asked []string) {
	t.Helper()
	if !s.ends {
		s.play(t, script{commands: commands})
		if asked = s.model.asked(); len(asked) <= len(commands) {
			t.Fatalf("the model was asked %d times, want more than %d", len(asked), len(commands))
		}
		return asked[:len(commands)+1]
	}
	for i := range commands {
		s.play(t, script{commands: commands[i : i+1]})
		asked = append(asked, s.model.asked()...)
	}
	return asked
}

// checkDenied wants the denied command not run, and the model told why.
func (s *stage) checkDenied(t *testing.T, asked []string) {
	if !s.has("victim/kept") {
		t.Error("the denied command ran")
	}
	for _, request := range asked[1:] {
		if strings.Contains(request, theReason) {
			if s.cannot["deny"] != "" {
				t.Error("the model was told why its call was denied")
			}
			return
		}
	}
	if s.cannot["deny"] == "" {
		t.Errorf("the model was not told why its call was denied:\n%.6000s", asked[1])
	}
}

// checkRewritten wants the command run with another input; where the agent takes none
// without an approval, it is not given one.
func (s *stage) checkRewritten(t *testing.T) {
	if cannot := s.cannot["rewrite"] != ""; s.has("made/deep") == cannot {
		t.Errorf("rewritten: %t, and the table says %q", !cannot, s.cannot["rewrite"])
	}
}

// checkShown wants text in a request to the model, unless the agent cannot do that.
func (s *stage) checkShown(t *testing.T, scenario, request, text string) {
	if cannot := s.cannot[scenario] != ""; strings.Contains(request, text) == cannot {
		t.Errorf("the model was shown %q: %t, and the table says %q:\n%.6000s", text, !cannot, s.cannot[scenario], request)
	}
}

// checkResult wants the secret redacted in the request that the model gets.
func (s *stage) checkResult(t *testing.T, request string) {
	s.checkShown(t, "result", request, theRedacted)
	if leaks := strings.Contains(request, theSecret); leaks != (s.cannot["result"] != "") {
		t.Errorf("the model was shown the secret: %t", leaks)
	}
}

// checkEnd looks at the event that hooks on LibreFang's agent:end got.
func (s *stage) checkEnd(t *testing.T) {
	name, data := collected(t, s.ended)
	session, _ := data["session_id"].(string)
	if name != "agent:end" || session == "" || !s.ownID && data["agent_id"] != neutral.AgentUUID(s.dialect, session) || data["status"] != "ok" {
		t.Errorf("%s got %v", name, data)
	}
	late := time.After(time.Minute)
	for { // where a denial ends a run, there were more of them
		select {
		case text := <-s.notified:
			if strings.Contains(text, fmt.Sprint(data["agent_id"])) && strings.Contains(text, "finished with status *ok*") {
				return
			}
			t.Logf("the documented script posted %s", text)
		case <-late:
			t.Fatalf("the documented agent:end script has not posted of agent %v", data["agent_id"])
		}
	}
}

// together lets the agent make two calls of one answer: the call that a guard denies is not
// run, the other call is. As decoys they have arguments that only look like the tool's.
func (s *stage) together(t *testing.T, scenario string) {
	beside := "beside-" + scenario
	s.play(t, script{commands: []string{"rm -rf victim", "touch " + beside}, together: true, decoys: scenario == "decoys"})
	if !s.has("victim/kept") {
		t.Error("the denied command ran")
	}
	switch cannot := s.cannot[scenario] != ""; {
	case s.ends: // a denial ends the run, whatever stands beside it
	case s.has(beside) == cannot:
		t.Errorf("the call beside the denied one ran: %t", !cannot)
	}
}

// subagent lets a subagent make the calls: its guard is the same.
func (s *stage) subagent(t *testing.T) {
	if s.delegate == nil {
		for _, other := range reals {
			if d := other.delegate; d != nil && strings.Contains(s.model.asked()[0], `"name":"`+d.tool+`"`) {
				t.Errorf("it has a tool %s", d.tool)
			}
		}
		return
	}
	s.play(t, script{commands: []string{"touch by-subagent", "rm -rf victim"}, delegate: s.delegate})
	inside := s.model.askedInside()
	if s.cannot["subagent"] != "" {
		if len(inside) > 0 {
			t.Error("a subagent asked the model")
		}
		return
	}
	if len(inside) == 0 {
		last := s.model.asked()[len(s.model.asked())-1]
		t.Fatalf("no subagent asked the model; the agent's last request has\n%.3000s", last[max(0, strings.Index(last, theTask)):])
	}
	if !s.has("by-subagent") {
		t.Error("the subagent's allowed command was not run")
	}
	if !s.has("victim/kept") {
		t.Error("the subagent's denied command ran")
	}
	if last := inside[len(inside)-1]; s.cannot["deny"] == "" && !strings.Contains(last, theReason) {
		t.Errorf("the subagent was not told why its call was denied:\n%.6000s", last)
	}
	runs, err := s.client().Runs(t.Context(), client.RunQuery{Hook: "guard", Text: "rm -rf victim"})
	hooktest.Must(t, err)
	t.Logf("the guard has denied %d calls, the last of agent %q", len(runs), runs[0].AgentID)
}

// killed ends the agent while a guard holds its call. The guard's run is finished and
// recorded, the call does not run, and the agent's next run is guarded as before.
func (s *stage) killed(t *testing.T) {
	s.model.play(script{commands: []string{"touch held-4711"}})
	r := s.begin(t, s.args)
	r.until(t, "a guard holds the call", func() bool { return s.has("holds") })
	r.kill(t)
	hooktest.Write(t, s.work+"/released", "", 0o600)
	hooktest.Until(t, "the guard's run is recorded", func() bool {
		runs, err := s.client().Runs(t.Context(), client.RunQuery{Hook: "hold", Result: client.ResultDeny})
		return err == nil && len(runs) > 0
	})
	if s.has("held-4711") {
		t.Error("the held command ran")
	}
	s.play(t, script{commands: []string{"touch after-kill", "rm -rf victim"}})
	if !s.has("after-kill") || !s.has("victim/kept") {
		t.Errorf("after the kill: allowed command run %t, denied one not run %t", s.has("after-kill"), s.has("victim/kept"))
	}
}

// restarted ends the daemon and starts it again between two calls of one run.
func (s *stage) restarted(t *testing.T) {
	p := newPause()
	s.model.play(script{commands: []string{"touch before-restart", "touch after-restart", "rm -rf victim"}, pause: p})
	resume := sync.OnceFunc(func() { close(p.resume) })
	defer resume()
	r := s.begin(t, s.args)
	r.until(t, "the model has the first result", func() bool {
		select {
		case <-p.reached:
			return true
		default:
			return false
		}
	})
	s.restart()
	resume()
	r.end(t)
	for _, name := range []string{"before-restart", "after-restart"} {
		if !s.has(name) {
			t.Errorf("the command that makes %s was not run", name)
		}
	}
	if !s.has("victim/kept") {
		t.Error("the denied command ran")
	}
	asked := s.model.asked()
	if last := asked[len(asked)-1]; s.cannot["deny"] == "" && !strings.Contains(last, theReason) {
		t.Errorf("the model was not told why its call was denied:\n%.6000s", last)
	}
}

// once connects all agents in one home, and Claude Code in the project: no call comes twice,
// whatever one agent reads of the others' settings.
func (s *stage) once(t *testing.T) {
	for _, o := range []connect.Options{{Agent: "claude-code", Project: s.work}, {}} {
		for _, name := range connect.Names() {
			if o.Agent != "" && name != o.Agent || name == string(s.dialect) {
				continue
			}
			each := o
			each.Agent, each.Home, each.Bridge, each.Socket = name, s.home, s.bridge, s.socket
			each.Getenv = func(string) string { return "" }
			plan, err := connect.Connect(each)
			if manual := (*connect.ManualError)(nil); errors.As(err, &manual) || name == string(events.DockerAgent) || name == string(events.Kiro) {
				continue // its file has no place of its own
			}
			hooktest.Must(t, err)
			hooktest.Must(t, plan.Apply())
		}
	}
	s.play(t, script{commands: []string{"touch once-4711"}})
	runs, err := s.client().Runs(t.Context(), client.RunQuery{Hook: "guard", Text: "once-4711"})
	hooktest.Must(t, err)
	if len(runs) != 1 || !s.has("once-4711") {
		t.Errorf("the guard ran %d times for one call, which was made: %t", len(runs), s.has("once-4711"))
	}
}
