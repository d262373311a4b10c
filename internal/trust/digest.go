// Package trust says what a chain of files is: a digest over what a hook is
// made of, so that a change is noticed whatever changed. It reads files'
// metadata only, keeps nothing and never blocks. It does not judge owners and
// modes.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// Digest identifies what a hook is made of: the bytes of its definition, and
// path, size, time of change and mode of each file it runs (SPEC section 4).
// For a symbolic link these are of the file it leads to, whose path counts as
// well. A file that is missing counts as missing. The contents of the files
// are not read. The result is 64 hexadecimal digits.
func Digest(definition []byte, files ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "definition %d\n%s\n", len(definition), definition)
	for _, name := range files {
		addFile(h, name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func addFile(h hash.Hash, name string) {
	info, err := os.Stat(name)
	if err != nil {
		fmt.Fprintf(h, "file %q missing\n", name)
		return
	}
	fmt.Fprintf(h, "file %q %q %d %d %v\n", name, target(name), info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// target returns where a link leads, "" for anything else.
func target(name string) string {
	if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
		return ""
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	return path
}
