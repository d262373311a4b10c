package verdict

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Output holds the results of a run, as far as its answer needs them.
type Output struct {
	ExitCode int    // -1 when there is none
	Stdout   []byte // all of it, up to the limit of the event
	Stderr   []byte // the kept part
	// Failure says, for people, why the run failed before it could answer: timeout,
	// spawn error, output over the limit. "" = it did not.
	Failure string
}

// Terms is the part of the hook's definition about its answers.
type Terms struct {
	Name         string // by which the record knows it
	Called       string // its name in messages; "" = Name
	Blocking     bool   // takes part in the verdict; else its answer is read for the record only
	OnError      string // "warn" (also ""), "ignore", "deny"
	OnErrorAlone bool   // OnError decides about a failure, also where that of a guard denies
	StrictOutput bool
	TightenOnly  bool   // it may deny, ask and add context, and nothing else
	Words        []Word // of the dialect whose name of the event the hook was given, beside the common ones
}

// called is the hook's name in messages.
func (p Terms) called() string { return cmp.Or(p.Called, p.Name) }

// Answer is one hook's answer, read. The zero Answer is "no opinion".
type Answer struct {
	Terms    Terms
	Failure  string // why it is not an answer; then nothing below Stderr is set
	See      string // of a failure: where a person looks further; "" = nothing to add
	Warning  string // something odd that was tolerated; worth one WARN
	Blocked  bool   // exit 2, decision: block, continue: false, permission deny
	ExitCode int    // of the process; 2 is a block
	Stderr   string // trimmed

	Continue           *bool // nil = not said
	StopReason         string
	SuppressOutput     bool
	SystemMessage      string
	Decision           string // "" or "block"
	Reason             string
	PermissionDecision string // "", "allow", "contain", "ask" or "deny"
	Profile            string // of the box; it counts with contain, and with an ask for the case of a yes
	PermissionReason   string
	Context            string          // additional_context
	PlainText          string          // trimmed stdout that is not protocol
	UpdatedInput       json.RawMessage // a patch of the top level; nil = none
	UpdatedResponse    json.RawMessage // nil = none, "" clears
	UpdatedMessages    json.RawMessage // a list that is not empty; nil = none
	Summary            string
	Metadata           map[string]string
	Specific           map[string]json.RawMessage // keys of events.Takeable with values of their types; nil = none
	Skip               bool                       // Familiar's exit 2
}

// Says returns the decision of the answer on an event with contract c, in a word, and
// why; "" where it is silent or does not count.
func (a *Answer) Says(c *events.Contract) (outcome wire.Outcome, reason string) {
	if !c.Decidable || !a.Terms.Blocking || a.Failure != "" {
		return "", ""
	}
	switch {
	case a.denies(c):
		outcome, reason = wire.OutcomeDeny, join(a.reasons()...)
	case c.Decision == events.DecisionVerdict && a.PermissionDecision == "ask":
		outcome, reason = wire.OutcomeAsk, a.PermissionReason
	case c.Decision == events.DecisionVerdict && a.PermissionDecision == "contain":
		outcome, reason = wire.OutcomeContain, a.PermissionReason
	case c.Decision != events.DecisionNone && a.PermissionDecision == "allow":
		outcome, reason = wire.OutcomeAllow, a.PermissionReason
	}
	if c.Explicit {
		reason = "" // what was checked stays secret
	}
	return outcome, reason
}

// stops reports whether the answer says continue: false.
func (a *Answer) stops() bool { return a.Continue != nil && !*a.Continue }

// blocks reports whether the answer is a block by anything but a
// permission_decision.
func (a *Answer) blocks() bool {
	return a.Failure == "" && (a.ExitCode == 2 || a.Decision == "block" || a.stops())
}

// reasons returns why the answer blocks: stderr of an exit 2, else the stop
// reason, the reason and the permission's reason, in that order.
func (a *Answer) reasons() []string {
	if a.ExitCode == 2 && a.Stderr != "" {
		return []string{a.Stderr}
	}
	var lines []string
	if a.stops() || a.ExitCode == 2 {
		lines = append(lines, a.StopReason)
	}
	if a.blocks() {
		lines = append(lines, a.Reason)
	}
	if a.PermissionDecision == "deny" || a.ExitCode == 2 {
		lines = append(lines, a.PermissionReason)
	}
	return Unique(lines)
}

// Replaces reports whether the answer carries a rewrite that counts for c. On
// an event whose first replacement wins, it ends the chain.
func (a Answer) Replaces(c *events.Contract) bool { return a.rewriteFor(c) != nil }

func (a *Answer) rewriteFor(c *events.Contract) json.RawMessage {
	if !a.Terms.Blocking || a.Failure != "" {
		return nil
	}
	switch c.Rewrite {
	case events.RewriteInput:
		return a.UpdatedInput
	case events.RewriteResponse:
		return a.UpdatedResponse
	case events.RewriteMessages:
		return a.UpdatedMessages
	}
	return nil
}

// WarnedOfIgnored returns the answer with a warning for each part that an event with
// contract c has no use for: a hook's work must not be lost in silence.
func (a Answer) WarnedOfIgnored(c *events.Contract) Answer {
	if !c.Decidable || !a.Terms.Blocking || a.Failure != "" {
		return a
	}
	for _, part := range []struct {
		key   string
		given bool
		taken bool
	}{
		{"a denial", a.Blocked, c.CanBlock || c.Decision != events.DecisionNone},
		{
			keyPermission, a.PermissionDecision != "" && a.PermissionDecision != "deny",
			c.Decision != events.DecisionNone,
		},
		{keyInput, a.UpdatedInput != nil, c.Rewrite == events.RewriteInput},
		{keyMessages, a.UpdatedMessages != nil, c.Rewrite == events.RewriteMessages},
		{keyResponse, a.UpdatedResponse != nil, c.Rewrite == events.RewriteResponse},
		{keyContext, a.Context != "", c.Context},
		{keySummary, a.Summary != "", c.Summary},
		{keyMetadata, len(a.Metadata) > 0, c.Metadata},
	} {
		if part.given && !part.taken {
			a.warn(fmt.Sprintf("%s was ignored: %s takes none", part.key, c.Name))
		}
	}
	a.warnSpecific(c)
	return a
}

// Rewrite applies the answer's rewrite, if it has a rewrite that counts for c, to the
// event's payload, so that the next hook in sequence sees it. It returns data itself
// when there is nothing to rewrite.
func (a Answer) Rewrite(c *events.Contract, data json.RawMessage) json.RawMessage {
	change := a.rewriteFor(c)
	if change == nil {
		return data
	}
	payload := objectIn(data)
	if c.Rewrite == events.RewriteInput {
		change = patch(payload.get(c.Target), change)
	}
	return payload.with(c.Target, change).bytes()
}

// String says in words for people how the answer was read.
func (a Answer) String() string {
	switch {
	case a.Failure != "":
		return "failure: " + a.Failure
	case a.Blocked:
		return withReason("block", join(a.reasons()...))
	case a.PermissionDecision != "":
		return withReason(a.PermissionDecision, a.PermissionReason)
	case a.UpdatedInput != nil || a.UpdatedResponse != nil || a.UpdatedMessages != nil:
		return "rewrite"
	case a.Skip:
		return "skip"
	case a.Context != "" || a.Summary != "" || a.SystemMessage != "" || a.Metadata != nil || a.Specific != nil:
		return "allowed, with something to say"
	case a.PlainText != "":
		return "plain text"
	}
	return "no opinion"
}

func withReason(word, reason string) string {
	if reason == "" {
		return word
	}
	return fmt.Sprintf("%s: %s", word, reason)
}
