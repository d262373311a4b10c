package server

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/events"
)

func parse(line []byte) (env events.Envelope, bad *events.Error) {
	if err := json.Unmarshal(line, &env); err != nil {
		return env, &events.Error{Code: events.CodeBadJSON, Message: err.Error()}
	}
	return env, nil
}
