package listener

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestListenerIsFoundWithoutBeingAccepted(t *testing.T) {
	path := hooktest.ShortDir(t) + "/s"
	if _, err := Of(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no socket: error %v, want one that says so", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	process, err := Of(path)
	if err != nil || process.PID != os.Getpid() || process.UID != os.Geteuid() {
		t.Errorf("%+v, error %v: want this process, %d", process, err, os.Getpid())
	}
	l.Close()
	if _, err := Of(path); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a socket that is left over: error %v, want ECONNREFUSED", err)
	}
}
