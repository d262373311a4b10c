package trust

import (
	"os"
	"path/filepath"
	"strconv"
)

// Database tells why the database at path is not safe from others there: they could change it, its log, or any folder on the way, or
// put a log of their own beside it.
func Database(path string) (refusals []Refusal) {
	given := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // where SQLite puts the log
	}
	files := []string{given, path}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		files = append(files, path+suffix)
	}
	for _, r := range New().Seal(Files{Folder: filepath.Dir(path), Read: files}).Refusals() {
		if info, err := os.Stat(r.Path); err == nil && info.IsDir() && info.Mode()&os.ModeSticky != 0 { // it has to be open to all
			own := filepath.Join(r.Path, "hookd-"+strconv.Itoa(os.Geteuid()))
			r.Do = "mkdir -m 700 " + Quote(own) + "` and set store.path to `" + filepath.Join(own, filepath.Base(path))
		}
		refusals = append(refusals, r)
	}
	return refusals
}
