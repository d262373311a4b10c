package store

import (
	"os"
	"strings"
)

// bootID names the time since the system was started.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" is no boot that is known
	return strings.TrimSpace(string(text))
}
