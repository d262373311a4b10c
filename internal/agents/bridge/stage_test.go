//go:build agents

package bridge

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// The marks by which the tests tell which texts the model was shown.
const (
	theContext  = "the build number is 4711"
	theReason   = "rm -rf is not for agents"
	theSecret   = "s3cret-7731"
	theRedacted = "[redacted-7731]"
)

// commands are the calls that the model asks for, one after another. The second fails
// unless a hook rewrites it: there is no folder made.
var commands = []string{"rm -rf victim", "mkdir made/deep", "cat secret.txt"}

// agentHooks are the same folders for every agent, in Claude Code's and in
// LibreFang's words.
var agentHooks = map[string][2]string{
	"guard":    {"events: [PreToolUse]\nmatcher: Bash\n", "grep -q 'rm -rf' && { echo '" + theReason + "' >&2; exit 2; }\nexit 0\n"},
	"rewriter": {"events: [PreToolUse]\nmatcher: Bash\n", `sed -n 's/.*"command":"mkdir \([^"]*\)".*/{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"mkdir -p \1"}}}/p'` + "\n"},
	"context":  {"events: [SessionStart]\n", "echo '" + theContext + "'\n"},
	"redact":   {"events: [transform_tool_result]\n", `printf '%s' "$HOOK_EVENT_DATA" | sed -n 's/.*"tool_output":"\([^"]*\)` + theSecret + `\([^"]*\)".*/\1` + theRedacted + `\2/p'` + "\n"},
}

// runTime is how long one run of an agent may take, on a machine that does much else.
const runTime = 4 * time.Minute

// stage is the place where one agent plays.
type stage struct {
	real
	t         *testing.T // of all of the agent's scenarios
	program   string
	bridge    string // hookd-bridge
	home      string // the agent's
	work      string // where it works
	hookd     string // hookd's home
	socket    string
	stop      func() // ends the daemon
	door      string // http.listen
	ended     string // folder of what agent:end was given
	model     *model
	url       string
	notified  chan string // what the documented script has posted
	args, env []string
}

func newStage(t *testing.T, r real, program, bridge string) *stage {
	t.Helper()
	s := &stage{
		real: r, t: t, program: program, bridge: bridge, model: &model{}, notified: make(chan string, 99),
		home: hooktest.ShortDir(t), work: hooktest.ShortDir(t), ended: hooktest.ShortDir(t),
	}
	server := httptest.NewServer(r.model(s.model))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.furnish(t)
	for name, text := range map[string]string{"victim/kept": "", "secret.txt": "the key is " + theSecret + "\n"} {
		hooktest.Write(t, filepath.Join(s.work, name), text, 0o600)
	}
	s.register(t, bridge)
	s.args, s.env = r.command(s.url)
	if r.before != nil {
		s.begin(t, r.before(s.url)).end(t)
	}
	return s
}

// furnish makes hookd's home and starts the daemon.
func (s *stage) furnish(t *testing.T) {
	t.Helper()
	posts := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		s.notified <- string(text)
	}))
	t.Cleanup(posts.Close)
	script, err := filepath.Abs("../../../testdata/hooks/notify-on-end/run.sh")
	hooktest.Must(t, err)
	hooks := map[string][2]string{
		"notify": {"events: [agent:end]\ntimeout: 60\nenv: {SLACK_WEBHOOK_URL: '" + posts.URL + "'}\n", "exec '" + script + "'\n"},
		"record": {"events: [agent:end]\n", `printf '%s' "$HOOK_EVENT $HOOK_EVENT_DATA" > ` + s.ended + `/$$ && mv ` + s.ended + `/$$ ` + s.ended + `/$$.done` + "\n"},
		"hold": {
			"events: [PreToolUse]\nmatcher: Bash\ntimeout: 120\n",
			"grep -q held-4711 || exit 0\n: > '" + s.work + "/holds'\nwhile [ ! -e '" + s.work + "/released' ]; do sleep 0.05; done\necho held >&2\nexit 2\n",
		},
	}
	maps.Copy(hooks, agentHooks)
	for name, hook := range s.hooks {
		hook[1] = strings.NewReplacer("WORK", s.work, "HOME", s.home).Replace(hook[1])
		hooks[name] = hook
	}
	s.hookd, s.door = furnished(t, hooks), freePort(t)
	hooktest.Write(t, filepath.Join(s.hookd, "hookd.yaml"), "watch_programs: true\nhttp: {listen: '"+s.door+"'}\n", 0o600)
	s.socket, s.stop = startDaemon(t, s.hookd)
}

// register puts hookd into the agent's settings.
func (s *stage) register(t *testing.T, bridge string) {
	t.Helper()
	if s.text != nil {
		command := bridge + " " + string(s.dialect) + " --socket=" + s.socket
		hooktest.Write(t, filepath.Join(s.home, s.settings), s.text(command, s), 0o600)
	}
	if s.connects {
		plan, err := connect.Connect(connect.Options{
			Agent: string(s.dialect), Home: s.home, Bridge: bridge, Getenv: func(string) string { return "" },
		})
		hooktest.Must(t, err)
		hooktest.Must(t, plan.Apply())
	}
}

// restart ends the daemon and starts another one on its home.
func (s *stage) restart() {
	s.stop()
	_, s.stop = startDaemon(s.t, s.hookd)
}

// client speaks to the daemon.
func (s *stage) client() *client.Client { return client.New(client.Options{Socket: s.socket}) }

// freePort is a loopback address that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hooktest.Must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// has reports whether the agent's commands have made a file.
func (s *stage) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.work, name))
	return err == nil
}

// play lets the agent work on a script until it ends.
func (s *stage) play(t *testing.T, sc script) {
	t.Helper()
	s.model.play(sc)
	s.begin(t, s.args).end(t)
}

// running is a run of the agent.
type running struct {
	*stage
	cmd    *exec.Cmd
	out    strings.Builder
	cancel context.CancelFunc
	ended  chan error
}

// begin starts the agent's program, in a process group of its own.
func (s *stage) begin(t *testing.T, args []string) *running {
	t.Helper()
	program := s.program
	if s.leaves {
		apart := []string{"--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"}
		if err := exec.Command("unshare", append(apart, "true")...).Run(); err != nil {
			t.Skipf("SKIP-TOOL unshare: %v, and %s leaves processes behind", err, s.dialect)
		}
		program, args = "unshare", slices.Concat(apart, []string{program}, args)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	r := &running{stage: s, cmd: exec.CommandContext(ctx, program, args...), cancel: cancel, ended: make(chan error, 1)}
	r.cmd.Dir, r.cmd.WaitDelay = s.work, 10*time.Second
	// Some agents want a newer node than the system has.
	search := filepath.Join(os.Getenv("HOOKD_AGENTS"), "node", "node_modules", ".bin") + ":" + os.Getenv("PATH")
	r.cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + search, "LANG=C.UTF-8", "TERM=dumb", "HOOKD_SOCKET=" + s.socket}, s.env...)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	hooktest.Must(t, r.cmd.Start())
	go func() { r.ended <- r.cmd.Wait() }()
	return r
}

// end waits for the end of the run.
func (r *running) end(t *testing.T) {
	t.Helper()
	defer r.cancel()
	if err := <-r.ended; err != nil && !r.ends {
		t.Fatalf("%s: %v\n%s", r.dialect, err, r.out.String())
	}
	t.Logf("%s", r.out.String())
}

// kill ends the agent and all that it has started, as a machine does that runs out of
// memory.
func (r *running) kill(t *testing.T) {
	t.Helper()
	r.cancel()
	if err := <-r.ended; err == nil {
		t.Error("the agent has ended by itself before it was killed")
	}
}

// until waits for a condition, or for the end of the run, which is a fault then.
func (r *running) until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ended := false
	hooktest.Until(t, what, func() bool {
		select {
		case err := <-r.ended:
			ended = true
			r.ended <- err
		default:
		}
		return ended || cond()
	})
	if ended && !cond() {
		t.Fatalf("the agent ended before %s:\n%s", what, r.out.String())
	}
}
