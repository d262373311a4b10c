package dialect

import (
	"slices"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Ending is how a tool call ended, as far as its agent tells.
type Ending string

// The endings. A command ends ok if its exit code is 0.
const (
	EndedUnknown Ending = ""
	EndedOK      Ending = "ok"
	EndedFailed  Ending = "failed"
)

// failing are the dialects that report a command with an exit code other than 0 as a failed
// call. Others say nothing of that code, or only in the text that the model reads.
var failing = []events.Dialect{events.ClaudeCode}

// exitTexts are lines that agents, not programs, write behind the output of a command; in
// JSON, too.
var exitTexts = neutral.Lazy(
	`(?:^|\n|\\n)(?:Exit Code: |<shellId: \S+ completed with exit code )(-?\d+)>?(?:$|\n|\\n|")`)

// Ended returns how the call ended that a tool.after event is of. A call that goes on in
// the background has not ended.
func Ended(e *events.Event) Ending {
	if e.Contract.Kind != events.KindToolAfter {
		return EndedUnknown
	}
	f := Facts(e)
	is := func(v []byte) bool { return string(v) == "true" }
	switch input, result := f[neutral.Input], f[neutral.Result]; {
	case e.Contract.Failed, is(f[neutral.Failed]), is(f[neutral.Interrupted]), f.String(neutral.ErrorText) != "":
		return EndedFailed
	case is(rawjson.Get(input, "run_in_background")), rawjson.Get(result, "backgroundTaskId") != nil,
		rawjson.Get(result, "bash_id") != nil:
		return EndedUnknown
	default:
		if code := exitCode(result); code != "" {
			return map[bool]Ending{true: EndedOK, false: EndedFailed}[code == "0"]
		}
	}
	if f[neutral.Failed] != nil || slices.Contains(failing, e.Dialect) || Call(e).Tool != neutral.Shell {
		return EndedOK
	}
	return EndedUnknown
}

// exitCode returns the exit code that a result tells; "" = it tells none.
func exitCode(result []byte) string {
	for _, key := range []string{"exit_code", "exitCode", "exitcode"} {
		if code := rawjson.Get(result, key); len(code) > 0 && string(code) != "null" {
			return string(code)
		}
	}
	codes := exitTexts().FindAllStringSubmatch(neutral.ResultText(result), -1)
	if len(codes) == 0 {
		return ""
	}
	return codes[len(codes)-1][1] // what stands before it may be output
}
