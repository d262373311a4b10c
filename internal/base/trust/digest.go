package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hookd/hookd/internal/base/readfile"
)

// Sum returns the SHA-256 of a text, such as a hook's definition, in 64 hexadecimal digits.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Digest identifies one version of a hook: it covers Files.Definition, and path, inode,
// size, time of change and mode of each of Files.Digested, as they were sealed. For a
// symbolic link these are of its target, and the target's path counts, too. Missing files
// are allowed. The contents of files are not read. The result is 64 hexadecimal digits;
// that of a nil Seal is "".
func (s *Seal) Digest() string {
	if s == nil {
		return ""
	}
	return s.digest
}

// digest returns the Digest of walked files, from the facts in their seal.
func (w *walk) digest(files Files) string {
	text := make([]byte, 0, 512)
	text = strconv.AppendQuote(append(text, "definition "...), files.Definition)
	text = append(text, '\n')
	for _, name := range files.Digested {
		text = w.appendFile(text, name)
	}
	return Sum(text)
}

func (w *walk) appendFile(text []byte, name string) []byte {
	text = strconv.AppendQuote(append(text, "file "...), name)
	f, ok := w.follow(name)
	if !ok {
		return append(text, " missing\n"...)
	}
	target := ""
	if w.itself(name).is(syscall.S_IFLNK) {
		target = f.path
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
	for i := range s.own {
		if f := &s.own[i]; !f.is(syscall.S_IFDIR) { // its entries tell
			list[f.path] = s.content(f)
		}
	}
	return list
}

// Texts returns the texts of the seal's own files of at most limit bytes, by path; the text of a
// link is its target. changed lists files whose content differs from the sealed one.
func (s *Seal) Texts(limit int) (texts map[string][]byte, changed []string) {
	texts = map[string][]byte{}
	if s == nil {
		return texts, nil
	}
	for i := range s.own {
		f := &s.own[i]
		sum := s.content(f)
		switch {
		case strings.HasPrefix(sum, LinkTo):
			texts[f.path] = []byte(sum + "\n")
		case f.is(syscall.S_IFREG) && f.size <= int64(limit):
			if text, err := readfile.Read(f.path, limit); err == nil && Sum(text) == sum {
				texts[f.path] = text
			} else {
				changed = append(changed, f.path)
			}
		}
	}
	return texts, changed
}

// Content returns the value in Contents of a path; known is false for a file that is not one of
// the seal's own.
func (s *Seal) Content(path string) (sum string, known bool) {
	i := slices.IndexFunc(s.own, func(f fact) bool { return f.path == path })
	if i < 0 {
		return "", false
	}
	return s.content(&s.own[i]), true
}

func (s *Seal) content(f *fact) string {
	if f.sum == "" && !s.files.Contents {
		return summed(f.path).sum
	}
	return f.sum
}

// maxHashed is the largest file, in bytes, whose content can be compared.
const maxHashed = 256 << 20

// read is a file as it was read: digest and line are of the file of the fact, whatever was at
// the path before and after.
type read struct {
	fact        // with the digest of its bytes; "" = it could not be read
	line string // its first line
}

// summed reads a regular file that is not larger than maxHashed.
func summed(path string) (r read) {
	var st syscall.Stat_t
	text, err := readfile.ReadStat(path, len(buffer{}), &st)
	switch {
	case err == nil:
		r = read{factOf(path, &st), lineOf(text)}
		r.sum = Sum(text)
	case errors.Is(err, readfile.ErrTooLarge):
		readfile.Apart(path, func() { r = summedLarge(path) })
	}
	r.path = path
	return r
}

func summedLarge(path string) (r read) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block for ever
	if err != nil {
		return r
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxHashed {
		return r
	}
	h, pieces := sha256.New(), new(buffer)
	n, err := io.ReadFull(file, pieces[:])
	line := lineOf(pieces[:n])
	h.Write(pieces[:n])
	rest, ends := io.CopyBuffer(h, io.LimitReader(file, maxHashed+1-int64(n)), pieces[:])
	var st syscall.Stat_t
	if err != nil || ends != nil || int64(n)+rest > maxHashed || syscall.Fstat(int(file.Fd()), &st) != nil {
		return r
	}
	r = read{factOf(path, &st), line}
	r.sum = hex.EncodeToString(h.Sum(nil))
	return r
}

// buffer holds a small file whole, and a piece of a large one.
type buffer [32 << 10]byte
