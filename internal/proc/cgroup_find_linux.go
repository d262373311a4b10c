package proc

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

// ownCgroup finds the cgroup v2 hierarchy, where v1 is mounted beside it too,
// and our folder in it: "" if there is none that we can see.
func ownCgroup() (mount, root, own string) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", "", ""
	}
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", ""
	}
	mount, root = cgroupMount(mounts)
	return mount, root, cgroupDir(self, mount, root)
}

// cgroupMount reads a mountinfo file: where cgroup2 is mounted, and which
// folder of the hierarchy is there (proc_pid_mountinfo(5)).
func cgroupMount(mountinfo []byte) (mount, root string) {
	for line := range bytes.Lines(mountinfo) {
		before, after, ok := strings.Cut(string(line), " - ")
		fields := strings.Fields(before)
		if ok && strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			return unescape(fields[4]), unescape(fields[3])
		}
	}
	return "", ""
}

// cgroupDir turns the "0::/path" line of a /proc/PID/cgroup file into a folder below
// mount. "" if it is outside of the mounted part.
func cgroupDir(file []byte, mount, root string) string {
	for line := range bytes.Lines(file) {
		rest, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("0::"))
		if !ok {
			continue
		}
		p := string(rest)
		below, inside := strings.CutPrefix(p, strings.TrimSuffix(root, "/"))
		if mount == "" || !inside || !strings.HasPrefix(below+"/", "/") || strings.HasPrefix(p, "/..") {
			return ""
		}
		return path.Join(mount, below)
	}
	return ""
}

// unescape undoes the octal escapes of mountinfo (blank, tab, newline, \).
func unescape(s string) string {
	var b strings.Builder
	for ; s != ""; s = s[1:] {
		if s[0] == '\\' && len(s) >= 4 {
			if n, err := strconv.ParseUint(s[1:4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				s = s[3:]
				continue
			}
		}
		b.WriteByte(s[0])
	}
	return b.String()
}
