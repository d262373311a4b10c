package doctor

import "strings"

const setClock = "sudo sntp -sS time.apple.com"

// watches reports when changes of hooks are not noticed at once. macOS has no limit on
// watches: each is an open file.
func (v *visit) watches() {
	if v.status != nil && strings.HasPrefix(v.status.Watching, "polling") {
		v.say("watches", Note, "launchctl limit maxfiles", "changes of hooks are seen by %s", v.status.Watching)
	}
}
