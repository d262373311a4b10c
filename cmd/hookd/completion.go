package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/events"
)

// bashPrelude is the script that bash needs beyond cobra's.
//
//go:embed completion.bash
var bashPrelude string

func completionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a shell's completion script",
		Long: `completion prints a script that completes commands, flags and, from the running
daemon, the names of hooks and events.`,
		Example: `  source <(hookd completion bash)
  hookd completion zsh > "${fpath[1]}/_hookd"
  hookd completion fish > ~/.config/fish/completions/hookd.fish`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(cmd.ValidArgs, args[0]) {
				return fmt.Errorf("completion wants one shell: bash, zsh or fish, not %q", strings.Join(args, " "))
			}
			return nil
		},
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				if _, err := a.out.WriteString(bashPrelude); err != nil {
					return err
				}
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

// asked proposes names that the daemon knows, for which the shell waits a second at most; nothing without a daemon.
func asked(a *app, ask func(context.Context, *client.Client) []string) completer {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmp.Or(cmd.Context(), context.Background()), time.Second)
		defer cancel()
		return ask(ctx, a.dial(cmd)), cobra.ShellCompDirectiveNoFileComp
	}
}

func words(list ...string) completer {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// lazily is words for a list that takes its time: only a shell that completes waits for it.
func lazily(list func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// proposal is a word with its meaning, for a shell to show: on one line,
// without characters that move a cursor. A person cannot type a name that is not
// shown as it is: its proposal is "".
func proposal(name, meaning string) string {
	if name == "" || escape(name, keepNothing) != name {
		return ""
	}
	if meaning, _, _ = strings.Cut(meaning, "\n"); meaning != "" {
		name += "\t" + escape(meaning, keepNothing)
	}
	return name
}

// hookNames proposes the hooks that the daemon knows; none without one.
func hookNames(a *app) completer {
	return asked(a, func(ctx context.Context, c *client.Client) []string {
		list, _ := c.Hooks(ctx)
		meanings := map[string]string{}
		for _, h := range list.Hooks {
			meanings[h.Name] = h.Description
		}
		return proposals(meanings)
	})
}

// eventNames proposes the events of the contract table, each with the text of its
// first row. It also proposes the events that the daemon's hooks name.
func eventNames(a *app) completer {
	return asked(a, func(ctx context.Context, c *client.Client) []string {
		meanings := map[string]string{}
		for _, c := range slices.Backward(events.All()) {
			meanings[c.Name] = c.When
		}
		list, _ := c.Hooks(ctx)
		for _, h := range list.Hooks {
			for _, name := range h.Events {
				if _, known := meanings[name]; !known && !strings.ContainsAny(name, "*?[{") {
					meanings[name] = "hook " + h.Name
				}
			}
		}
		return proposals(meanings)
	})
}

// proposals are words with their meanings, in order.
func proposals(meanings map[string]string) (list []string) {
	for name, meaning := range meanings {
		if p := proposal(name, meaning); p != "" {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}
