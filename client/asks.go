package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"time"

	"github.com/hookd/hookd/internal/contract/api"
)

// An Ask is a question that a hook asked about a call, and that hookd holds until a
// person answers.
type Ask struct {
	ID        string          `json:"id"`
	EventID   string          `json:"event_id"`
	Event     string          `json:"event"`
	Hook      string          `json:"hook"`            // the first that asked
	Hooks     []string        `json:"hooks,omitempty"` // all that asked, if there are several
	Reason    string          `json:"reason"`          // may have several lines
	Agent     string          `json:"agent"`           // its name, else its dialect
	AgentID   string          `json:"agent_id,omitempty"`
	Dialect   Dialect         `json:"dialect,omitempty"`
	SessionID string          `json:"session_id,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Tool      string          `json:"tool,omitempty"`    // canonical name
	Subject   string          `json:"subject,omitempty"` // one harmless line without secrets, 256 bytes at most
	Input     json.RawMessage `json:"input,omitempty"`   // the arguments that the tool will get; in lists only short ones
	Bytes     int             `json:"bytes,omitempty"`   // of input
	Rewrote   bool            `json:"rewrote,omitempty"` // hooks have changed the input
	Tried     bool            `json:"tried,omitempty"`   // a person tries hooks: nothing runs
	Card      *Card           `json:"card,omitempty"`    // what people are shown: in lists a short one; nil = it has ended
	Since     time.Time       `json:"since"`
	Until     time.Time       `json:"until"`              // without an answer it ends then
	Answered  *Answered       `json:"answered,omitempty"` // nil = it is held
}

// What ended a question: Answered.By.
const (
	ByPerson  = "person"
	ByGrant   = "grant"   // an answer that was remembered
	ByTimeout = "timeout" // no answer came in time: the agent's own way
	ByRestart = "restart" // the daemon ended: the agent's own way
	ByGone    = "gone"    // the agent that asked has ended
)

// Answered is the outcome of a question that a hook asked.
type Answered struct {
	By      string    `json:"by"`                // one of the By constants
	ID      string    `json:"id,omitempty"`      // of the grant that answered, or that this answer has made
	AskID   string    `json:"ask_id,omitempty"`  // "" = it was not held: a grant answered it
	Answer  Outcome   `json:"answer,omitempty"`  // allow or deny; "" = none came
	For     string    `json:"for,omitempty"`     // once, session, always, or a time such as 15m
	Like    string    `json:"like,omitempty"`    // the glob that the answer is remembered for
	Message string    `json:"message,omitempty"` // to the agent
	From    *Answerer `json:"from,omitempty"`    // of a grant: whose answer it remembers
	Time    time.Time `json:"time"`
	HeldMS  float64   `json:"held_ms,omitempty"` // how long the call was held; 0 = it was not

	Refused []RefusedAnswer `json:"refused,omitempty"` // answers that did not count
}

// An Answerer is the process that gave an answer, as the kernel knows it.
type Answerer struct {
	User    string `json:"user,omitempty"` // name of the user; "" = it has none
	UID     int    `json:"uid"`
	PID     int    `json:"pid"`
	Program string `json:"program,omitempty"` // path; "" = unknown
	Door    string `json:"door"`              // what the process calls itself; "socket" if it said nothing
}

// A RefusedAnswer is an answer that did not count, and why.
type RefusedAnswer struct {
	From   Answerer  `json:"from"`
	Answer Outcome   `json:"answer"`
	Why    string    `json:"why"`
	Time   time.Time `json:"time"`
}

// A Grant is an answer that is remembered: it answers the same question of the same
// hook, while that does not change.
type Grant struct {
	ID        string    `json:"id"`
	Hook      string    `json:"hook"`
	HookID    string    `json:"hook_id"`
	Digest    string    `json:"digest"` // of the hook: with another one the grant is void
	Answer    Outcome   `json:"answer"` // allow or deny
	Tool      string    `json:"tool"`
	OwnTool   string    `json:"own_tool"`
	Subject   string    `json:"subject"`        // of the call that was answered, for people
	Like      string    `json:"like,omitempty"` // the glob that covers other calls; "" = the same call alone
	Call      string    `json:"call"`           // digest of what must be the same in a call
	Dialect   Dialect   `json:"dialect"`
	SessionID string    `json:"session_id,omitempty"` // of the only session; "" = of all
	Cwd       string    `json:"cwd"`                  // of the only folder
	UID       *int      `json:"uid,omitempty"`        // of the only user, on the system daemon; nil elsewhere
	Scope     string    `json:"scope"`                // session, always, or a time such as 15m
	Made      time.Time `json:"made"`
	Until     time.Time `json:"until,omitzero"` // zero = until it is revoked
	From      Answerer  `json:"from"`
	EventID   string    `json:"event_id"` // of the question that was answered
	Message   string    `json:"message,omitempty"`
	Uses      int       `json:"uses"` // since the daemon started
	Last      time.Time `json:"last,omitzero"`
	Void      string    `json:"void,omitempty"` // why it answers nothing any more; "" = it does
}

// An AskReply is an answer to an ask; the zero value of For is "once".
type AskReply struct {
	Answer  Outcome `json:"answer"`            // OutcomeAllow or OutcomeDeny
	For     string  `json:"for,omitempty"`     // once, session, always, or a time such as 15m
	Digest  string  `json:"digest,omitempty"`  // with allow: Card.Digest of the ask as it was shown, whole
	Like    string  `json:"like,omitempty"`    // a glob: the answer is remembered for the calls that it covers; "" = for this call
	Message string  `json:"message,omitempty"` // to the agent
	Door    string  `json:"door,omitempty"`    // what this program calls itself, such as page; "" = socket
}

// AskAnswered is what an answer has led to.
type AskAnswered struct {
	Ask     Ask     `json:"ask"`
	Grants  []Grant `json:"grants"` // that the answer has made
	Warning string  `json:"warning,omitempty"`
}

// AskList is what waits for an answer, the oldest first.
type AskList struct {
	Asks      []Ask `json:"asks"`
	Approvers int   `json:"approvers"` // clients that follow and can answer
	Hooked    bool  `json:"hooked"`    // a hook runs for asks
}

// Asks lists what waits for an answer.
func (c *Client) Asks(ctx context.Context) (AskList, error) {
	return get[AskList](ctx, c, api.PathAsks)
}

// Ask returns one ask, named by its id or by an end of it that no other has, with all
// of its input; also one that has ended a short time ago.
func (c *Client) Ask(ctx context.Context, id string) (Ask, error) {
	return get[Ask](ctx, c, api.PathAsks+"/"+escape(id))
}

// AnswerAsk answers an ask. An allow without the digest of the ask is refused. The first
// answer wins: for a later one the error is an *Error with CodeAnswered. An answer that comes
// from the processes of the agent that asks, or from those of a hook, is refused with CodeForbidden.
func (c *Client) AnswerAsk(ctx context.Context, id string, r AskReply) (AskAnswered, error) {
	return post[AskAnswered](ctx, c, api.PathAsks+"/"+escape(id), r)
}

// Grants lists the answers that are remembered, the newest first; those that are void
// are at the end.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	page, err := get[grantsPage](ctx, c, api.PathGrants)
	return page.Grants, err
}

type grantsPage struct {
	Grants []Grant `json:"grants"`
}

// RevokeGrant forgets a grant, named as an ask is.
func (c *Client) RevokeGrant(ctx context.Context, id string) (Grant, error) {
	reply, err := c.request(ctx, "DELETE", api.PathGrants+"/"+escape(id), nil)
	if err != nil {
		return Grant{}, err
	}
	return decode[Grant](reply)
}

// Types of an AskRecord.
const (
	AskOpen     = "open"     // forget what you know: so many asks follow, which are all
	AskHeld     = "ask"      // it waits for an answer
	AskAnswerIn = "answered" // it has ended
)

// An AskRecord is what a follower of asks gets.
type AskRecord struct {
	Type string // one of the constants above; others may come
	Open int    // with AskOpen
	Ask  Ask
	Raw  json.RawMessage // all of it
}

// FollowAsks yields all that is held, and then each ask and each end of one.
// answers says that this program can answer: while the loop runs, an approver is
// present, and hookd holds asks. It ends with one error, also when the daemon stops:
// then it is io.ErrUnexpectedEOF, or ErrNotRunning. Options.Timeout does not count.
func (c *Client) FollowAsks(ctx context.Context, answers bool) iter.Seq2[AskRecord, error] {
	return func(yield func(AskRecord, error) bool) {
		if err := c.followAsks(ctx, answers, yield); err != nil && err != errLeft {
			yield(AskRecord{}, err)
		}
	}
}

func (c *Client) followAsks(ctx context.Context, answers bool, yield func(AskRecord, error) bool) error {
	query := url.Values{"follow": {"1"}}
	if answers {
		query.Set("answers", "1")
	}
	path := withQuery(api.PathAsks, query)
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: hookd\r\n\r\n", path); err != nil {
		return c.explain(ctx, "GET "+path, err)
	}
	in := bufio.NewReader(conn)
	if err := streamBegins(in, path); err != nil {
		return c.explain(ctx, "GET "+path, err)
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return c.explain(ctx, "GET "+path, err)
		}
		record, err := parseAskRecord(bytes.TrimSpace(line))
		if err != nil {
			return err
		}
		if record.Type != "ping" && !yield(record, nil) {
			return errLeft
		}
	}
}

// streamBegins reads the head of an answer that goes on until the connection ends.
func streamBegins(in *bufio.Reader, path string) error {
	h, err := readHead(in)
	if err != nil {
		return err
	}
	if h.status == 200 {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	var refused refusal
	if json.Unmarshal(body, &refused) == nil && refused.Error != nil {
		return refused.Error
	}
	return fmt.Errorf("%s: hookd answered with %q (%s)", path, h.line, h.contentType)
}

func parseAskRecord(raw json.RawMessage) (r AskRecord, err error) {
	var head struct {
		Type string `json:"type"`
		Asks int    `json:"asks"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return r, fmt.Errorf("read record: %w", err)
	}
	r = AskRecord{Type: head.Type, Open: head.Asks, Raw: raw}
	if r.Type == AskHeld || r.Type == AskAnswerIn {
		err = json.Unmarshal(raw, &r.Ask)
	}
	return r, err
}
