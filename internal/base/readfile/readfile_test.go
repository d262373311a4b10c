package readfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 511, 512, 513, 5000} {
		want := bytes.Repeat([]byte("x"), size)
		hooktest.Must(t, os.WriteFile(path, want, 0o600))
		got, err := Read(path, 512)
		if size > 512 {
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "larger than 512 bytes") {
				t.Errorf("%d bytes: %v", size, err)
			}
		} else if err != nil || got == nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		if head, err := Head(path, 512); err != nil || !bytes.Equal(head, want[:min(size, 512)]) {
			t.Errorf("head of %d bytes: got %d, %v", size, len(head), err)
		}
	}
	if got, err := Read("/proc/self/stat", 4096); err == nil && len(got) == 0 {
		t.Error("a file of /proc, which says that it is empty, is read as empty")
	}
}

// Whatever stands where a file should, reading returns at once: anything but a file is
// an error, and a large file is not read.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		make func(path string) error
		want error
	}{
		{"missing", func(string) error { return nil }, fs.ErrNotExist},
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }, ErrNotRegular},
		{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, ErrNotRegular},
		{"link to a pipe", func(path string) error { return os.Symlink(filepath.Join(dir, "pipe"), path) }, ErrNotRegular},
		{"zeros", func(path string) error { return os.Symlink("/dev/zero", path) }, ErrNotRegular},
		{"terminal", func(path string) error { return os.Symlink("/dev/tty", path) }, nil},
		{"socket", listen, ErrNotRegular},
		{"10 GB", func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 10<<30))
		}, ErrTooLarge},
		{"loop", func(path string) error { return os.Symlink(path, path) }, syscall.ELOOP},
	} {
		path := filepath.Join(dir, tt.name)
		hooktest.Must(t, tt.make(path))
		var named *fs.PathError
		data, err := Read(path, 1<<20)
		if err == nil || data != nil || tt.want != nil && !errors.Is(err, tt.want) || !errors.As(err, &named) || named.Path != path {
			t.Errorf("%s: got %d bytes, %v, want %v", tt.name, len(data), err, tt.want)
		}
		if _, err := Head(path, 8); err == nil && tt.want != ErrTooLarge {
			t.Errorf("%s has a head", tt.name)
		}
	}
}

func listen(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
}
