package trust

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/hookd/hookd/internal/base/escape"
)

// Database returns why the database at path is not safe from other users: they
// could change it, its log or a folder on the way, or put a log of their own beside
// it. None is nil.
func (c *Checker) Database(path string) (refusals []Refusal) {
	given := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // where SQLite puts the log
	}
	files := []string{given, path}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		files = append(files, path+suffix)
	}
	for _, r := range c.Seal(Files{Folder: filepath.Dir(path), Read: files}).Refusals() {
		info, err := os.Stat(r.Path)
		if err == nil && info.IsDir() && info.Mode()&os.ModeSticky != 0 { // such as /tmp: writable for all on purpose
			own := filepath.Join(r.Path, "hookd-"+strconv.Itoa(int(c.uid)))
			r.Do = "mkdir -m 700 " + escape.Quote(own) + "` and set store.path to `" + filepath.Join(own, filepath.Base(path))
		}
		refusals = append(refusals, r)
	}
	return refusals
}
