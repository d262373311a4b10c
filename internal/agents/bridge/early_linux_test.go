//go:build amd64 || arm64

package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// The built program answers as the bridge does, whether hookd has the call from package early, gets it
// later, or is not there; and hookd has each event once.
func TestEarly(t *testing.T) {
	payload := onOneLine(t, captured(t, "claude-code/PreToolUse.json"))
	large := strings.Replace(payload, `"tool_input":{`, `"tool_input":{"more":"`+strings.Repeat("x", 40<<10)+`",`, 1)
	deny := verdict.Answer{ExitCode: 2, Stderr: "no: \"<this>\"", Blocked: true}
	for name, tt := range map[string]struct {
		stdin  []string // its pieces
		args   []string
		answer verdict.Answer
		slow   bool // the hook answers after the bridge has started
		taken  bool // hookd has the whole call from package early
	}{
		"no opinion":               {stdin: []string{payload}, taken: true},
		"a denial":                 {stdin: []string{payload}, answer: deny, taken: true},
		"a slow denial":            {stdin: []string{payload}, answer: deny, slow: true, taken: true},
		"a slow no opinion":        {stdin: []string{payload}, slow: true, taken: true},
		"blanks at the end":        {stdin: []string{payload + " \r\n"}, answer: deny, taken: true},
		"several lines":            {stdin: []string{strings.Replace(payload, `,"`, ",\n\"", 1)}, answer: deny},
		"in pieces":                {stdin: []string{payload[:40], payload[40:]}, answer: deny},
		"a piece that looks whole": {stdin: []string{payload[:strings.LastIndexByte(payload[:len(payload)-1], '}')+1], payload[strings.LastIndexByte(payload[:len(payload)-1], '}')+1:]}, answer: deny},
		"large":                    {stdin: []string{large}, answer: deny},
		"a large answer":           {stdin: []string{payload}, answer: verdict.Answer{ExitCode: 2, Stderr: strings.Repeat("y", 60<<10), Blocked: true}, taken: true},
		"fail closed":              {stdin: []string{payload}, args: []string{"--fail-closed"}, answer: deny},
		"a flag":                   {stdin: []string{payload}, args: []string{"--ask=none"}, answer: verdict.Answer{PermissionDecision: "ask", PermissionReason: "R?"}, taken: true},
		"a wrong flag":             {stdin: []string{payload}, args: []string{"--ask=perhaps"}},
		"an argument with a quote": {stdin: []string{payload}, args: []string{`Pre"ToolUse`}, taken: true},
		"an argument not of ASCII": {stdin: []string{payload}, args: []string{`Überraschung`}},
		"nothing":                  {},
		"no JSON":                  {stdin: []string{"{nonsense}"}},
		"half of it":               {stdin: []string{payload[:len(payload)/2]}},
		"text that pretends":       {stdin: []string{`{},"args":["claude-code","--ask=none"],"env":[]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			d, release := &table{answer: tt.answer}, make(chan struct{})
			var handed, waits atomic.Int32
			socket := filepath.Join(hooktest.ShortDir(t), "s")
			decide := func(ctx context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
				if waits.Add(1); tt.slow {
					<-release
				}
				return d.emit(ctx, env)
			}
			s, err := server.Listen(server.Options{
				Socket: socket, Emitter: emitting{decide, t.Context()},
				Bridge: func(ctx context.Context, h wire.Handed, emit func([]byte) (wire.Answer, *wire.Error)) (wire.HandedReply, wire.Told, bool) {
					reply, told, ok := Serve(ctx, h, emit)
					if ok {
						handed.Add(1)
					}
					return reply, told, ok
				},
			})
			hooktest.Must(t, err)
			hooktest.Run(t, s.Serve)

			args := append([]string{"claude-code", "--socket=" + socket}, tt.args...)
			p := started(t, args, tt.stdin)
			if tt.slow { // its answer is waited for by the bridge once it has made a second thread
				hooktest.Until(t, "the bridge has started", func() bool { return threads(p.cmd.Process.Pid) > 1 })
				close(release)
			}
			got := p.said(t)
			gotSent, gotTold := d.sent(), ""
			if tt.taken {
				gotTold = d.told(t)
			}
			if took := handed.Load() > 0; took != tt.taken {
				t.Errorf("hookd has the whole call: %v, want %v", took, tt.taken)
			}

			tt.slow = false
			d.set(tt.answer)
			o := Options{Agent: "claude-code", Socket: socket, Stdin: strings.NewReader(strings.Join(tt.stdin, ""))}
			want := commanded(t, args, o)
			if got != want || gotSent != d.sent() {
				t.Errorf("got %+v and\n%swant %+v and\n%s", got, gotSent, want, d.sent())
			}
			if tt.taken && gotTold != d.told(t) {
				t.Errorf("told %s", gotTold)
			}
		})
	}
}

// A daemon that is not there, or does not answer as it should, costs the answer, not the agent: the call is left
// to the bridge, or has no opinion. With a system daemon or another user's the bridge decides.
func TestEarlyWithoutAnswer(t *testing.T) {
	payload := onOneLine(t, captured(t, "claude-code/PreToolUse.json"))
	for name, tt := range map[string]struct {
		answer string // to the first connection; "" = it is closed without one
		listen bool
		says   string
	}{
		"no daemon":              {says: "hookd is not running"},
		"closed without a word":  {listen: true, says: "closed the connection"},
		"half a head":            {listen: true, answer: "hookd 0 5", says: "closed the connection"},
		"half a body":            {listen: true, answer: "hookd 0 9 0\nhalf", says: "closed the connection"},
		"another version's line": {listen: true, answer: `{"ok":false,"error":{"code":"bad_field","message":"m"}}` + "\n", says: "m"},
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(hooktest.ShortDir(t), "s")
			if tt.listen {
				l, err := net.Listen("unix", socket)
				hooktest.Must(t, err)
				t.Cleanup(func() { l.Close() })
				go func() {
					for {
						conn, err := l.Accept()
						if err != nil {
							return
						}
						io.ReadFull(conn, make([]byte, 1))
						io.WriteString(conn, tt.answer)
						conn.Close()
					}
				}()
			}
			got := started(t, []string{"claude-code", "--socket=" + socket}, []string{payload}).said(t)
			if got.exit != 0 || got.stdout != "" || !strings.Contains(got.stderr, tt.says) {
				t.Errorf("got %+v, want %q", got, tt.says)
			}
		})
	}
}

// onOneLine is a payload as agents write it.
func onOneLine(t *testing.T, payload string) string {
	t.Helper()
	var line bytes.Buffer
	hooktest.Must(t, json.Compact(&line, []byte(payload)))
	return line.String()
}

// earlyProcess is the built program.
type earlyProcess struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func started(t *testing.T, args, stdin []string) *earlyProcess {
	t.Helper()
	r := &earlyProcess{cmd: exec.Command(filepath.Join(hooktest.Programs(t), "hookd-bridge"), args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME=", "CLAUDE_CODE_ENTRYPOINT=")
	in, err := r.cmd.StdinPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, r.cmd.Start())
	for i, piece := range stdin {
		if i > 0 { // the bridge reads the first piece by itself
			hooktest.Until(t, "the bridge has started", func() bool { return threads(r.cmd.Process.Pid) > 1 })
		}
		_, err := io.WriteString(in, piece)
		hooktest.Must(t, err)
	}
	hooktest.Must(t, in.Close())
	return r
}

// threads is how many threads a process has: more than one when Go has started in it.
func threads(pid int) int {
	list, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	return len(list)
}

func (r *earlyProcess) said(t *testing.T) said {
	t.Helper()
	if err := r.cmd.Wait(); err != nil && r.cmd.ProcessState.ExitCode() < 0 {
		t.Fatal(err)
	}
	return said{r.stdout.String(), r.stderr.String(), r.cmd.ProcessState.ExitCode()}
}

// commanded runs a command line in this process.
func commanded(t *testing.T, args []string, o Options) said {
	t.Helper()
	var stdout, stderr strings.Builder
	o.Stdout, o.Stderr, o.State = &stdout, &stderr, t.TempDir()
	o.Getenv = func(string) string { return "" }
	exit := command(t.Context(), args, o)
	return said{stdout.String(), stderr.String(), exit}
}

// Go starts after begin also where the program is linked with libc, whose threads need the same register.
func TestEarlyWithCgo(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || !hooktest.All() {
		t.Skip("it builds the program with a C compiler: HOOKTEST_ALL=1 runs it")
	}
	program := filepath.Join(t.TempDir(), "hookd-bridge")
	cmd := exec.Command("sh", "-ec", `cd ../../.. && go build -ldflags "$(sh packaging/entry.sh)" -o "$0" ./cmd/hookd-bridge`, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program, "version").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
