package runner

import (
	"os"
	"testing"
)

func TestPathIsCleaned(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	env, left := inherited(map[string]string{"PATH": ":/bin::x:" + open + ":/usr/bin:"}, "")
	if got := variable(env, "PATH"); got != "/bin:/usr/bin" {
		t.Errorf("hooks inherit PATH=%s", got)
	}
	if len(left) != 1 || left[0].Path != open {
		t.Errorf("left out: %v", left)
	}
}

func TestUnaddressed(t *testing.T) {
	for _, c := range []struct{ whole, want string }{
		{``, ``},
		{`{"event_id":"E"}`, `{}`},
		{`{"event_id":"E","a":1}`, `{"a":1}`},
		{`{"event_id":"other","a":"E"}`, `{"event_id":"other","a":"E"}`},
		{`{"event_id":"E","hook_event_name":"x"}`, `{"event_id":"E","hook_event_name":"x"}`},
		{`text E`, `text E`},
		{`{"event_id":"E"`, `{"event_id":"E"`},
	} {
		if got := string(withoutEventID([]byte(c.whole), "E")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.whole, got, c.want)
		}
	}
}
