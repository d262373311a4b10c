package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/doctor"
	"github.com/hookd/hookd/wire"
)

// The overview names faults of the daemon itself, and the command that says more.
func TestOverviewTroubles(t *testing.T) {
	sound := client.Storage{OK: true}
	full := client.Storage{Error: "no space left"}
	lost := client.Storage{OK: true, Losses: []client.Loss{{Lost: 5, Why: "segments [1] are missing"}}}
	settings := []client.Problem{
		{File: "/h/hookd.yaml", Message: "/h/hookd.yaml: line 1: no list"},
		{File: "/h/hookd.yaml", Message: "unused", Warning: true},
	}
	for _, c := range []struct {
		name, want string
		history    client.Storage
		problems   []client.Problem
	}{
		{"sound", "", sound, nil},
		{"full", "no history is kept, observers are refused: no space left", full, nil},
		{"lost", lossLine(lost.Losses), lost, nil},
		{"settings", "hookd.yaml: line 1: no list", sound, settings},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := overview{status: &client.DaemonInfo{}, Troubles: troubles(c.history, c.problems)}
			if got := slices.Concat(o.Troubles, []string{""})[0]; got != c.want || len(o.Troubles) > 1 {
				t.Errorf("troubles: %q, want %q", o.Troubles, c.want)
			}
			next := len(o.next()) > 0 && o.next()[0].Command == "hookd status"
			if next != (c.want != "") {
				t.Errorf("next: %+v", o.next())
			}
		})
	}
}

// A run that the end of hookd interrupted is no failure of its hook.
func TestOverviewInterrupted(t *testing.T) {
	var o overview
	for _, result := range []client.Result{client.ResultInterrupted, client.ResultTimeout} {
		o.look([]client.Hook{{Name: string(result), State: "active", LastRun: &client.Run{Result: result}}})
	}
	if len(o.Wrong) != 1 || o.Wrong[0].Hook != string(client.ResultTimeout) {
		t.Errorf("wrong: %+v", o.Wrong)
	}
}

// A long reason does not hide that calls are denied; one story is offered once.
func TestOverviewSaysWhatIsDenied(t *testing.T) {
	d := client.Decision{EventID: "01M8QPJVAN5K93KR79M8NZ4Q64"}
	o := overview{
		status: &client.DaemonInfo{}, Guards: 1, Disobeyed: []client.Decision{d}, Denied: []client.Decision{d},
		Wrong: []wrongHook{{Hook: "h", What: strings.Repeat("long ", 20), Denies: true}},
	}
	var b strings.Builder
	printOverview(&printer{w: &b, width: 80}, &o)
	if !strings.Contains(b.String(), "; calls denied\n") {
		t.Error(b.String())
	}
	if list := o.next(); len(list) != 2 || list[0].Command != "hookd why M8NZ4Q64" {
		t.Errorf("next: %+v", list)
	}
}

// Where the history has no denial, why says whether hooks have denied before.
func TestNoDenial(t *testing.T) {
	for want, stats := range map[string][]client.HookStats{
		"nothing was denied yet, as far as hookd knows":                            {{Hook: "a", RunStats: client.RunStats{Runs: 3}}},
		"no denial is in the history any more: it had 3 runs of hooks that denied": {{RunStats: client.RunStats{Denied: 1}}, {RunStats: client.RunStats{Denied: 2}}},
	} {
		if got := noDenial(stats).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A count that ended at its limit is no exact one.
func TestCountsAtTheirLimit(t *testing.T) {
	a := &client.Answered{By: client.ByTimeout, Refused: make([]wire.Refused, wire.MostRefused-1)}
	if got := answeredWords(a); !strings.Contains(got, "(7 answers did not count)") {
		t.Error(got)
	}
	a.Refused = append(a.Refused, wire.Refused{})
	if got := answeredWords(a); !strings.Contains(got, "(8 or more answers did not count)") {
		t.Error(got)
	}
	f := client.Forward{Waiting: wire.MostWaiting}
	if got := doctor.WaitingText(f); got != "10000 or more" {
		t.Error(got)
	}
}
