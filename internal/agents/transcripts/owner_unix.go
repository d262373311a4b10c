//go:build unix

package transcripts

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether a file belongs to the user of this process.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
