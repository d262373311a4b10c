package main

import (
	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/contract/dialect"
)

// bridgeCommand is the program hookd-bridge: flags and exit codes are its own,
// since an agent reads them.
func bridgeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "bridge AGENT [EVENT]",
		Short: "Answer an agent's own hook call",
		Long: `bridge is what an agent calls as its hook command: it sends what the agent says
on stdin as an event and prints what that agent expects. hookd-bridge is the
same as a program of its own, which starts faster.

` + bridge.Usage,
		Example:            `  hookd bridge claude-code < PreToolUse.json`,
		DisableFlagParsing: true,
		ValidArgsFunction:  words(dialect.Agents()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "--help" {
				return cmd.Help()
			}
			if code := bridge.Command(cmd.Context(), args, a.in, a.out, a.errOut); code != exitOK {
				return said(code)
			}
			return nil
		},
	}
}
