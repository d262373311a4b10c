package verdict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hookd/hookd/internal/events"
)

// Fold merges the answers, which stand in registration order, into the
// verdict on an event with contract c and payload data (as emitted). Answers
// of hooks that do not block are left out whole, and so is every answer to an
// event that only observes.
func Fold(c *events.Contract, data json.RawMessage, answers []Answer) *Verdict {
	f := folding{c: c, data: data, v: &Verdict{Allowed: true, Continue: true}}
	for _, a := range answers {
		if c.Decidable && a.Terms.Blocking {
			a = a.Tightened()
			f.add(&a)
		}
	}
	dropDefer(f.v)
	f.v.DecidedBy = f.decidedBy()
	return f.v
}

// folding is the state of one Fold.
type folding struct {
	c    *events.Contract
	data json.RawMessage
	v    *Verdict

	deniers  []string
	deciders map[string][]string // by permission_decision
	givers   []string            // of anything else that the verdict carries
}

func (f *folding) add(a *Answer) {
	if a.Failure != "" {
		f.fail(a)
		return
	}
	f.say(a.SystemMessage)
	f.decide(a)
	denied := f.block(a)
	gave := f.give(a)
	if rewrote := f.rewrite(a); (gave || rewrote) && !denied {
		f.givers = append(f.givers, a.Terms.Name)
	}
}

// fail applies the hook's policy on failures. Where the event is fail-closed
// a failure denies whatever the policy says.
func (f *folding) fail(a *Answer) {
	cause := a.Failure
	if f.c.Explicit {
		cause = "content check failed" // what was checked stays secret
	}
	text := fmt.Sprintf("%s hook failed to execute: hook %q: %s", f.c.Name, a.Terms.called(), cause)
	if a.See != "" {
		text += " (" + a.See + ")"
	}
	switch {
	case a.FailureDenies(f.c):
		f.deny(a, -1, text)
	case a.Terms.OnError != "ignore":
		f.say(text)
	}
}

// FailureDenies reports whether a failure of the hook denies an event with contract c.
func (a *Answer) FailureDenies(c *events.Contract) bool {
	return a.guards(c) || c.Decidable && a.Terms.Blocking && c.CanBlock && a.Terms.OnError == "deny"
}

// guards reports whether a failure of the hook denies an event with contract c whatever its
// OnError says.
func (a *Answer) guards(c *events.Contract) bool {
	return c.FailClosed && a.Terms.Blocking && !a.Terms.OnErrorAlone
}

// deny denies for a reason of several lines. Exit code and stderr are the values of the
// last hook that has any, in registration order, not of the worst.
func (f *folding) deny(a *Answer, exitCode int, reasons ...string) {
	f.v.Allowed = false
	f.v.Message = join(append([]string{f.v.Message}, reasons...)...)
	f.deniers = append(f.deniers, a.Terms.Name)
	if exitCode == 0 {
		return
	}
	f.v.ExitCode = exitCode
	if f.v.Stderr = a.Stderr; f.c.Explicit {
		f.v.Stderr = ""
	}
}

// block applies everything that says no, and reports whether it did.
func (f *folding) block(a *Answer) bool {
	if a.blocks() && !f.c.CanBlock {
		f.warnBlock(a)
	}
	if !a.denies(f.c) {
		return false
	}
	exitCode := 0
	if a.ExitCode == 2 {
		exitCode = 2
	}
	reasons := a.reasons()
	if f.c.Explicit {
		reasons = nil
	}
	f.deny(a, exitCode, reasons...)
	if a.stops() && f.c.CanBlock {
		f.v.Continue = false
		if f.v.StopReason == "" && !f.c.Explicit {
			f.v.StopReason = a.StopReason
		}
	}
	return true
}

// denies reports whether the answer denies an event with contract c. A
// permission deny counts wherever the event can be blocked: docker-agent's
// documentation vetoes before_compaction with it.
func (a *Answer) denies(c *events.Contract) bool {
	if a.PermissionDecision == "deny" && c.Decision != events.DecisionNone {
		return true
	}
	return c.CanBlock && (a.blocks() || a.PermissionDecision == "deny")
}

func (f *folding) warnBlock(a *Answer) {
	what := "a block"
	if a.ExitCode == 2 {
		what = "exit 2"
	}
	f.say(fmt.Sprintf("%s hook %q returned %s, but this event cannot block", f.c.Name, a.Terms.called(), what))
}

// rank orders permission decisions: the strictest wins.
func rank(decision string) int {
	switch decision {
	case "allow":
		return 1
	case "contain":
		return 2
	case "ask":
		return 3
	case "deny":
		return 4
	}
	return 0
}

// decide folds permission_decision; ties keep the first reason.
func (f *folding) decide(a *Answer) {
	word := a.PermissionDecision
	switch {
	case word == "":
	case f.c.Decision == events.DecisionVerdict:
		f.decided(word, a)
		if rank(word) > rank(f.v.PermissionDecision) {
			f.v.PermissionDecision, f.v.DecisionReason = word, a.PermissionReason
		}
		if a.Profile != "" && !slices.Contains(f.v.Contain, a.Profile) {
			f.v.Contain = append(f.v.Contain, a.Profile)
		}
	case f.c.Decision == events.DecisionPermission:
		if word == "allow" {
			f.decided(word, a)
			f.v.PermissionAllowed = true
			if f.v.DecisionReason == "" {
				f.v.DecisionReason = a.PermissionReason
			}
		}
	case !a.denies(f.c):
		f.say(fmt.Sprintf("%s hook %q returned permission_decision, but this event does not support approval decisions", f.c.Name, a.Terms.called()))
	}
}

func (f *folding) decided(word string, a *Answer) {
	if f.deciders == nil {
		f.deciders = map[string][]string{}
	}
	f.deciders[word] = append(f.deciders[word], a.Terms.Name)
}

// give takes the contributions of the hook besides a decision, as far as the event has
// a use for it, and reports whether there was any.
func (f *folding) give(a *Answer) bool {
	gave := a.SystemMessage != ""
	context := a.Context
	if f.c.PlainText == events.PlainContext {
		context = join(context, a.PlainText)
	}
	if f.c.Context && context != "" {
		f.v.AdditionalContext, gave = join(f.v.AdditionalContext, context), true
	}
	if f.c.Summary && f.v.Summary == "" && a.Summary != "" {
		f.v.Summary, gave = a.Summary, true
	}
	if f.c.Metadata && len(a.Metadata) > 0 {
		if f.v.Metadata == nil {
			f.v.Metadata = map[string]string{}
		}
		maps.Copy(f.v.Metadata, a.Metadata)
		gave = true
	}
	gave = f.specific(a) || gave
	f.v.SuppressOutput = f.v.SuppressOutput || a.SuppressOutput
	if a.Skip {
		f.v.Skip, gave = true, true
	}
	return gave
}

// rewrite takes the hook's rewrite and reports whether it counts. It survives
// a denial.
func (f *folding) rewrite(a *Answer) bool {
	change := a.rewriteFor(f.c)
	if change == nil {
		return false
	}
	switch f.c.Rewrite {
	case events.RewriteInput:
		if f.v.UpdatedInput == nil {
			f.v.UpdatedInput = objectIn(f.data).get(f.c.Target)
		}
		f.v.UpdatedInput = patch(f.v.UpdatedInput, change)
	case events.RewriteMessages:
		f.v.UpdatedMessages = change
	case events.RewriteResponse:
		if f.c.FirstWins && f.v.UpdatedToolResponse != nil {
			return false
		}
		f.v.UpdatedToolResponse = change
	}
	return true
}

func (f *folding) say(text string) { f.v.SystemMessage = join(f.v.SystemMessage, text) }

// decidedBy names the hooks that made the verdict: the hooks that denied, if any did;
// else the hooks that gave the winning decision or anything it carries.
func (f *folding) decidedBy() []string {
	if !f.v.Allowed {
		return Unique(f.deniers)
	}
	word := f.v.PermissionDecision
	if f.v.PermissionAllowed {
		word = "allow"
	}
	return Unique(append(f.deciders[word], f.givers...))
}

// Unique drops repeated names and keeps the order; nil for none.
func Unique(names []string) []string {
	var out []string
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
