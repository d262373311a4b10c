package deepagents

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// probe is a call of `true` in the shell, as deepagents sends it.
var probe = neutral.Probe{
	Event: "session.start",
	Payload: `{
		"event": "session.start", "thread_id": "$SESSION"
	}`,
}
