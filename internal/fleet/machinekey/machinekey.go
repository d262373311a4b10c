// Package machinekey makes and reads the keys that machines of a fleet prove their names
// with: nkeys. A server knows the public half alone.
package machinekey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/hookd/hookd/internal/base/readfile"
)

// Make makes the key of a machine in a file, unless there is one.
func Make(file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return New(file)
}

// New makes the key of a machine in a file that does not exist yet and that only its owner
// reads.
func New(file string) error {
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

// Check is an error for a text that is no public key of a machine.
func Check(public string) error {
	if !nkeys.IsValidPublicUserKey(public) {
		return fmt.Errorf("%q is no public key of a machine", public)
	}
	return nil
}

// Public returns the public half of the key in a file: the value of nkey in a server's
// configuration.
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
