package bridge

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// A thing in the folder of the state that is no small file of the bridge's own
// holds no call up and is no value.
func TestStateThatIsNoFile(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"a pipe":       func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"a large file": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", maxKept+1)), 0o600) },
	} {
		s := newState(t.TempDir())
		if err := place(s.path("key")); err != nil {
			t.Fatal(err)
		}
		if got := s.take("key"); got != "" {
			t.Errorf("%s: took %.20q", name, got)
		}
		if err := place(s.path("key") + ".value"); err != nil {
			t.Fatal(err)
		}
		if s.put("key", "value"); s.take("key") != "value" {
			t.Errorf("%s: what was put is not there", name)
		}
		if !s.first("other") || s.first("other") {
			t.Errorf("%s: other is first once", name)
		}
	}
}
