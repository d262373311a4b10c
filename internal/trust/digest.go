package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/hookd/hookd/internal/readfile"
)

// Sum returns the SHA-256 of a hook's definition, in 64 hexadecimal digits.
func Sum(definition []byte) string {
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:])
}

// Digest identifies one version of a hook: it covers the Sum of its definition, and
// path, inode, size, time of change and mode of each file it runs. For a symbolic
// link these are of its target, and the target's path counts, too. Missing files are
// allowed. The contents of files are not read. The result is 64 hexadecimal digits.
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
	fmt.Fprintf(h, "file %q %q %d %d %d %v\n",
		name, target, inode, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// Contents returns the digest of each of the seal's own files, by path, as they
// were sealed: what a person who allows the hook allows. A file that is missing or
// cannot be read has "".
func (s *Seal) Contents() map[string]string {
	list := map[string]string{}
	if s == nil {
		return list
	}
	for _, f := range s.own {
		if f.is(syscall.S_IFDIR) { // its entries tell
			continue
		}
		sum := f.sum
		if sum == "" && !s.files.Contents {
			sum = fileSum(f.path)
		}
		list[f.path] = sum
	}
	return list
}

// maxHashed is the largest file, in bytes, whose content can be compared.
const maxHashed = 256 << 20

// fileSum returns the digest of a regular file that is not larger than maxHashed; ""
// for any other.
func fileSum(path string) (sum string) {
	readfile.Apart(path, func() { sum = sumOf(path) })
	return sum
}

func sumOf(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block for ever
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	h, buffer := sha256.New(), buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if n, err := io.CopyBuffer(h, io.LimitReader(f, maxHashed+1), *buffer); err != nil || n > maxHashed {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// buffers are those of sumOf: a scan reads thousands of small files.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 32<<10)
	return &b
}}
