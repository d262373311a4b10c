package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/wire"
)

// fleetAsks lists the asks of all machines that wait for an answer.
func fleetAsks(a *app, cmd *cobra.Command) error {
	return showList(a, cmd, "asks", func(ctx context.Context, c *client.Client) ([]client.FleetAsk, error) {
		return c.FleetAsks(ctx)
	}, printFleetAsks)
}

// answerFleet signs the answer to an ask of any machine, and waits until that machine says
// how the ask has ended.
func answerFleet(ctx context.Context, a *app, cmd *cobra.Command, id, key, digest string, r client.AskReply) error {
	if r.For != "" || r.Like != "" {
		return fail(exitUsage, "answer without --for and --like", "an answer from another machine counts once")
	}
	signer, err := policy.PrivateKey(key)
	if err != nil {
		return fail(exitFailed, "name the key of an approver: the file of `hookd bundle keygen FILE`", "%w", err)
	}
	info, err := a.dial(cmd).Fleet(ctx)
	if err != nil {
		return err
	}
	found, err := fleetAsk(ctx, a, cmd, id)
	if err != nil {
		return err
	}
	if r.Answer == client.OutcomeAllow {
		if digest == "" && a.format != "json" {
			if err := a.print(found, func(p *printer) { p.line("on the machine ", found.Machine) }); err != nil {
				return err
			}
		}
		if err := takeDigest(a, found.Ask, digest, " --key "+quote(key), &r); err != nil {
			return err
		}
		if c := found.Ask.Card; c != nil && r.Digest != c.Digest {
			return fail(exitFailed, "look at it again: `hookd ask allow "+id+" --key "+quote(key)+"`",
				"the digest %s is not of this call", digest)
		}
	}
	s := wire.FleetStatement{
		Tenant: info.Tenant, Machine: found.Machine, Ask: found.Ask.ID, About: r.Digest,
		Answer: wire.Outcome(r.Answer), Message: r.Message, Until: found.Ask.Until, Time: time.Now().UTC(),
	}
	signed := client.FleetAnswer(fleet.SignAnswer(s, signer))
	if err := a.dial(cmd).PassAnswer(ctx, signed); err != nil {
		return err
	}
	return waitForMachine(ctx, a, cmd, found, s)
}

// fleetAsk returns the only ask of all machines whose id ends so. MACHINE/ID is an ask of that machine: a machine
// that lies may copy the id of another's.
func fleetAsk(ctx context.Context, a *app, cmd *cobra.Command, id string) (found client.FleetAsk, err error) {
	list, err := a.dial(cmd).FleetAsks(ctx)
	if err != nil {
		return found, err
	}
	machine, end, named := strings.Cut(id, "/")
	if !named {
		end = id
	}
	n := 0
	for _, one := range list {
		if strings.HasSuffix(one.Ask.ID, strings.ToUpper(end)) && (!named || one.Machine == machine) {
			found = one
			n++
		}
	}
	switch {
	case n == 0:
		return found, fail(exitFailed, "see `hookd ask --fleet`", "no call that waits ends with %s: it was answered, or its time is over", id)
	case n > 1:
		return found, fail(exitUsage, "type MACHINE/ID, and more of the id: see `hookd ask --fleet -o json`", "%d asks end with %s", n, id)
	}
	return found, nil
}

// A machine that is there says within so long that it has taken an answer.
const (
	machineTime  = 10 * time.Second
	machineLook  = 100 * time.Millisecond
	notTakenHint = "its log says why, if it is there: the key must be one of its fleet.approvers"
)

// waitForMachine prints whether the machine that asked has taken the answer. Its ask is then not
// among the waiting asks any more.
func waitForMachine(ctx context.Context, a *app, cmd *cobra.Command, of client.FleetAsk, s wire.FleetStatement) error {
	ctx, cancel := context.WithTimeout(ctx, machineTime)
	defer cancel()
	tick := time.NewTicker(machineLook)
	defer tick.Stop()
	for {
		list, err := a.dial(cmd).FleetAsks(ctx)
		waits := err != nil
		for _, one := range list {
			waits = waits || one.Ask.ID == of.Ask.ID && one.Machine == of.Machine
		}
		if !waits {
			return a.print(s, func(p *printer) {
				p.linef("%s took the answer, or had one before: %s for %s", of.Machine,
					about(of.Ask.Tool, of.Ask.Subject), of.Ask.Agent)
			})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fail(exitFailed, notTakenHint, "%s has not said that it took the answer", of.Machine)
		}
	}
}
