package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/people/doctor"
)

func configCommand(a *app) *cobra.Command {
	var changed bool
	cmd := &cobra.Command{
		Use:   "config [SETTING]",
		Short: "Show every setting, its source, and which changes wait",
		Long: `config shows every setting with the value that a daemon of this shell would have,
and where that is from: a flag, a variable, a line of hookd.yaml, or hookd itself.
With a setting it shows that one and what it means. To change one, write it into
~/.librefang/hookd.yaml and type hookd reload. It needs no daemon; with one it says where
that still runs with another value, and until which command.`,
		Example: `  hookd config
  hookd config --changed
  hookd config history.max_age`,
		Args:              atMostOne,
		ValidArgsFunction: settingNames,
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			return showConfig(a, cmd, cfg, args, changed)
		}),
	}
	cmd.Flags().BoolVar(&changed, "changed", false, "only what is not hookd's own default")
	settingFlags(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = f.Annotations[settingFlag] != nil }) // they set nothing
	return cmd
}

func settingNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, k := range config.Keys() {
		names = append(names, k.Name+"\t"+plainDocs()[k.Name])
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func showConfig(a *app, cmd *cobra.Command, cfg config.Config, args []string, changed bool) error {
	settings, err := cfg.Effective(given(cmd), os.Environ())
	if err != nil {
		return fail(exitRejected, "correct it, then type `hookd validate`", "%w", err)
	}
	st := daemonOf(a, cmd, cfg)
	unread := doctor.Unread(cfg, st)
	waits := map[string]string{}
	for i, s := range settings {
		if value, known := st.InForce[s.Name]; known && value != s.Value {
			settings[i].Running, waits[s.Name] = &value, runningWords(s, value, unread, st, cfg)
		}
	}
	if unread {
		fmt.Fprintln(a.errOut, "warning: hookd.yaml has changed since hookd read it: type `hookd reload`")
	}
	if len(args) == 1 {
		i := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Name == args[0] })
		if i < 0 {
			return fail(exitUsage, "see them all with `hookd config`", "no setting %q%s", args[0], config.Near(args[0]))
		}
		return a.print(settings[i], func(p *printer) { printSetting(p, settings[i], waits[args[0]], cfg) })
	}
	if changed {
		same := func(s config.Setting) bool { return s.From == "default" && s.Running == nil }
		settings = slices.DeleteFunc(settings, same)
	}
	return a.print(
		map[string]any{"home": cfg.Home, "file": cfg.SettingsFile(), "settings": settings},
		func(p *printer) {
			printSettings(p, settings, waits, cfg)
		},
	)
}

// daemonOf returns the state of the daemon of this home; the zero value without one.
func daemonOf(a *app, cmd *cobra.Command, cfg config.Config) client.DaemonInfo {
	ctx, cancel := context.WithTimeout(cmd.Context(), aliveTime)
	defer cancel()
	st, err := a.dial(cmd).Status(ctx)
	if err != nil || st.Home != cfg.Home {
		return client.DaemonInfo{}
	}
	return st
}

// runningWords says that the daemon runs with another value than s has, and until when.
func runningWords(s config.Setting, value string, unread bool, st client.DaemonInfo, cfg config.Config) string {
	runs := "hookd runs with " + cmp.Or(value, "none")
	_, restarts := st.Restart[s.Name]
	switch {
	case strings.HasPrefix(s.From, "$"), strings.HasPrefix(s.From, "--"):
		return "for this shell: " + runs
	case restarts, unread && s.Restart:
		return runs + " until `" + cfg.Restart() + "`"
	case unread:
		return runs + " until `hookd reload`"
	}
	return runs + ", from a flag or variable of its start"
}

func printSettings(p *printer, list []config.Setting, waits map[string]string, cfg config.Config) {
	if len(list) == 0 {
		p.linef("every setting has its default; to change one, write it into %s", cfg.SettingsFile())
		return
	}
	var rows [][]cell
	for _, s := range list {
		from := cell{strings.TrimPrefix(s.From, cfg.Home+"/"), dim}
		if s.From != "default" {
			from.c = green
		}
		if s.Held {
			from = cell{from.text + ", a change waits for `hookd allow --settings`", yellow}
		}
		if waits[s.Name] != "" {
			from = cell{from.text + ", not in force", yellow}
		}
		rows = append(rows, []cell{text(s.Name), text(s.Value), from})
	}
	p.table([]column{{title: "SETTING"}, textColumn("VALUE"), nameColumn("FROM")}, rows)
	for _, s := range list {
		if words := waits[s.Name]; words != "" {
			p.linef("%s: %s", s.Name, words)
		}
	}
}

func printSetting(p *printer, s config.Setting, waits string, cfg config.Config) {
	held := ""
	if s.Held {
		held = "a change in hookd.yaml waits for `hookd allow --settings`"
	}
	p.pairs(kv("setting", s.Name), kv("value", s.Value), kv("from", s.From),
		kv("waits", held), kv("in force", waits),
		kv("means", plainDoc(s.Doc)),
		kv("set it", fmt.Sprintf("%s in %s, or $%s", s.Name, cfg.SettingsFile(), config.EnvName(s.Name))))
}
