package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
)

func enableCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "enable HOOK",
		Short:             "Enable a disabled hook",
		Long:              "enable undoes `hookd disable`. It changes no HOOK.yaml: `enabled: false` there wins.",
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return enable(a, cmd, cfg, args[0])
		}),
	}
	settingFlags(cmd, "hooks_dir")
	return cmd
}

func disableCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "disable HOOK",
		Short: "Disable a hook, also across restarts",
		Long: `disable puts a marker under the home, so that the hook does not run until
` + "`hookd enable`" + ` removes it; its files stay as they are. It asks on a terminal and
refuses without one unless --yes: a guard that is off guards nothing.`,
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return disable(a, cmd, cfg, args[0], yes)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// switched is the answer of both commands.
type switched struct {
	Hook     string `json:"hook"`
	Enabled  bool   `json:"enabled"`
	Reloaded bool   `json:"reloaded"`       // a running daemon has taken note
	Note     string `json:"note,omitempty"` // why it may run or not all the same
}

func enable(a *app, cmd *cobra.Command, cfg config.Config, name string) error {
	if _, err := entryOf(cfg, name); err != nil {
		return err
	}
	if err := catalog.Switch(cfg, name, true, ""); err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `hookd enable "+name+"`", "%w", err)
	}
	s := switched{Hook: name, Enabled: true}
	switch e, _ := entryOf(cfg, name); {
	case e.OffBy != "":
		s.Enabled, s.Note = false, "it is switched off on all machines of the fleet by "+e.OffBy+": see `hookd fleet enable "+name+"`"
	case e.State == hook.Disabled:
		s.Enabled, s.Note = false, fmt.Sprintf("%s says `enabled: false`, which wins: change it there", e.File)
	}
	return finishSwitch(a, cmd, s)
}

func disable(a *app, cmd *cobra.Command, cfg config.Config, name string, yes bool) error {
	if catalog.LayerOf(name).Signed() {
		return fail(exitFailed, "the whole policy ends with `hookd policy unset`; the fleet can switch one off with `hookd fleet disable`",
			"%s is of the policy: its hooks cannot be switched off", name)
	}
	if _, err := entryOf(cfg, name); err != nil {
		return err
	}
	if err := a.confirm(yes, fmt.Sprintf("Disable hook %s? It does not run until `hookd enable %s`.", name, name),
		"hookd disable "+name+" --yes"); err != nil {
		return err
	}
	if err := catalog.Switch(cfg, name, false, ""); err != nil {
		return fail(exitFailed, "see the folder's permissions, then type `hookd disable "+name+" --yes`", "%w", err)
	}
	return finishSwitch(a, cmd, switched{Hook: name})
}

// confirm asks a person; without one only yes will do.
func (a *app) confirm(yes bool, question, again string) error {
	if yes {
		return nil
	}
	if !isTerminal(a.in) {
		return fail(exitUsage, "type `"+again+"`", "cannot ask for confirmation: stdin is no terminal")
	}
	text := escape(question, keepNothing) + " [y/N] "
	if width := columnsOf(a.errOut); width > 0 {
		text = fillLines(text, width)
	}
	fmt.Fprint(a.errOut, text)
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fail(exitFailed, "type `"+again+"`", "read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fail(exitFailed, "type `"+again+"` when you are sure", "nothing was changed")
}

// entryOf returns the hook of a name. It refuses names that no hook has: a marker for a misspelt
// name would switch nothing off, in silence.
func entryOf(cfg config.Config, name string) (hook.Entry, error) {
	var names []string
	for _, e := range catalog.Scan(cfg).Entries {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	if len(names) == 0 {
		hint := catalog.Meant(name, nil) + "make a hook with `hookd new hello --lang sh`"
		return hook.Entry{}, fail(exitFailed, hint, "no hook %q: there are none in %s", name, cfg.HooksDir)
	}
	return hook.Entry{}, fail(exitFailed, catalog.Meant(name, names)+"see them with `hookd list`",
		"no hook %q in %s; there are %s", name, cfg.HooksDir, strings.Join(names, ", "))
}

// finishSwitch has a running daemon reload, and prints the new state.
func finishSwitch(a *app, cmd *cobra.Command, s switched) error {
	ctx, cancel := a.answer(cmd)
	defer cancel()
	_, err := a.dial(cmd).Reload(ctx)
	switch {
	case err == nil || isRejection(err): // of another hook's file
		s.Reloaded = true
	case leftToDaemon(err):
		s.Reloaded, s.Note = true, cmp.Or(s.Note, "the daemon reads it without being told, or when a person types `hookd reload`")
	case !errors.Is(err, client.ErrNotRunning):
		return err
	}
	return a.print(s, func(p *printer) {
		word := "disabled"
		if s.Enabled {
			word = "enabled"
		}
		p.linef("hook %s is %s", s.Hook, word)
		if s.Note != "" {
			p.sentence(plain, s.Note)
		}
		p.taken(s.Reloaded)
	})
}
