package doctor

import "strings"

const setClock = "sudo sntp -sS time.apple.com"

// watches tells when changes of hooks are not seen at once. macOS counts open
// files for what is watched, and has no limit of its own for it.
func (v *visit) watches() {
	if v.status != nil && strings.HasPrefix(v.status.Watching, "polling") {
		v.say("watches", Note, "launchctl limit maxfiles", "changes of hooks are seen by %s", v.status.Watching)
	}
}
