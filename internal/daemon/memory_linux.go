package daemon

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// unmapProgram gives the pages of the program's file back that the start has read: some 25 MiB of code and
// constants, of which a daemon needs a third again. They stay in the page cache, so the next use costs a minor
// fault for each 64 KiB, and no read. Pages that were written to are left alone: they would be lost.
func unmapProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	var start, end uintptr // of the mapping that the lines are about; 0 = it is not the program's
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 5 && strings.Contains(fields[0], "-"):
			start, end = 0, 0
			if strings.Join(fields[5:], " ") == program && strings.HasPrefix(fields[1], "r-") {
				_, _ = fmt.Sscanf(fields[0], "%x-%x", &start, &end)
			}
		case start != 0 && len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0":
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_DONTNEED)
		}
	}
}
