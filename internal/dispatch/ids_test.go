package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// memory keeps ids as a disk would.
type memory struct {
	tape
	sent    []events.SentEvent
	answers map[uint64][]byte
	forgot  []uint64
	list    func() []events.SentEvent
}

func (m *memory) Accept(e *events.Event, p Prepared, hooks []string, stored func(bool, *wire.Error)) *wire.Error {
	err := m.tape.Accept(e, p, hooks, stored)
	if e.Sent != nil {
		m.sent = append(m.sent, events.SentEvent{
			Sender: e.Sender, ID: e.ID, Sent: *e.Sent, Time: e.Time, EventID: e.EventID, Seq: e.Seq, Wait: e.Wait, Decided: e.Wait && e.Contract.Decidable,
		})
	}
	return err
}

func (m *memory) Sent(since time.Time, each func(events.SentEvent)) error {
	for _, e := range m.sent {
		if !e.Time.Before(since) && !slices.Contains(m.forgot, e.Seq) {
			e.Answer = m.answers[e.Seq]
			each(e)
		}
	}
	return nil
}

func (m *memory) Answered(seq uint64, _ int, answer func() ([]byte, error)) {
	text, err := answer()
	if err != nil {
		panic(err)
	}
	m.answers[seq] = text
}

func (m *memory) ForgetAnswer(seq uint64) { delete(m.answers, seq) }
func (m *memory) ForgetSent(seq uint64)   { m.forgot = append(m.forgot, seq) }

func (m *memory) Keep(list func() []events.SentEvent) { m.list = list }

// lose forgets all, as a disk that is another one, and writes the listed events again.
func (m *memory) lose() {
	m.sent, m.answers = m.list(), map[uint64][]byte{}
	for _, e := range m.sent {
		m.answers[e.Seq] = e.Answer
	}
}

// A database with the ids written again knows the same events and answers. It does so
// for this process and for the next one, which writes them again itself.
func TestIDsAreWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memory{answers: map[uint64][]byte{}}
		hooks := []*hook.Hook{matchtest.Hook("guard", "pre_tool_use"), matchtest.Hook("note", "x")}
		decided := `{"event":"pre_tool_use","id":"1","sender":"s","data":{"tool_name":"shell"},"wait":true}`
		noted := `{"event":"x","id":"2","sender":"s","data":{}}`
		b := newBench(t, Options{Recorder: disk, IDs: disk}, hooks, map[string]behaviour{"guard": {exit: 2}})
		first, second := b.emit(t, decided), b.emit(t, noted)
		for range 2 {
			disk.lose()
			b = newBench(t, Options{Recorder: disk, IDs: disk}, hooks, nil)
			b.Resume(disk.seq+1, time.Hour)
			synctest.Wait() // until the ids are known
		}
		if r := b.emit(t, decided); !r.Duplicate || r.EventID != first.EventID || r.Verdict == nil || r.Verdict.Allowed {
			t.Errorf("what was decided: got %+v", r)
		}
		if r := b.emit(t, noted); !r.Duplicate || r.EventID != second.EventID {
			t.Errorf("what was observed: got %+v", r)
		}
		if len(b.fake.ran) > 0 {
			t.Errorf("ran again: %q", b.fake.ran)
		}
	})
}

// An event whose answer did not get to the disk is not decided again, and one
// whose runs are under way again is not sent again.
func TestIDsAreKnownInTheNextLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memory{answers: map[uint64][]byte{}}
		hooks := []*hook.Hook{matchtest.Hook("guard", "pre_tool_use"), matchtest.Hook("note", "x")}
		behaves := map[string]behaviour{"guard": {exit: 2}}
		decided := func(id string) string {
			return `{"event":"pre_tool_use","id":"` + id + `","sender":"s","data":{"tool_name":"shell"},"wait":true}`
		}
		awaited := `{"event":"x","id":"awaited","sender":"s","data":{},"wait":true}`
		b := newBench(t, Options{Recorder: disk, IDs: disk}, hooks, behaves)
		first := b.emit(t, decided("answered"))
		lost := b.emit(t, decided("lost"))
		waited := b.emit(t, awaited)
		delete(disk.answers, lost.Seq)
		delete(disk.answers, waited.Seq)

		next := newBench(t, Options{Recorder: disk, IDs: disk}, hooks, behaves)
		next.Resume(disk.seq+1, time.Hour)
		if r := next.emit(t, decided("answered")); !r.Duplicate || r.EventID != first.EventID || r.Verdict == nil || r.Verdict.Allowed || len(r.Runs) != 1 {
			t.Errorf("the answer that was kept: got %+v", r)
		}
		var gone *wire.Error
		if r, err := next.try(t, Origin{}, decided("lost")); !errors.As(err, &gone) || gone.Code != wire.CodeAnswerGone {
			t.Errorf("the answer that was not kept: got %+v, %v", r, err)
		}
		if r := next.emit(t, awaited); !r.Duplicate || r.EventID != waited.EventID || r.Verdict == nil || !r.Verdict.Allowed {
			t.Errorf("the event of observers: got %+v", r)
		}
		if len(next.fake.ran) > 0 {
			t.Errorf("ran again: %q", next.fake.ran)
		}
		pass(dedupWindow + time.Second)
		if r := next.emit(t, decided("answered")); r.Duplicate {
			t.Errorf("after ten minutes: got %+v", r)
		}
	})
}

// Ids that a flood pushes out are forgotten on disk, too, so that the disk's share is bounded.
func TestWhatIsPushedOutIsForgottenOnDisk(t *testing.T) {
	disk := &memory{answers: map[uint64][]byte{}}
	d, now := newDedup(disk), time.Now()
	for i := range dedupMax + 10 {
		e, _, err := d.enter(&events.Envelope{Sender: "flood", ID: fmt.Sprint(i), Event: "x"}, now)
		if err != nil {
			t.Fatal(err)
		}
		d.answerDuplicates(e, Receipt{Seq: uint64(i)}, true)
	}
	if len(disk.forgot) != 10 || disk.forgot[0] != 0 {
		t.Errorf("forgotten: %v, want the first 10", disk.forgot)
	}
}
