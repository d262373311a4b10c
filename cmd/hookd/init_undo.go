package main

import (
	"slices"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/hooks/starter"
	"github.com/hookd/hookd/internal/people/service"
	"github.com/hookd/hookd/internal/proc"
)

func (w *initRun) disconnectAgent() {
	w.title("Agents")
	for _, name := range connect.Names() {
		o := w.flags.connect.options(w.cmd, name)
		s := connect.Inspect(o)
		named := len(w.flags.agents) == 0 || slices.Contains(w.flags.agents, name)
		if !named || s.State != connect.Connected && s.State != connect.Partly {
			continue
		}
		item := initItem{Name: name, About: s.File}
		if !w.ask("Disconnect %s? Its events then reach no hook.", name) {
			item.State = w.skipped("would disconnect")
			w.say(dim, item.State, "%s", name)
		} else if answer, err := disconnectAgent(w.app, o, connectFlags{yes: true}); err != nil {
			item.State, item.About = "failed", w.wrong(name, err)
		} else {
			item.State = answer.word
			w.say(green, "disconnected", "%s: %s", name, tilde(answer.File))
		}
		w.answer.Agents = append(w.answer.Agents, item)
	}
	if len(w.answer.Agents) == 0 {
		w.say(dim, "none", "no agent is connected")
	}
}

func (w *initRun) removeHooks() {
	w.title("Hooks")
	list, err := starter.Hooks(w.cfg.HooksDir, w.hooksPath())
	if err != nil {
		w.wrong("the gallery", err)
		return
	}
	for _, h := range list {
		if h.State == starter.Absent {
			continue
		}
		item := initItem{Name: h.Name, About: h.Dir}
		switch {
		case h.State == starter.Changed:
			item.State = "kept"
			w.say(yellow, "kept", "%s: you have changed it; to remove it: rm -r %s", h.Name, tilde(h.Dir))
		case !w.ask("Remove %s?", h.Name):
			item.State = w.skipped("would remove")
			w.say(dim, item.State, "%s", h.Name)
		default:
			w.removeHook(&item)
		}
		w.answer.Hooks = append(w.answer.Hooks, item)
	}
	if len(w.answer.Hooks) == 0 {
		w.say(dim, "none", "no hook of init is there")
	}
}

func (w *initRun) removeHook(item *initItem) {
	r, err := starter.Remove(w.cfg.HooksDir, item.Name)
	if err != nil {
		item.State, item.About = "failed", w.wrong(item.Name, err)
		return
	}
	item.State = "removed"
	w.say(green, "removed", "%s", item.Name)
	if r.Left != "" {
		item.About = r.Left
		w.more("what it has written stays in %s", tilde(r.Left))
	}
}

// stopDaemon takes back the service, or stops a daemon that runs without one.
func (w *initRun) stopDaemon() {
	w.title("Service")
	m, err := service.This()
	if err != nil {
		w.wrong("service", err)
		return
	}
	p, err := m.Uninstall()
	if err != nil {
		w.wrong("service", err)
		return
	}
	if len(p.Files) > 0 {
		w.uninstall(p)
		return
	}
	pid := runsAlready(w.app, w.cmd)
	switch {
	case pid == 0:
		w.say(dim, "none", "hookd does not run, and is no service")
	case !w.ask("Stop hookd (pid %d)?", pid):
		w.answer.Daemon = &initDaemon{State: "running", PID: pid}
		w.say(dim, w.skipped("would stop"), "hookd, pid %d", pid)
	default:
		w.stop(pid)
	}
}

func (w *initRun) uninstall(p *service.Plan) {
	if !w.ask("Stop the service, and remove its files?") {
		w.say(dim, w.skipped("would stop"), "the service")
		return
	}
	if err := p.Uninstall(w.cmd.Context()); err != nil {
		w.wrong("service", err)
		return
	}
	w.answer.Daemon = &initDaemon{State: "not running"}
	w.say(green, "removed", "the service")
	for _, note := range p.Notes {
		w.more("%s", note)
	}
}

// stop ends a daemon and waits for its end: running hooks get their time.
func (w *initRun) stop(pid int) {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		w.wrong("hookd", err)
		return
	}
	if !holdsIn(w.app.patience, func() bool { return runsAlready(w.app, w.cmd) != pid }) {
		w.wrong("hookd", fail(exitNoAnswer, "see its state with `hookd status`", "pid %d has not ended yet", pid))
		return
	}
	// Its socket closes before it ends, and another start would find its lock taken.
	// Where no process collects its end the pid stays: it has ended all the same.
	holdsIn(5*time.Second, func() bool { return proc.Ended(pid) })
	w.answer.Daemon = &initDaemon{State: "not running"}
	w.say(green, "stopped", "hookd, pid %d", pid)
}

// holdsIn reports whether cond holds before d has passed.
func holdsIn(d time.Duration, cond func() bool) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(d); !cond(); {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}
