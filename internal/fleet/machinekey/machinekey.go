// Package machinekey makes and reads the keys that machines of a fleet prove their names
// with: nkeys, of which a server knows the public half alone.
package machinekey

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/hookd/hookd/internal/readfile"
)

// Make makes the key of a machine in a file that only its owner reads, unless there is
// one.
func Make(file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(seed, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// Public returns the public half of the key in a file: what a server's configuration
// calls nkey.
func Public(file string) (string, error) {
	text, err := readfile.Read(file, 4<<10)
	if err != nil {
		return "", err
	}
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(text))))
	if err != nil {
		return "", err
	}
	return pair.PublicKey()
}
