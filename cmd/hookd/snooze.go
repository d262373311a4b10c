package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// mostSnooze is the longest snooze: who wants more switches the hook off.
const mostSnooze = 7 * 24 * time.Hour

func snoozeCommand(a *app) *cobra.Command {
	end := false
	cmd := &cobra.Command{
		Use:   "snooze HOOK TIME",
		Short: "Switch a hook off for a time: it comes back by itself",
		Long: `snooze switches a hook off for a time such as 30m or 1h, 7d at most. Then it is on again,
also after a restart of hookd or of the machine. It stands in hookd's status until it ends.
Hooks of a policy cannot be switched off. Only a person's terminal may do this, not a
process of an agent.`,
		Example: "  hookd snooze egress-guard 1h\n  hookd snooze egress-guard --end",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case end && len(args) == 1, !end && len(args) == 2:
				return nil
			case len(args) == 1:
				return errors.New("say for how long: hookd snooze " + quote(args[0]) + " 1h")
			}
			return errors.New("snooze wants a HOOK and a TIME such as 1h")
		},
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if end {
				return enable(a, cmd, args[0])
			}
			return a.snooze(cmd, args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "end it now")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// snoozed is the answer of snooze.
type snoozed struct {
	Hook     string    `json:"hook"`
	Until    time.Time `json:"until"`
	Others   int       `json:"others"`   // guards that stay on
	Reloaded bool      `json:"reloaded"` // a running daemon has taken note
}

func (a *app) snooze(cmd *cobra.Command, name, text string) error {
	d, err := duration.Span(text)
	switch {
	case err != nil:
		return fail(exitUsage, "type `hookd snooze "+quote(name)+" 1h`", "%w", err)
	case d < time.Second:
		return fail(exitUsage, "type `hookd snooze "+quote(name)+" 1h`", "%s is no time to come", text)
	case d > mostSnooze:
		return fail(exitUsage, "type `hookd hook disable "+quote(name)+"` to switch it off", "a snooze is at most 7d, not %s", text)
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	if catalog.LayerOf(name).Signed() {
		return fail(exitFailed, "see it with `hookd team policy show`", "%s is of the policy: its hooks cannot be switched off", name)
	}
	if err := known(cfg, name); err != nil {
		return err
	}
	s := snoozed{Hook: name, Until: time.Now().Add(d).Round(time.Second)}
	if e := inCatalog(cfg, name); e.State == hook.Disabled && e.OffBy != "" {
		return fail(exitFailed, "see `hookd team fleet enable --help`", "%s is off already, on all machines of the fleet", name)
	}
	if err := catalog.Snooze(cfg, name, s.Until, ""); err != nil {
		return fail(exitFailed, "see the permissions of "+cfg.DisabledDir(), "%w", err)
	}
	for _, e := range catalog.Scan(cfg).Entries {
		if e.Hook != nil && e.State == hook.Active && e.Hook.Guards() {
			s.Others++
		}
	}
	if s.Reloaded, err = a.reloadDaemon(cmd); err != nil {
		return err
	}
	return a.print(s, func(p *printer) {
		text := fmt.Sprintf("%s is off until %s, then on by itself. ", s.Hook, clockTime(s.Until))
		p.line(escape(text+others(s.Others)+".", keepNothing))
		p.linef("End it now: hookd snooze %s --end", quote(s.Hook))
		if !s.Reloaded {
			p.line("no daemon runs; the next one will know")
		}
	})
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
