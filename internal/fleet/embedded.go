package fleet

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/link"
)

// Embedded is the server that hookd starts itself: a program beside hookd's own. All
// fields but Log are required.
type Embedded struct {
	Address string // nats://HOST:PORT, to listen at
	Dir     string // of its streams and its key
	Log     *zap.Logger
}

// Key is the file of the key that the server makes, and that machines connect with.
func (e Embedded) Key() string { return filepath.Join(e.Dir, "machine.nk") }

// embeddedProgram is the program that Start starts.
const embeddedProgram = "hookd-fleet-server"

// readyTime is how long the server may take to say that it serves.
const readyTime = 2 * time.Minute

// Start starts the server and returns when it serves. It ends with ctx, or with this
// process; ended is closed then.
func (e Embedded) Start(ctx context.Context) (ended <-chan struct{}, err error) {
	path, err := link.Find(embeddedProgram)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(e.Address)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, "-listen", u.Host, "-store", e.Dir, "-key", e.Key())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	in, err := cmd.StdinPipe() // which ends with this process, and the server with it
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log := &lines{log: e.Log}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the fleet's server: %w", err)
	}
	done, ready := make(chan struct{}), make(chan bool, 1)
	go func() {
		scan := bufio.NewScanner(out)
		for scan.Scan() { // the program ends with its output
			if strings.HasPrefix(scan.Text(), "ready ") {
				ready <- true
			}
		}
		err := cmd.Wait()
		in.Close()
		if ctx.Err() == nil {
			e.Log.Error("the fleet's server has ended", zap.Error(err), zap.String("said", log.last))
		}
		close(done)
	}()
	select {
	case <-ready:
		return done, nil
	case <-done:
		return nil, fmt.Errorf("the fleet's server did not start: %s", log.last)
	case <-time.After(readyTime):
		return done, fmt.Errorf("the fleet's server does not serve after %s", readyTime)
	case <-ctx.Done():
		return done, ctx.Err()
	}
}

// Run starts the server, and again when it ends, until ctx ends.
func (e Embedded) Run(ctx context.Context, started func()) {
	for tries := 0; ; tries++ {
		ended, err := e.Start(ctx)
		if err == nil {
			tries = 0
			started()
		} else if ctx.Err() == nil {
			e.Log.Error("the fleet has no server", zap.Error(err))
		}
		if ended != nil {
			<-ended
		}
		if !backOff(ctx, tries, nil) {
			return
		}
	}
}

// lines hands the lines of a program to the log; last is the newest.
type lines struct {
	log  *zap.Logger
	last string
}

func (l *lines) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.last = strings.TrimSpace(line)
		l.log.Debug("server", zap.String("line", l.last))
	}
	return len(p), nil
}
