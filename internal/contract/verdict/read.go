package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// AnswerBytes is how many bytes of a hook's output are read as an answer, but of an answer that rewrites.
const AnswerBytes = 1 << 20

// Read reads the answer of one run of a hook that was given an event with contract c.
// It never fails: output that cannot be read is an Answer with a Failure.
func Read(c *events.Contract, p Terms, out Output) Answer {
	a := Answer{Terms: p, ExitCode: out.ExitCode, Stderr: string(bytes.TrimSpace(valid(out.Stderr)))}
	if out.Failure != "" {
		a.Failure = out.Failure
		return a
	}
	read := a
	if err := read.read(c, out); err != nil {
		a.Failure = err.Error()
		return a
	}
	return read
}

func (a *Answer) read(c *events.Contract, out Output) error {
	replaces := c.PlainText == events.PlainReplaces
	if out.ExitCode == 2 && !replaces {
		a.readBlock(out.Stdout)
		return nil
	}
	if out.ExitCode != 0 {
		return fmt.Errorf("exited with status %d", out.ExitCode)
	}
	stdout := valid(out.Stdout)
	switch {
	case replaces:
		return a.readReplacement(stdout)
	case c.Explicit:
		return a.readExplicit(stdout)
	}
	return a.readStdout(c, trim(stdout))
}

// trim returns text without the white space around it, and without the byte
// order mark that some editors and PowerShell write before it.
func trim(text []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\uFEFF")))
}

// readBlock reads an exit 2. It is a verdict on its own; of a JSON answer beside it
// only the words count: reasons where there is no stderr, a message for the user, and
// continue: false. A rewrite or an allow is lost.
func (a *Answer) readBlock(stdout []byte) {
	a.Blocked = true
	said := Answer{Terms: a.Terms}
	obj := a.verdictObject(trim(valid(stdout)))
	if _, err := said.decode(obj); obj == nil || err != nil {
		return
	}
	a.Continue, a.SystemMessage = said.Continue, said.SystemMessage
	a.StopReason, a.Reason, a.PermissionReason = said.StopReason, said.Reason, said.PermissionReason
}

// verdictObject finds the object that an exit 2 explains itself with.
func (a *Answer) verdictObject(text []byte) object {
	if obj, err := parseObject(text); err == nil {
		return obj
	}
	return a.lastLine(text)
}

// readStdout reads the trimmed stdout of an exit 0: an object is protocol, other
// text is context or, at its end, an object with a verdict.
func (a *Answer) readStdout(c *events.Contract, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if text[0] == '{' {
		return a.readObject(c, text)
	}
	if a.Terms.StrictOutput {
		return errors.New("strict_output requires a JSON object or empty stdout")
	}
	if obj := a.lastLine(text); obj != nil {
		a.warn("text before the JSON answer was skipped: print it to stderr")
		return a.understand(c, obj)
	}
	guards := a.guards(c)
	if guards && len(text) <= maxWord && strings.IndexByte(`["tfn`, text[0]) >= 0 && json.Valid(text) {
		return fmt.Errorf("its answer is JSON but no object: deny with %s", denial)
	}
	switch key := verdictWord().Find(text); {
	case key == nil || !a.Terms.Blocking:
	case guards:
		return fmt.Errorf("its answer shares stdout with text: print %s and the rest on one line of its own, text to stderr", key)
	default:
		a.warn("an answer among text was not read: print it on a line of its own, and text to stderr")
	}
	a.PlainText = string(text)
	return nil
}

// verdictWord finds text that is written like a member of an answer: in JSON with text before or
// behind it on its line, in JSON over several lines, cut off, or in the quotes of Python.
var verdictWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`["'](?:decision|permissionDecision|permission_decision|hookSpecificOutput|hook_specific_output|continue)["'] ?:`)
})

// maxWord is how long text may be that is looked at as a JSON value which is no
// object: an answer that says a word or a list of them.
const maxWord = 64 << 10

// denial is the answer of a hook that means no.
const denial = `{"decision":"block","reason":"…"}`

func (a *Answer) readObject(c *events.Contract, text []byte) error {
	obj, err := parseObject(text)
	if err != nil {
		return fmt.Errorf("invalid hook output: %w", err)
	}
	return a.understand(c, obj)
}

// understand reads an object as an answer to an event with contract c. Where a
// guard's failure denies, an object that says nothing hookd knows is a failure.
func (a *Answer) understand(c *events.Contract, obj object) error {
	h, err := a.decode(obj)
	switch {
	case err != nil:
		return err
	case a.Terms.StrictOutput:
		return a.checkStrict(c, obj)
	case a.guards(c):
		if key := h.silent(obj); key != "" {
			return fmt.Errorf("its answer says nothing that hookd knows: key %q is no word of this event's agent; deny with %s", key, denial)
		}
		if key := obj.contradicts(); key != "" {
			return fmt.Errorf("its answer gives key %q twice, with different values", key)
		}
	}
	return nil
}

// lastLine returns the object on the last line of text if it speaks of a
// verdict, else nil. A deny that follows a line of log must not be lost.
func (a *Answer) lastLine(text []byte) object {
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
		return nil
	}
	if obj, err := parseObject(line); err == nil && a.hasVerdictKey(obj) {
		return obj
	}
	return nil
}

// readReplacement reads stdout of transform_tool_result: protocol if it is one
// object of protocol's keys only, else the new result, byte for byte.
func (a *Answer) readReplacement(stdout []byte) error {
	if len(stdout) == 0 {
		return nil
	}
	obj, err := parseObject(stdout)
	f := pick(obj, transformKeys)
	if err != nil || len(f.unknown) > 0 {
		if a.Terms.StrictOutput {
			return errors.New("strict_output requires a JSON object with tool_output, or empty stdout")
		}
		a.UpdatedResponse = rawjson.Quote(string(stdout))
		return nil
	}
	inner := pick(f.object(keySpecific), insideKeys)
	for _, from := range []struct {
		*fields
		key string
	}{{f, keyToolOutput}, {inner, keyResponse}, {f, keyResponse}} {
		if from.has(from.key) {
			a.UpdatedResponse = rawjson.Quote(from.text(from.key)) // a later one is the more explicit
		}
	}
	for _, key := range inner.given() {
		if key != keyResponse && key != keyEventName {
			a.warn(key + " was ignored: only a new result counts here")
		}
	}
	a.SystemMessage = f.text(keySystemMessage)
	if err := errors.Join(f.err, inner.err); err != nil {
		return fmt.Errorf("invalid hook output: %s", strings.ReplaceAll(err.Error(), "\n", ", "))
	}
	return nil
}

// errExplicit is the failure of a content guard that said neither yes nor no.
var errExplicit = errors.New(`an explicit verdict is required: {"continue":true} or {"decision":"block"}`)

// readExplicit reads a content guard's answer: yes is exactly
// {"continue":true}, no is a block with its reason, anything else is a
// failure.
func (a *Answer) readExplicit(stdout []byte) error {
	obj, err := parseObject(stdout)
	if err != nil {
		return errExplicit
	}
	f := pick(obj, topKeys)
	if len(f.unknown) > 0 || len(f.twice) > 0 {
		return fmt.Errorf("a content guard's answer has no place for %q", append(f.unknown, f.twice...)[0])
	}
	for _, key := range []string{keySystemMessage, keySuppress, keySpecific} {
		if _, given := f.values[key]; given {
			return fmt.Errorf("a content guard's answer has no place for %q", key)
		}
	}
	if _, err := a.decode(obj); err != nil {
		return err
	}
	yes := len(obj) == 1 && a.Continue != nil && *a.Continue
	if !yes && !a.Blocked {
		return errExplicit
	}
	return nil
}
