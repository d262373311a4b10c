package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// They are more than any buffer holds.
func TestManyEventsInOrder(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	const n = 10_000
	go func() {
		for i := range n {
			fmt.Fprintf(conn, `{"event":"agent:end","id":"%d","wait":%t}`+"\n", i, i%100 == 0)
		}
		conn.CloseWrite()
	}()
	for i := range n {
		r := parseReply(t, conn.read())
		if want := fmt.Sprintf("id-%d", i); r.EventID != want || r.Seq != uint64(i+1) || (r.Verdict != nil) != (i%100 == 0) {
			t.Fatalf("answer %d: %+v, want %s", i, r, want)
		}
	}
	if got := conn.read(); got != "EOF" {
		t.Errorf("then %q, want the end", got)
	}
}

// TestLinesDoNotWaitForEachOthersDisk sends events whose acceptance takes until
// all of them were read.
func TestLinesDoNotWaitForEachOthersDisk(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	var lines strings.Builder
	for i := range 50 {
		name := "test:disk"
		if i%3 == 0 {
			name = "agent:end" // answered at once, but not before its turn
		}
		fmt.Fprintf(&lines, `{"event":"%s","id":"%d"}`+"\n", name, i)
	}
	conn.send(`{"event":"agent:end","id":"first"}` + "\n") // with which the connection chooses its door
	conn.read()
	conn.send(lines.String())
	for f.accepted.Load() < 18 { // those that wait for nothing
		runtime.Gosched()
	}
	close(f.release)
	for i := range 50 {
		if r, want := parseReply(t, conn.read()), fmt.Sprintf("id-%d", i); r.EventID != want {
			t.Fatalf("answer %d: %+v, want %s", i, r, want)
		}
	}
}

// Answers come in the order of the lines. That includes lines that wait for the disk or
// their verdict, and lines that are no events.
func TestLinesOfAllKindsAreAnsweredInOrder(t *testing.T) {
	f := start(t, nil)
	close(f.release)
	conn := f.dial()
	const n = 6000
	kinds := []string{"agent:step", "agent:end", "agent:step", "test:disk", "", "waits"}
	var text strings.Builder
	for i := range n {
		switch kind := kinds[i*i%97%len(kinds)]; kind {
		case "":
			fmt.Fprintf(&text, "{\"event\":%d}\n", i)
		case "waits":
			fmt.Fprintf(&text, `{"event":"agent:end","id":"%d","wait":true}`+"\n", i)
		default:
			fmt.Fprintf(&text, `{"event":"%s","id":"%d","data":{"x":"%s"}}`+"\n", kind, i, strings.Repeat("x", i%500))
		}
	}
	go func() {
		io.WriteString(conn, text.String())
		conn.CloseWrite()
	}()
	seq := uint64(0)
	for i := range n {
		r := parseReply(t, conn.read())
		if kinds[i*i%97%len(kinds)] == "" {
			if r.Error == nil || r.Error.Code != wire.CodeBadField {
				t.Fatalf("answer %d: %+v, want a refusal", i, r)
			}
			continue
		}
		if want := fmt.Sprintf("id-%d", i); r.EventID != want {
			t.Fatalf("answer %d: %+v, want %s", i, r, want)
		}
		if kinds[i*i%97%len(kinds)] != "test:disk" { // numbered late
			if r.Seq <= seq {
				t.Fatalf("answer %d has number %d after %d", i, r.Seq, seq)
			}
			seq = r.Seq
		}
	}
	if got := conn.read(); got != "EOF" {
		t.Errorf("then %q, want the end", got)
	}
}

// A line whose completion panics has its own answer, and so have its neighbours.
func TestALineThatPanicsLate(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	conn.send(`{"event":"agent:end","id":"0"}` + "\n" + `{"event":"test:panic-late","id":"1"}` + "\n" + `{"event":"agent:end","id":"2"}` + "\n" +
		`{"event":"test:panic-late","id":"3"}` + "\n" + `{"event":"agent:end","id":"4"}` + "\n")
	for i := range 5 {
		r := parseReply(t, conn.read())
		if panics := i%2 == 1; panics && r.Error.Code != "internal" || !panics && r.EventID != fmt.Sprintf("id-%d", i) {
			t.Errorf("answer %d: %+v", i, r)
		}
	}
}

func TestLineAnswers(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxEventBytes = 200 })
	fits := `{"event":"agent:end","data":{"x":"` + strings.Repeat("y", 200-37) + `"}}`
	tests := []struct {
		name, send string
		want       string // codes, and EOF where the connection ends by itself
	}{
		{"event", `{"event":"agent:end"}` + "\n", "ok EOF"},
		{"no_newline", `{"event":"agent:end"}`, "ok EOF"},
		{"crlf", "{\"event\":\"agent:end\"}\r\n", "ok EOF"},
		{"blank_lines", `{"event":"agent:end"}` + "\n\n \t\n\r\n" + `{"event":"agent:end"}` + "\n\n", "ok ok EOF"},
		{"blanks_before", `{"event":"agent:end"}` + "\n  " + `{"event":"agent:end"}` + "\n", "ok ok EOF"},
		{"wait", `{"event":"agent:end","wait":true}` + "\n", "ok waited EOF"},
		{"bad_json_goes_on", "{nope\n" + `{"event":"agent:end"}` + "\n", "bad_json ok EOF"},
		{"bad_name_goes_on", `{"event":"a b"}` + "\n" + `{"event":"agent:end"}` + "\n", "bad_event_name ok EOF"},
		{"bad_data", `{"event":"agent:end","data":[]}` + "\n", "bad_data EOF"},
		{"not_an_object", "{}\n[]\n5\nnull\n\"x\"\n", "bad_event_name bad_json bad_json bad_json bad_json EOF"},
		{"two_on_a_line", `{"event":"agent:end"}{"event":"agent:end"}` + "\n", "bad_json EOF"},
		{"refused", `{"event":"test:full"}` + "\n", "queue_full EOF"},
		{"warned", `{"event":"test:warn"}` + "\n", "ok EOF"},
		{"largest", fits + "\n", "ok EOF"},
		{"over_the_limit", fits + " x\n" + `{"event":"agent:end"}` + "\n", "too_large EOF"},
		{"far_over_the_limit", fits + strings.Repeat("x", 1<<20) + "\n" + `{"event":"agent:end"}` + "\n", "too_large EOF"},
		{"over_the_limit_without_end", fits + strings.Repeat("x", 1<<20), "too_large EOF"},
		{"subscribe_in_data", `{"event":"agent:end","data":{"subscribe":["*"]}}` + "\n", "ok EOF"},
		{"subscribe_and_event", `{"event":"agent:end","subscribe":["*"]}` + "\n", "ok EOF"},
		{"bad_glob_goes_on", `{"subscribe":["["]}` + "\n" + `{"event":"agent:end"}` + "\n", "bad_request ok EOF"},
		{"subscribe_not_a_list", `{"subscribe":7}` + "\n" + `{"event":"agent:end"}` + "\n", "bad_event_name ok EOF"},
	}
	if len(fits) != 200 {
		t.Fatalf("largest line has %d bytes", len(fits))
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn := f.dial()
			go func() {
				io.WriteString(conn, tt.send)
				conn.CloseWrite()
			}()
			var got []string
			for {
				text := conn.read()
				if !strings.HasPrefix(text, "{") {
					got = append(got, text)
					break
				}
				got = append(got, code(t, text))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAnswersDoNotWaitForInput(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	conn.send(`{"event":"agent:end"}` + "\n" + `{"event":"agent:`) // half a line more
	if got := code(t, conn.read()); got != "ok" {
		t.Errorf("got %s", got)
	}
	conn.send(`end"}` + "\n" + `{"event":"agent:end"}` + "\n" + `{"event":"test:wait","wait":true}` + "\n")
	for range 2 { // before the third is answered
		if got := code(t, conn.read()); got != "ok" {
			t.Errorf("got %s", got)
		}
	}
	close(f.release)
	if got := code(t, conn.read()); got != "ok waited" {
		t.Errorf("got %s", got)
	}
}

func TestAnswerShapes(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	if got, want := conn.ask(`{"event":"agent:end","id":"1"}`), `{"ok":true,"event_id":"id-1","seq":1,"matched":["guard \"1\""],"warnings":[]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := conn.ask(`{"event":"test:warn"}`), `{"ok":true,"event_id":"w","seq":0,"matched":[],"warnings":["field <x> is odd"]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := conn.ask(`{"event":"test:full"}`), `{"ok":false,"error":{"code":"queue_full","message":"the queue is full"}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, body := f.do("POST", "/v1/events", `{"event":"test:warn"}`)
	if got, want := body, `{"event_id":"w","seq":0,"matched":[],"warnings":["field <x> is odd"]}`+"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHandWrittenAnswerIsTheEncodedOne(t *testing.T) {
	a := wire.Answer{EventID: "e\"\n", Seq: 7, Matched: []string{"a", "ü<", "\x01"}}
	var byHand, encoded any
	if err := json.Unmarshal(appendAnswer(nil, &a), &byHand); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(appendWhole(nil, a), &encoded); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(byHand) != fmt.Sprint(encoded) {
		t.Errorf("by hand %v\nencoded %v", byHand, encoded)
	}
}

// FuzzLineProtocol: whatever arrives on the line door, nothing panics, and each
// line that is not blank has exactly one answer, until the door closes.
func FuzzLineProtocol(f *testing.F) {
	for _, seed := range []string{
		`{"event":"agent:end"}` + "\n", "{\n{}\n\n[]\n", `{"event":"agent:end","data":{"a":[1,{}]}}` + "\r\n" + `{"event":"x`,
		`{"subscribe":["["]}` + "\n", `{"subscribe":["*"],"since":3,"epoch":"e"}` + "\n{}\n", "{" + strings.Repeat("x", 300) + "\n{}\n", "\x00\xff\n \n{",
		`{"event":"agent:end","wait":true,"id":"x","lane":"preempt","timeout_ms":5}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	const limit = 256
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > lineBuffered {
			return // there, blanks around a line count for its length
		}
		d := newDaemon()
		s := &Server{opt: withDefaults(options(d, "s"))}
		s.opt.MaxEventBytes = limit
		s.log = s.opt.Log
		var out bytes.Buffer
		l := s.newLines(Peer{}, bytes.NewReader(input), func() {}, func(p []byte) error { out.Write(p); return nil })
		l.server.opt.Emitter = emitFunc(func(*events.Envelope) (wire.Answer, *wire.Error) {
			return wire.Answer{EventID: "e"}, nil
		})
		sub, err := l.run(context.Background())

		want, closed := 0, false
		for _, line := range bytes.Split(input, []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				want++
			}
			if len(line) > limit {
				closed = true
				break
			}
		}
		answers := bytes.SplitAfter(out.Bytes(), []byte("\n"))
		answers = answers[:len(answers)-1]
		for _, a := range answers {
			code(t, string(a))
		}
		switch {
		case sub != nil:
			sub.Close()
		case (err != nil) != closed:
			t.Errorf("ended with %v, too long: %t", err, closed)
		case len(answers) != want:
			t.Errorf("%d answers to %d lines of %q:\n%s", len(answers), want, input, out.Bytes())
		}
	})
}

type emitFunc func(*events.Envelope) (wire.Answer, *wire.Error)

func (e emitFunc) Begin(_ Peer, env *events.Envelope) (wire.Answer, Rest, *wire.Error) {
	answer, bad := e(env)
	return answer, nil, bad
}

// BenchmarkLineDoor sends lines of 266 bytes down one connection of a real
// socket, 64 KiB a write, and reads every answer; the daemon behind accepts
// and matches nothing.
func BenchmarkLineDoor(b *testing.B) {
	line := []byte(`{"event":"agent:end","session_id":"s-1","data":{"agent_id":"a-1","status":"ok","pad":"` + strings.Repeat("x", 266-90) + `"}}` + "\n")
	if len(line) != 266 {
		b.Fatalf("line has %d bytes", len(line))
	}
	dir := hooktest.ShortDir(b)
	d := newDaemon()
	opt := options(d, filepath.Join(dir, "s"))
	var seq uint64
	opt.Emitter = emitFunc(func(*events.Envelope) (wire.Answer, *wire.Error) {
		seq++
		return wire.Answer{EventID: "01JABCDEFGHJKMNPQRSTVWXYZ0", Seq: seq}, nil
	})
	s, err := Listen(opt)
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(context.Background()) }()
	conn, err := net.Dial("unix", opt.Socket)
	if err != nil {
		b.Fatal(err)
	}
	const perWrite = 240
	chunk := bytes.Repeat(line, perWrite)
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for left := b.N; left > 0; left -= perWrite {
			conn.Write(chunk[:min(left, perWrite)*len(line)])
		}
		conn.(*net.UnixConn).CloseWrite()
	}()
	answers := 0
	buf := make([]byte, 256<<10)
	for {
		n, err := conn.Read(buf)
		answers += bytes.Count(buf[:n], []byte("\n"))
		if err != nil {
			break
		}
	}
	b.StopTimer()
	if answers != b.N {
		b.Fatalf("%d answers to %d lines", answers, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.Shutdown(ctx)
	<-served
}
