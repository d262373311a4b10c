package proc

import (
	"bytes"
	"strconv"
)

// UIDOf returns the user that a process acts as; false when there is no such process. The
// owner of /proc/PID does not say it: a concealed process has root there.
func UIDOf(pid int) (uid int, known bool) {
	var buf [4096]byte
	text, err := readAbout(pid, "status", buf[:])
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(text, []byte("\nUid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if ids := bytes.Fields(line); len(ids) == 4 { // real, effective, saved, of files
		uid, err = strconv.Atoi(string(ids[1]))
		return uid, err == nil
	}
	return 0, false
}
