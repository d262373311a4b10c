package worker

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/wire"
)

// The test binary is its own hook.
const childVar = "WORKER_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "lines":
		os.Exit(child())
	case "no-read": // reads nothing
		<-time.After(time.Hour) // not for ever: the runtime would call that a deadlock
	case "stubborn": // does not end with its stdin
		go child()
		<-time.After(time.Hour) // not for ever: the runtime would call that a deadlock
	default:
		fmt.Fprintln(os.Stderr, "this hook is broken")
		os.Exit(9)
	}
}

// order is one line for the child: each word of Do is something to do for it.
type order struct {
	EventID string `json:"event_id"`
	Do      string `json:"do"`
	Pad     string `json:"pad,omitempty"`
}

// child follows the orders in its lines and answers them in order, unless they say
// otherwise.
func child() int {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	var held []string
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return 0
		}
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			fmt.Fprintln(os.Stderr, "bad line:", err)
			return 8
		}
		answer, silent := fmt.Sprintf(`{"event_id":%q}`, o.EventID), false
		for _, word := range strings.Fields(o.Do) {
			verb, arg, _ := strings.Cut(word, "=")
			n, _ := strconv.Atoi(arg)
			switch verb {
			case "say":
				answer = fmt.Sprintf(`{"said":%q,"event_id":%q,"pid":%d,"env":%q}`, arg, o.EventID, os.Getpid(), os.Getenv("HOOK_EVENT"))
			case "print":
				fmt.Println(strings.ReplaceAll(arg, "~", " "))
			case "twice":
				fmt.Println(answer)
			case "note":
				fmt.Fprintln(os.Stderr, arg)
			case "long":
				answer = fmt.Sprintf(`{"event_id":%q,"x":%q}`, o.EventID, strings.Repeat("x", n))
			case "exit":
				os.Exit(n)
			case "hang":
				<-time.After(time.Hour) // not for ever: the runtime would call that a deadlock
			case "wait": // for a file
				for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
					if _, err := os.Stat(arg); err == nil {
						break
					}
				}
			case "once": // dies unless the file is there, which it then is
				if _, err := os.Stat(arg); err != nil {
					os.WriteFile(arg, nil, 0o600)
					os.Exit(5)
				}
			case "grandchild": // in a session of its own
				cmd := exec.Command("setsid", "sleep", "1000")
				cmd.Env = append(os.Environ(), "MARK="+arg)
				cmd.Start()
			case "hold": // answers with the next one, later
				held = append(held, answer)
				silent = true
			case "lose":
				silent = true
			case "close":
				os.Stdout.Close()
			}
		}
		if silent {
			continue
		}
		fmt.Println(answer)
		for _, a := range held {
			fmt.Println(a)
		}
		held = nil
		if strings.Contains(o.Do, "last=") { // answered, and then the end
			_, code, _ := strings.Cut(o.Do, "last=")
			n, _ := strconv.Atoi(code)
			os.Exit(n)
		}
	}
}

type bench struct {
	testing.TB
	set  *Set
	logs *observer.ObservedLogs
}

func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	o.Proc, o.Log = proc.New(proc.Options{Cgroup: true}), zap.New(core)
	o.grace = cmp.Or(o.grace, time.Minute) // of a busy machine
	b := &bench{TB: t, set: New(o), logs: logs}
	t.Cleanup(func() {
		b.set.Kill()
		b.set.Close(t.Context())
		if err := o.Proc.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// pool is a hook of the child; mode is the value of childVar.
func (b *bench) pool(mode string, workers int) *Pool {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return b.set.Pool(Key{ID: mode, Digest: "1"}, func() Startup {
		return Startup{Name: mode, Workers: workers, Start: func(func(string)) (Start, error) {
			return Start{Spec: proc.Spec{
				Path: exe, Env: append(os.Environ(), childVar+"="+mode, "GORACE=atexit_sleep_ms=0"), Dir: "/",
			}}, nil
		}}
	})
}

var lastID atomic.Int64

func call(do string) *Request {
	id := fmt.Sprintf("01TEST%04d", lastID.Add(1))
	line, _ := json.Marshal(order{EventID: id, Do: do})
	return &Request{ID: id, Line: append(line, '\n'), Timeout: time.Minute}
}

func (b *bench) ask(p *Pool, do string) Response {
	b.Helper()
	return p.Ask(b.Context(), call(do))
}

// submit returns the channel that the answer is sent to.
func submit(p *Pool, c *Request) <-chan Response {
	done := make(chan Response, 2) // Done twice would be seen
	c.Done = func(a Response) { done <- a }
	p.Submit(c)
	return done
}

func (b *bench) await(done <-chan Response) Response {
	b.Helper()
	select {
	case a := <-done:
		return a
	case <-time.After(hooktest.Patience):
		b.Fatalf("no answer within %s", hooktest.Patience)
		panic("unreachable")
	}
}

func (b *bench) until(what string, cond func() bool) {
	b.Helper()
	hooktest.Until(b, what, cond)
}

func (b *bench) workers(p *Pool) []wire.Worker {
	list, _ := b.set.Workers(p.key)
	return list
}

func (b *bench) starts(p *Pool) int {
	_, n := b.set.Workers(p.key)
	return n
}

func (b *bench) warnings() (texts []string) {
	for _, e := range b.logs.All() {
		texts = append(texts, fmt.Sprint(e.Message, " ", e.ContextMap()))
	}
	return texts
}

func (b *bench) wantWarning(parts ...string) {
	b.Helper()
	for _, w := range b.warnings() {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(w, part)
		}
		if all {
			return
		}
	}
	b.Errorf("no warning with %q among %q", parts, b.warnings())
}

func (b *bench) wantQuiet() {
	b.Helper()
	if w := b.warnings(); len(w) > 0 {
		b.Errorf("got warnings %q", w)
	}
}

func wantAnswer(t testing.TB, a Response, body string) {
	t.Helper()
	if a.Err != nil || a.Failure != "" || a.TimedOut || a.Exceeded || string(a.Body) != body || a.PID == 0 || a.Started.IsZero() {
		t.Errorf("got %+v with body %s, want %s", a, a.Body, body)
	}
}
