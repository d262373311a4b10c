package daemon

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// The program runs on without its pages, and gets those again that it needs.
func TestUnmapProgram(t *testing.T) {
	resident := func() int { // KiB of files
		text, err := os.ReadFile("/proc/self/status")
		hooktest.Must(t, err)
		m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(text)
		if m == nil {
			t.Skip("this kernel does not tell the memory of files")
		}
		n, err := strconv.Atoi(string(m[1]))
		hooktest.Must(t, err)
		return n
	}
	maps, err := os.ReadFile("/proc/self/maps")
	hooktest.Must(t, err)
	code := regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) r-xp .*` + regexp.QuoteMeta(os.Args[0]) + `$`).FindSubmatch(maps)
	if code == nil {
		t.Fatalf("no code of %s in\n%s", os.Args[0], maps)
	}
	var start, end uintptr
	_, err = fmt.Sscanf(string(code[1])+" "+string(code[2]), "%x %x", &start, &end)
	hooktest.Must(t, err)
	buf := make([]byte, end-start) // reading all of the code maps all of its pages
	_, err = unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{{Base: &buf[0], Len: uint64(len(buf))}},
		[]unix.RemoteIovec{{Base: start, Len: len(buf)}}, 0)
	hooktest.Must(t, err)
	before := resident()
	unmapProgram()
	if after := resident(); after > before/2 {
		t.Errorf("%d KiB of files are resident, %d before", after, before)
	}
}
