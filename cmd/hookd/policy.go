package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/people/card"
)

// policyTime is how long a source may take that a person waits for.
const policyTime = 90 * time.Second

func policyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Run the hooks of a signed bundle, and keep them up to date",
		Long: `policy keeps one signed bundle of hooks in force. The daemon asks its source each
policy.interval for a newer one; what fails in any way leaves the last good bundle
in force, also over restarts, and an older bundle is refused. Its hooks are
called policy:NAME, come first, and cannot be switched off or waited for; what
they decide, all other hooks may only tighten.

Without a command it shows what is in force.`,
		Example: `  hookd policy set https://example.org/acme.bundle --key acme.pub
  hookd policy show
  hookd policy update`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showPolicy(a, cmd) },
	}
	cmd.AddCommand(policySetCommand(a), policyUpdateCommand(a), policyShowCommand(a), policyUnsetCommand(a))
	return cmd
}

func policySetCommand(a *app) *cobra.Command {
	var key, name string
	var yes bool
	cmd := &cobra.Command{
		Use:   "set URL|FILE|DIR|fleet",
		Short: "Put a bundle in force, and follow its source",
		Long: `set gets the bundle, checks that the key has signed it, and puts its hooks in force;
when that fails nothing has changed. The source is an https:// URL, a file, or a
folder of which the newest bundle counts. It is bound to the bundle's name. With fleet the machine has the bundle that
` + "`hookd fleet rollout`" + ` brings to it; a folder of that name is ./fleet.`,
		Example: `  hookd policy set https://example.org/acme.bundle --key acme.pub
  hookd policy set fleet --key acme.pub
  hookd policy set ./acme.bundle --key \
    ed25519:tfoLthMGMHEWDEAaq3Cv5JNJJP4Nsug8DHjpJ4wD/N0=`,
		Args: one("URL, FILE or DIR"),
		RunE: withConfig(func(cmd *cobra.Command, args []string, cfg config.Config) error {
			if key == "" {
				return fail(exitUsage, "name its public key: `hookd policy set "+quote(args[0])+" --key FILE.pub`",
					"without a key nothing says who made the bundle")
			}
			if err := confirmKey(a, cfg, key, yes); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), policyTime)
			defer cancel()
			r, err := catalog.SetPolicy(ctx, cfg, args[0], key, name)
			if err != nil {
				return fail(exitFailed, "nothing has changed; correct the source or the key", "%w", err)
			}
			return finishPolicy(a, cmd, cfg, r.Current)
		}),
	}
	cmd.Flags().StringVar(&key, "key", "", "public key that signs the bundles: its file or its text")
	cmd.Flags().StringVar(&name, "name", "", "name of the bundle: the source cannot bring another of the same key (default: that of the one in force, "+
		"else of the source's newest bundle)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before another key replaces the key in force")
	_ = cmd.MarkFlagFilename("key", "pub")
	return cmd
}

// confirmKey asks where another key is set already.
func confirmKey(a *app, cfg config.Config, key string, yes bool) error {
	public, err := policy.PublicKey(key)
	if err != nil {
		return fail(exitFailed, "name the .pub file that `hookd bundle keygen` wrote", "%w", err)
	}
	now, set, _ := policy.NewHome(cfg.PolicyDir()).Current() // what is not known is replaced
	if !set || now.State.Key == policy.FormatKey(public) {
		return nil
	}
	question := fmt.Sprintf("Put it in place of policy %s, which another key has signed?", now.Manifest.Name)
	return a.confirm(yes, question, a.again())
}

// finishPolicy has a running daemon reload, and prints the policy in force.
func finishPolicy(a *app, cmd *cobra.Command, cfg config.Config, now policy.Current) error {
	running, err := a.reloadDaemon(cmd)
	if err != nil {
		return err
	}
	if err := policy.NewHome(cfg.PolicyDir()).Sweep(); err != nil {
		hint := permissionsHint + cfg.PolicyDir()
		return fail(exitFailed, hint, "the policy is in force, an older bundle stays on disk: %w", err)
	}
	answer := policyAnswerOf(now)
	return a.print(answer, func(p *printer) {
		printPolicy(p, answer)
		p.taken(running)
	})
}

func policyUpdateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "update",
		Short: "Ask the policy's source for a newer bundle now",
		Args:  noArgs,
		RunE: withConfig(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), policyTime)
			defer cancel()
			home := policy.NewHome(cfg.PolicyDir())
			if _, err := home.Repair(); err != nil {
				return fail(exitRejected, "set it again with `hookd policy set`", "compare the policy with what was signed: %w", err)
			}
			r, err := home.Update(ctx, catalog.CheckPolicy(cfg, nil))
			if errors.Is(err, policy.ErrUnset) {
				return fail(exitFailed, "set one with `hookd policy set URL --key FILE.pub`", "%w", err)
			}
			if err != nil {
				_, _ = a.reloadDaemon(cmd) // so that status says it; the failure itself is printed here
				return fail(exitFailed, "mend the source, then type `hookd policy update`", "%w", err)
			}
			if r.Changed {
				return finishPolicy(a, cmd, cfg, r.Current)
			}
			if _, err := a.reloadDaemon(cmd); err != nil { // it may have been repaired
				return err
			}
			answer := policyAnswerOf(r.Current)
			return a.print(answer, func(p *printer) {
				p.linef("nothing newer: %s, sequence %d, is in force", answer.Name, answer.Sequence)
			})
		}),
	}
}

func policyShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the policy that is in force, and when its source was asked",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return showPolicy(a, cmd) },
	}
}

func showPolicy(a *app, cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	now, set, err := policy.NewHome(cfg.PolicyDir()).Current()
	switch {
	case err != nil:
		return fail(exitRejected, "set it again with `hookd policy set`, or end it with `hookd policy unset`",
			"calls are denied, as the policy cannot be read: %w", err)
	case !set:
		return a.print(policyAnswer{}, func(p *printer) {
			p.line("no policy is set; set one with `hookd policy set URL --key FILE.pub`")
		})
	}
	answer := policyAnswerOf(now)
	return a.print(answer, func(p *printer) { printPolicy(p, answer) })
}

func policyUnsetCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "unset",
		Short: "End the policy: its hooks run no more",
		Long: `unset ends the policy. What its key has signed before the newest bundle so far
stays refused, should it be set again.`,
		Args: noArgs,
		RunE: withConfig(func(cmd *cobra.Command, _ []string, cfg config.Config) error {
			home := policy.NewHome(cfg.PolicyDir())
			now, set, err := home.Current()
			if err == nil && !set {
				return showPolicy(a, cmd)
			}
			question := "End the policy? Its hooks run no more."
			if err == nil {
				question = fmt.Sprintf("End policy %s, with %s that then run no more?", now.Manifest.Name,
					card.Plural(len(now.Manifest.HookFolders()), "hook"))
			}
			if err := a.confirm(yes, question, a.again()); err != nil {
				return err
			}
			if err := home.Unset(); err != nil {
				return fail(exitFailed, permissionsHint+cfg.PolicyDir(), "%w", err)
			}
			if _, err := a.reloadDaemon(cmd); err != nil {
				return err
			}
			return a.print(policyAnswer{}, func(p *printer) { p.line("no policy is set any more") })
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// policyAnswer is the answer of the policy commands; its zero value is none.
type policyAnswer struct {
	client.Policy
	SetAt time.Time `json:"set_at,omitzero"`
	SetBy string    `json:"set_by,omitempty"`
	Hooks []string  `json:"hooks"`
}

func policyAnswerOf(now policy.Current) policyAnswer {
	s := now.State
	answer := policyAnswer{SetAt: s.At, SetBy: s.By, Hooks: now.Manifest.HookFolders()}
	answer.Policy = client.Policy{
		Name: now.Manifest.Name, Sequence: now.Manifest.Sequence, Expires: now.Manifest.Expires,
		Source: s.Source, Fetched: s.Fetched, Checked: s.Checked, Error: s.Error,
	}
	if key, err := policy.PublicKey(s.Key); err == nil {
		answer.Key = policy.Fingerprint(key)
	}
	return answer
}

func printPolicy(p *printer, a policyAnswer) {
	name, hooks := "nothing yet", ""
	if a.Name != "" {
		name, hooks = fmt.Sprintf("%s, sequence %d", a.Name, a.Sequence), fmt.Sprint(len(a.Hooks))
	}
	p.pairs(
		kv("policy", name),
		kv("from", a.Source),
		kv("key", a.Key),
		kv("set", fmt.Sprintf("%s by %s", dayOf(&a.SetAt), a.SetBy)),
		kv("fetched", dayOf(&a.Fetched)),
		kv("asked", dayOf(&a.Checked)),
		kv("expires", dayOf(a.Expires)),
		kv("trouble", a.Error),
		kv("hooks", hooks),
	)
	for _, folder := range a.Hooks {
		p.line("  " + escape(folder, keepNothing))
	}
}
