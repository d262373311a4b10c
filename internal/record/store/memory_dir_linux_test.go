package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Decisions are in the user's own folder in memory. A folder that a predecessor with another
// environment has left is found, and a folder of another user is named.
func TestMemoryDir(t *testing.T) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(sharedMemory, &st); err != nil || st.Type != tmpfs {
		t.Skip("SKIP-TOOL /dev/shm: no file system in memory")
	}
	own, err := os.MkdirTemp(sharedMemory, "hookd-test-*") // 0700, as that of a session is
	hooktest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(own) })
	path := filepath.Join(t.TempDir(), "hookd.db")
	hooktest.Write(t, path, "", 0o600)
	in := func(runtime string) string {
		t.Helper()
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		dir, err := MemoryDir(path)
		hooktest.Must(t, err)
		return dir
	}
	shared, first := in(""), in(own)
	if filepath.Dir(first) != filepath.Join(own, "hookd") || !strings.HasPrefix(shared, sharedMemory+"/hookd-") {
		t.Fatalf("got %s, and %s without a folder of the session", first, shared)
	}
	for _, loose := range []string{t.TempDir(), "relative", filepath.Join(own, "missing")} { // a disk, say
		if got := in(loose); got != shared {
			t.Errorf("%s: %s", loose, got)
		}
	}
	hooktest.Must(t, os.Mkdir(shared, 0o700)) // a killed daemon without a session
	t.Cleanup(func() { os.RemoveAll(shared) })
	hooktest.Must(t, os.Symlink(path, filepath.Join(shared, databaseLink)))
	if got := in(own); got != shared {
		t.Errorf("what a predecessor has left is in %s, got %s", shared, got)
	}

	theirs := filepath.Join(own, "theirs")
	hooktest.Must(t, os.Mkdir(theirs, 0o755))
	if err := makeOwn(theirs); err == nil || !strings.Contains(err.Error(), theirs+" is in the way") {
		t.Errorf("a folder that others can read: %v", err)
	}
	if os.Getuid() == 0 {
		hooktest.Must(t, os.Chmod(theirs, 0o700))
		hooktest.Must(t, os.Chown(theirs, hooktest.OtherUser, -1))
		if err := makeOwn(theirs); err == nil || !strings.Contains(err.Error(), "owned by user 65534") {
			t.Errorf("a folder of another user: %v", err)
		}
	}
}
