package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/trust"
)

// A database that others could replace is not opened, wherever on the way to it
// they could do so; the error has the command that mends it.
func TestStoreThatOthersCouldReplace(t *testing.T) {
	other := newHome(t)
	made := func(path string, mode os.FileMode) string {
		t.Helper()
		path = filepath.Join(other, path)
		if err := errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open := made("open", 0o777)
	below := made("above/below", 0o700)
	made("above", 0o777)
	sticky := made("sticky", 0o777|os.ModeSticky)
	group := made("group", 0o770)
	if err := os.Chown(group, -1, 1); err != nil {
		group = open // not root: a group that others are in cannot be given
	}
	mine := made("mine", 0o700)
	link := filepath.Join(open, "mine")
	writeFile(t, filepath.Join(mine, "log.db"), "", 0o600)
	writeFile(t, filepath.Join(mine, "log.db-wal"), "", 0o600)
	linked := filepath.Join(mine, "linked.db")
	if err := errors.Join(os.Chmod(filepath.Join(mine, "log.db-wal"), 0o666), os.Symlink(mine, link), os.Symlink(filepath.Join(open, "real.db"), linked)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(open, "real.db"), "", 0o600)
	for path, mend := range map[string]string{
		filepath.Join(open, "h.db"):        "chmod go-w " + open,
		filepath.Join(open, "new", "h.db"): "chmod go-w " + open,
		filepath.Join(below, "h.db"):       "chmod go-w " + filepath.Dir(below),
		filepath.Join(group, "h.db"):       "chmod g",
		filepath.Join(sticky, "h.db"):      "mkdir -m 700 " + sticky,
		filepath.Join(link, "h.db"):        "chmod go-w " + open,
		filepath.Join(mine, "log.db"):      "chmod go-w " + filepath.Join(mine, "log.db-wal"),
		linked:                             "chmod go-w " + open,
	} {
		c := config.Default(newHome(t))
		c.StorePath = path
		d, err := New(Options{Config: c})
		var refusal *trust.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "keep the store in "+path) ||
			!strings.HasPrefix(Mend(err), mend) {
			t.Errorf("%s: got %v, %v, want it to say %s", path, d, err, mend)
		}
	}
	c := config.Default(newHome(t))
	c.StorePath = filepath.Join(mine, "new", "h.db")
	if err := prepareHome(c); err != nil {
		t.Errorf("a folder of the user's own: %v", err)
	}
}
