package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/mcp"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/run/rehearse"
)

func mcpCommand(a *app) *cobra.Command {
	var failOpen bool
	cmd := &cobra.Command{
		Use:   "mcp AGENT",
		Short: "Serve an agent's hooks as MCP tools, on stdin and stdout",
		Long: `mcp is a server of the Model Context Protocol that an agent starts itself. It
has two tools: hook, for agents that call MCP tools as hooks, which answers in
that agent's own form; and would_deny, with which the model may ask what hooks
would decide about a call of its own session. would_deny makes nothing happen
and leaves nothing in the history.

An agent lets a call pass when a tool fails or its server is gone. So hook
denies what it could not check, and a guard that must hold is registered as a
command: see docs/reference/agents.md.`,
		Example: `  claude mcp add --scope user hookd -- hookd mcp claude-code
  codex mcp add hookd -- hookd mcp codex`,
		Args:              one("AGENT"),
		ValidArgsFunction: words(dialect.Agents()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(dialect.Agents(), args[0]) {
				hint := meant(args[0], dialect.Agents()) + "type one of " + strings.Join(dialect.Agents(), ", ")
				return fail(exitUsage, hint, "unknown agent %q", args[0])
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return a.serveMCP(ctx, cmd, args[0], failOpen)
		},
	}
	cmd.Flags().BoolVar(&failOpen, "fail-open", false, "let pass what could not be checked")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

func (a *app) serveMCP(ctx context.Context, cmd *cobra.Command, agent string, failOpen bool) error {
	cwd, err := os.Getwd()
	if err != nil {
		return fail(exitFailed, "start it in a folder that is there", "find the folder that %s works in: %w", agent, err)
	}
	return mcp.New(mcp.Options{
		Agent: agent, Version: build().Version, Socket: socketOf(cmd), FailOpen: failOpen, Cwd: cwd,
		In: a.in, Out: a.out, Err: a.errOut,
		Would: func(ctx context.Context, c mcp.Call) (mcp.Would, error) {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return mcp.Would{}, err
			}
			return wouldDeny(ctx, cfg, agent, c)
		},
	}).Run(ctx)
}

// wouldDeny asks the hooks of the settings about a call.
func wouldDeny(ctx context.Context, cfg config.Config, agent string, c mcp.Call) (mcp.Would, error) {
	env, ok := rehearse.ToolCall(events.Dialect(agent), hook.Test{Tool: c.Tool, Data: c.Input, Cwd: c.Cwd}, c.Session)
	if !ok {
		return mcp.Would{}, fail(exitUsage, "", "%s tells hookd of no tool call before it is made", agent)
	}
	w, err := rehearse.WouldLocal(ctx, cfg, env)
	told := mcp.Would(w)
	told.Reason = verdict.WithoutWeakening(told.Reason)
	for i, text := range told.Failed {
		told.Failed[i] = verdict.WithoutWeakening(text)
	}
	return told, err
}
