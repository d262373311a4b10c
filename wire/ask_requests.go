package wire

// Asks answers GET /v1/asks: the calls that wait for an answer, the oldest first.
type Asks struct {
	Asks      []Ask `json:"asks"`
	Approvers int   `json:"approvers"` // clients that follow and can answer
	Hooked    bool  `json:"hooked"`    // a hook runs for asks
}

// FollowAsks says how GET /v1/asks?follow=1 follows.
type FollowAsks struct {
	Answers bool // the client can answer: while it follows an approver is present
}

// Reply is the body of POST /v1/asks/{id}: an answer.
type Reply struct {
	Answer  Outcome `json:"answer"`            // allow or deny
	For     string  `json:"for,omitempty"`     // once (also ""), session, always, or a time such as 15m
	Digest  string  `json:"digest,omitempty"`  // with allow: that of the card which was shown whole
	Like    string  `json:"like,omitempty"`    // a glob: the answer is remembered for calls that it covers
	Message string  `json:"message,omitempty"` // to the agent
	Door    string  `json:"door,omitempty"`    // what the sender calls itself: command, terminal, page, …
}

// Replied answers it.
type Replied struct {
	Ask     Ask     `json:"ask"`
	Grants  []Grant `json:"grants"` // that the answer has made
	Warning string  `json:"warning,omitempty"`
}

// Permit is the body of POST /v1/decisions/{id}/permit: the next call passes that is the same.
type Permit struct {
	For string `json:"for,omitempty"` // once (also ""), or a time such as 15m
}

// Grants answers GET /v1/grants, the newest first; void ones are at the end.
type Grants struct {
	Grants []Grant `json:"grants"`
}
