package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/system"
)

// impact tells how a command can change guards.
type impact struct {
	kind impactKind
	// unless names flags with which a command that weakens only looks.
	unless []string
	// only tells whether this command line weakens; nil = each does.
	only func(cmd *cobra.Command, args []string) bool
}

type impactKind string

const (
	looks   impactKind = "looks"   // it changes nothing of hookd
	acts    impactKind = "acts"    // it changes something, and no guard becomes weaker
	answers impactKind = "answers" // it answers an ask: the daemon says who may
	weakens impactKind = "weakens" // a guard may become weaker: an agent's process may not
)

// impacts is the table of all commands. A command that is not here weakens.
var impacts = func() map[string]impact {
	table := map[string]impact{
		"init":       {kind: weakens, unless: []string{"dry-run"}},
		"learn":      {kind: weakens, unless: []string{"list"}},
		"snooze":     {kind: weakens, unless: []string{"end"}},
		"trust":      {kind: weakens, unless: []string{"list"}},
		"connect":    {kind: weakens, unless: []string{"dry-run"}},
		"disconnect": {kind: weakens, unless: []string{"dry-run"}},
		"install":    {kind: weakens, unless: []string{"dry-run"}},
		"uninstall":  {kind: weakens, unless: []string{"dry-run"}},
		"allow": {kind: weakens, only: func(cmd *cobra.Command, args []string) bool {
			return len(args) > 0 || slices.ContainsFunc([]string{"all", "gone", "settings"}, cmd.Flags().Changed)
		}},
		"guard": {kind: weakens, only: func(cmd *cobra.Command, _ []string) bool {
			return cmd.Flags().Changed("allow") || cmd.Flags().Changed("rewrite")
		}},
		"add": {kind: weakens, only: func(cmd *cobra.Command, _ []string) bool {
			return cmd.Flags().Changed("frozen")
		}},
		"undo": {kind: weakens, only: func(cmd *cobra.Command, _ []string) bool { // of all else the daemon says who may
			return cmd.Flags().Changed("purge")
		}},
	}
	for kind, names := range map[impactKind][]string{
		looks: {
			"agent", "audit", "audit export", "audit verify", "blindspots", "box", "bundle", "bundle show",
			"completion", "config", "daemon", "decisions", "dev", "dlq", "dlq list", "dlq show", "docs", "doctor",
			"events", "facts", "fleet", "fleet rollouts", "fleet status", "grants", "help", "history", "list",
			"logs", "match", "metrics", "outdated", "policy", "policy show", "ps", "scan", "schema", "sessions",
			"show", "stats", "status", "tail", "team", "token", "top", "validate", "vault", "version", "whatif",
			"why",
		},
		acts: { // of vault add the daemon says who may
			"bridge", "bundle build", "bundle keygen", "dlq retry", "emit", "enable", "fleet accounts",
			"fleet keygen", "import", "new", "recover", "replay", "serve", "test", "ui", "vault add",
		},
		answers: {
			"allow-ask", "asks", "deny-ask",
		},
		weakens: { // kill: of a guard whose failure lets pass; restart: with other settings; run: under another daemon
			"disable", "dlq drop", "edit", "fleet disable", "fleet enable", "fleet forget", "fleet init",
			"fleet queue", "fleet rollout", "fleet user", "fleet users", "grants revoke", "kill", "notify",
			"permit", "policy set", "policy unset", "policy update", "reload", "restart", "rm", "run", "stop",
			"token rotate", "update",
		},
	} {
		for _, name := range names {
			table[name] = impact{kind: kind}
		}
	}
	return table
}()

// pathOf is the name of a command in impacts: below a group it is the name that it has elsewhere.
func pathOf(cmd *cobra.Command) string {
	path := ""
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		was := cmd.Annotations[wasKey]
		path = strings.TrimSuffix(cmp.Or(was, cmd.Name())+" "+path, " ")
		if was != "" {
			break
		}
	}
	return path
}

// weakensGuards reports whether a command line may weaken a guard.
func weakensGuards(cmd *cobra.Command, args []string) bool {
	e, known := impacts[pathOf(cmd)]
	switch {
	case !known:
		return !slices.Contains([]string{"", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, pathOf(cmd))
	case e.kind != weakens:
		return false
	case slices.ContainsFunc(e.unless, cmd.Flags().Changed):
		return false
	}
	return e.only == nil || e.only(cmd, args)
}

// mayWeaken asks the daemons before a command weakens a guard. Where none runs, none guards.
func mayWeaken(a *app, cmd *cobra.Command, args []string) error {
	if !weakensGuards(cmd, args) {
		return nil
	}
	ctx, cancel := a.answer(cmd)
	defer cancel()
	line := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
	cmd.Flags().Visit(func(f *pflag.Flag) { line += " --" + f.Name })
	sockets, own := guardingSockets(cmd)
	for i, socket := range sockets {
		err := client.New(client.Options{Socket: socket, Door: "command"}).MayWeaken(ctx, line)
		var refused *client.Error
		switch {
		case err == nil || errors.Is(err, client.ErrNotRunning):
		case !errors.As(err, &refused) && i >= own: // settings may name the daemon of another machine or user
		case refused == nil:
			return err
		case refused.Code == client.CodeForbidden:
			return fail(exitFailed, refused.Hint, "%s", refused.Message)
		default:
			return fmt.Errorf("ask the daemon at %s whether a guard may become weaker: %w", socket, err)
		}
	}
	return nil
}

// guardingSockets returns the sockets of the daemons whose guards a command could weaken. First come
// own sockets: of the command line, of the home whose files change, and of the user's home. The sockets in
// the settings of the user's agents follow.
func guardingSockets(cmd *cobra.Command) (list []string, own int) {
	list = []string{socketOf(cmd)}
	if ofSystem(cmd) {
		return list, 1
	}
	add := func(home string) {
		socket := filepath.Join(home, "hookd.sock")
		load := func() (config.Config, error) { return config.Load(home, nil, nil) }
		if c, err := readSettings(home, load); err == nil {
			socket = c.Socket
		}
		if !slices.Contains(list, socket) {
			list = append(list, socket)
		}
	}
	if home, err := config.Home(); err == nil {
		add(home)
	}
	homes := []string{""} // of $HOME
	if u, err := user.Current(); err == nil {
		add(filepath.Join(u.HomeDir, ".librefang"))
		homes = append(homes, u.HomeDir)
	}
	own = len(list)
	for _, home := range homes {
		for _, found := range connect.FindAgents(connect.Options{Home: home}) {
			socket := connect.Inspect(connect.Options{Agent: found.Agent, Home: home}).Socket
			if socket != "" && socket != system.Here().Socket && !slices.Contains(list, socket) {
				list = append(list, socket)
			}
		}
	}
	return list, own
}
