package proc

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe or a device in the place of the record is none, and does not hold up
// the start of hookd.
func TestARecordThatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "runs")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		if o, list := readJournal(path); o.PID != 0 || list != nil {
			t.Errorf("%s: read %v %v", path, o, list)
		}
	}
	if r := newJournal(pipe, nil); r != nil {
		t.Error("a pipe became a record")
	}
}
