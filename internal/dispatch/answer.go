package dispatch

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// reader reads the answers of hooks.
type reader struct {
	*lifetime
	records *runRecords
	outputs outputs
}

// readAnswer reads the answer of a run and says how it ended, by the rules of the
// hook's dialect. A panic in reading it is a failure of the run: output that
// crashes the reader must not end hookd, now and at each retry of the run.
func (rd *reader) readAnswer(a *attempt) {
	defer func() {
		if p := recover(); p != nil {
			why := "its answer cannot be read: internal error, see hookd's log"
			rd.log.Error(
				"panic in reading an answer",
				zap.String("hook", a.match.Hook.Name),
				zap.String("run_id", a.run.ID),
				zap.Any("panic", p),
				zap.Stack("stack"),
			)
			a.answer, a.warn = verdict.Answer{Terms: a.match.Terms(), Failure: why, ExitCode: a.out.ExitCode}, true
			a.run.Result, a.run.Error = wire.ResultFailed, why
		}
		rd.note(a)
	}()
	rules := a.match.Rules
	if rules.Read == nil {
		a.answer = rd.read(a)
		if t := a.match.Hook.Type; t != hook.Builtin && t != hook.Rules { // which answer in the event's own words
			a.answer = dialect.Answer(a.current(), a.match.Given, a.answer)
		}
		a.answer = a.answer.Tightened().WarnedOfIgnored(a.contract)
		a.warnUndelivered()
		a.run.Result, a.run.Error = a.result(a.answer.Failure)
		a.warn = a.run.Result != wire.ResultOK && a.run.Result != wire.ResultDeny &&
			a.match.Hook.OnError != hook.OnErrorIgnore
		return
	}
	out := output(a.out)
	if !a.match.Hook.Capture {
		out.Stdout = []byte(a.out.Stdout.Head + a.out.Stdout.Tail)
	}
	read := rules.Read(a.event.Contract, a.match.Terms(), a.match.Hook.Capture, out)
	rd.outputs.add(rules.Conversation(a.event), read.Output, time.Now())
	a.answer, a.aborts, a.warn = read.Answer, read.Aborts, read.Failure != "" && !read.Silent
	a.warnUndelivered()
	if a.run.Result, a.run.Error = a.result(read.Failure); a.run.Result == wire.ResultOK ||
		a.run.Result == wire.ResultFailed {
		a.run.Result = read.Result
	}
}

// warnUndelivered puts into the answer and the record which parts of the answer do not reach the agent.
func (a *attempt) warnUndelivered() {
	a.answer = a.answer.Warned(dialect.Undelivered(a.event, a.contract, a.answer)...)
	a.run.Warning = a.answer.Warning
}

// whole is how many bytes of stdout the hook's answer may have.
func (rd *reader) whole(a *attempt) int {
	m := a.match
	switch r := m.Reading(a.contract); {
	case m.Hook.Capture:
		return verdict.AnswerBytes
	case m.Rules.Read != nil:
		return 0 // the kept part is enough for a message
	case r == nil:
		return 0
	case m.Blocks && r.Rewrite != events.RewriteNone:
		return rd.opts.RewriteBytes
	default:
		return verdict.AnswerBytes
	}
}

// read reads the hook's answer.
func (rd *reader) read(a *attempt) verdict.Answer {
	m, out := a.match, a.out
	c := m.Reading(a.contract)
	if c == nil || !m.Blocks && out.Exceeded {
		return verdict.Answer{Terms: m.Terms(), ExitCode: out.ExitCode}
	}
	if len(out.Whole) > verdict.AnswerBytes && c.PlainText != events.PlainReplaces &&
		!bytes.HasPrefix(bytes.TrimSpace(out.Whole), []byte("{")) {
		// Only a rewrite may be long, and text is none.
		out.Exceeded, out.Whole = true, out.Whole[:verdict.AnswerBytes]
	}
	return verdict.Read(c, m.Terms(), output(out))
}

// output puts an outcome into the form in which answers are read.
func output(out JobResult) verdict.Output {
	o := verdict.Output{ExitCode: out.ExitCode, Stdout: out.Whole, Stderr: []byte(out.Stderr.Head + out.Stderr.Tail)}
	switch {
	case out.Err != nil:
		o.Failure = out.Err.Error()
	case out.TimedOut && out.Stalled != "":
		o.Failure = "timed out after " + out.limit.String() + ": " + out.Stalled
	case out.TimedOut:
		o.Failure = "timed out after " + out.limit.String()
	case out.Failure != "":
		o.Failure = out.Failure
	case out.Signal != "":
		o.Failure = "was ended by " + out.Signal
	case out.Exceeded:
		o.Failure = fmt.Sprintf("wrote more than %d bytes to stdout", len(out.Whole))
	}
	return o
}

// result classifies a run and says for people why it was not ok. Exit 2 is an
// answer only from a hook whose answers count.
func (a *attempt) result(failure string) (wire.Result, string) {
	m, out := a.match, a.out
	switch {
	case out.stopped:
		return wire.ResultInterrupted, errStopped.Error()
	case out.Err != nil:
		return wire.ResultSpawnError, out.Err.Error()
	case out.TimedOut && out.Stalled != "":
		return wire.ResultTimeout, out.Stalled
	case out.TimedOut:
		return wire.ResultTimeout, "killed at its deadline"
	case out.Failure != "":
		return wire.ResultFailed, out.Failure
	case out.Signal != "":
		return wire.ResultFailed, "was ended by " + out.Signal
	case m.Blocks && failure != "":
		return wire.ResultFailed, failure
	case m.Blocks && a.answer.Blocked && !m.Shadow:
		return wire.ResultDeny, ""
	case out.ExitCode != 0 && !m.Blocks:
		return wire.ResultFailed, fmt.Sprintf("exit status %d", out.ExitCode)
	case failure != "":
		return wire.ResultFailed, failure
	}
	return wire.ResultOK, ""
}

// note adds to an attempt its hook's answer; to a failed one the hook's
// last words, and where to look further.
func (rd *reader) note(a *attempt) {
	if a.run.Result == wire.ResultInterrupted {
		a.warn = false
		return
	}
	if !failed(a.run.Result) {
		outcome, reason := a.answer.Says(a.contract)
		a.run.Decision, a.run.Reason = outcome, rd.records.clean(reason)
		return
	}
	said := rd.said(a.out.Stderr)
	a.run.Cause = cmp.Or(said, a.run.Error)
	a.run.Error = withWords(a.run.Error, said)
	if a.run.Awaited {
		a.run.Failure = wire.FailurePasses
		if a.answer.Failure != "" && a.answer.FailureDenies(a.contract) {
			a.run.Failure = wire.FailureDenies
		}
	}
	if a.answer.Failure != "" {
		a.answer.Failure = withWords(a.answer.Failure, said)
		name := a.match.Hook.Quoted()
		a.answer.See = "see: hookd log output " + name
		if !a.match.Hook.Layer.Signed() {
			a.answer.See += "; to switch it off: hookd disable " + name
		}
	}
}

// said returns the last line that a run printed to stderr, for people; "" = none.
func (rd *reader) said(o wire.Output) string {
	return rd.shown(lastLine(cmp.Or(o.Tail, o.Head)))
}

// shown makes a line that a hook printed fit for people; "" stays so.
func (rd *reader) shown(line string) string {
	if line == "" {
		return ""
	}
	return escape.Line(rd.records.redacted(line), lastWords)
}

// lastWords is how much of a failed run's last output its error has.
const lastWords = 200

// lastLine is the last line with a letter or a digit in a program's output. It has no
// colours and no lines of a box around it. Where no line has any, it is the last line
// that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(escape.WithoutColours(text))
	wordless := ""
	for rest := text; rest != ""; {
		at := strings.LastIndexByte(rest, '\n')
		line := strings.TrimFunc(rest[at+1:], isFrame)
		if strings.ContainsFunc(line, worded) {
			return line
		}
		wordless = cmp.Or(wordless, strings.TrimSpace(rest[at+1:]))
		rest = rest[:max(0, at)]
	}
	return wordless
}

func worded(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isFrame reports whether r is a blank or a line that boxes are drawn with.
func isFrame(r rune) bool { return unicode.IsSpace(r) || '\u2500' <= r && r <= '\u259f' }

func withWords(why, said string) string {
	if said == "" || why == "" {
		return cmp.Or(why, said)
	}
	return why + ": " + said
}

// The messages on stderr of a shell or a program that cannot do its work: in any of its
// lines, as the lines of its usage may follow, and in the last one.
var (
	brokenLine = lazyregexp.New(`(?i)(?:^|: )(?:command )?not found\.?$|command not found: |^usage: |` +
		`: (?:line )?\d+: [^:/ ]+: permission denied$|` + // of a shell, for a command's name: PATH has a closed folder
		`\b(?:unrecognized|unknown|invalid|illegal) (?:option|argument)`)
	brokenEnd = lazyregexp.New(
		`(?i)not found|no such file|cannot execute|permission denied|syntax error|unexpected (?:token|end)|` +
			`unbound variable|invalid option|bad interpreter|modulenotfounderror|traceback`)
)

// The messages on stderr of an interpreter that cannot read its program, or a file that the
// program needs: in the last line of a shell, which ends with the status of a denial, and
// in any line of others.
var (
	unreadableEnd  = lazyregexp.New(`(?i)syntax ?error|unexpected (?:token|end of file|eof)|parse error`)
	unreadableLine = lazyregexp.New(`(?i)syntax ?errors?\b|unexpected (?:end of file|eof)|parse error|` +
		`compilation errors|modulenotfounderror|cannot find (?:module|package)|can't locate \S+ in @inc|cannot load such file`)
)

// suspicious says why a guard seems broken: its interpreter cannot read it, which may
// look like a denial, as shells end with status 2 then; or it let an event pass without
// a word, and its stderr is that of a program which could not work. "" = it does not
// seem so.
func (rd *reader) suspicious(a *attempt) string {
	m, out := a.match, a.out
	if !m.Blocks || !a.contract.FailClosed || m.Hook.Persistent || out.Stdout.Bytes > 0 || out.Stderr.Bytes == 0 {
		return ""
	}
	switch {
	case out.ExitCode > 0:
		anywhere := unreadableLine
		if out.ExitCode == 2 {
			anywhere = nil
		}
		if line := lineWith(out.Stderr, unreadableEnd, anywhere); line != "" {
			return "its interpreter cannot read it: " + rd.shown(line)
		}
	case out.ExitCode == 0 && a.run.Result == wire.ResultOK:
		if line := lineWith(out.Stderr, brokenEnd, brokenLine); line != "" {
			return "it let a call pass while its program failed: " + rd.shown(line)
		}
	}
	return ""
}

// lineWith returns the first line of o that anywhere fits, else the last one if last
// fits it; "" = none. anywhere may be nil.
func lineWith(o wire.Output, last, anywhere *lazyregexp.Regexp) string {
	for _, text := range []string{o.Head, o.Tail} {
		for line := range strings.Lines(escape.WithoutColours(text)) {
			if line = strings.TrimFunc(line, isFrame); anywhere != nil && anywhere.MatchString(line) {
				return line
			}
		}
	}
	if line := lastLine(cmp.Or(o.Tail, o.Head)); last.MatchString(line) {
		return line
	}
	return ""
}
