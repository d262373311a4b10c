package store

import "syscall"

// bootID names the time since the system was started.
func bootID() string {
	text, _ := syscall.Sysctl("kern.bootsessionuuid")
	return text
}
