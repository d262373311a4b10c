package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/link"
	"github.com/hookd/hookd/internal/hooks/policy"
)

func fleetRolloutCommand(a *app) *cobra.Command {
	var o directing
	var shadow, enforce, revert bool
	var canary string
	cmd := &cobra.Command{
		Use:   "rollout BUNDLE",
		Short: "Bring a signed bundle to the machines, in stages",
		Long: `rollout signs what all machines are to run, and tells them. BUNDLE is the file of
` + "`hookd bundle build`" + `, or NAME@SEQUENCE of a bundle that the fleet has already.

With --shadow its guards run on each machine beside what is in force: what they would
have decided is recorded, and nothing they say counts. With --canary it is in force on
that part of the machines, chosen by a hash of their names; the others have what was
enforced last. With --enforce all machines have it. --revert ends a trial, or brings
back what was enforced before.

Machines follow that have ` + "`hookd policy set fleet --key FILE.pub`" + `. A machine that is away
follows when it is back.`,
		Example: `  hookd fleet rollout acme.bundle --shadow --key acme.key --creds operator.nk
  hookd fleet rollout acme@8 --canary 10% --key acme.key --creds operator.nk
  hookd fleet rollout acme@8 --enforce --key acme.key --creds operator.nk
  hookd fleet rollout --revert --key acme.key --creds operator.nk`,
		Args: func(cmd *cobra.Command, args []string) error {
			if revert {
				return noArgs(cmd, args)
			}
			return one("BUNDLE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			stage, percent, err := stageOf(shadow, canary)
			if err != nil {
				return err
			}
			change := func(ctx context.Context, p operator, d policy.Directive) (policy.Directive, error) {
				if revert {
					d, err := d.Revert()
					return d, wrap(err, "see `hookd fleet rollouts`")
				}
				r, err := p.bundle(ctx, args[0])
				if err != nil {
					return d, err
				}
				d, err = d.Roll(r, stage, percent)
				if p.lost && errors.Is(err, policy.ErrEnforced) && stage == policy.StageEnforce {
					err = nil // it is signed again as it is
				}
				return d, wrap(err, "see `hookd fleet rollouts`")
			}
			d, err := o.direct(cmd, change)
			if err != nil {
				return err
			}
			return a.print(d, func(p *printer) { p.sentence(plain, stageLine(d)) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&shadow, "shadow", false, "run its guards on each machine without effect")
	flags.StringVar(&canary, "canary", "", "put it in force on a part of the machines, such as 10%")
	flags.BoolVar(&enforce, "enforce", false, "put it in force on all machines")
	flags.BoolVar(&revert, "revert", false, "end the trial; without one go back to what was enforced before")
	cmd.MarkFlagsMutuallyExclusive("shadow", "canary", "enforce", "revert")
	cmd.MarkFlagsOneRequired("shadow", "canary", "enforce", "revert")
	_ = cmd.RegisterFlagCompletionFunc("canary", words("1%", "10%", "25%", "50%"))
	o.flags(cmd)
	return cmd
}

// stageOf reads the flags: without shadow and canary it is enforce.
func stageOf(shadow bool, canary string) (policy.Stage, int, error) {
	switch {
	case shadow:
		return policy.StageShadow, 0, nil
	case canary == "":
		return policy.StageEnforce, 0, nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(canary, "%"))
	if err != nil || n < 1 || n > 99 {
		return "", 0, fail(exitUsage, "give --canary 1% to 99%; all machines are --enforce", "%q is no part of the machines", canary)
	}
	return policy.StageCanary, n, nil
}

func stageLine(d policy.Directive) string {
	line := "no bundle is in force on any machine"
	if d.Enforced != nil {
		line = d.Enforced.Text() + " is in force on all machines"
	}
	switch d.Stage {
	case policy.StageShadow:
		line += "; " + d.Next.Text() + " runs in the shadow, see `hookd log --shadow` on each"
	case policy.StageCanary:
		line = fmt.Sprintf("%s is in force on %d%% of the machines, %s on the others", d.Next.Text(), d.Percent,
			cmp.Or(d.Enforced.Text(), "no bundle"))
	}
	return "the machines are told: " + line + "; `hookd fleet rollouts` shows which have it"
}

func fleetDisableCommand(a *app) *cobra.Command {
	var o directing
	off := policy.Off{}
	cmd := &cobra.Command{
		Use:   "disable HOOK",
		Short: "Switch a hook off on all machines, at once",
		Long: `disable signs that a hook is off on all machines of the fleet, whatever its layer is,
and tells them. Each that is there switches it off within a second; a machine that is away
does when it is back. It stays off over restarts and without servers, until
` + "`hookd fleet enable`" + `. list, show, status and doctor say who switched it off and why.

With --revision a hook of the policy is off in that bundle alone: a newer bundle has it
on again.`,
		Example:           "  hookd fleet disable policy:no-sudo --reason 'denies every call' \\\n    --key acme.key --creds operator.nk",
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			off.Hook = args[0]
			if off.Reason == "" {
				return fail(exitUsage, "say why with --reason TEXT: all machines show it", "no reason is given")
			}
			if off.Revision != 0 && !strings.HasPrefix(off.Hook, catalog.PolicyPrefix) {
				return fail(exitUsage, "leave --revision out", "%s is not of the policy: it has no revision", off.Hook)
			}
			known := false
			change := func(ctx context.Context, p operator, d policy.Directive) (_ policy.Directive, err error) {
				if known, err = p.checkName(ctx, d, off.Hook); err != nil {
					return d, err
				}
				off.By, off.Time = p.by, time.Now().UTC().Truncate(time.Second)
				return d.SwitchOff(off), nil
			}
			d, err := o.direct(cmd, change)
			if err != nil {
				return err
			}
			if !known {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: neither a bundle of the fleet nor this machine has a hook "+
					escape(off.Hook, keepNothing)+".\n`hookd fleet enable` takes a mistyped name back")
			}
			return a.print(d, func(p *printer) {
				p.sentence(plain, "the machines are told to switch "+off.Hook+" off; `hookd fleet rollouts` shows which have")
			})
		},
	}
	cmd.Flags().StringVar(&off.Reason, "reason", "", "why, for the people of all machines")
	cmd.Flags().Uint64Var(&off.Revision, "revision", 0, "only in the bundle with this sequence")
	o.flags(cmd)
	return cmd
}

func fleetEnableCommand(a *app) *cobra.Command {
	var o directing
	cmd := &cobra.Command{
		Use:               "enable HOOK",
		Short:             "Switch a hook on again on all machines",
		Example:           "  hookd fleet enable policy:no-sudo --key acme.key --creds operator.nk",
		Args:              one("HOOK"),
		ValidArgsFunction: hookNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := o.direct(cmd, func(_ context.Context, _ operator, d policy.Directive) (policy.Directive, error) {
				d, was := d.SwitchOn(args[0])
				if !was {
					return d, fail(exitFailed, "see `hookd fleet rollouts`", "the fleet has not switched %s off", args[0])
				}
				return d, nil
			})
			if err != nil {
				return err
			}
			return a.print(d, func(p *printer) {
				p.sentence(plain, "the machines are told that "+args[0]+" is on again, where they have it on themselves")
			})
		},
	}
	o.flags(cmd)
	return cmd
}

// directing is how a command signs and sends a directive.
type directing struct {
	key, creds string
	replace    bool
}

func (o *directing) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.key, "key", "", "file with the private key of the policy, of hookd bundle keygen")
	flags.StringVar(&o.creds, "creds", "", "file of an operator's key for the servers; without it fleet.creds")
	flags.BoolVar(&o.replace, "replace", false, "begin with nothing where another key has signed what the machines run now")
	_ = cmd.MarkFlagRequired("key")
	_ = cmd.MarkFlagFilename("key")
	_ = cmd.MarkFlagFilename("creds")
}

// directTime is how long a bundle may take on its way to the servers.
const directTime = 10 * time.Minute

// operator is a person with a key of the policy, connected to the servers.
type operator struct {
	cfg   config.Config
	key   ed25519.PrivateKey
	by    string
	names fleet.Names
	press *link.Broker
	end   func() // of press
	// lost says that the newest directive of this key is not the newest of the servers, so that a machine without it
	// cannot get it.
	lost bool
}

// direct changes the newest directive, signs it and publishes it.
func (o *directing) direct(
	cmd *cobra.Command, change func(context.Context, operator, policy.Directive) (policy.Directive, error),
) (d policy.Directive, err error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), directTime)
	defer cancel()
	p, err := o.connect(ctx, cmd)
	if err != nil {
		return d, err
	}
	defer p.end()
	d, seq, lost, err := p.newest(ctx, o.replace)
	if err != nil {
		return d, err
	}
	p.lost = lost
	was := d.Sequence
	if d, err = change(ctx, p, d); err != nil {
		return d, err
	}
	defer func() {
		if err == nil {
			p.warnOfNewer(ctx, cmd.ErrOrStderr(), was, d)
		}
	}()
	signed, err := d.Sign(p.key, time.Now(), p.by)
	if err != nil {
		return d, fail(exitFailed, "", "%w", err)
	}
	text, err := json.Marshal(signed)
	if err != nil {
		return d, err
	}
	if len(text) > policy.MaxDirective {
		return d, fail(exitFailed, "switch hooks on again with `hookd fleet enable HOOK`", "the directive has %d bytes", len(text))
	}
	if err := fleet.ReplaceDirective(ctx, p.press, p.names, text, seq); err != nil {
		return d, fail(exitFailed, "look at `hookd fleet rollouts`, then try again; the servers must let --creds publish for all machines",
			"the machines are not told: %w", err)
	}
	return signed.Verify(p.public(), p.names.Tenant)
}

// warnOfNewer says that machines follow another key. It names the hooks that machines have off by a newer directive
// than was, which the servers had, and that the directive d does not: so it is after the restore of an old backup.
// No machine vouches for the others, so it is a warning.
func (p operator) warnOfNewer(ctx context.Context, out io.Writer, was uint64, d policy.Directive) {
	if now, set, err := policy.NewHome(p.cfg.PolicyDir()).Current(); err == nil && set {
		if key, err := policy.PublicKey(now.State.Key); err == nil && !key.Equal(p.public()) {
			fmt.Fprintf(out, "warning: machines that follow the key %s refuse this, as this machine does.\n"+
				"To follow the key %s they type `hookd policy set fleet --key FILE.pub`\n",
				policy.Fingerprint(key), policy.Fingerprint(p.public()))
		}
	}
	machines, err := fleet.Machines(ctx, p.press, p.names)
	if err != nil {
		return
	}
	var names []string
	off := map[string]bool{}
	for _, m := range machines {
		if m.Rollout == nil || m.Rollout.Directive <= was {
			continue
		}
		names = append(names, m.Machine)
		for _, hook := range m.Rollout.Off {
			if !slices.ContainsFunc(d.Off, func(o policy.Off) bool { return o.Hook == hook }) {
				off[hook] = true
			}
		}
	}
	if len(names) == 0 {
		return
	}
	text := "warning: a newer directive than the servers kept was on " + strings.Join(names, ", ") + ", and is replaced"
	if was == 0 {
		text = "warning: a directive that this key did not sign was on " + strings.Join(names, ", ") + ", and is replaced"
	}
	for _, hook := range slices.Sorted(maps.Keys(off)) {
		text += "\nit is on again: " + hook + "; `hookd fleet disable " + hook + "` switches it off"
	}
	fmt.Fprintln(out, escape(text, keepNewlines))
}

// connect connects to the servers of the settings.
func (o *directing) connect(ctx context.Context, cmd *cobra.Command) (p operator, err error) {
	if p.cfg, err = fleetConfig(cmd); err != nil {
		return p, err
	}
	if p.key, err = policy.PrivateKey(o.key); err != nil {
		return p, fail(exitFailed, "name the file that `hookd bundle keygen FILE` made", "%w", err)
	}
	machine, err := p.cfg.Fleet.Machine()
	if err != nil {
		return p, err
	}
	p.names = fleet.Names{Tenant: p.cfg.Fleet.Tenant, Machine: machine}
	p.by = "a user of " + machine
	if u, err := user.Current(); err == nil {
		p.by = u.Username + " on " + machine
	}
	creds := cmp.Or(o.creds, p.cfg.Fleet.Creds)
	if creds == "" && p.cfg.Fleet.Embedded {
		creds = fleet.Embedded{Dir: p.cfg.FleetDir()}.Key()
	}
	ctx, cancel := context.WithTimeout(ctx, initTime)
	defer cancel()
	p.press, p.end, err = dialServers(ctx, p.cfg, creds, operatorName)
	return p, wrap(err, "see that the servers run, and that --creds names the key of an operator")
}

// dialServers returns when a server answers. end ends the connection.
func dialServers(ctx context.Context, cfg config.Config, creds, name string) (b *link.Broker, end func(), err error) {
	b, end, err = link.Dial(context.WithoutCancel(ctx), engine.Options{
		Servers: cfg.Fleet.Addresses(), Creds: creds, CA: cfg.Fleet.CA, Machine: name,
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	refused := time.NewTicker(refusedTime)
	defer refused.Stop()
	for !b.State().Connected {
		select {
		case <-b.Changed():
		case <-b.Ended():
			end()
			return nil, nil, errors.New(b.State().Err)
		case <-refused.C:
			if b.State().Err == engine.ErrKey.Error() {
				end()
				return nil, nil, fmt.Errorf("%s: %w", creds, engine.ErrKey)
			}
		case <-ctx.Done():
			why := b.State().Err // before the end is the reason
			end()
			why = cmp.Or(why, "they did not answer within "+connectTime.String())
			return nil, nil, fmt.Errorf("%w: %s", engine.ErrAway, why)
		}
	}
	return b, end, nil
}

// How long the servers may take to answer, and to let a key in: of several one may not have read its list yet.
const (
	connectTime = 30 * time.Second
	refusedTime = 3 * time.Second
)

// fleetConfig reads the settings of a machine of a fleet.
func fleetConfig(cmd *cobra.Command) (config.Config, error) {
	cfg, err := loadConfig(cmd)
	if err == nil && !cfg.Fleet.Enabled() {
		err = fail(exitFailed, "set fleet.servers in "+cfg.SettingsFile(), "this machine is in no fleet")
	}
	return cfg, err
}

func (p operator) public() ed25519.PublicKey {
	key, _ := p.key.Public().(ed25519.PublicKey)
	return key
}

// newest returns the newest directive that the key has signed, of the servers or of this
// machine, and the number of that of the servers. Without one it is an empty one. lost says that the servers show
// another one, or none.
func (p operator) newest(ctx context.Context, replace bool) (d policy.Directive, seq uint64, lost bool, err error) {
	m, there, err := fleet.LatestDirective(ctx, p.press, p.names)
	if err != nil {
		return d, 0, false, fail(exitFailed, "see that --creds names the key of an operator, and that `hookd fleet init` was run",
			"the newest directive cannot be read: %w", err)
	}
	d.Tenant = p.names.Tenant
	var signed policy.SignedDirective
	known := !there
	lost = true
	if there && json.Unmarshal(m.Data, &signed) == nil {
		if of, err := signed.Verify(p.public(), p.names.Tenant); err == nil {
			d, known, lost = of, true, false
		}
	}
	if here, _, err := policy.NewHome(p.cfg.PolicyDir()).Current(); err == nil {
		of, err := here.State.Directive.Verify(p.public(), p.names.Tenant)
		if err == nil && of.Sequence > d.Sequence {
			d, known, lost = of, true, true
		}
	}
	if !known && !replace {
		return d, 0, false, fail(exitFailed, "use the key that signed it; --replace begins with nothing, on all machines",
			"the newest directive of the servers is not signed by this key, or is damaged")
	}
	return d, m.Seq, lost, nil
}

// bundle returns the revision of a file, which it uploads, or of NAME@SEQUENCE.
func (p operator) bundle(ctx context.Context, arg string) (r policy.Revision, err error) {
	text, err := readfile.Read(arg, policy.MaxBytes)
	file := err == nil
	if !file {
		if name, _, ok := strings.Cut(arg, "@"); !ok || strings.Contains(name, "/") || !errors.Is(err, fs.ErrNotExist) {
			return r, fail(exitFailed, "name the file of `hookd bundle build`, or NAME@SEQUENCE of a bundle that the fleet has", "%w", err)
		}
		if text, err = fleet.GetBundle(ctx, p.press, p.names, arg, policy.MaxBytes); err != nil {
			return r, fail(exitFailed, "name the file of the bundle: it is uploaded then", "%s: %w", arg, err)
		}
	}
	b, err := policy.Read(text, p.public())
	if err != nil {
		return r, fail(exitFailed, "build it with the same --key", "%s: %w", arg, err)
	}
	r = policy.Revision{Name: b.Manifest.Name, Sequence: b.Manifest.Sequence, Digest: b.Head.Digest()}
	if !file {
		return r, nil
	}
	return r, p.upload(ctx, r, text)
}

// upload stores a bundle unless the fleet has it.
func (p operator) upload(ctx context.Context, r policy.Revision, text []byte) error {
	there, err := fleet.GetBundle(ctx, p.press, p.names, r.Text(), policy.MaxBytes)
	switch {
	case err == nil && bytes.Equal(there, text):
		return nil
	case err == nil:
		return fail(exitFailed, "build it with a greater --sequence", "the fleet has another bundle that is called %s", r.Text())
	case errors.Is(err, engine.ErrNoObject):
		err = fleet.PutBundle(ctx, p.press, p.names, r.Text(), text)
	}
	return wrap(err, "see that --creds names the key of an operator")
}

// checkName reports whether a bundle of the fleet or this machine has a hook. Machines may have hooks of their own,
// and policies from elsewhere. It refuses the name of a hook of the policy that was typed without policy:.
func (p operator) checkName(ctx context.Context, d policy.Directive, hook string) (known bool, err error) {
	plain, isPolicy := strings.CutPrefix(hook, catalog.PolicyPrefix)
	whole := catalog.PolicyPrefix + plain
	found := p.bundled(ctx, d.Enforced, plain) || p.bundled(ctx, d.Next, plain)
	for _, e := range catalog.Scan(p.cfg).Entries {
		known = known || e.Name == hook
		found = found || e.Name == whole
	}
	if found && !isPolicy && !known {
		return false, fail(exitUsage, "did you mean "+whole+"?", "there is no hook %q here", hook)
	}
	return known || found && isPolicy, nil
}

// bundled reports whether a bundle of the fleet has a hook in a folder of that name. A bundle
// that cannot be read now has none.
func (p operator) bundled(ctx context.Context, r *policy.Revision, hook string) bool {
	if r == nil {
		return false
	}
	text, err := fleet.GetBundle(ctx, p.press, p.names, r.Text(), policy.MaxBytes)
	if err != nil {
		return false
	}
	b, err := policy.Read(text, p.public())
	return err == nil && slices.Contains(b.Manifest.HookFolders(), "hooks/"+hook)
}

// wrap is err with the command to type; nil of nil.
func wrap(err error, hint string) error {
	if err == nil {
		return nil
	}
	return fail(exitFailed, hint, "%w", err)
}

func fleetRolloutsCommand(a *app) *cobra.Command {
	return withLimit(a, &cobra.Command{
		Use:   "rollouts",
		Short: "Show which bundle each machine has, at which stage, and what is switched off",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			f, err := a.dial(cmd).Fleet(ctx)
			if err != nil {
				return err
			}
			f.Machines = upTo(f.Machines, a.limit)
			answer := map[string]any{"directive": f.Directive, "machines": f.Machines}
			return a.print(answer, func(p *printer) { printRollouts(p, f) })
		},
	})
}

func printRollouts(p *printer, f client.FleetInfo) {
	if f.Error != "" {
		p.sentence(red, "trouble: "+f.Error)
	}
	if f.Directive == nil {
		p.sentence(plain, "this machine has taken no directive: a fleet has one after `hookd fleet rollout` or "+
			"`hookd fleet disable`, and machines take it after `hookd policy set fleet --key FILE.pub`")
	} else {
		printDirective(p, *f.Directive)
	}
	if f.Unread != "" {
		p.sentence(plain, "the other machines are not known now: "+f.Unread)
		return
	}
	var rows [][]cell
	troubles := map[string][]string{} // machines, by their error
	for _, m := range f.Machines {
		r, trouble := m.Rollout, "has taken no directive"
		if r == nil {
			r = &client.Rolled{}
		} else if trouble = r.Error; trouble != "" && !p.csv {
			troubles[trouble] = append(troubles[trouble], m.Machine)
			trouble = "see below"
		}
		state := cell{"here", green}
		if m.Away {
			state = cell{"away", yellow}
		}
		rows = append(rows, []cell{
			text(m.Machine), state, text(m.Policy), text(r.Stage), text(r.Shadow),
			{strings.Join(r.Off, " "), red}, {strings.Join(m.Failing, " "), red}, {trouble, red},
		})
	}
	p.table([]column{
		nameColumn("MACHINE"), {title: "STATE"}, nameColumn("POLICY"), {title: "STAGE"}, nameColumn("SHADOW"),
		textColumn("OFF"), textColumn("FAILING GUARDS"), textColumn("TROUBLE"),
	}, rows)
	for _, trouble := range slices.Sorted(maps.Keys(troubles)) {
		p.sentence(red, strings.Join(troubles[trouble], ", ")+": "+trouble)
	}
	printTroubles(p, f.Machines)
}

// printDirective prints the bundles that the machines are to run, and the hooks that are off. The pairs
// of before stand above.
func printDirective(p *printer, d client.Directive, before ...pair) {
	next := d.Next
	if d.Stage != "" {
		next += ", " + d.Stage
	}
	if d.Percent > 0 {
		next += fmt.Sprintf(" on %d%% of the machines", d.Percent)
	}
	p.pairs(append(before,
		kv("enforced", cmp.Or(d.Enforced, "no bundle")),
		kv("on trial", next),
		kv("before", d.Previous),
		kv("signed", fmt.Sprintf("%s by %s, key %s, sequence %d", p.when(d.Time), d.By, d.Key, d.Sequence)),
	)...)
	for _, o := range d.Off {
		where := ""
		if o.Revision != 0 {
			where = fmt.Sprintf(" in the bundle %d", o.Revision)
		}
		line := fmt.Sprintf("OFF: %s%s, %s by %s: %s", o.Hook, where, p.when(o.Time), o.By, o.Reason)
		p.sentence(red, line)
	}
}
