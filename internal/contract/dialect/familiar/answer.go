package familiar

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// maxMessage bounds the message of an abort or a skip, in bytes.
const maxMessage = 16 << 10

// Terms is the part of a hook's definition about its answers. OnError is its
// onFailure: "warn" (also ""), "ignore", or "deny" for abort.
type Terms struct {
	verdict.Terms
	Capture bool // captureOutput
}

// RunAnswer is how one run of a hook answered. Its verdict.Answer never carries
// a Failure: onFailure alone decided already, also on events that are
// fail-closed in other dialects.
type RunAnswer struct {
	verdict.Answer
	Failure string // why the run failed, in words for people; "" = it did not
	Silent  bool   // the failure is not worth a WARN: onFailure is ignore, or a guard's exit 1 was its answer
	Aborts  bool   // the operation stops here: no later hook of the event runs
	Output  string // captured stdout, for Outputs; "" = nothing
}

// Read reads the answer of one run of a hook for an event that was emitted with
// contract c. Exit 0 goes on, exit 2 skips, and everything else, a timeout too, is a
// failure. A hook that does not block has no say; its captured output counts all the
// same.
func Read(c *events.Contract, p Terms, out verdict.Output) RunAnswer {
	a := RunAnswer{Answer: verdict.Answer{Terms: p.Terms, ExitCode: out.ExitCode, Stderr: trimmed(out.Stderr)}}
	switch {
	case out.Failure != "":
		a.ExitCode = -1
		a.fail(c, p, out.Failure, fmt.Sprintf("hook %q %s", p.Name, out.Failure))
	case out.ExitCode == 0:
		if p.Capture {
			a.Output = trimmed(out.Stdout)
			a.Context = a.Output
		}
	case out.ExitCode == 2:
		a.skip(c, p, out)
	default:
		failure := fmt.Sprintf("exit status %d", out.ExitCode)
		a.fail(c, p, failure, message(out, fmt.Sprintf("hook %q failed: %s", p.Name, failure)))
	}
	return a
}

// fail applies onFailure. An abort denies where the event can be stopped, and
// stops the later hooks wherever a sender waits for this one.
func (a *RunAnswer) fail(c *events.Contract, p Terms, failure, message string) {
	a.Failure, a.Silent = failure, p.OnError == "ignore"
	if p.OnError != "deny" || !p.Blocking {
		return
	}
	a.Aborts = true
	if c.CanBlock {
		a.Blocked, a.Decision, a.Reason = true, "block", message
		a.Silent = a.ExitCode == 1
	}
}

// Result classifies a run that came to an end on its own, for its record.
func (a *RunAnswer) Result() wire.Result {
	switch {
	case a.Blocked:
		return wire.ResultDeny
	case a.Failure != "":
		return wire.ResultFailed
	}
	return wire.ResultOK
}

// skip says that the operation is left out. A tool call that is skipped is not allowed;
// elsewhere the agent is told and decides which operation to skip.
func (a *RunAnswer) skip(c *events.Contract, p Terms, out verdict.Output) {
	if !p.Blocking {
		return
	}
	a.Skip = true
	text := message(out, fmt.Sprintf("hook %q skipped the operation", p.Name))
	if c.Kind == events.KindToolBefore && c.CanBlock {
		a.Blocked, a.Decision, a.Reason = true, "block", text
		a.Stderr = text // an exit 2 gives stderr as its reason
		return
	}
	a.ExitCode, a.SystemMessage = 0, text // verdict.Fold must not see an exit 2: nothing is denied
}

// message is stderr, else stdout, else the text that stands in their place.
func message(out verdict.Output, otherwise string) string {
	for _, stream := range [][]byte{out.Stderr, out.Stdout} {
		if text := trimmed(stream); text != "" {
			return cut(text)
		}
	}
	return otherwise
}

func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

// trimmed returns a stream as text without blanks around it.
func trimmed(stream []byte) string {
	return string(bytes.TrimSpace(bytes.ToValidUTF8(stream, []byte("\uFFFD"))))
}

// Reply writes the answer that Familiar reads: exit 1 with a reason aborts where the
// hook's onFailure is abort, exit 2 skips, and captureOutput captures stdout.
func Reply(a neutral.Asked) neutral.Reply {
	row := events.LookupIn(events.Familiar, a.Event)
	switch {
	case row == nil:
		return neutral.Reply{}
	case a.Denies() && a.Verdict.Skip:
		return neutral.Reply{Stderr: a.Reason(), Exit: 2}
	case a.Denies() && row.CanBlock:
		return neutral.Reply{Stderr: a.Reason(), Exit: 1}
	}
	return neutral.Reply{Stdout: a.Verdict.AdditionalContext}
}
