package events

import (
	"strings"
	"testing"
)

// Fields that name an event stay short in every record, two long names stay two, and
// the data is untouched.
func TestLongIdentities(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	parse := func(session string) Envelope {
		env, err := Parse([]byte(`{"event":"x","sender":"` + long + `","data":{"session_id":"` + session + `","cwd":"/short"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	a, b := parse(long+"1"), parse(long+"2")
	for name, got := range map[string]string{"session_id": a.SessionID, "sender": a.Sender} {
		if len(got) > 300 || !strings.HasPrefix(got, "aaaa") {
			t.Errorf("%s has %d bytes, want its beginning", name, len(got))
		}
	}
	if a.SessionID == b.SessionID {
		t.Error("two sessions became one")
	}
	if again := parse(long + "1"); again.SessionID != a.SessionID {
		t.Error("one session became two")
	}
	if a.Cwd != "/short" || len(a.Data) < 1<<20 {
		t.Errorf("cwd %q, data of %d bytes: want both as sent", a.Cwd, len(a.Data))
	}
	if len(a.Warnings) != 2 || !strings.Contains(a.Warnings[0], "`session_id` is 1048577 bytes") {
		t.Errorf("warnings %q, want one for each of the two", a.Warnings)
	}
	if env, err := Parse([]byte(`{"event":"x","session_id":"` + strings.Repeat("é", 1024) + `"}`)); err != nil || len(env.SessionID) != 2048 || len(env.Warnings) > 0 {
		t.Errorf("a session of 2 KiB: %d bytes, %q, %v; want it whole", len(env.SessionID), env.Warnings, err)
	}
}
