package daemon

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// span is a part of the address space.
type span struct{ begin, end uintptr }

// unmapProgram takes the program's own code and constants out of this process's
// memory. Nothing is lost: they are the file's, stay in the system's cache as
// long as there is room, and come back as they are used, 64 KiB at a time. The
// system maps what lies around each thing that is used, so after a start, in
// which each linked package has its say once, nearly all of a large program is
// there, most of it for nothing. An error leaves all as it was.
func unmapProgram() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, s := range untouched(f, exe) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.begin, s.end-s.begin, syscall.MADV_DONTNEED)
	}
}

// untouched lists the private mappings of the file exe that cannot be written
// and in which no page differs from the file: a debugger's breakpoints are such
// pages, and would be lost.
func untouched(smaps io.Reader, exe string) (list []span) {
	var at span
	ours := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var begin, end uintptr
		var may string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &begin, &end, &may); n == 3 {
			at, ours = span{begin, end}, strings.HasSuffix(line, " "+exe) && !strings.Contains(may, "w") && strings.HasSuffix(may, "p")
			continue
		}
		if size, found := strings.CutPrefix(line, "Anonymous:"); ours && found && strings.TrimSpace(size) == "0 kB" {
			list = append(list, at)
		}
	}
	return list
}
