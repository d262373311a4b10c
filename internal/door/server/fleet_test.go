package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

func (d *daemon) Fleet(context.Context) (wire.Fleet, *wire.Error) {
	return wire.Fleet{Machine: "m1", Machines: []wire.FleetMachine{{Machine: "m2"}}}, nil
}

func (d *daemon) FleetDecisions(_ context.Context, q wire.FleetQuery) (wire.FleetDecisions, *wire.Error) {
	return wire.FleetDecisions{Decisions: []wire.FleetDecision{{Machine: q.Machine}}, Through: q.After}, nil
}

func (d *daemon) FleetSessions(_ context.Context, q wire.SessionQuery) (wire.FleetSessions, *wire.Error) {
	return wire.FleetSessions{Sessions: []wire.FleetSession{{Machine: q.Agent}}}, nil
}

func (d *daemon) FleetAsks(context.Context) (wire.FleetAsks, *wire.Error) {
	return wire.FleetAsks{Asks: []wire.FleetAsk{{Machine: "m2", About: "digest"}}}, nil
}

func (d *daemon) FleetDeadLetters(_ context.Context, hook string, limit int) (wire.DeadLetters, *wire.Error) {
	return wire.DeadLetters{Dead: []wire.DeadLetter{{ID: int64(limit), Hook: hook}}}, nil
}

func (d *daemon) FleetDeadLetter(_ context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return wire.DeadLetter{ID: id, Reason: "one"}, nil
}

func (d *daemon) RetryFleetDead(_ context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return wire.DeadLetter{ID: id, Reason: "retried"}, nil
}

func (d *daemon) DropFleetDead(_ context.Context, id int64) (wire.DeadLetter, *wire.Error) {
	return wire.DeadLetter{ID: id, Reason: "dropped"}, nil
}

func (d *daemon) PassAnswer(_ context.Context, a wire.FleetAnswer) *wire.Error {
	if string(a.Signature) != "signed" {
		return &wire.Error{Code: wire.CodeForbidden, Message: "no approver has signed it"}
	}
	d.passed.Store(&a)
	return nil
}

func TestFleetRoutes(t *testing.T) {
	f := start(t, nil)
	for path, want := range map[string]string{
		wire.PathFleet: `"machine":"m2"`,
		wire.PathFleetDecisions + "?machine=m3&through=9": `{"machine":"m3"`,
		wire.PathFleetSessions + "?agent=codex":           `{"machine":"codex"`,
		wire.PathFleetAsks:                                `"about":"digest"`,
	} {
		resp, body := f.do("GET", path, "")
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s: %d %s, want %s", path, resp.StatusCode, body, want)
		}
	}
}

func TestAnswerOfAnApproverIsPassedOn(t *testing.T) {
	f := start(t, nil)
	signed := wire.FleetAnswer{Text: []byte(`{"machine":"m2"}`), Signature: []byte("signed")}
	text, err := json.Marshal(signed)
	if err != nil {
		t.Fatal(err)
	}
	if resp, body := f.do("POST", wire.PathFleetAnswers, string(text)); resp.StatusCode != http.StatusOK {
		t.Errorf("answered %d %s", resp.StatusCode, body)
	}
	if got := f.passed.Load(); got == nil || !reflect.DeepEqual(*got, signed) {
		t.Errorf("passed on %+v, want %+v", got, signed)
	}
	for given, status := range map[string]int{
		`{"text":"e30=","signature":"eA=="}`: http.StatusForbidden,
		`{"text":1}`:                         http.StatusBadRequest,
		`[`:                                  http.StatusBadRequest,
	} {
		resp, body := f.do("POST", wire.PathFleetAnswers, given)
		if resp.StatusCode != status || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s, want %d", given, resp.StatusCode, body, status)
		}
	}
}

// FleetLink asks a word, and is given it.
func (d *daemon) FleetLink(_ context.Context, from Peer, link net.Conn) *wire.Error {
	if int64(from.PID) != d.linked.Load() {
		return &wire.Error{Code: wire.CodeForbidden, Message: "another process"}
	}
	defer link.Close()
	_, _ = link.Write([]byte("word?"))
	heard, _ := io.ReadAll(io.LimitReader(link, 4))
	d.heard <- string(heard)
	return nil
}

// A request is a connection on which hookd asks, or it is refused.
func TestFleetLink(t *testing.T) {
	f := start(t, nil)
	if resp, body := f.do("POST", wire.PathFleetLink, ""); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another process: %d %s", resp.StatusCode, body)
	}
	f.linked.Store(int64(os.Getpid()))
	out, in := io.Pipe()
	defer in.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://hookd"+wire.PathFleetLink, out)
	hooktest.Must(t, err)
	resp, err := f.web().Do(r)
	hooktest.Must(t, err)
	defer resp.Body.Close()
	asked := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, asked); err != nil || string(asked) != "word?" {
		t.Errorf("asked %q, %v", asked, err)
	}
	_, err = in.Write([]byte("that"))
	hooktest.Must(t, err)
	if heard := <-f.heard; heard != "that" { // the body may end before the handler does
		t.Errorf("heard %q", heard)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // it is cut off
}
