// Package packaging holds what service managers need to run hookd for a user:
// a systemd unit and a launchd agent. Both expect the program at
// ~/.local/bin/hookd, start `hookd serve`, start it again when it fails, and
// give running hooks their time when it stops. The package installs nothing.
package packaging

import _ "embed"

// SystemdUnit is the user unit, to be named hookd.service.
//
//go:embed systemd/hookd.service
var SystemdUnit string

// LaunchdAgent is the user agent, to be named io.github.hookd.plist.
//
//go:embed launchd/io.github.hookd.plist
var LaunchdAgent string
