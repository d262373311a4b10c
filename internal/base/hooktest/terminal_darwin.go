package hooktest

import (
	"bytes"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new pseudo-terminal.
func openTerminal() (screen, inside *os.File, err error) {
	screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var name [128]byte // as TIOCPTYGNAME wants it
	for _, ask := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{{unix.TIOCPTYGRANT, nil}, {unix.TIOCPTYUNLK, nil}, {unix.TIOCPTYGNAME, unsafe.Pointer(&name[0])}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), ask.request, uintptr(ask.arg)); errno != 0 {
			screen.Close()
			return nil, nil, errno
		}
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	if inside, err = os.OpenFile(string(path), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		screen.Close()
		return nil, nil, err
	}
	return screen, inside, unix.SetNonblock(int(screen.Fd()), true)
}
