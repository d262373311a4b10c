package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/hookd/hookd/internal/base/readfile"
)

// Sum returns the SHA-256 of a text, such as a hook's definition, in 64 hexadecimal digits.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Digest identifies one version of a hook: it covers the Sum of its definition, and
// path, inode, size, time of change and mode of each file it runs. For a symbolic
// link these are of its target, and the target's path counts, too. Missing files are
// allowed. The contents of files are not read. The result is 64 hexadecimal digits.
func Digest(sum string, files ...string) string {
	text := make([]byte, 0, 512)
	text = strconv.AppendQuote(append(text, "definition "...), sum)
	text = append(text, '\n')
	for _, name := range files {
		text = appendFile(text, name)
	}
	return Sum(text)
}

func appendFile(text []byte, name string) []byte {
	f, target := lstat(name), ""
	if f.is(syscall.S_IFLNK) {
		var err error
		if target, err = filepath.EvalSymlinks(name); err == nil {
			f = lstat(target)
		}
		f.missing = f.missing || err != nil // one that leads nowhere
	}
	text = strconv.AppendQuote(append(text, "file "...), name)
	if f.missing {
		return append(text, " missing\n"...)
	}
	text = strconv.AppendQuote(append(text, ' '), target)
	for _, n := range [...]int64{int64(f.ino), f.size, f.mtime} {
		text = strconv.AppendInt(append(text, ' '), n, 10)
	}
	return append(append(append(text, ' '), f.fileMode().String()...), '\n')
}

// Contents returns the digest of each of the seal's own files, by path, as they were
// sealed. A person who allows the hook allows these contents. A file that is missing or
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
	text, err := readfile.Read(path, len(buffer{}))
	if err == nil {
		return Sum(text)
	}
	if errors.Is(err, readfile.ErrTooLarge) {
		readfile.Apart(path, func() { sum = sumOf(path) })
	}
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
	h, pieces := sha256.New(), new(buffer)
	if n, err := io.CopyBuffer(h, io.LimitReader(f, maxHashed+1), pieces[:]); err != nil || n > maxHashed {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// buffer holds a small file whole, and a piece of a large one.
type buffer [32 << 10]byte
