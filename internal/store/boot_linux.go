package store

import (
	"os"
	"strings"
)

// bootID names the time since the system was started.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}
