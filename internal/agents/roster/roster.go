// Package roster remembers which agents `hookd connect` has connected, in a file of hookd's home, and
// finds those whose settings do not call hookd any more, or whose bridge is gone, cannot be executed or
// was replaced: without waiting for a call.
//
// Promises. Note, Forget and Adopt replace the file whole or leave it. Look changes nothing and starts nothing;
// it names each file that it cannot read. It reads files, which may hang: call it where nothing else waits. It
// decides nothing, and mends nothing.
package roster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/watchdir"
)

// Entry is one agent that was connected.
type Entry struct {
	Agent   string            `json:"agent"`
	Project string            `json:"project,omitempty"` // its folder; "" = the user's own settings
	File    string            `json:"file,omitempty"`    // where the agent's settings have no place of their own
	Managed bool              `json:"managed,omitempty"`
	Home    string            `json:"home"`             // the user's
	Env     map[string]string `json:"env,omitempty"`    // that says where the settings are
	Bridge  string            `json:"bridge,omitempty"` // "" = a plugin speaks for the agent, or HTTP
	Sum     string            `json:"sum,omitempty"`    // SHA-256 of the bridge
	Hookd   string            `json:"hookd,omitempty"`  // size and time of the hookd that the bridge came with
}

// Fault is an agent that does not call hookd as it was connected.
type Fault struct {
	Entry
	Why string // in words for people
	Do  string // the command to type
}

// same reports whether two entries are about the same settings.
func (e Entry) same(o Entry) bool {
	where := e.Project == o.Project && e.File == o.File && e.Managed == o.Managed && e.Home == o.Home
	return where && e.Agent == o.Agent
}

// mostBytes is how large the file is at most.
const mostBytes = 1 << 20

// path is the file in a home of hookd.
func path(home string) string { return filepath.Join(home, "hookd", "connected.json") }

// List returns the agents that a home of hookd remembers; nothing where there is no such file.
func List(home string) (list []Entry, err error) {
	text, err := readfile.Read(path(home), mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read which agents are connected: %w", err)
	}
	return list, nil
}

// Note remembers that o was carried out.
func Note(home string, o connect.Options) error {
	e := entryOf(o)
	env := map[string]string{}
	s := connect.Inspect(e.options(func(name string) string {
		value := os.Getenv(name)
		if value != "" {
			env[name] = value
		}
		return value
	}))
	e.Env, e.Bridge = env, s.Bridge
	if e.Bridge != "" {
		e.Sum, _ = sumOf(e.Bridge) // what cannot be read is a fault then
		e.Hookd = ownMark()
	}
	return change(home, e, true)
}

// Forget ends that o is remembered.
func Forget(home string, o connect.Options) error { return change(home, entryOf(o), false) }

func entryOf(o connect.Options) Entry {
	e := Entry{Agent: o.Agent, Managed: o.Managed, Home: o.Home}
	if e.Home == "" {
		e.Home, _ = os.UserHomeDir() // without one the settings are not found, and that is said
	}
	e.Project, e.File = absolute(o.Project), absolute(o.File)
	return e
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

func (e Entry) options(getenv func(string) string) connect.Options {
	return connect.Options{
		Agent: e.Agent, Project: e.Project, File: e.File, Managed: e.Managed, Home: e.Home, Getenv: getenv,
	}
}

func change(home string, e Entry, add bool) error {
	list, err := List(home)
	if err != nil {
		return err
	}
	now := slices.DeleteFunc(slices.Clone(list), e.same)
	if add {
		now = append(now, e)
	}
	if len(now) == 0 && len(list) == 0 {
		return nil
	}
	return write(home, now)
}

func write(home string, list []Entry) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path(home)), 0o700)
	}
	if err == nil {
		err = replacefile.Write(path(home), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write which agents are connected: %w", err)
	}
	return nil
}

// Looker looks again and again, and remembers the sums of programs that have not changed. It belongs to
// one goroutine. Its zero value remembers nothing.
type Looker struct {
	sums map[string]summed
}

// Adopt notes that hookd was upgraded together with the bridges that its entries name: each has the bytes of
// own, the bridge beside the hookd that runs. It leaves a bridge that changed while hookd stayed the same, and a
// program that is not hookd's: Look tells of both. Call it once, before the first look.
func Adopt(home, own string) error {
	list, err := List(home)
	if err != nil {
		return err
	}
	hookd := ownMark()
	old := func(e Entry) bool { return e.Sum != "" && e.Hookd != hookd }
	if hookd == "" || !slices.ContainsFunc(list, old) {
		return nil
	}
	text, err := readfile.Read(own, mostProgram)
	if err != nil || !bytes.Contains(text, ofBridge) {
		return nil // only the connected bridge counts
	}
	sum := sha256.Sum256(text)
	mine, adopted := hex.EncodeToString(sum[:]), false
	for i, e := range list {
		if !old(e) {
			continue
		}
		if now, _ := sumOf(e.Bridge); now == mine {
			list[i].Sum, list[i].Hookd, adopted = mine, hookd, true
		}
	}
	if !adopted {
		return nil
	}
	return write(home, list)
}

// ofBridge is in each program that was built from the bridge's source, stripped or not.
var ofBridge = []byte("path\tgithub.com/hookd/hookd/cmd/hookd-bridge\n")

// mostProgram is how large a bridge is at most.
const mostProgram = 64 << 20

// ownMark tells the program that runs from the one before an upgrade, without reading its 30 MiB at each
// start; "" = its file cannot be looked at.
func ownMark() string {
	program, err := ownProgram()
	if err != nil {
		return ""
	}
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

type summed struct {
	at   time.Time
	size int64
	sum  string
}

// Look returns the agents of a home that do not call hookd as they were connected.
func (l *Looker) Look(home string) ([]Fault, error) {
	list, err := List(home)
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, e := range list {
		if why := l.fault(e); why != "" {
			faults = append(faults, Fault{e, why, e.Again()})
		}
	}
	return faults, nil
}

// Places are the names whose changes may change what Look says: of the file in hookd's home, and of the settings
// and bridges that it names, with the folders that they lie in.
func Places(home string) watchdir.Names {
	names := watchdir.Names{}
	names.Add(filepath.Dir(path(home)), filepath.Base(path(home)))
	names.Add(home, filepath.Base(filepath.Dir(path(home))))
	list, err := List(home)
	if err != nil {
		return names
	}
	for _, e := range list {
		s := connect.Inspect(e.options(func(name string) string { return e.Env[name] }))
		for _, file := range []string{s.File, s.Bridge, e.Bridge} {
			if !filepath.IsAbs(file) {
				continue
			}
			add(names, file, e.Home)
			if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
				add(names, real, e.Home)
			}
		}
		if filepath.IsAbs(s.File) { // an agent may have more of its settings beside
			names.Add(filepath.Dir(s.File), "")
		}
	}
	return names
}

// add adds a file, and the folders above it that lie in the user's home. The file may be a folder itself.
func add(names watchdir.Names, file, home string) {
	names.Add(file, "")
	for {
		dir := filepath.Dir(file)
		names.Add(dir, filepath.Base(file))
		if dir == home || !strings.HasPrefix(dir, home+"/") {
			return
		}
		file = dir
	}
}

// Again is the command that connects the agent as it was.
func (e Entry) Again() string {
	words := "hookd connect " + e.Agent
	switch {
	case e.Managed:
		words = "sudo " + words + " --managed"
	case e.Project != "":
		words += " --project " + e.Project
	case e.File != "":
		words += " --file " + e.File
	}
	return words
}

// fault says why the agent does not call hookd; "" = it does.
func (l *Looker) fault(e Entry) string {
	s := connect.Inspect(e.options(func(name string) string { return e.Env[name] }))
	if s.State == connect.NotConnected {
		return s.Unasked() + " any more"
	}
	for _, bridge := range s.Bridges {
		if why := l.bridgeFault(e, bridge); why != "" {
			return why
		}
	}
	return s.Unasked() // Fault.Do mends it
}

// bridgeFault says why a bridge is not the connected bridge; "" = it is.
func (l *Looker) bridgeFault(e Entry, bridge string) string {
	if bridge == "" || !filepath.IsAbs(bridge) {
		return ""
	}
	info, err := os.Stat(bridge)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bridge + " is gone"
	case err != nil:
		return "its bridge cannot be looked at: " + err.Error()
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return bridge + " cannot be executed"
	}
	if e.Sum == "" {
		return ""
	}
	sum, err := l.sumOf(bridge)
	if err != nil {
		return "its bridge cannot be read: " + err.Error()
	}
	if sum != e.Sum {
		return bridge + " is another program than the connected one"
	}
	return ""
}

// sumOf is sumOf, from memory where the file has the time and the size that it had.
func (l *Looker) sumOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	known := l.sums[path]
	if known.sum != "" && known.at.Equal(info.ModTime()) && known.size == info.Size() {
		return known.sum, nil
	}
	sum, err := sumOf(path)
	if err != nil {
		return "", err
	}
	if l.sums == nil {
		l.sums = map[string]summed{}
	}
	l.sums[path] = summed{info.ModTime(), info.Size(), sum}
	return sum, nil
}

// sumOf is the SHA-256 of a regular file.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: no regular file", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
