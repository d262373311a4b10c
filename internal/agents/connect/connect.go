// Package connect registers hookd's bridge in an agent's own settings, and
// takes it out again.
//
// Promises. Connect and Disconnect only read and plan; Plan.Apply writes. Text that
// is not ours stays byte for byte: comments, order, indentation, line ends, the
// byte order mark, a missing last newline. Before a plan is handed out, the new
// text is parsed and compared with the old one: it differs in our hooks alone,
// or there is no plan but an error that names file, line and column. A file is
// replaced in one step, with its mode, where a symbolic link leads; the text
// from before the first connect stays beside it (BackupSuffix) until Disconnect
// puts it back; where a person has changed the settings since, it stays. Doing a thing
// twice changes nothing the second time.
//
// It starts no process, talks to no daemon and knows no hook. That the agent
// trusts the new hooks is for the agent to ask.
package connect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// BackupSuffix ends the name of the file that keeps a settings file as it was
// before the first connect. Agents that read every file of a folder go by
// other endings.
const BackupSuffix = ".before-hookd"

// Options says which agent to connect, and how. Agent is required.
type Options struct {
	Agent     string
	Project   string // a project's folder; "" = the user's own settings
	Managed   bool   // the settings that root writes for all users, where the agent has them
	File      string // the settings file, for agents without a fixed one (docker-agent); "" for others
	AllEvents bool   // also streaming events
	Bridge    string // absolute path of hookd-bridge; only Connect needs it

	// Socket is the absolute path that the bridge dials, whatever its environment
	// says; "" leaves the socket that is registered.
	Socket string
	// FailClosed makes the bridge deny when hookd does not answer; nil leaves the setting that is
	// registered, at first false.
	FailClosed *bool
	// AskTimeout is how long a person has to answer an ask: calls get a deadline for
	// that, where the agent takes one; 0 leaves the deadline that is registered.
	AskTimeout time.Duration
	// Post registers HTTP instead of the bridge, for the events and agents that take
	// it; nil registers the bridge alone.
	Post *Post

	Home   string              // the user's home; "" = os.UserHomeDir
	Getenv func(string) string // nil = os.Getenv

	root string // before the path of managed settings, in tests
}

// Plan has the changes that Apply is to write. Without changes everything is as asked.
type Plan struct {
	Agent   string
	File    string   // the settings file, or the folder of files
	Changes []Change // in the order in which they are written
	Events  []string // what the agent calls the bridge for, once the plan is applied
	Left    []string // events that only AllEvents registers
	Notes   []string // what else a person must know or do
}

// Names returns the agents that can be named, sorted.
func Names() []string {
	var names []string
	for _, a := range agents() {
		names = append(names, string(a.name))
	}
	return names
}

// Meant returns the name of the agent that a person means: a name, or a beginning that only one name has, such as
// claude. Another text comes back as it is.
func Meant(text string) string {
	var found []string
	for _, name := range Names() {
		if name == text {
			return name
		}
		if text != "" && strings.HasPrefix(name, text) {
			found = append(found, name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return text
}

// UnknownError is an agent that hookd does not know.
type UnknownError struct{ Agent string }

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown agent %q", e.Agent) }

// ManualError is an agent whose settings cannot hold the bridge: Do names the steps that a
// person can do.
type ManualError struct{ Agent, Do string }

func (e *ManualError) Error() string { return e.Agent + " has no settings for a hook command" }

// Connect plans to register the bridge for the agent's events.
func Connect(o Options) (Plan, error) {
	t, err := open(o)
	if err != nil {
		return Plan{}, err
	}
	if !filepath.IsAbs(o.Bridge) {
		return Plan{}, fmt.Errorf("connect %s: the bridge's path %q is not absolute", o.Agent, o.Bridge)
	}
	if err := t.checkPost(); err != nil {
		return Plan{}, err
	}
	p := Plan{Agent: o.Agent, File: t.path, Events: t.agent.events(o.AllEvents)}
	if !o.AllEvents {
		p.Left = t.agent.left()
	}
	if t.agent.files != nil {
		err = t.connectFiles(&p)
	} else {
		err = t.connect(&p)
	}
	if err == nil {
		p.Notes = slices.Concat(p.Notes, t.notes(), t.runsTwice(), t.after())
	}
	if err == nil && t.Managed {
		err = t.writeBeside(&p)
	}
	if err == nil {
		err = t.insideProject(p)
	}
	return p, err
}

// way is the flag of the way that is asked for instead of commands; "" = none.
func (t *target) way() string {
	if t.Post != nil {
		return "--http"
	}
	return ""
}

// after has the steps that a person must do besides.
func (t *target) after() []string {
	if t.Managed {
		return t.agent.Managed.After
	}
	return t.agent.After
}

// target is the settings of one agent, as Options name them.
type target struct {
	Options
	agent *agent
	again bool // what is current is written again, too
	path  string
	file  file // empty for agents whose hooks are files
}

func open(o Options) (*target, error) {
	a := find(o.Agent)
	if a == nil {
		return nil, &UnknownError{o.Agent}
	}
	if a.Manual != "" {
		return nil, &ManualError{o.Agent, a.Manual}
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the settings of %s: %w", o.Agent, err)
		}
		o.Home = home
	}
	path, err := a.path(o)
	if err != nil {
		return nil, err
	}
	t := &target{Options: o, agent: a, path: path}
	if a.files == nil {
		t.file, err = readFile(path)
	}
	return t, err
}

// connect adds the calls that are missing. Calls of a bridge that stands elsewhere now are
// replaced, with their flags.
func (t *target) connect(p *Plan) error {
	text, err := t.edited(t.file.text, t.AllEvents)
	if err != nil {
		return err
	}
	c := t.change(text)
	if t.file.exists && bytes.Equal(text, t.file.text) && c.Mode == t.file.mode {
		return t.writeManifest(p)
	}
	if had, err := t.agent.registered(t.path, t.file.text); err == nil && len(had) == 0 && t.file.exists {
		c.Backup = c.Path + BackupSuffix
	}
	p.Changes, p.Notes = []Change{c}, t.agent.widened(t.path, t.file.text, text)
	return t.writeManifest(p)
}

// widened says which calls the agent made only for some tools, or without waiting, that it makes each time with the
// text after: a person may have meant that.
func (a *agent) widened(path string, before, after []byte) (notes []string) {
	was, _ := a.registered(path, before)
	now, _ := a.registered(path, after)
	for _, h := range was {
		same := func(now registration) bool { return now.event == h.event && now.loose == h.loose }
		if h.loose != "" && !slices.ContainsFunc(now, same) {
			notes = append(notes, fmt.Sprintf("%s was registered %s, now it is for each call: "+
				"if you meant that, change it back in %s", h.event, h.loose, path))
		}
	}
	return notes
}

// edited returns text with the bridge in it.
func (t *target) edited(text []byte, all bool) ([]byte, error) {
	tree, err := t.agent.parse(t.path, text)
	if err != nil {
		return nil, err
	}
	have := t.agent.hooksIn(tree)
	if way := t.way(); way != "" && t.failClosed(have) {
		return nil, fmt.Errorf("%s goes on where such a hook does not answer, so %s cannot fail closed: "+
			"leave out %s, or type --fail-closed=false", t.Agent, way, way)
	}
	stale := slices.DeleteFunc(slices.Clone(have), t.current)
	isStale := func(c call) bool { return !t.wanted(c) }
	registered := have
	if t.way() == "" && slices.ContainsFunc(have, t.outdated) {
		t.again, stale, isStale = true, have, func(call) bool { return true }
	}
	// A command that is right for one event is wrong for another: all are written again.
	if t.way() != "" && len(stale) > 0 {
		have, isStale = nil, func(call) bool { return true }
	}
	containers := t.agent.containers(tree)
	if len(containers) == 0 {
		return nil, t.at(fmt.Errorf("there is nothing under `%s` to connect", t.agent.At[0]))
	}
	var want []leaf
	for _, path := range containers {
		for _, event := range t.agent.eventsOf(registered, path, all) {
			if call, ok := t.call(have, path, event); ok {
				want = append(want, t.agent.leaf(path, event, call))
			}
		}
	}
	if len(stale) == 0 && len(want) == 0 {
		return text, nil
	}
	without := text
	if len(stale) > 0 {
		everywhere := func([]string) bool { return true }
		if without, err = t.agent.format.remove(text, t.agent, isStale, everywhere); err != nil {
			return nil, t.at(err)
		}
	}
	result, err := t.agent.format.add(without, append(slices.Clone(t.agent.Beside), want...))
	if err != nil {
		return nil, t.at(err)
	}
	t.again = false
	return result, t.check(tree, result, all)
}

// eventsOf are the events to register in a container: those asked for, and those
// that are registered already.
func (a *agent) eventsOf(have []registration, path []string, all bool) []string {
	names := a.events(all)
	for _, name := range a.left() {
		isHere := func(h registration) bool { return h.event == name && slices.Equal(h.path, path) }
		if !all && slices.ContainsFunc(have, isHere) {
			names = append(names, name)
		}
	}
	return names
}

// call is the call to register for an event of a container; false if it stands
// there already. A call with flags of its own keeps them.
func (t *target) call(have []registration, path []string, event string) (call, bool) {
	c := call{program: t.Bridge, agent: t.Agent}
	if t.posts(event) {
		c = call{agent: t.Agent, post: t.Post}
	}
	if t.agent.Named {
		c.args = []string{event}
	}
	for _, h := range have {
		switch {
		case !slices.Equal(h.path, path) || h.event != event:
		case t.current(h) && !t.again:
			return call{}, false
		case len(h.call.args) > len(c.args):
			c.args = h.call.args
		}
	}
	if c.isCommand() {
		c.args = t.flags(c.args)
		c.fallback = t.agent.fallbackOf(event, c.args)
	}
	return c, true
}

// change is the plan to replace the settings file's text.
func (t *target) change(text []byte) Change {
	c := Change{
		Path: t.file.real, Before: t.file.with(t.file.text), After: t.file.with(text),
		New: !t.file.exists, Mode: t.file.mode, Dir: 0o700,
	}
	if c.New {
		c.Mode = 0o600
	}
	shared := t.Project != "" || t.Managed
	if shared {
		c.Dir = 0o755
	}
	if shared && c.New {
		c.Mode = 0o644
	}
	c.BackupMode = c.Mode
	if t.showsToken(text) {
		c.Mode &^= 0o077
	}
	if t.showsToken(t.file.text) {
		c.BackupMode &^= 0o077
	}
	return c
}

// at adds the file to where in its text err is.
func (t *target) at(err error) error {
	var w *whereError
	if errors.As(err, &w) {
		return &FileError{t.path, w.line, w.column, w.err}
	}
	return &FileError{t.path, 0, 0, err}
}
