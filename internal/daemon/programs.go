package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/wire"
)

// programs counts the programs that agents start, beside the calls that hookd was asked about. They
// outlast a restart; a kill takes the last programsEvery. A nil one does nothing.
type programs struct {
	d    *Daemon
	file string
	proc.Executed

	mu      sync.Mutex
	agents  map[int]events.Dialect // by pid
	by      map[events.Dialect]*wire.Executed
	told    map[events.Dialect]time.Time // when hookd:unguarded was last emitted
	changed bool
}

const (
	programsEvery = 10 * time.Second
	mostPrograms  = 100 // of one agent that are listed
	mostExample   = 200 // bytes
)

// newPrograms returns the counts of earlier processes of this home.
func newPrograms(d *Daemon, c config.Config) *programs {
	p := &programs{
		d: d, file: c.ProgramsFile(), agents: map[int]events.Dialect{}, by: map[events.Dialect]*wire.Executed{},
		told: map[events.Dialect]time.Time{},
	}
	p.Told = p.started
	text, err := readfile.Read(p.file, readfile.Limit)
	if err == nil {
		err = json.Unmarshal(text, &p.by)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("the programs of agents are counted from now on", zap.String("path", p.file), zap.Error(err))
		p.by = map[events.Dialect]*wire.Executed{}
	}
	return p
}

// run follows the programs until ctx ends.
func (p *programs) run(ctx context.Context) {
	if p == nil {
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	tick := time.NewTicker(programsEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			p.save()
			if err != nil {
				p.d.log.Warn("the setting watch_programs has no effect", zap.Error(err))
			}
			return
		case <-tick.C:
			p.save()
		}
	}
}

// save writes the counts.
func (p *programs) save() {
	p.mu.Lock()
	text, err := json.Marshal(p.by)
	changed := p.changed
	p.changed = false
	p.mu.Unlock()
	if changed && err == nil {
		err = replacefile.Write(p.file, text)
	}
	if err != nil {
		p.d.log.Warn("the programs of agents are not kept", zap.Error(err))
	}
}

// asked is a call that hookd is asked about, of an agent that is followed. The zero asked is none.
type asked struct {
	p    *programs
	pid  int
	call proc.OpenCall
}

// unless closes the call if the verdict refuses it.
func (a asked) unless(v *verdict.Verdict) {
	if a.p != nil && v != nil && !v.Allowed {
		a.p.Closed(a.pid, a.call)
	}
}

// note takes in an event of an agent: the begin or the end of a call.
func (p *programs) note(from server.Peer, env *events.Envelope) asked {
	c := connectedBy(from)
	if p == nil || c == nil || c.pid == 0 || env.Tried {
		return asked{}
	}
	row := events.For(env.Dialect, env.Event)
	if row == nil {
		return asked{}
	}
	p.mu.Lock()
	p.agents[c.pid] = env.Dialect
	p.mu.Unlock()
	p.Add(c.pid)
	switch row.Kind {
	case events.KindPromptSubmit:
		if !dialect.ByAgent(&events.Event{Envelope: *env, Contract: row}) { // else other calls of the session go on
			p.Idle(c.pid, env.SessionID)
		}
	case events.KindToolBefore, events.KindToolAfter:
		e := &events.Event{Envelope: *env, Contract: row}
		tool := dialect.Call(e).Tool
		a := asked{p, c.pid, proc.OpenCall{Session: env.SessionID, ID: cmp.Or(dialect.CallID(e), tool)}}
		switch {
		case row.Kind == events.KindToolAfter:
			p.Closed(a.pid, a.call)
		case !dialect.StartsAgents(tool):
			p.Opened(a.pid, a.call)
			return a
		}
	}
	return asked{}
}

// started counts a program. It is called while processes are followed, so it does not wait.
func (p *programs) started(s proc.Started) {
	p.mu.Lock()
	defer p.mu.Unlock()
	agent, now := p.agents[s.Agent], time.Now().UTC()
	of := p.by[agent]
	if of == nil {
		of = &wire.Executed{Since: now, Programs: []wire.Program{}}
		p.by[agent] = of
	}
	p.changed = true
	if s.Asked {
		if of.Asked++; s.Later {
			of.Later++
		}
		return
	}
	of.Unasked++
	one := wire.Program{Last: now, Count: 1}
	if len(s.Args) > 0 {
		one.Name = escape.Line(filepath.Base(s.Args[0]), mostExample)
	}
	line, is := dialect.CommandIn(agent, proc.ShellLine(s.Args))
	if one.Command = is; is {
		of.Commands++
	} else {
		line = strings.Join(s.Args, " ")
	}
	one.Example = escape.Line(string(p.d.redact([]byte(line))), mostExample)
	of.Programs = withProgram(of.Programs, one)
	if last := p.told[agent]; one.Command && now.Sub(last) >= unguardedAgain {
		p.told[agent] = now
		go p.tell(agent, one)
	}
}

// withProgram counts a program in a list, newest first.
func withProgram(list []wire.Program, one wire.Program) []wire.Program {
	i := slices.IndexFunc(list, func(o wire.Program) bool { return o.Name == one.Name && o.Command == one.Command })
	if i >= 0 {
		one.Count += list[i].Count
		list = slices.Delete(list, i, i+1)
	}
	list = slices.Insert(list, 0, one)
	return list[:min(len(list), mostPrograms)]
}

// tell warns of a command that an agent has run without a call that hookd was asked about.
func (p *programs) tell(agent events.Dialect, one wire.Program) {
	const why = "it was executed below the agent's process, and no call was open that hookd was asked about"
	do := "hookd blindspots " + string(agent)
	p.d.log.Warn("an agent runs commands without asking hookd",
		zap.String("agent", string(agent)), zap.String("subject", one.Example), zap.String("see", do))
	p.d.emitOwn(events.EventUnguarded,
		member("agent", string(agent)), member("tool", "Bash"), member("subject", one.Example),
		member("why", why), member("do", do))
}

// addTo adds the counts to a list of agents.
func (p *programs) addTo(list []wire.Unguarded) []wire.Unguarded {
	if p == nil {
		return list
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for agent, of := range p.by {
		i := slices.IndexFunc(list, func(u wire.Unguarded) bool { return u.Agent == agent })
		if i < 0 {
			i, list = len(list), append(list, wire.Unguarded{Agent: agent})
		}
		whole := *of
		whole.Programs = slices.Clone(of.Programs)
		list[i].Executed = &whole
	}
	slices.SortFunc(list, func(a, b wire.Unguarded) int { return cmp.Compare(a.Agent, b.Agent) })
	return list
}
