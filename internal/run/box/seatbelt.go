package box

import (
	"path/filepath"
	"regexp"
	"strings"
)

// seatbelt is the box as a profile for sandbox-exec. The last rule that fits counts.
func seatbelt(s *Spec) string {
	var b strings.Builder
	rule := func(text string, paths ...string) {
		for _, p := range paths {
			b.WriteString(strings.ReplaceAll(text, "PATH", quoted(p)) + "\n")
		}
	}
	b.WriteString(seatbeltBase)
	rule(`(allow file-write* (subpath PATH))`, s.Write...)
	for _, path := range append(append([]string{}, s.Protect...), s.Watch...) {
		rule(`(deny file-write* (subpath PATH))`, path)
		for dir := filepath.Dir(path); coveredBy(dir, s.Write); dir = filepath.Dir(dir) {
			rule(`(deny file-write-unlink (literal PATH))`, dir) // another name would not be protected
		}
	}
	for _, root := range s.Write { // git folders that a program makes itself
		b.WriteString(`(deny file-write* (regex #"^` + strings.ReplaceAll(regexp.QuoteMeta(root), `"`, `\"`) +
			`/(.*/)?\.git/(hooks(/|$)|config$)"))` + "\n")
	}
	rule(`(deny file-read* file-write* (subpath PATH))`, s.Hide...)
	rule(`(deny network-outbound (subpath PATH))`, s.Hide...)
	return b.String()
}

// quoted is a path as a string of a seatbelt profile.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// coveredBy reports whether path lies in one of the folders.
func coveredBy(path string, folders []string) bool {
	for _, f := range folders {
		if within(path, f) {
			return true
		}
	}
	return false
}

// seatbeltBase lets programs run and read, and write devices and their own temporary folder. The
// names of services are the names that a shell, compilers and interpreters ask for.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow file-read*)
(deny file-read* (regex #"^/dev/r?disk"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx")
  (literal "/dev/dtracehelper") (regex #"^/dev/ttys[0-9]+$") (regex #"^/dev/fd/"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow pseudo-tty)
(allow sysctl-read)
(allow ipc-posix-sem ipc-posix-shm)
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow mach-lookup
  (global-name "com.apple.logd") (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center") (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership") (global-name "com.apple.trustd.agent")
  (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.PowerManagement.control")
  (global-name "com.apple.diagnosticd") (global-name "com.apple.securityd.xpc"))
(allow network-bind network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
`
