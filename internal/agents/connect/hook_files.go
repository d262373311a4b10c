package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/agents/bridge/shims"
)

// hookFiles is an agent whose hooks are files: all that connect does is to write
// them, and it never changes other files.
type hookFiles interface {
	list(t *target) []ownFile
	// owns reports whether a file was written by connect, of any version.
	owns(t *target, text []byte) bool
	// current reports whether a file that connect wrote does its job.
	current(t *target, have, want []byte) bool
	// renewed is the text that is to stand in the place of have, which connect wrote: want,
	// with the flags that have has and the options do not speak of.
	renewed(t *target, have []byte, want ownFile) []byte
}

// ownFile is a file of hookd's in an agent's folder.
type ownFile struct {
	name  string
	text  []byte
	mode  fs.FileMode
	event string // the one that it is for; "" = all
}

// errTaken is a file of the user's in the place of hookd's.
var errTaken = errors.New("a file that is not hookd's stands there: let it call hookd-bridge itself, or move it away")

// scripts are executables named after events, which call the bridge.
type scripts struct{}

func (scripts) list(t *target) (list []ownFile) {
	for _, event := range t.agent.events(true) {
		list = append(list, ownFile{event, t.script([]string{event}), 0o755, event})
	}
	return list
}

// script is the text of a script that calls the bridge.
func (t *target) script(args []string) []byte {
	c, start := call{program: t.Bridge, agent: t.Agent, args: t.flags(args)}, "exec "
	if c.fallback = t.agent.fallbackOf(args[0], c.args); c.fallback != "" {
		start = ""
	}
	return []byte("#!/bin/sh\n# hookd's bridge; `hookd disconnect " + t.Agent + "` removes this file.\n" + start +
		c.String() + "\n")
}

func (scripts) owns(t *target, text []byte) bool { return callIn(text, t.Agent).program != "" }

// current allows for flags of its own.
func (scripts) current(t *target, have, _ []byte) bool {
	c := callIn(have, t.Agent)
	return t.wanted(c) && (len(c.args) == 0 || c.fallback == t.agent.fallbackOf(c.args[0], c.args))
}

func (scripts) renewed(t *target, have []byte, want ownFile) []byte {
	if c := callIn(have, t.Agent); len(c.args) > 0 {
		return t.script(c.args)
	}
	return want.text
}

// callIn is the call of the bridge of a script that does nothing else; without a
// program if it is none.
func callIn(text []byte, agent string) (only call) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		c, ok := callOf(strings.TrimPrefix(line, "exec "), agent)
		if !ok || only.program != "" {
			return call{}
		}
		only = c
	}
	return only
}

// plugin is a program in the agent's own process, which needs no bridge.
type plugin struct{}

func (plugin) list(t *target) (list []ownFile) {
	p, _ := shims.For(t.Agent)
	for _, f := range p.Files {
		list = append(list, ownFile{f.Name, f.Text, 0o644, ""})
	}
	return list
}

// owns goes by the text in which every version names itself.
func (plugin) owns(t *target, text []byte) bool {
	return bytes.Contains(text, []byte("`hookd connect "+t.Agent+"`")) || bytes.Contains(text, []byte(`"id": "hookd"`))
}

func (plugin) current(_ *target, have, want []byte) bool { return bytes.Equal(have, want) }

func (plugin) renewed(t *target, have []byte, want ownFile) []byte {
	s, _ := shims.SettingsOf(have)
	if t.Socket != "" {
		s.Socket = t.Socket
	}
	if t.FailClosed != nil {
		s.FailClosed = *t.FailClosed
	}
	s.DeadlineMS = max(s.DeadlineMS, t.deadline().Milliseconds())
	return s.In(want.text)
}

// connectFiles plans the files, then the entry that names them.
func (t *target) connectFiles(p *Plan) (err error) {
	if p.Changes, err = t.writeFiles(); err != nil || t.agent.Entry == nil {
		return err
	}
	c, notes, err := t.writeEntry()
	p.Changes, p.Notes = append(p.Changes, c...), append(p.Notes, notes...)
	return err
}

// disconnectFiles plans to take the entry out, then to remove the files.
func (t *target) disconnectFiles(p *Plan) (err error) {
	if t.agent.Entry != nil {
		if p.Changes, err = t.removeEntry(); err != nil {
			return err
		}
	}
	files, err := t.removeFiles()
	p.Changes = append(p.Changes, files...)
	return err
}

// writeFiles plans the files that are missing or outdated.
func (t *target) writeFiles() ([]Change, error) {
	return t.eachFile(func(want ownFile, f file) (Change, bool, error) {
		executable := f.mode&0o100 == want.mode&0o100
		switch {
		case f.exists && !t.agent.files.owns(t, f.text):
			return Change{}, false, &FileError{f.real, 0, 0, errTaken}
		case f.exists && executable && t.agent.files.current(t, f.text, want.text):
			return Change{}, false, nil
		}
		return Change{
			Path: f.real, Before: f.with(f.text), After: want.text, New: !f.exists, Mode: want.mode, Dir: 0o755,
		}, true, nil
	})
}

// removeFiles plans to remove the files that are ours.
func (t *target) removeFiles() ([]Change, error) {
	return t.eachFile(func(_ ownFile, f file) (Change, bool, error) {
		c := Change{Path: f.real, Before: f.with(f.text), Remove: true, OwnDir: t.agent.OwnDir}
		return c, f.exists && t.agent.files.owns(t, f.text), nil
	})
}

func (t *target) eachFile(plan func(want ownFile, f file) (Change, bool, error)) ([]Change, error) {
	if info, err := os.Stat(t.path); err == nil && !info.IsDir() {
		return nil, &FileError{t.path, 0, 0, errors.New("it is not a folder")}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("connect %s: %w", t.Agent, err)
	}
	var changes []Change
	for _, want := range t.agent.files.list(t) {
		f, err := readFile(filepath.Join(t.path, want.name))
		if err != nil {
			return nil, err
		}
		want.text = t.agent.files.renewed(t, f.text, want)
		c, wanted, err := plan(want, f)
		if err != nil {
			return nil, err
		}
		if wanted {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// inspectFiles finds the events that our files are for. A plugin without all
// of its files is none.
func (t *target) inspectFiles(s *Status) error {
	outdated := false
	_, err := t.eachFile(func(want ownFile, f file) (Change, bool, error) {
		switch {
		case !f.exists || !t.agent.files.owns(t, f.text):
		case want.event != "":
			c := callIn(f.text, t.Agent)
			s.Events = append(s.Events, want.event)
			s.calls(c.program)
			s.saw(c.socket(), c.failClosed())
			s.sawDeadline(t, registration{event: want.event, call: c})
			return Change{}, false, nil
		case t.agent.files.current(t, f.text, want.text):
			s.Events = t.agent.events(true)
			s.sawPlugin(f.text)
			return Change{}, false, nil
		default:
			s.Events = t.agent.events(true)
			s.sawPlugin(f.text)
		}
		outdated = outdated || want.event == ""
		return Change{}, false, nil
	})
	if outdated && len(s.Events) > 0 {
		s.Missing, s.Note = s.Events, "its plugin is not this version's, or is for other settings: type `hookd connect "+
			t.Agent+"` again"
	}
	if err != nil || t.agent.Entry == nil || len(s.Events) == 0 {
		return err
	}
	missing, notes, err := t.inspectEntry()
	if missing != "" {
		s.Missing, s.Note = s.Events, missing
	}
	s.Notes = notes
	return err
}
