package proc

import "testing"

// A line of a run is written by hand as encoding/json would, and a line that is too
// long is not written.
func TestEntryLine(t *testing.T) {
	for name, e := range map[string]entry{
		"zero":   {},
		"run":    {PID: 12345, Start: span{1234567, 1234568}, Links: []string{"/memfd:hookd-1f (deleted)", "pipe:[1]", "pipe:[2]"}},
		"cgroup": {PID: 1, Start: span{1, 2}, Cgroup: "run-17"},
		"odd":    {PID: 1, Links: []string{`/tmp/a"b\ é`, "pipe:[1]"}},
	} {
		line := make([]byte, slotSize)
		if !e.format(line) {
			t.Errorf("%s: it does not fit", name)
		}
		if want := padded(e, slotSize); string(line) != string(want) {
			t.Errorf("%s\n got %s\nwant %s", name, line, want)
		}
	}
	long := entry{Links: []string{string(make([]byte, slotSize))}}
	if long.format(make([]byte, slotSize)) {
		t.Error("a line that is too long fits")
	}
}

// Runs of one context share the waker that wakes them, and it is gone with the last.
func TestWakersAreShared(t *testing.T) {
	var ws wakers
	ctx := t.Context()
	a, err := ws.acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ws.acquire(ctx)
	if err != nil || a != b {
		t.Errorf("the second run of a context has another waker (%v)", err)
	}
	ws.release(a)
	if len(ws.all) != 1 {
		t.Errorf("%d wakers while one is used, want 1", len(ws.all))
	}
	ws.release(b)
	if len(ws.all) != 0 {
		t.Errorf("%d wakers are left", len(ws.all))
	}
}
