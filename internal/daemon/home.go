package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/trust"
)

// prepareHome makes the home, for the user alone, and refuses a home that other users
// can change. LibreFang uses the home, too, so a home that other users can read stays so;
// hookd's own files in it are made private.
//
// The home of the system daemon is root's alone: it must be there, and the daemon writes
// to its folder of state only.
func prepareHome(c config.Config) error {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return fmt.Errorf("make the home: %w", err)
	}
	if c.System {
		files := trust.Files{Folder: c.Home, Read: []string{c.SettingsFile(), c.HooksDir}}
		if bad := c.Checker().Seal(files).Refusals(); len(bad) > 0 {
			return fmt.Errorf("use the folder %s: %w", escape.Quote(c.Home), &bad[0])
		}
	}
	socket := c.Socket
	if c.System { // which all users may write to; a killed daemon has left it
		socket = filepath.Dir(socket)
	}
	seal := trust.New().Seal(trust.Files{Folder: c.State, Read: []string{socket, c.LockFile()}})
	if bad := seal.Refusals(); len(bad) > 0 {
		return fmt.Errorf("use the home %s: %w", escape.Quote(c.State), &bad[0])
	}
	if bad := trust.New().Database(c.StorePath); len(bad) > 0 {
		return fmt.Errorf("keep the store in %s: %w", escape.Quote(c.StorePath), &bad[0])
	}
	if err := checkSettings(c); err != nil {
		return err
	}
	for _, pattern := range []string{"hookd", "hookd/*", "hookd.lock", "hookd.db*"} {
		found, _ := filepath.Glob(filepath.Join(c.State, pattern)) // the pattern is right
		for _, path := range found {
			if path == c.TokenFile() && c.HTTPListen != "" || path == c.MetricsTokenFile() && c.MetricsListen != "" {
				continue // one that other users could read is changed, see loopback.Door
			}
			if err := makePrivate(path); err != nil {
				return fmt.Errorf("keep %s from others: %w", path, err)
			}
		}
	}
	return nil
}

func makePrivate(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&0o700)
}

// checkSettings refuses a hookd.yaml that other users can change: it names programs.
func checkSettings(c config.Config) error {
	if err := c.Checker().Check(c.SettingsFile()); err != nil {
		return fmt.Errorf("use the settings: %w", err)
	}
	return nil
}

// Mend returns the command that mends a home, settings or a database that New
// refused, "" for other errors.
func Mend(err error) string {
	var refusal *trust.Refusal
	var unfit *unfitStore
	switch {
	case errors.As(err, &refusal):
		return refusal.Do
	case errors.As(err, &unfit):
		return unfit.mend
	}
	return ""
}

// unfitStore is the error of a database that cannot be used until a person mends it.
type unfitStore struct {
	error
	mend string // the command
}

func (u *unfitStore) Unwrap() error { return u.error }
