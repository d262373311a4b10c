package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Sum identifies a hook's definition: 64 hexadecimal digits over its bytes.
func Sum(definition []byte) string {
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:])
}

// Digest identifies what a hook is made of: the Sum of its definition, and
// path, inode, size, time of change and mode of each file it runs (SPEC section 4).
// For a symbolic link these are of the file it leads to, whose path counts as
// well. A file that is missing counts as missing. The contents of the files
// are not read. The result is 64 hexadecimal digits.
func Digest(sum string, files ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "definition %q\n", sum)
	for _, name := range files {
		addFile(h, name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func addFile(h hash.Hash, name string) {
	info, err := os.Lstat(name)
	target := ""
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		target, _ = filepath.EvalSymlinks(name) // one that leads nowhere is missing
		info, err = os.Stat(name)
	}
	if err != nil {
		fmt.Fprintf(h, "file %q missing\n", name)
		return
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	fmt.Fprintf(h, "file %q %q %d %d %d %v\n", name, target, inode, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// Contents sums up the bytes of each of the seal's own files, by path: what a
// person who allows a hook allows. A file that is missing or cannot be read
// has the sum "".
func (s *Seal) Contents() map[string]string {
	list := map[string]string{}
	if s == nil {
		return list
	}
	for _, f := range s.own {
		list[f.path] = fileSum(f.path)
	}
	return list
}

func fileSum(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe would block for ever
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
