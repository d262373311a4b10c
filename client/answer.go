package client

import (
	"encoding/json"
	"fmt"

	"github.com/hookd/hookd/wire"
)

// An Answer is the reply that the sender of an event gets.
type Answer struct {
	wire.Answer

	own error // see Own
}

// Own returns why the user's own daemon has no part in the answer of a machine's system
// daemon; nil = it has, or there is no system daemon.
func (a Answer) Own() error { return a.own }

// parseAnswer reads an answer to a line. A refusal is a *Error.
func parseAnswer(line []byte) (Answer, error) {
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
