package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/internal/run/contain"
	"github.com/hookd/hookd/wire"
)

// newBoxes makes the room that puts calls into boxes.
func (d *Daemon) newBoxes(c config.Config) *contain.Boxer {
	bridge := bridgePath()
	return contain.New(contain.Options{
		Bridge: bridge, Socket: ownSocket(c, d.reader.Home), Home: d.reader.Home, State: c.State,
		Own: boxesHide(c), Facts: d.reader, Log: d.opts.Log,
		Profiles: []string{filepath.Join(system.Here().Folder, "profiles"), filepath.Join(c.Home, "profiles")},
		Probe: func(profile string) error {
			if profile == box.ProjectNet { // its proxy needs a network namespace
				return probeBox(bridge, profile, box.Namespaces)
			}
			return probeBox(bridge, profile, "")
		},
		Granted: func(event string) bool { return d.asks.Granted(event) },
	})
}

// ownSocket is the socket that a box must be told: an agent may know it by its hook's command alone.
func ownSocket(c config.Config, home string) string {
	if c.Socket == filepath.Join(home, ".librefang", "hookd.sock") || c.Socket == system.Here().Socket {
		return ""
	}
	return c.Socket
}

// bridgePath is hookd-bridge as it is installed: beside hookd.
func bridgePath() string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	return filepath.Join(filepath.Dir(own), "hookd-bridge")
}

// boxesHide lists hookd's own files: nothing in a box may talk to hookd, read its history or change
// its hooks.
func boxesHide(c config.Config) []string {
	return []string{c.Home, c.State, c.Socket, c.HooksDir, c.StorePath}
}

// probeTime is how long the first box of a kind may take.
const probeTime = 5 * time.Second

// noBoxError says why a machine makes no such box.
type noBoxError struct{ why string }

func (e *noBoxError) Error() string { return "this machine makes no such box: " + e.why }

// probeBox makes a box of a built-in profile, at a level, "" = the strongest, and says why that fails. Neither the
// version of a machine nor its installed programs tell whether it can make one.
func probeBox(bridge, profile string, level box.Level) error {
	dir, err := os.MkdirTemp("", "hookd-box-")
	if err != nil {
		return fmt.Errorf("make a folder to try a box in: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	args := []string{"box", "--profile", profile}
	if level != "" {
		args = append(args, "--level", string(level))
	}
	cmd := exec.CommandContext(ctx, bridge, append(args, "--", "true")...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	_, why, ok := strings.Cut(strings.TrimSpace(string(out)), "nothing was run: ")
	if !ok {
		return fmt.Errorf("this machine makes no box: %w", err)
	}
	return &noBoxError{why}
}

// BeginBox fits server.Boxes.
func (c *control) BeginBox(id string, b wire.BoxStart) wire.BoxBegun {
	return c.begun(c.d.boxes.Begin(id, b.Line, b.Cwd, b.Profile))
}

func (c *control) begun(profile box.Profile, ok bool) (begun wire.BoxBegun) {
	if !ok {
		return begun
	}
	text, err := json.Marshal(profile)
	if err != nil {
		return begun
	}
	return wire.BoxBegun{Approved: true, Profile: text, Hide: boxesHide(*c.d.config.Load())}
}

// PlanBox fits server.Boxes.
func (c *control) PlanBox(h wire.Handed, pid int) (reply []byte, files [2]int, ok bool) {
	return c.d.plans.plan(h, pid, bridge.BoxKeeper{
		Look: func(id string, b wire.BoxStart) wire.BoxBegun {
			return c.begun(c.d.boxes.Look(id, b.Line, b.Cwd, b.Profile))
		},
		Begin: c.BeginBox,
		Own:   boxesHide(*c.d.config.Load()),
	})
}

// EndBox fits server.Boxes.
func (c *control) EndBox(id string, b wire.BoxEnd) wire.BoxTold {
	return wire.BoxTold{Tell: c.d.boxes.End(id, b)}
}
