package signals

import (
	"errors"
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
)

// Listener returns the socket that the service manager listens on for hookd
// (sd_listen_fds(3)), nil if it does not. The caller closes it; that removes no file,
// and clients that connect meanwhile wait in the manager's own copy for the next
// daemon. Listener works once: it removes the variables that it reads.
func Listener() (net.Listener, error) {
	files := activation.Files(true)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	switch len(files) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, fmt.Errorf("take the service manager's socket: there are %d, hookd has one: "+
			"leave one ListenStream= in hookd.socket", len(files))
	}
	l, err := net.FileListener(files[0])
	if err != nil {
		return nil, fmt.Errorf("take the service manager's socket: %w", err)
	}
	if _, ok := l.(*net.UnixListener); !ok {
		l.Close()
		return nil, errors.New("take the service manager's socket: it is no Unix socket: " +
			"give hookd.socket a path as ListenStream=")
	}
	return l, nil
}
