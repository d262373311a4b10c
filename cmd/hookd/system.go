package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/system"
)

// systemFlag has a command mean the system daemon.
const systemFlag = "system"

// ofSystem reports whether a command line means the system daemon.
func ofSystem(cmd *cobra.Command) bool {
	flag := cmd.Flags().Lookup(systemFlag)
	return flag != nil && flag.Value.String() == "true"
}

// shareSystem has root's commands write files that the system daemon's user can read at once. The daemon
// takes up changes while a command goes on.
func shareSystem(cmd *cobra.Command) {
	if p := system.Here(); ofSystem(cmd) && cmd.Name() != "serve" && os.Geteuid() == p.Root {
		replacefile.Share(p.Folder)
	}
}

// letDaemonRead lets the system daemon's user read the files that a person has written into its
// folder, say with the editor of `hookd edit`. Only root can change them all the same.
func letDaemonRead(p system.Place) error {
	if os.Geteuid() != p.Root {
		return nil
	}
	return filepath.WalkDir(p.Folder, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.Type()&^fs.ModeDir != 0 {
			return err // a link, a socket
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()
		if e.Name() == filepath.Base(p.Settings()) && filepath.Dir(path) == p.Folder {
			return nil // what users may read of the settings is root's to say
		}
		readable := mode | mode>>3&0o050 | mode>>6&0o005
		if readable == mode {
			return nil
		}
		return os.Chmod(path, readable)
	})
}
