package journal

import (
	"errors"
	"syscall"
)

// Sync leaves out the metadata that reading the file does not need, such as its time.
func (f osFile) Sync() error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
