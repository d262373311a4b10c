package server

import (
	"fmt"
	"strconv"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

// encode writes v as one line of JSON that a person can read: `<` stays `<`.
func encode(v any) ([]byte, error) {
	text, err := rawjson.Encode(v)
	return append(text, '\n'), err
}

func appendRefusal(dst []byte, e *wire.Error) []byte {
	no := false
	line, err := encode(wire.Refusal{OK: &no, Error: e})
	if err != nil {
		panic(err) // strings always encode
	}
	return append(dst, line...)
}

// appendAnswer appends a line answer. The common one, of an event that no sender
// waits for, is written by hand: it is the cost of a line.
func appendAnswer(dst []byte, a *wire.Answer) []byte {
	if a.Verdict != nil || a.Runs != nil || a.Duplicate || len(a.Warnings) > 0 {
		return appendWhole(dst, *a)
	}
	dst = append(dst, `{"ok":true,"event_id":`...)
	dst = rawjson.AppendString(dst, a.EventID)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, a.Seq, 10)
	dst = append(dst, `,"matched":[`...)
	for i, name := range a.Matched {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	return append(dst, "],\"warnings\":[]}\n"...)
}

func appendWhole(dst []byte, a wire.Answer) []byte {
	yes := true
	a.OK = &yes
	line, err := encode(tidy(a))
	if err != nil { // a verdict with broken raw JSON
		return appendRefusal(dst, errInternal())
	}
	if len(dst) == 0 {
		return line // which may be large
	}
	return append(dst, line...)
}

// tidy makes absent lists empty ones, as the protocol shows them.
func tidy(a wire.Answer) wire.Answer {
	if a.Matched == nil {
		a.Matched = []string{}
	}
	if a.Warnings == nil {
		a.Warnings = []string{}
	}
	return a
}

func errInternal() *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "hookd has a fault and could not answer",
		Hint:    "the daemon's log says where",
	}
}

func tooLarge(max int) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeTooLarge,
		Message: fmt.Sprintf("the event is larger than %d bytes", max),
		Hint:    "send a reference to the data, or raise max_event_bytes in hookd.yaml",
	}
}
