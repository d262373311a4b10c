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
	env, left := inherited(map[string]string{"PATH": ":/bin::x:" + open + ":/usr/bin:"}, "", false)
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

// With reload.mode ask a hook does not inherit a variable that makes its interpreter load
// code; one of the settings, which were allowed, counts.
func TestCodeOfTheEnvironment(t *testing.T) {
	for _, name := range []string{"BASH_ENV", "LD_PRELOAD", "PYTHONPATH", "NODE_OPTIONS", "PERL5OPT", "BASH_FUNC_ls%%"} {
		t.Setenv(name, "/tmp/code")
	}
	t.Setenv("LANG", "C")
	given := map[string]string{"NODE_OPTIONS": "--max-old-space-size=100"}
	env, _ := inherited(given, "", true)
	for name, want := range map[string]string{
		"BASH_ENV": "", "LD_PRELOAD": "", "PYTHONPATH": "", "PERL5OPT": "", "BASH_FUNC_ls%%": "",
		"NODE_OPTIONS": given["NODE_OPTIONS"], "LANG": "C",
	} {
		if got := variable(env, name); got != want {
			t.Errorf("hooks inherit %s=%s, want %q", name, got, want)
		}
	}
	if env, _ = inherited(nil, "", false); variable(env, "BASH_ENV") != "/tmp/code" {
		t.Error("BASH_ENV is gone, though hooks do not wait to be allowed")
	}
}
