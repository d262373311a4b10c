package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
)

func snoozeCommand(a *app) *cobra.Command {
	end, all := false, false
	cmd := &cobra.Command{
		Use:   "snooze HOOK|--all TIME",
		Short: "Switch a hook off for a time, after which hookd switches it on again",
		Long: `snooze pauses a guard or another hook: for a time such as 30m or 1h, or until 12:00, 7d at
most. Then it is on again, also after a restart of hookd or of the machine. hookd alone shows
what is off, and until when. HOOK is a name that hookd guard shows; all the rules of
that hook pause. Hooks of a policy stay on. Only a person's terminal may do this,
not a process of an agent.`,
		Example: "  hookd snooze egress-guard 1h\n  hookd snooze egress-guard 12:00\n" +
			"  hookd snooze egress-guard --end\n  hookd snooze --all 5m\n  hookd snooze --all --end",
		Args: func(_ *cobra.Command, args []string) error {
			want := 2
			if end {
				want--
			}
			if all {
				want--
			}
			switch {
			case len(args) == want:
				return nil
			case len(args) == 1 && !all:
				return errors.New("say for how long: hookd snooze " + quote(args[0]) + " 1h")
			case all:
				return errors.New("--all wants a TIME such as 5m or 12:00, or --end, and no HOOK")
			}
			return errors.New("snooze wants a HOOK and a TIME such as 1h or 12:00")
		},
		ValidArgsFunction: hookNames(a),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			var names []string
			if !all {
				names, args = args[:1], args[1:]
			}
			if end {
				return endSnooze(a, cmd, cfg, names)
			}
			return snooze(a, cmd, cfg, names, args[0])
		}),
	}
	cmd.Flags().BoolVar(&end, "end", false, "end it now")
	cmd.Flags().BoolVar(&all, "all", false, "every guard, but no guard of a policy")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// snoozed is the answer of snooze.
type snoozed struct {
	Hooks    []string  `json:"hooks"`
	Until    time.Time `json:"until"`
	Others   int       `json:"others"`   // guards that stay on
	Reloaded bool      `json:"reloaded"` // a running daemon has taken note
}

// snooze pauses hooks; without names, every guard that may pause.
func snooze(a *app, cmd *cobra.Command, cfg config.Config, names []string, text string) error {
	d, err := duration.Ahead(text, time.Now())
	switch {
	case err != nil:
		return fail(exitUsage, "give a time such as 30m, 1h or 12:00", "%w", err)
	case d < time.Second:
		return fail(exitUsage, "give a time such as 30m, 1h or 12:00", "%s is no time to come", text)
	case d > discovery.MostSnooze:
		return fail(exitUsage, "type `hookd hook disable HOOK` to switch one off", "a snooze is at most 7d, not %s", text)
	}
	if names, err = mayPause(cfg, names); err != nil {
		return err
	}
	s := snoozed{Hooks: names, Until: time.Now().Add(d).Round(time.Second)}
	for _, name := range names {
		if err := catalog.Snooze(cfg, name, s.Until, ""); err != nil {
			return fail(exitFailed, permissionsHint+cfg.DisabledDir(), "%w", err)
		}
	}
	for _, e := range catalog.Scan(cfg).Entries {
		if e.Hook != nil && e.State == hook.Active && e.Hook.IsGuard() {
			s.Others++
		}
	}
	if s.Reloaded, err = a.reloadDaemon(cmd); err != nil {
		return err
	}
	return a.print(s, func(p *printer) {
		is, it, end := "is", "it", quote(names[0])
		if len(names) > 1 {
			is, it, end = "are", "them", "--all"
		}
		p.line(fillLines(escape(fmt.Sprintf("%s %s off until %s, then on again. %s.", strings.Join(names, ", "), is,
			clockTime(s.Until), others(s.Others)), keepNothing), cmp.Or(p.width, pipeWidth)))
		p.linef("End %s now: hookd snooze %s --end", it, end)
		p.taken(s.Reloaded)
	})
}

// mayPause returns the hooks to pause: names, or where there are none, every guard that is on. It refuses
// the name of a hook that cannot pause.
func mayPause(cfg config.Config, names []string) ([]string, error) {
	for _, name := range names {
		if catalog.LayerOf(name).Signed() {
			return nil, fail(exitFailed, "see it with `hookd team policy show`",
				"%s is of the policy: its hooks cannot be switched off", name)
		}
		e, err := entryOf(cfg, name)
		if err != nil {
			return nil, err
		}
		if e.State == hook.Disabled && e.OffBy != "" {
			return nil, fail(exitFailed, "see `hookd team fleet enable --help`",
				"%s is off already, on all machines of the fleet", name)
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	for _, e := range catalog.Scan(cfg).Entries {
		if e.Hook != nil && e.State == hook.Active && e.Hook.IsGuard() && !catalog.LayerOf(e.Name).Signed() {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return nil, fail(exitFailed, "see which are on with `hookd guard`", "no guard is on that can pause")
	}
	return names, nil
}

// endSnooze ends the snooze of hooks; without names, of every hook that pauses.
func endSnooze(a *app, cmd *cobra.Command, cfg config.Config, names []string) error {
	if len(names) > 0 {
		return enable(a, cmd, cfg, names[0])
	}
	var s resumed
	for _, of := range discovery.NewMarkers(cfg.DisabledDir()).Snoozed() {
		if err := catalog.Switch(cfg, of.Hook, true, ""); err != nil {
			return fail(exitFailed, permissionsHint+cfg.DisabledDir(), "%w", err)
		}
		s.Hooks = append(s.Hooks, of.Hook)
	}
	var err error
	if s.Reloaded, err = a.reloadDaemon(cmd); err != nil {
		return err
	}
	return a.print(s, func(p *printer) {
		if len(s.Hooks) == 0 {
			p.line("no hook pauses")
			return
		}
		p.linef("on again: %s", strings.Join(s.Hooks, ", "))
	})
}

// resumed is the answer of snooze --all --end.
type resumed struct {
	Hooks    []string `json:"hooks"`
	Reloaded bool     `json:"reloaded"` // a running daemon has taken note
}

// others says how many guards stay on.
func others(n int) string {
	switch n {
	case 0:
		return "No other guard is on"
	case 1:
		return "1 other guard stays on"
	}
	return fmt.Sprintf("%d other guards stay on", n)
}
