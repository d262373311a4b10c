package runner

import "testing"

func TestPathIsCleaned(t *testing.T) {
	if got := variable(inherited(map[string]string{"PATH": ":/bin::x:/usr/bin:"}, ""), "PATH"); got != "/bin:/usr/bin" {
		t.Errorf("hooks inherit PATH=%s", got)
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
