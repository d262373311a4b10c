package store

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// tmpfs mounts a small file system of its own.
func tmpfs(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a tmpfs needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDiskHealsByItself(t *testing.T) {
	for _, durable := range []Durability{DurableFsync, DurableOS} {
		t.Run(string(durable), func(t *testing.T) {
			o := options(t)
			dir := tmpfs(t, "24m")
			o.Path, o.Durable = filepath.Join(dir, "home", "hookd.db"), durable
			ballast := filepath.Join(dir, "ballast")
			breaks(t, o, ErrFull, func() {
				if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); err != nil {
					t.Fatal(err)
				}
			}, func() {
				if err := os.Remove(ballast); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestReadOnlyFileSystemHealsByItself(t *testing.T) {
	o := options(t)
	dir := tmpfs(t, "24m")
	o.Path = filepath.Join(dir, "hookd.db")
	closed(t, open(t, o))
	remount := func(flags uintptr) {
		if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=24m"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	s, in := watched(t, o)
	defer s.Close()
	if s.Health().Err == nil {
		t.Error("healthy on a read-only file system")
	}
	if got := in.kinds(); len(got) != 1 || got[0] != IncidentDown {
		t.Errorf("incidents %v, want down", got)
	}
	remount(0)
	eventually(t, "healed", healthy(s))
	accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "a")
}

func TestWriteErrorHealsByItself(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // the write fails with EFBIG instead
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(was)
	breaks(t, options(t), ErrIO, func() { limit(syscall.Rlimit{Cur: 2 << 20, Max: was.Max}) }, func() { limit(was) })
}
