package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/events"
)

func completionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a shell's completion script",
		Long: `completion prints a script that completes commands, flags and, from the running
daemon, the names of hooks and events.`,
		Example: `  source <(hookd completion bash)
  hookd completion zsh > "${fpath[1]}/_hookd"
  hookd completion fish > ~/.config/fish/completions/hookd.fish`,
		Args:      cobra.MatchAll(one("shell: bash, zsh or fish"), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.out)
			}
			return cmd.Root().GenFishCompletion(a.out, true)
		},
	}
}

// completer proposes words for an argument or a flag.
type completer = cobra.CompletionFunc

// completing bounds what the shell waits for.
func completing(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithTimeout(ctx, time.Second)
}

func words(list ...string) completer {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// hookNames proposes the hooks that the daemon knows; none without one.
func hookNames(a *app) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := completing(cmd)
		defer cancel()
		list, _ := a.dial(cmd).Hooks(ctx)
		var names []string
		for _, h := range list.Hooks {
			names = append(names, h.Name+"\t"+h.Description)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// eventNames proposes the events of the contract table, and those that the
// daemon's hooks name.
func eventNames(a *app) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := completing(cmd)
		defer cancel()
		var names []string
		for _, c := range events.All() {
			names = append(names, c.Name)
		}
		list, _ := a.dial(cmd).Hooks(ctx)
		for _, h := range list.Hooks {
			names = append(names, slices.DeleteFunc(h.Events, func(e string) bool { return strings.ContainsAny(e, "*?[{") })...)
		}
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}
