package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/people/card"
)

func reloadCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Read settings and hooks again",
		Long: `reload makes the daemon read its settings and all hooks again, and prints what
is wrong. A hook whose file is broken keeps its last good version; the exit
code is then 5.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			did, err := a.dial(cmd).Reload(ctx)
			rejected := isRejection(err)
			if err != nil && !rejected {
				return err
			}
			if err := a.print(did, func(p *printer) { printReloaded(p, did) }); err != nil {
				return err
			}
			if rejected {
				return said(exitRejected)
			}
			return nil
		},
	}
}

// leftToDaemon reports whether the daemon refuses to reload for an agent's process. The daemon then
// reads the files on its own, or when a person says so.
func leftToDaemon(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Code == client.CodeForbidden
}

func isRejection(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Code == client.CodeRejected
}

func printReloaded(p *printer, did client.Reloaded) {
	what := "nothing has changed"
	if did.Changed {
		what = "changed"
	}
	p.linef("%s may run, generation %d: %s", card.Plural(did.Hooks, "hook"), did.Generation, what)
	p.problems(did.Problems)
	if errorsIn(did.Problems) > 0 {
		p.sentence(plain, "correct what is wrong, then type `hookd reload`; `hookd validate` checks without a daemon")
	}
}
