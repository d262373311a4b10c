package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"testing"
)

func TestReadAbout(t *testing.T) {
	self := os.Getpid()
	want, err := os.ReadFile("/proc/" + strconv.Itoa(self) + "/cmdline")
	if err != nil || len(want) < 2 {
		t.Fatalf("cmdline: %q, %v", want, err)
	}
	for _, size := range []int{1, len(want) - 1, len(want), len(want) + 1, 4096} {
		got, err := readAbout(self, "cmdline", make([]byte, size))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("with room for %d bytes: %q, %v, want %q", size, got, err, want)
		}
	}
	if got, err := readAbout(1<<30, "cgroup", make([]byte, 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no process: %q, %v", got, err)
	}
}
