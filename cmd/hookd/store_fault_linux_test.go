package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestFullDiskRefusesObserversAndHeals(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	disk := hooktest.Disk(t, "16m")
	settings := "HOOKD_STORE_PATH=" + filepath.Join(disk, "hookd.db")
	h.serve(settings)
	if r := h.send(100); r.status != 202 {
		t.Fatalf("got %d %s", r.status, r.body)
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk has room left: %v", err)
	}
	h.refuses("no space left")
	if r := h.send(20_000); r.status != 507 {
		t.Errorf("the next one got %d %s", r.status, r.body)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	h.heals(settings)
	t.Logf("accepted %d of %d, all ran", len(h.acked), h.sent)
}

// spoil makes system calls of the daemon fail with EIO until mend is called.
func spoil(t *testing.T, pid int, calls string) (mend func()) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("SKIP-TOOL strace: not installed")
	}
	cmd := exec.Command(strace, "-f", "-o", "/dev/null", "-e", "trace="+calls, "-e", "inject="+calls+":error=EIO", "-p", strconv.Itoa(pid))
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	attached := false
	lines := bufio.NewScanner(says)
	var last string
	for !attached && lines.Scan() {
		last = lines.Text()
		attached = strings.Contains(last, " attached")
	}
	if !attached {
		cmd.Wait()
		t.Skipf("SKIP-TOOL strace: it may not look at other processes here: %s", last)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() { // so that it never waits for a reader
		}
		cmd.Wait()
	}()
	ended := false
	mend = func() {
		if ended {
			return
		}
		ended = true
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) { // it detaches
			t.Error(err)
		}
		<-done
	}
	t.Cleanup(mend)
	return mend
}

func TestBrokenDiskRefusesObserversAndHeals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, calls string }{
		{"fsync", "fsync,fdatasync"},
		{"write", "pwrite64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			h.serve()
			if r := h.send(100); r.status != 202 {
				t.Fatalf("got %d %s", r.status, r.body)
			}
			mend := spoil(t, h.daemon.cmd.Process.Pid, tt.calls)
			h.refuses("the disk does not take or give what it should")
			mend()
			h.heals()
			t.Logf("accepted %d of %d, all ran", len(h.acked), h.sent)
		})
	}
}

func TestReadOnlyDirectoryIsNoReasonNotToStart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	disk := hooktest.Disk(t, "16m")
	remount := func(flags uintptr) {
		if err := syscall.Mount("none", disk, "tmpfs", syscall.MS_REMOUNT|flags, "size=16m"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	settings := "HOOKD_STORE_PATH=" + filepath.Join(disk, "store", "hookd.db")
	h.serve(settings)
	h.refuses("the database cannot be written")
	for _, of := range []string{"history", "decisions"} {
		if out, code := h.hookd(of); code != 1 || !strings.Contains(out, "guard") || !strings.Contains(out, "cannot be read now") {
			t.Errorf("%s says %q and exits %d; want what is in memory, and that it is no more", of, out, code)
		}
	}
	remount(0)
	h.heals(settings)
}

// refuses sends events until one is refused because the disk fails, and checks
// all that is said then.
func (h *home) refuses(want ...string) {
	h.Helper()
	var r reply
	hooktest.Until(h.T, "an event is refused", func() bool { r = h.send(20_000); return r.status != 202 })
	if r.status != 507 || r.Error.Code != "storage" || r.retryAfter == "" || r.Error.Hint == "" {
		h.Errorf("refused with %d, Retry-After %q, %s; want 507, storage and a hint", r.status, r.retryAfter, r.body)
	}
	h.decides()
	if r := h.request("POST", "/v1/events", `{"event":"no:hook"}`); r.status != 202 {
		h.Errorf("an event without hooks got %d %s", r.status, r.body)
	}
	if r := h.request("GET", "/healthz", ""); r.status != 200 {
		h.Errorf("healthz is %d, want 200: it lives", r.status)
	}
	hooktest.Until(h.T, "readyz fails", func() bool { r = h.request("GET", "/readyz", ""); return r.status == 503 })
	status, _ := h.hookd("status")
	for _, w := range want {
		if !strings.Contains(r.body, w) || !strings.Contains(status, w) {
			h.Errorf("readyz says %s, status says %s; want %q in both", r.body, status, w)
		}
	}
	if !strings.Contains(status, "CANNOT BE WRITTEN since") || !strings.Contains(status, "hookd        the store cannot be written, version") {
		h.Errorf("status says %s", status)
	}
	h.waitLogged(`"level":"error"`, "the store cannot be written", "hookd.db")
}

// heals waits until the daemon is ready without help. It checks that nothing was
// lost: now, and after the daemon was killed.
func (h *home) heals(settings ...string) {
	h.Helper()
	hooktest.Until(h.T, "it is ready again", h.ready)
	h.waitLogged("the store writes again")
	for range 3 {
		if r := h.send(100); r.status != 202 {
			h.Errorf("after it healed an event got %d %s", r.status, r.body)
		}
	}
	h.end(syscall.SIGKILL)
	h.serve(settings...)
	h.ranAll()
	h.decides()
}
