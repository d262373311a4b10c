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

	"github.com/hookd/hookd/wire"
)

// Asks lists the asks that wait for an answer.
func (c *Client) Asks(ctx context.Context) (AskList, error) {
	return get[AskList](ctx, c, wire.PathAsks)
}

// Ask returns one ask, named by its id or by an end of its id that no other has, with
// all of its input; also an ask that has ended a short time ago.
func (c *Client) Ask(ctx context.Context, id string) (Ask, error) {
	return get[Ask](ctx, c, wire.PathAsks+"/"+escape(id))
}

// AnswerAsk answers an ask. An allow without the digest of the ask is refused. The first answer
// wins: for a later one the error is an *Error with CodeAnswered. An answer that comes from the
// processes of the agent that asks, or from the processes of a hook, is refused with CodeForbidden.
func (c *Client) AnswerAsk(ctx context.Context, id string, r AskReply) (AskAnswered, error) {
	return post[AskAnswered](ctx, c, wire.PathAsks+"/"+escape(id), r)
}

// Grants lists the answers that are remembered, the newest first; void answers are at
// the end.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	page, err := get[wire.Grants](ctx, c, wire.PathGrants)
	return page.Grants, err
}

// Permit lets the next call pass that is the same as a denied call, named by its event or the
// end of its id. scope is "once", or a time such as 15m. A request from the processes of an
// agent is refused with CodeForbidden.
func (c *Client) Permit(ctx context.Context, eventID, scope string) ([]Grant, error) {
	page, err := post[wire.Grants](ctx, c, wire.PathDecisions+"/"+escape(eventID)+"/permit", wire.Permit{For: scope})
	return page.Grants, err
}

// RevokeGrant forgets a grant, named as an ask is.
func (c *Client) RevokeGrant(ctx context.Context, id string) (Grant, error) {
	reply, err := c.request(ctx, "DELETE", wire.PathGrants+"/"+escape(id), nil)
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

// An AskRecord is the record that a follower of asks gets.
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
	path := withQuery(wire.PathAsks, query)
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
	var refused wire.Refusal
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
