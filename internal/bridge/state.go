package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

const (
	// fresh is how long the second event of a call may come after the first.
	fresh = 5 * time.Minute
	// stale is the age at which what was kept is of no use to anybody.
	stale = 7 * 24 * time.Hour
)

// state is what one call of the bridge leaves for the next: small files in the
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
	s.prune()
	f, err := os.OpenFile(s.path(key), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return !os.IsExist(err)
	}
	f.Close()
	return true
}

// put keeps value under key for take.
func (s state) put(key, value string) {
	if s.dir == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	path := s.path(key)
	temp := path + "." + value
	if os.WriteFile(temp, []byte(value), 0o600) != nil || os.Rename(temp, path) != nil {
		os.Remove(temp)
	}
}

// take returns what was put under key not long ago, once; "" if there is none.
func (s state) take(key string) string {
	if s.dir == "" {
		return ""
	}
	path := s.path(key)
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	value, err := os.ReadFile(path)
	if os.Remove(path) != nil || err != nil || time.Since(info.ModTime()) > fresh {
		return ""
	}
	return string(value)
}

// prune removes what is too old for any use.
func (s state) prune() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > stale {
			os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
