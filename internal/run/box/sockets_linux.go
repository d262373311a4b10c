package box

import (
	"bytes"
	"os"
	"path/filepath"
)

// hostSockets lists the sockets of the machine that have a name in the file system. A box without a
// network would still reach them.
func hostSockets() (list []string) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		at := bytes.IndexByte(line, '/')
		if at < 0 || bytes.IndexByte(line[:at], '@') >= 0 {
			continue
		}
		path := string(bytes.TrimRight(line[at:], "\n"))
		if seen[path] {
			continue
		}
		seen[path] = true
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}
