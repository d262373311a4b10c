package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// blockingly asks as c, with a Conn that blocks.
func blockingly(ctx context.Context, c *Client, left time.Duration, ev Event) (Answer, error) {
	conn, err := New(Options{Socket: c.Socket(), Blocking: true}).Dial(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(left))
	if err := conn.Send(ctx, ev); err != nil {
		return Answer{}, err
	}
	return conn.Receive(ctx)
}

// A Conn that blocks gives the same answers and errors as a Conn that Go polls.
func TestBlocking(t *testing.T) {
	const answer = `{"ok":true,"event_id":"1","verdict":{"allowed":false,"continue":true}}` + "\n"
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	large := json.RawMessage(`{"t":"` + strings.Repeat("x", 4<<20) + `"}`)
	for name, tt := range map[string]struct {
		serve func(net.Conn)
		data  json.RawMessage
		left  time.Duration
		err   error // nil = a verdict that denies
	}{
		"an answer in pieces": {serve: func(conn net.Conn) {
			bufio.NewReader(conn).ReadString('\n')
			io.WriteString(conn, answer[:9])
			io.WriteString(conn, answer[9:])
		}, left: time.Minute},
		"a large event": {serve: func(conn net.Conn) {
			if line, _ := bufio.NewReader(conn).ReadString('\n'); strings.Contains(line, string(large)) {
				io.WriteString(conn, answer)
			}
		}, data: large, left: time.Minute},
		"a daemon that hangs up":               {serve: func(net.Conn) {}, left: time.Minute, err: io.ErrUnexpectedEOF},
		"no answer until the deadline":         {serve: func(net.Conn) { <-end }, left: 50 * time.Millisecond, err: ErrTimeout},
		"no answer, a large event":             {serve: func(net.Conn) { <-end }, data: large, left: 50 * time.Millisecond, err: ErrTimeout},
		"a deadline that is over":              {serve: func(net.Conn) { <-end }, left: -time.Second, err: ErrTimeout},
		"a stopped daemon":                     {serve: func(net.Conn) { <-end }, left: time.Minute, err: ErrTimeout},
		"a stopped daemon and a large event":   {serve: func(net.Conn) { <-end }, data: large, left: time.Minute, err: ErrTimeout},
		"a daemon that hangs up while it gets": {serve: func(conn net.Conn) { conn.Read(make([]byte, 1)) }, data: large, left: time.Minute, err: io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := blockingly(t.Context(), listen(t, tt.serve), tt.left, Event{Event: "pre_tool_use", Data: tt.data, Wait: true})
			if !errors.Is(err, tt.err) || tt.err == nil && (got.Verdict == nil || got.Verdict.Allowed) {
				t.Errorf("got %+v, %v, want %v", got, err, tt.err)
			}
		})
	}
	t.Run("no daemon", func(t *testing.T) {
		c := New(Options{Socket: filepath.Join(t.TempDir(), "s")})
		if _, err := blockingly(t.Context(), c, time.Minute, Event{Event: "a:b"}); !errors.Is(err, ErrNotRunning) {
			t.Errorf("got %v, want %v", err, ErrNotRunning)
		}
	})
}

// A deadline ends calls of a Conn that Go polls, too.
func TestSetDeadline(t *testing.T) {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	conn, err := listen(t, func(net.Conn) { <-end }).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
	if err := conn.Send(t.Context(), Event{Event: "a:b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Receive(t.Context()); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want %v", err, ErrTimeout)
	}
}
