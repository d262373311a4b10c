package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

func (f *fixture) publish(n int, name string) {
	for range n {
		f.hub.Publish(name, func(seq uint64, dst []byte) []byte {
			return fmt.Appendf(dst, `{"type":"event","seq":%d,"event":%q}`, seq, name)
		})
	}
}

func (l *line) record() reply {
	l.t.Helper()
	return parseReply(l.t, l.read())
}

// 1,000 events down one connection, 10 subscribers see all of them in order. A
// subscriber that has stopped slows no other and gets one gap.
func TestTenSubscribersAndAStoppedOne(t *testing.T) {
	f := start(t, nil)
	stopped := f.dial()
	stopped.send(`{"subscribe":["*"]}` + "\n")
	stopped.record()
	var readers sync.WaitGroup
	for range 10 {
		conn := f.dial()
		conn.send(`{"subscribe":["agent:*"]}` + "\n")
		if r := conn.record(); r.Type != "epoch" || r.Epoch != f.hub.Epoch() {
			t.Fatalf("first record %+v", r)
		}
		readers.Go(func() {
			for seq := uint64(1); seq <= 1000; seq++ {
				if r := conn.record(); r.Seq != seq {
					t.Errorf("got %+v, want %d", r, seq)
					return
				}
			}
		})
	}
	sender := f.dial()
	pad := strings.Repeat("x", 2000) // so that the stopped one's socket fills up
	go func() {
		for range 1000 {
			fmt.Fprintf(sender, `{"event":"agent:end","data":{"pad":%q}}`+"\n", pad)
		}
	}()
	for range 1000 {
		if got := code(t, sender.read()); got != "ok" {
			t.Fatalf("sender got %s", got)
		}
	}
	readers.Wait()
	f.publish(2000, "agent:end") // now the ring has overtaken it for sure
	last, gaps := uint64(0), 0
	for last < 3000 {
		r := stopped.record()
		switch {
		case r.Type == "gap" && *r.From == last+1:
			gaps++
			last = 3000 - 1024
		case r.Seq == last+1:
			last++
		default:
			t.Fatalf("got %+v after %d", r, last)
		}
	}
	if gaps != 1 {
		t.Errorf("%d gaps, want 1", gaps)
	}
}

func TestSubscribeSince(t *testing.T) {
	f := start(t, nil)
	f.publish(5, "agent:end")
	tests := []struct{ name, line, want string }{
		{"in_ring", `{"subscribe":[],"since":3}`, "epoch 4 5"},
		{"same_epoch", fmt.Sprintf(`{"subscribe":["*"],"since":3,"epoch":%q}`, f.hub.Epoch()), "epoch 4 5"},
		{"foreign_epoch", `{"subscribe":["*"],"since":3,"epoch":"x"}`, "epoch gap 1 2 3 4 5"},
		{"other_name", `{"subscribe":["session:*"],"since":0,"follow":false}`, "epoch EOF"},
		{"once", `{"subscribe":["*"],"since":3,"follow":false}`, "epoch 4 5 EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn := f.dial()
			conn.send(tt.line + "\n")
			var got []string
			for range strings.Fields(tt.want) {
				text := conn.read()
				switch r := (reply{}); {
				case !strings.HasPrefix(text, "{"):
					got = append(got, text)
				default:
					if r = parseReply(t, text); r.Type == "event" {
						r.Type = fmt.Sprint(r.Seq)
					}
					got = append(got, r.Type)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestEventsBeforeASubscribeAreAnswered(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	conn.send(`{"event":"agent:end"}` + "\n" + `{"subscribe":["*"]}` + "\n" + `{"event":"ignored"}` + "\n")
	if got := code(t, conn.read()); got != "ok" {
		t.Errorf("got %s", got)
	}
	if r := conn.record(); r.Type != "epoch" || r.Seq != 1 {
		t.Errorf("got %+v", r)
	}
	conn.CloseWrite() // nc -N: it goes on reading
	f.publish(1, "agent:end")
	if r := conn.record(); r.Seq != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestQuietStreamsGetPings(t *testing.T) {
	f := start(t, func(o *Options) { o.Ping = 10 * time.Millisecond })
	conn := f.dial()
	conn.send(`{"subscribe":["session:*"]}` + "\n")
	conn.record()
	for range 3 {
		if got, want := conn.read(), `{"type":"ping"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSubscriberThatLeavesIsForgotten(t *testing.T) {
	f := start(t, func(o *Options) { o.Ping = 10 * time.Millisecond })
	conn := f.dial()
	conn.send(`{"subscribe":["*"]}` + "\n")
	conn.record()
	conn.Close()
	hooktest.Until(t, "no subscribers", func() bool { return f.hub.Stats().Subscribers == 0 })
}

// stream opens GET /v1/events and returns its lines as they come.
func (f *fixture) stream(query string, header ...string) (*http.Response, *bufio.Reader) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://hookd/v1/events?"+query, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := f.web().Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { cancel(); resp.Body.Close() })
	return resp, bufio.NewReader(resp.Body)
}

func TestHTTPStream(t *testing.T) {
	f := start(t, nil)
	f.publish(2, "agent:end")
	resp, in := f.stream("follow=1&since=1&match=agent:end&match=session:*")
	if got := resp.Header.Get("Content-Type"); got != wire.NDJSON {
		t.Errorf("content type %s", got)
	}
	f.publish(1, "other")
	f.publish(1, "session:end")
	var got []string
	for range 3 {
		text, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		r := parseReply(t, text)
		got = append(got, fmt.Sprint(r.Type, r.Seq))
	}
	if want := "[epoch2 event2 event4]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	f.hub.Close()
	if rest, err := in.ReadString('\n'); rest != "" || err == nil {
		t.Errorf("after the end: %q, %v", rest, err)
	}
}

func TestHTTPStreamWithoutFollowEnds(t *testing.T) {
	f := start(t, nil)
	f.publish(3, "agent:end")
	_, body := f.do("GET", "/v1/events?since=1", "")
	if got := strings.Count(body, "\n"); got != 3 || !strings.Contains(body, `"seq":3`) {
		t.Errorf("got %s", body)
	}
}

func TestServerSentEvents(t *testing.T) {
	f := start(t, nil)
	f.publish(3, "agent:end")
	resp, in := f.stream("", "Accept", wire.EventStream, "Last-Event-ID", "2")
	if got := resp.Header.Get("Content-Type"); got != wire.EventStream {
		t.Errorf("content type %s", got)
	}
	want := fmt.Sprintf("data: {\"type\":\"epoch\",\"epoch\":%q,\"seq\":3}\n\nid: 3\ndata: {\"type\":\"event\",\"seq\":3,\"event\":\"agent:end\"}\n\n", f.hub.Epoch())
	var got strings.Builder
	for got.Len() < len(want) {
		text, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(text)
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// A reader of the HTTP door that has stopped is cut off by a shutdown, not
// waited for.
func TestStoppedHTTPStreamDoesNotHoldShutdown(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	conn.send("GET /v1/events?follow=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	hooktest.Until(t, "a subscriber", func() bool { return f.hub.Stats().Subscribers == 1 })
	for range 200 {
		f.publish(200, "agent:end")
	}
	if err := f.shutdown(time.Minute); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}
