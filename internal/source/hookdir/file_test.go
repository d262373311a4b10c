package hookdir

import (
	"bytes"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 511, 512, 513, 5000} {
		want := bytes.Repeat([]byte("x"), size)
		path := filepath.Join(dir, "file")
		write(t, path, string(want), 0o600)
		got, more, err := readRegular(path, 512)
		if err != nil || got == nil || !bytes.Equal(got, want[:min(size, 512)]) || more != (size > 512) {
			t.Errorf("%d bytes: got %d, more %v, %v", size, len(got), more, err)
		}
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "not a regular file", dir: "not a regular file", dir + "/gone": "read: no such file or directory"} {
		if _, _, err := readRegular(path, 512); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	// What says that it is empty, and is not.
	if got, _, err := readRegular("/proc/self/stat", 512); err == nil && len(got) == 0 {
		t.Error("a file of /proc is empty")
	}
}
