package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/fleet/engine"
)

// name is the program that speaks to the servers.
const name = "hookd-fleet"

// Find returns the path of a program: beside hookd's own, else on PATH.
func Find(program string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		path := filepath.Join(filepath.Dir(self), program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("fleet: %s is not installed: install it beside hookd, see docs/reference/fleet.md: %w", program, err)
	}
	return path, nil
}

// Program keeps hookd-fleet running, as the only process that Attach takes a connection of.
type Program struct {
	Socket string // of hookd
	Broker *Broker
	Log    *zap.Logger

	pid atomic.Int64 // 0 = it does not run
}

// How long a program that ended is left alone: the time doubles, and up to half the time is at
// random.
const (
	firstPause = 500 * time.Millisecond
	mostPause  = 30 * time.Second
	longRun    = time.Minute // after which the pause is the first again
)

// Run starts hookd-fleet, and again when it ends, until ctx ends. A program that is installed
// meanwhile is found.
func (p *Program) Run(ctx context.Context) {
	said := ""
	for tries := 0; ; tries++ {
		started := time.Now()
		err := p.once(ctx)
		if ctx.Err() != nil {
			return
		}
		p.Broker.Fail(err)
		if time.Since(started) > longRun {
			tries, said = 0, ""
		}
		if err.Error() != said {
			said = err.Error()
			p.Log.Error("the fleet is not reached, what is for it waits on disk", zap.Error(err))
		}
		if !pause.For(pause.Within(pause.Doubled(firstPause, mostPause, tries)), ctx.Done()) {
			return
		}
	}
}

// endTime is how long the program may take to end.
const endTime = 10 * time.Second

func (p *Program) once(ctx context.Context) error {
	path, err := Find(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, "-socket", p.Socket)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endTime
	log := &lastLine{log: p.Log}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	p.pid.Store(int64(cmd.Process.Pid))
	err = cmd.Wait()
	p.pid.Store(0)
	if refusal := p.Broker.takeRefusal(); refusal != nil {
		return refusal // it ends after that, without a word
	}
	return fmt.Errorf("hookd-fleet has ended (%v): %s", err, log.last)
}

// Attach uses a connection of the process pid until it ends. It refuses any other process than
// the process that Run has started.
func (p *Program) Attach(ctx context.Context, pid int, c net.Conn) error {
	if own := p.pid.Load(); own == 0 || own != int64(pid) {
		return errors.New("hookd takes a fleet from the hookd-fleet that it has started")
	}
	return p.Broker.Attach(ctx, c)
}

// lastLine hands the lines of a program to the log, and keeps the last.
type lastLine struct {
	log  *zap.Logger
	last string
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.last = strings.TrimSpace(string(p))
	l.log.Info("hookd-fleet", zap.String("line", l.last))
	return len(p), nil
}

// Dial starts a hookd-fleet for the caller alone, on its stdin and stdout. It ends with ctx, or
// with end.
func Dial(ctx context.Context, o engine.Options) (b *Broker, end func(), err error) {
	path, err := Find(name)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, path)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endTime
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	b = New(o)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = b.Attach(ctx, Conn(out, in, in.Close))
		cancel()
		_ = cmd.Wait()
	}()
	return b, func() {
		cancel()
		<-gone
	}, nil
}

// Key makes the key of a machine in a file, and returns its public half.
func Key(ctx context.Context, file string) (string, error) { return run(ctx, "-keygen", file) }

// CheckKey is an error for a text that is no public key of a machine.
func CheckKey(ctx context.Context, public string) error {
	_, err := run(ctx, "-check", public)
	return err
}

func run(ctx context.Context, args ...string) (string, error) {
	path, err := Find(name)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = errors.New(strings.TrimPrefix(strings.TrimSpace(string(exit.Stderr)), name+": "))
	}
	return strings.TrimSpace(string(out)), err
}
