package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
)

const (
	// fresh is how long the second event of a call may come after the first.
	fresh = 5 * time.Minute
	// stale is the age at which a kept value is of no use any more.
	stale = 7 * 24 * time.Hour
	// maxKept is the longest value that is kept.
	maxKept = 4 << 10
)

// state has the values that one call of the bridge leaves for the next: small files in the
// user's cache, named by the hash of a key. It is a convenience: where it
// cannot be written, things are said twice, and no answer changes.
type state struct{ dir string }

func newState(dir string) state {
	if dir != "" {
		return state{dir}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return state{}
	}
	return state{filepath.Join(cache, "hookd", "bridge")}
}

func (s state) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:12]))
}

// first reports whether key was not seen before. Where nothing can be kept, it
// always was not.
func (s state) first(key string) bool {
	if s.dir == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return true
	}
	s.prune(stale)
	return !os.IsExist(create(s.path(key), ""))
}

// create writes a file that is not there yet: a thing that is there may be a pipe.
func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// put keeps value under key for take.
func (s state) put(key, value string) {
	if s.dir == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	path := s.path(key)
	temp := path + "." + value
	os.Remove(temp) // what is there is no file of ours: we would have renamed it
	if create(temp, value) != nil || os.Rename(temp, path) != nil {
		os.Remove(temp)
	}
}

// take returns the value that was put under key not long ago, once; "" if there is none.
func (s state) take(key string) string {
	if s.dir == "" {
		return ""
	}
	path := s.path(key)
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	value, err := readfile.Read(path, maxKept)
	if os.Remove(path) != nil || err != nil || time.Since(info.ModTime()) > fresh {
		return ""
	}
	return string(value)
}

// inside is a folder of its own in the state.
func (s state) inside(name string) state { return state{filepath.Join(s.dir, name)} }

// prune removes files that are older than age.
func (s state) prune(age time.Duration) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !info.IsDir() && time.Since(info.ModTime()) > age {
			os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
