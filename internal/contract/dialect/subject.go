package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// SubjectBytes is how long a subject is at most.
const SubjectBytes = 256

// subjectPart is how much of a text is looked at for a subject: the longest
// secret, and more than the subject before it.
const subjectPart = 8 << 10

// Subject returns the facts that a person wants to know of e at a glance: the tool, by
// its canonical name, and in one harmless line its subject: the command, the path, the
// URL, the first line of a prompt. Both are "" where e is about nothing of that kind.
// redact takes the secrets out of a JSON object; nil = they stay.
func Subject(e *events.Event, redact func([]byte) []byte) (tool, subject string) {
	name, text := "", ""
	switch {
	case isCall(e.Contract):
		call := Call(e)
		tool = escape.Line(call.Tool, SubjectBytes)
		name, text = call.Subject()
	case e.Contract.Kind == events.KindPromptSubmit:
		name, text = "prompt", firstLine(Facts(e).String(neutral.Prompt))
	case e.Contract.Kind == events.KindFileChanged:
		name, text = "file_path", Facts(e).String(neutral.File)
	}
	if text = strings.TrimSpace(text); text == "" {
		return tool, ""
	}
	return tool, escape.Line(countBlanks(beginning(name, text, redact)), SubjectBytes)
}

// manyBlanks in a row are counted in place of being shown: the text after them would be out of sight.
const manyBlanks = 24

// countBlanks puts a count in place of each long run of blanks.
func countBlanks(text string) string {
	const blanks = " \t\r\n"
	var out strings.Builder
	rest := text
	for {
		i := strings.IndexAny(rest, blanks)
		if i < 0 {
			break
		}
		n := len(rest[i:]) - len(strings.TrimLeft(rest[i:], blanks))
		if n < manyBlanks {
			out.WriteString(rest[:i+n])
		} else {
			fmt.Fprintf(&out, "%s [%d blanks] ", rest[:i], n)
		}
		rest = rest[i+n:]
	}
	if out.Len() == 0 {
		return text
	}
	return out.String() + rest
}

// callBytes is how long the id of a call is at most.
const callBytes = 128

// CallID returns the id that an agent gives to a tool call, on one harmless line; "" where e is
// about no call, or tells no id.
func CallID(e *events.Event) string {
	id, _ := CallIDAndInput(e)
	return id
}

// CallIDAndInput returns the CallID of e, and the canonical arguments of the tool, by one reading of e's data.
func CallIDAndInput(e *events.Event) (id string, input json.RawMessage) {
	f := Facts(e)
	if isCall(e.Contract) {
		id = escape.Line(f.String(neutral.Call), callBytes)
	}
	return id, f[neutral.Input]
}

// isCall reports whether events of a row are about one tool call.
func isCall(c *events.Contract) bool {
	switch c.Kind {
	case events.KindToolBefore, events.KindToolAfter, events.KindToolTransform, events.KindPermissionRequest:
		return true
	}
	return c.Judge != ""
}

// beginning is the start of a text without its secrets. The name of the text may give
// the secret away. A secret that is cut off may not be known as one: the part that does
// not depend on where the text is cut has no secret.
func beginning(name, text string, redact func([]byte) []byte) string {
	if len(text) <= subjectPart {
		return redacted(name, text, redact)
	}
	if redact == nil {
		return text[:subjectPart]
	}
	more, less := redacted(name, text[:subjectPart], redact), redacted(name, text[:subjectPart/2], redact)
	n := 0
	for n < min(len(more), len(less)) && more[n] == less[n] {
		n++
	}
	return more[:n]
}

func redacted(name, text string, redact func([]byte) []byte) string {
	if redact == nil {
		return text
	}
	object := rawjson.With(nil, rawjson.StringMember(name, text))
	now := redact(object)
	if clean, ok := rawjson.GetString(now, name); ok {
		return clean
	}
	return "[redacted]" // the name itself was taken for a secret
}

// firstLine is the first line of text that is not blank.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
