package client

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// An agent starts a program of this package for each of its events. The first look of
// encoding/json at a type would be a tenth of such a program's time, so an event and
// the common answer are written and read by hand. Tests hold both to encoding/json.

// parseAnswer reads an answer to a line. A refusal is a *Error. The values that it
// returns are parts of line.
func parseAnswer(line []byte) (Answer, error) {
	r := answerReader{Walker: rawjson.Walk(line)}
	if answer := r.answer(); r.End() && !r.odd && utf8.Valid(line) {
		return answer, nil
	}
	var reply struct {
		Answer
		Error *Error `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return Answer{}, fmt.Errorf("read answer: %w", err)
	}
	if reply.Error != nil {
		return Answer{}, reply.Error
	}
	return reply.Answer, nil
}

// answerReader reads an answer as hookd usually writes it. A different answer is odd,
// and is left to encoding/json.
type answerReader struct {
	rawjson.Walker
	odd bool
}

func (r *answerReader) answer() (a Answer) {
	for r.Enter(); r.Member(); {
		switch string(r.Name()) {
		case "ok":
			ok := r.flag()
			a.OK = &ok
		case "event_id":
			a.EventID = r.text()
		case "seq":
			a.Seq = number(r, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
		case "matched":
			a.Matched = r.texts()
		case "duplicate":
			a.Duplicate = r.flag()
		case "warnings":
			a.Warnings = r.texts()
		case "verdict":
			r.odd = r.odd || a.Verdict != nil
			a.Verdict = r.verdict()
		case "runs":
			r.odd = r.odd || a.Runs != nil
			a.Runs = r.runs()
		default:
			r.leave()
		}
	}
	return a
}

func (r *answerReader) verdict() *Verdict {
	v := new(Verdict)
	for r.Enter(); r.Member(); {
		switch string(r.Name()) {
		case "allowed":
			v.Allowed = r.flag()
		case "continue":
			v.Continue = r.flag()
		case "permission_decision":
			v.PermissionDecision = r.text()
		case "decision_reason":
			v.DecisionReason = r.text()
		case "message":
			v.Message = r.text()
		case "system_message":
			v.SystemMessage = r.text()
		case "additional_context":
			v.AdditionalContext = r.text()
		case "updated_input":
			v.UpdatedInput = r.Value()
		case "updated_tool_response":
			v.UpdatedToolResponse = r.Value()
		case "exit_code":
			v.ExitCode = number(r, strconv.Atoi)
		case "stderr":
			v.Stderr = r.text()
		case "decided_by":
			v.DecidedBy = r.texts()
		default: // seldom said
			r.leave()
		}
	}
	return v
}

func (r *answerReader) runs() []RunResult {
	runs := []RunResult{}
	for r.EnterList(); r.Element(); {
		var run RunResult
		for r.Enter(); r.Member(); {
			switch string(r.Name()) {
			case "run_id":
				run.RunID = r.text()
			case "hook":
				run.Hook = r.text()
			case "result":
				run.Result = Result(r.text())
			case "exit_code":
				run.ExitCode = number(r, strconv.Atoi)
			case "signal":
				run.Signal = r.text()
			case "duration_ms":
				run.DurationMS = number(r, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
			case "error":
				run.Error = r.text()
			default:
				r.leave()
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// leave steps over a value that is left to encoding/json.
func (r *answerReader) leave() {
	r.odd = true
	r.Skip()
}

func (r *answerReader) flag() bool {
	value := string(r.Value())
	r.odd = r.odd || value != "true" && value != "false"
	return value == "true"
}

func (r *answerReader) text() string {
	text, ok := rawjson.Text(r.Value())
	r.odd = r.odd || !ok
	return text
}

func (r *answerReader) texts() []string {
	list := []string{}
	for r.EnterList(); r.Element(); {
		list = append(list, r.text())
	}
	return list
}

func number[T any](r *answerReader, parse func(string) (T, error)) T {
	n, err := parse(string(r.Value()))
	r.odd = r.odd || err != nil
	return n
}
