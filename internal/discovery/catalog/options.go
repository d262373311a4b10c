// Package catalog has the hooks of the settings, with or without a daemon: where they
// are read from and how, which of them an event would run, their problems,
// which wait to be allowed, their last good versions, and their changes.
//
// Scan, Match, Validate and Waiting read files, and block as long as the file system
// does; nothing here starts a process. A broken file is a problem of that file, never
// an error of the whole. Changes and LastGood write, and log the files that they cannot
// write: hooks go on.
package catalog

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/builtin"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/judge"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/hooks/source/dockeragent"
	"github.com/hookd/hookd/internal/hooks/source/familiar"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Options returns where and how the hooks of settings c are found; p is the policy in
// c.PolicyDir. With reload.mode: ask hooks must be allowed.
func Options(c config.Config, p policy.Home) discovery.Options {
	return discovery.Options{
		Root: c.HooksDir, Read: readOptions(c, false), Files: filePlaces(c), Fixed: settingHooks(c),
		Checker:  c.Checker(),
		Disabled: discovery.NewMarkers(c.DisabledDir()).Disabled, Approved: approved(c), Parsers: fileParsers(c),
		Dirs: dirs(c, p),
	}
}

// fileSources returns the files that the settings name under sources.
func filePlaces(c config.Config) []discovery.FilePlace {
	var list []discovery.FilePlace
	for _, s := range c.Sources {
		if s.Type == config.HookDir {
			continue // a folder, see dirs
		}
		list = append(list, discovery.FilePlace{Type: s.Type, Pattern: s.Path, Parse: fileParsers(c)[s.Type]})
	}
	return list
}

// fileFormat is a format of files with many hooks.
type fileFormat struct {
	name    string   // the type of its source in hookd.yaml
	endings []string // of such files
	parse   func(config.Config) discovery.Parse
}

// fileFormats is the index of these formats: one line each, as hookd.yaml names them.
var fileFormats = []fileFormat{
	{dockeragent.SourceType, []string{".yaml", ".yml"}, func(config.Config) discovery.Parse {
		return func(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
			return dockeragent.Parse(path, text, dockeragent.Options{})
		}
	}},
	{familiar.SourceType, []string{".md"}, func(c config.Config) discovery.Parse {
		return func(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
			return familiar.Parse(path, text, familiar.Options{AgentTimeout: c.TimeoutAgent})
		}
	}},
}

// fileParsers returns the parsers of files of hooks under settings c, by the type of
// their source.
func fileParsers(c config.Config) map[string]discovery.Parse {
	parsers := map[string]discovery.Parse{}
	for _, f := range fileFormats {
		parsers[f.name] = f.parse(c)
	}
	return parsers
}

// settingHooks returns the hooks that settings switch on. An event waits for that of
// snapshot, so that the tree is stored before a tool starts; its answer never counts.
func settingHooks(c config.Config) []*hook.Hook {
	if !c.Snapshot {
		return nil
	}
	waited := true
	h := &hook.Hook{
		ID: "setting:snapshot", Name: "snapshot", Description: "of the setting snapshot",
		Source: hook.Source{Type: "setting", Path: "snapshot"}, Dir: c.Home,
		Type: hook.Builtin, Command: "snapshot", Definition: "snapshot",
		Lane: events.LaneDefault, Blocking: &waited, OnError: hook.OnErrorIgnore,
		Timeout: c.TimeoutBuiltin, Enabled: true, Order: hook.OrderSession,
	}
	for _, name := range []string{
		"session_start", "turn_start", "turn_end", "user_prompt_submit", "stop",
		"pre_tool_use", "post_tool_use", "session_end",
	} {
		h.Patterns = append(h.Patterns, pattern.Pattern{Text: name})
	}
	return []*hook.Hook{h}
}

// FlagHooks makes the hooks of docker-agent's --hook-… flags: commands by
// event, run in dir unless the event has a directory of its own.
func FlagHooks(commands map[string][]string, dir string) []*hook.Hook {
	return dockeragent.FromFlags(commands, dir, dockeragent.Options{})
}

// HookFlags are docker-agent's flags and the events that they add hooks to.
func HookFlags() []dockeragent.Flag { return dockeragent.Flags() }

func readOptions(c config.Config, strict bool) hookdir.Options {
	return hookdir.Options{
		RunAs: runAs(c), RulesDir: filepath.Join(c.Home, "rules"),
		Strict: strict, KnownEvents: EventNames(), Path: c.Path,
		Timeouts: map[hook.Type]time.Duration{
			hook.Command: c.TimeoutCommand, hook.Script: c.TimeoutScript, hook.Builtin: c.TimeoutBuiltin,
			hook.Model: c.TimeoutModel,
		},
		Builtins:   builtin.Names(),
		CheckModel: checkModel,
		CheckGuard: checkGuard,
		KnownTools: knownTools,
	}
}

// knownTools returns the tools of the agents that send an event which p matches, by
// their own and their canonical names; nil where it matches none of an agent.
func knownTools(p pattern.Pattern) (agents []hookdir.AgentTools) {
	seen := map[events.Dialect]bool{}
	for row := range events.Rows() {
		if row.ToolMatched && p.Match(row.Name) && !seen[row.Dialect] {
			seen[row.Dialect] = true
			agents = append(agents, hookdir.AgentTools{Agent: string(row.Dialect), Tools: dialect.Tools(row.Dialect)})
		}
	}
	return agents
}

// checkGuard returns why a built-in that guards has nothing to do on the events of a
// pattern; "" = it has.
func checkGuard(h *hook.Hook, p pattern.Pattern) string {
	b, ok := builtin.Lookup(h.Command)
	if !ok || b.Needs == nil {
		return ""
	}
	watches := false
	for row := range events.Rows() {
		if !p.Match(row.Name) || !b.Needs(row) {
			continue
		}
		if h.Blocks(row, p) || !row.Decidable {
			return ""
		}
		watches = true
	}
	if watches {
		return "a hook on a pattern only observes; name the events, or write blocking: true"
	}
	return "it is for " + strings.Join(b.Events, ", ") + " and what other agents call them"
}

// checkModel returns an error if the events of a model hook cannot use its answer.
func checkModel(h *hook.Hook) error {
	for _, p := range h.Patterns {
		if err := judge.Check(h.Model, h.Prompt, h.Schema, events.Lookup(p.Text)); err != nil {
			return err
		}
	}
	return nil
}

// EventNames returns the names of all events of the contract.
func EventNames() []string {
	var names []string
	for _, c := range events.All() {
		names = append(names, c.Name)
	}
	return names
}

// approved returns a function that returns the approvals; nil when hooks need none.
func approved(c config.Config) func() map[string]discovery.Approval {
	if c.ReloadMode != "ask" {
		return nil
	}
	return discovery.NewApprovals(c.AllowedDir()).All
}
