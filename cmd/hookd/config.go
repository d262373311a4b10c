package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/internal/base/config"
)

func configCommand(a *app) *cobra.Command {
	var changed bool
	cmd := &cobra.Command{
		Use:   "config [SETTING]",
		Short: "Show the settings in force, and the source of each",
		Long: `config shows every setting with the value that a daemon of this shell would have,
and where that is from: a flag, a variable, a line of hookd.yaml, or hookd itself.
With a setting it shows that one and what it means. To change one, write it into
~/.librefang/hookd.yaml and type hookd reload. It needs no daemon.`,
		Example: `  hookd config
  hookd config --changed
  hookd config history.max_age`,
		Args:              atMostOne,
		ValidArgsFunction: settingNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return showConfig(a, cmd, args, changed) },
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

func showConfig(a *app, cmd *cobra.Command, args []string, changed bool) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	settings, err := cfg.Effective(given(cmd), os.Environ())
	if err != nil {
		return fail(exitRejected, "correct it, then type `hookd validate`", "%w", err)
	}
	if len(args) == 1 {
		i := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Name == args[0] })
		if i < 0 {
			return fail(exitUsage, "see them all with `hookd config`", "no setting %q%s", args[0], config.Near(args[0]))
		}
		return a.print(settings[i], func(p *printer) { printSetting(p, settings[i], cfg) })
	}
	if changed {
		settings = slices.DeleteFunc(settings, func(s config.Setting) bool { return s.From == "default" })
	}
	return a.print(
		map[string]any{"home": cfg.Home, "file": cfg.SettingsFile(), "settings": settings},
		func(p *printer) {
			printSettings(p, settings, cfg)
		},
	)
}

func printSettings(p *printer, list []config.Setting, cfg config.Config) {
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
		rows = append(rows, []cell{text(s.Name), text(s.Value), from})
	}
	p.table([]column{{title: "SETTING"}, textColumn("VALUE"), nameColumn("FROM")}, rows)
}

func printSetting(p *printer, s config.Setting, cfg config.Config) {
	held := ""
	if s.Held {
		held = "a change in hookd.yaml waits for `hookd allow --settings`"
	}
	p.pairs(kv("setting", s.Name), kv("value", s.Value), kv("from", s.From), kv("waits", held),
		kv("means", plainDoc(s.Doc)),
		kv("set it", fmt.Sprintf("%s in %s, or $%s", s.Name, cfg.SettingsFile(), config.EnvName(s.Name))))
}
