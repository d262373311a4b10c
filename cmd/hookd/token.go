package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/door/loopback"
)

func tokenCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Manage the tokens of agents and of metrics over HTTP",
		Long: `Agents that call hookd over HTTP (http.listen) show a token. A process that knows
the token can have hooks run. What reads metrics (metrics.listen) shows another one,
with which it can do nothing else.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "rotate",
		Short: "Replace the token in every file that holds it",
		Long: `rotate makes a new token and writes it to every file that hookd knows to hold the
old one: its own, the agent's settings, their backups, and what editors have left
beside them. These are readable by you alone from then on. The token of
metrics.listen, where that is set, is replaced in its file. A daemon that runs takes a
new token at once; an agent that runs may have to be started again.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return rotateToken(a, cmd) },
	})
	return cmd
}

// rotated is the answer of `hookd token rotate`.
type rotated struct {
	File   string   `json:"file"`
	Copies []string `json:"copies"` // files of agents that have the new token
}

func rotateToken(a *app, cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	token, old, err := loopback.Rotate(cfg.TokenFile())
	if err != nil {
		return fail(exitFailed, "see which user owns the folder, then type `hookd token rotate`", "%w", err)
	}
	copies, err := shareToken(cfg, token, old)
	if cfg.MetricsListen != "" {
		_, _, bad := loopback.Rotate(cfg.MetricsTokenFile())
		err = errors.Join(err, bad)
	}
	if printed := a.print(rotated{cfg.TokenFile(), copies}, func(p *printer) {
		p.linef("%s has a new token", cfg.TokenFile())
		if cfg.MetricsListen != "" {
			p.linef("%s has a new token for metrics", cfg.MetricsTokenFile())
		}
		for _, c := range copies {
			p.linef("%s has it, too: start the agent again if it runs", c)
		}
		if len(copies) == 0 && err == nil {
			p.sentence(plain, "no agent's settings hold one; `hookd connect claude-code --http` writes it there")
		}
	}); printed != nil {
		return printed
	}
	if err != nil {
		return fail(exitFailed, "correct what is wrong, then type `hookd token rotate`", "%w", err)
	}
	return nil
}

// shareToken writes the token to every file of an agent that holds old, or an
// older one for hookd's door, and returns these files. A file that it cannot
// write does not keep it from the others.
func shareToken(cfg config.Config, token, old string) (written []string, err error) {
	written = []string{}
	for _, agent := range loopback.Agents() {
		o := connect.Options{Agent: agent, Post: &connect.Post{URL: loopback.URL(cfg.HTTPListen, agent), Token: token}}
		p, bad := connect.Retoken(o, old)
		for _, c := range p.Changes {
			if bad := (connect.Plan{Changes: []connect.Change{c}}).Apply(); bad != nil {
				err = errors.Join(err, fmt.Errorf("give %s the new token: %w", agent, bad))
				continue
			}
			written = append(written, c.Path)
		}
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("give %s the new token: %w", agent, bad))
		}
	}
	return written, err
}
