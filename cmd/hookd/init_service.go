package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/people/service"
)

// startDaemon runs hookd as a service, or in the background where that is not possible.
func (w *initRun) startDaemon() {
	w.title("Service")
	m, err := service.This()
	if err != nil {
		w.wrong("service", err)
		return
	}
	if pid := runsAlready(w.app, w.cmd); pid > 0 {
		w.runs(m.Running(w.cmd.Context()), pid)
		return
	}
	p, err := m.Install(service.Options{Config: w.cfg, Given: given(w.cmd), Path: os.Getenv("PATH")})
	if err == nil {
		err = p.Reachable(w.cmd.Context())
	}
	if err != nil {
		e := explain(err)
		w.say(yellow, "no service", "%v", e)
		if p == nil { // its service cannot even be planned
			w.more("%s", e.hint)
		}
		w.background(m, p)
		return
	}
	if !w.ask("Run hookd as a service of your user?") {
		w.answer.Daemon = &initDaemon{State: "not running"}
		w.say(dim, w.skipped("would install"), "the service; later: hookd install")
		return
	}
	if err = p.Install(w.cmd.Context(), func() int { return 0 }); err == nil {
		err = awaitReady(w.app, w.cmd, nil)
	}
	if err != nil {
		w.wrong("service", err)
		if back := p.TakeBack(w.cmd.Context()); back != nil {
			w.wrong("taking back what was written", back)
		} else {
			w.more("what was written is taken back")
		}
		w.background(m, nil)
		return
	}
	w.answer.Daemon = &initDaemon{State: "service", PID: runsAlready(w.app, w.cmd)}
	w.say(green, "started", "the service")
	for _, note := range p.Notes {
		w.more("%s", note)
	}
}

// runs prints that a daemon runs already.
func (w *initRun) runs(asService bool, pid int) {
	w.answer.Daemon = &initDaemon{State: "service", PID: pid}
	if asService {
		w.say(green, "runs", "as a service, already (pid %d)", pid)
		return
	}
	w.answer.Daemon.State = "running"
	w.say(green, "runs", "already (pid %d), not as a service", pid)
	w.more("to make it one: hookd daemon stop && hookd daemon install")
}

// background starts hookd without a service manager. p says how it is kept
// running here; nil = that is not known.
func (w *initRun) background(m *service.Machine, p *service.Plan) {
	if !w.ask("Start hookd in the background, until this machine stops?") {
		w.answer.Daemon = &initDaemon{State: "not running"}
		w.say(dim, w.skipped("would start"), "hookd in the background; later: hookd daemon start")
		return
	}
	d, err := background(w.cmd, m, w.cfg)
	if err == nil {
		err = awaitReady(w.app, w.cmd, d)
	}
	if err != nil {
		w.wrong("hookd", err)
		w.answer.Daemon = &initDaemon{State: "not running"}
		return
	}
	w.answer.Daemon = &initDaemon{State: "background", PID: d.PID, Log: d.Log}
	w.say(green, "started", "in the background, pid %d; its log: %s", d.PID, tilde(d.Log))
	w.more("no file of a service was written; to stop it: hookd daemon stop")
	if p != nil {
		for _, note := range p.Without() {
			w.more("%s", note)
		}
	}
}

// background starts hookd in the background, with the settings on the command line.
func background(cmd *cobra.Command, m *service.Machine, cfg config.Config) (*service.Process, error) {
	var args []string
	for key, value := range given(cmd) {
		args = append(args, "--"+config.FlagName(key)+"="+value)
	}
	return m.Background(filepath.Join(cfg.Home, "hookd", "serve.log"), args)
}

// awaitReady waits until the daemon answers. d is its process; nil = a service's.
func awaitReady(a *app, cmd *cobra.Command, d *service.Process) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), max(a.patience, time.Minute))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var ended <-chan struct{}
	if d != nil {
		ended = d.Ended
	}
	for {
		err := a.dial(cmd).Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return endedAtOnce(d)
		case <-ctx.Done():
			return fail(exitNoAnswer, "see its state with `hookd status`", "hookd was started and does not answer: %w", err)
		case <-tick.C:
		}
	}
}

// endedAtOnce says why a daemon ended: the last lines of its log are an error and the command to type.
func endedAtOnce(d *service.Process) error {
	hint := "see " + d.Log
	lines := strings.Split(d.Said(), "\n")
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "hint: ") {
		hint, lines = strings.TrimPrefix(last, "hint: "), lines[:len(lines)-1]
	}
	why := ""
	if len(lines) > 0 {
		why = strings.TrimPrefix(lines[len(lines)-1], "hookd: ")
	}
	return fail(exitFailed, hint, "it ended as soon as it was started: %s", why)
}
