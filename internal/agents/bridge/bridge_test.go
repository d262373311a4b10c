package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// guardCalls is a tool call of each agent that can deny one. Each has the output that the
// agent reads when no hook has an opinion, and a part of a denial.
var guardCalls = []struct {
	agent, event, payload string
	none                  string
	deny                  string // in stdout, or "" when the exit code says it
	exit                  int    // of a denial
	quiet                 bool   // nothing on stderr, ever
}{
	{"claude-code", "PreToolUse", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`, "", `"permissionDecision":"deny"`, 0, false},
	{"codex", "PreToolUse", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`, "", `"permissionDecision":"deny"`, 0, false},
	{"gemini-cli", "BeforeTool", `{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"x","tool_input":{}}`, "{}\n", `"decision":"deny"`, 0, true},
	{"cursor", "preToolUse", `{"conversation_id":"s","hook_event_name":"preToolUse","tool_name":"Write","tool_input":{}}`, "{}\n", `"permission":"deny"`, 0, false},
	{"copilot", "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{}}`, "{}\n", `"permissionDecision":"deny"`, 0, false},
	{"kimi", "PreToolUse", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`, "", `"permissionDecision":"deny"`, 0, false},
	{"windsurf", "pre_run_command", `{"trajectory_id":"s","agent_action_name":"pre_run_command","tool_info":{}}`, "", "", 2, false},
	{"cline", "PreToolUse", `{"taskId":"s","hookName":"PreToolUse","preToolUse":{}}`, "{\"cancel\":false}\n", `"cancel":true`, 0, false},
	{"antigravity", "PreToolUse", `{"conversationId":"s","toolCall":{}}`, "{\"decision\":\"allow\"}\n", `"decision":"deny"`, 0, true},
	{"hermes", "pre_tool_call", `{"session_id":"s","hook_event_name":"pre_tool_call","tool_name":"terminal"}`, "{}\n", `"decision":"block"`, 0, false},
	{"docker-agent", "pre_tool_use", `{"session_id":"s","hook_event_name":"pre_tool_use","tool_name":"shell"}`, "", `"decision":"block"`, 2, false},
	{"familiar", "beforeToolCall", `{"conversation_id":"s","tool_name":"bash","tool_args":{}}`, "", "", 1, false},
}

// told checks an answer without a verdict: no opinion, or a denial.
func told(t *testing.T, o Options, got said, none, deny string, exit int, because string) {
	t.Helper()
	if !o.FailClosed {
		if got.stdout != none || got.exit != 0 {
			t.Errorf("no opinion: got %+v, want %q", got, none)
		}
		return
	}
	if got.exit != exit || !strings.Contains(got.stdout, deny) {
		t.Errorf("a denial: got %+v, want %s and exit %d", got, deny, exit)
	}
	if !strings.Contains(got.stdout+got.stderr, because) {
		t.Errorf("a denial: got %+v, which does not say %q", got, because)
	}
}

func TestDaemonDown(t *testing.T) {
	for _, tt := range guardCalls {
		for _, closed := range []bool{false, true} {
			t.Run(tt.agent, func(t *testing.T) {
				o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: filepath.Join(hooktest.ShortDir(t), "s"), State: t.TempDir(), FailClosed: closed}
				first, second := called(t, o, tt.payload), called(t, o, tt.payload)
				told(t, o, first, tt.none, tt.deny, tt.exit, "hookd is not running")
				const notice = "so no hook runs"
				if says := strings.Contains(first.stderr, notice); says == tt.quiet {
					t.Errorf("first: stderr is %q", first.stderr)
				}
				if strings.Contains(second.stderr, notice) {
					t.Errorf("it is said again: %q", second.stderr)
				}
				other := called(t, o, strings.Replace(tt.payload, `"s"`, `"another"`, 1))
				if says := strings.Contains(other.stderr, notice); says == tt.quiet {
					t.Errorf("another session: stderr is %q", other.stderr)
				}
			})
		}
	}
}

func TestDaemonSlow(t *testing.T) {
	socket := serve(t, func(ctx context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		<-ctx.Done()
		return wire.Answer{}, &wire.Error{Code: wire.CodeInternal, Message: "gone"}
	})
	for _, tt := range guardCalls {
		for _, closed := range []bool{false, true} {
			t.Run(tt.agent, func(t *testing.T) {
				o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: socket, Timeout: 50 * time.Millisecond, FailClosed: closed}
				got := called(t, o, tt.payload)
				told(t, o, got, tt.none, tt.deny, tt.exit, "no answer from hookd in time")
				if (got.stderr == "") != tt.quiet {
					t.Errorf("stderr is %q", got.stderr)
				}
			})
		}
	}
}

func TestDaemonRefuses(t *testing.T) {
	socket := serve(t, func(context.Context, events.Envelope) (wire.Answer, *wire.Error) {
		return wire.Answer{}, &wire.Error{Code: wire.CodeDraining, Message: "hookd is stopping"}
	})
	for _, tt := range guardCalls {
		for _, closed := range []bool{false, true} {
			o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: socket, FailClosed: closed}
			told(t, o, called(t, o, tt.payload), tt.none, tt.deny, tt.exit, "hookd is stopping")
		}
	}
}

// A model can make a call that hookd refuses for its content: no guard has seen it, so it is denied.
func TestACallThatIsRefused(t *testing.T) {
	for _, code := range []wire.Code{wire.CodeTooLarge, wire.CodeBadJSON} {
		socket := serve(t, func(context.Context, events.Envelope) (wire.Answer, *wire.Error) {
			return wire.Answer{}, &wire.Error{Code: code, Message: "the event is larger than 9 bytes"}
		})
		for _, tt := range guardCalls {
			o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: socket}
			got := called(t, o, tt.payload)
			o.FailClosed = true // as which it is denied
			told(t, o, got, tt.none, tt.deny, tt.exit, "larger than 9 bytes")
		}
		o := Options{Agent: "claude-code", Socket: socket}
		if got := called(t, o, captured(t, "claude-code/PostToolUse.json")); got.stdout != "" || got.exit != 0 {
			t.Errorf("a result that is refused: %+v", got)
		}
	}
}

// Nor has a guard seen a call that is too deep, or too large, for the bridge itself.
func TestACallBeyondTheBridge(t *testing.T) {
	deep := `"deep":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	large := `"large":"` + strings.Repeat("x", MaxPayload) + `"`
	for _, tt := range guardCalls {
		for because, more := range map[string]string{"nested too deeply": deep, "larger than": large} {
			o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: filepath.Join(hooktest.ShortDir(t), "s"), State: t.TempDir()}
			got := called(t, o, strings.Replace(tt.payload, "{", "{"+more+",", 1))
			o.FailClosed = true // as which it is denied
			told(t, o, got, tt.none, tt.deny, tt.exit, because)
		}
	}
	o := Options{Agent: "claude-code", Args: []string{"PostToolUse"}, Socket: filepath.Join(hooktest.ShortDir(t), "s"), State: t.TempDir()}
	if got := called(t, o, "{"+large+"}"); got.stdout != "" || got.exit != 1 {
		t.Errorf("a large result: %+v, want an error that denies nothing", got)
	}
}

// An agent that takes no denial goes on: LibreFang's hooks observe.
func TestOthersGoOnWithoutAVerdict(t *testing.T) {
	slow := serve(t, func(ctx context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		<-ctx.Done()
		return wire.Answer{}, &wire.Error{Code: wire.CodeInternal, Message: "gone"}
	})
	crashes := house(t, map[string][2]string{"guard": {"events: [transform_tool_result]\n", "kill -SEGV $$\n"}})
	const payload = `{"session_id":"s","agent_id":"a","tool_name":"shell","tool_input":{},"tool_output":"out"}`
	for name, socket := range map[string]string{"down": filepath.Join(hooktest.ShortDir(t), "s"), "slow": slow, "crash": crashes} {
		o := Options{Agent: "librefang", Args: []string{"transform_tool_result"}, Socket: socket, FailClosed: true}
		if name == "slow" {
			o.Timeout = 50 * time.Millisecond
		}
		if got := called(t, o, payload); got.stdout != "" || got.exit != 0 {
			t.Errorf("%s: got %+v, want no opinion", name, got)
		}
	}
}

// --fail-closed denies no event that guards nothing: an agent whose stop is
// denied would never stop.
func TestFailClosedGuardsCallsOnly(t *testing.T) {
	o := Options{Agent: "claude-code", Socket: filepath.Join(hooktest.ShortDir(t), "s"), FailClosed: true}
	for _, file := range []string{"Stop", "SessionStart", "UserPromptSubmit", "PostToolUse"} {
		if got := called(t, o, captured(t, "claude-code/"+file+".json")); got.stdout != "" || got.exit != 0 {
			t.Errorf("%s: got %+v", file, got)
		}
	}
}

// A guard that crashes denies, in the agent's own words.
func TestHookCrashed(t *testing.T) {
	socket := house(t, map[string][2]string{"guard": {"events: [PreToolUse, BeforeTool, preToolUse, pre_run_command, pre_tool_call, pre_tool_use]\n", "kill -SEGV $$\n"}})
	for _, tt := range guardCalls {
		o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: socket, FailClosed: true}
		told(t, o, called(t, o, tt.payload), tt.none, tt.deny, tt.exit, "SIGSEGV")
	}
}

// Input that the bridge cannot read is never a denial by accident.
func TestMistakes(t *testing.T) {
	socket := serve(t, func(context.Context, events.Envelope) (wire.Answer, *wire.Error) { return wire.Answer{}, nil })
	for _, agent := range dialect.Agents() {
		for name, tt := range map[string]struct {
			args    []string
			payload string
		}{
			"no_json":    {[]string{"X"}, `{"a":`},
			"no_object":  {[]string{"X"}, `[1]`},
			"no_event":   {nil, `{}`},
			"bad_event":  {[]string{"a b"}, `{}`},
			"reserved":   {[]string{"hookd:stop"}, `{}`},
			"two_events": {[]string{"X", "Y"}, `{}`},
			"nothing":    {nil, ``},
		} {
			t.Run(agent+"/"+name, func(t *testing.T) {
				o := Options{Agent: agent, Args: tt.args, Socket: socket}
				got := called(t, o, tt.payload)
				a := dialect.Agent(events.Dialect(agent))
				if want := map[bool]int{true: 0, false: 1}[a.Breaks]; got.exit != want {
					t.Errorf("exit %d, want %d", got.exit, want)
				}
				if (got.stderr == "") != a.Quiet {
					t.Errorf("stderr is %q", got.stderr)
				}
				if strings.Contains(got.stdout, "deny") || strings.Contains(got.stdout, "block") || strings.Contains(got.stdout, `"cancel":true`) {
					t.Errorf("stdout is %s", got.stdout)
				}
			})
		}
	}
	if got := called(t, Options{Agent: "nobody"}, `{}`); got.exit != 1 || got.stdout != "" || !strings.Contains(got.stderr, "claude-code") {
		t.Errorf("unknown agent: got %+v", got)
	}
}

// With --fail-closed, a question that the bridge cannot read is a reason to deny.
func TestMistakesFailClosed(t *testing.T) {
	for _, tt := range guardCalls {
		o := Options{Agent: tt.agent, Socket: "/nowhere", FailClosed: true}
		got := called(t, o, `{"broken`)
		told(t, o, got, tt.none, tt.deny, tt.exit, "read the payload")
	}
}

func TestPanicsAreKeptIn(t *testing.T) {
	o := Options{Agent: "librefang", Getenv: func(string) string { panic("no environment") }}
	if got := called(t, o, ``); got.exit != 1 || got.stdout != "" || !strings.Contains(got.stderr, "internal error: no environment") {
		t.Errorf("got %+v", got)
	}
	o = Options{Agent: "claude-code", Stdin: brokenPipe{}, Stdout: brokenPipe{}, Stderr: brokenPipe{}, State: t.TempDir()}
	if exit := Run(t.Context(), o); exit != 1 {
		t.Errorf("panics on every stream: exit %d, want 1", exit)
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error)  { return 0, io.ErrClosedPipe }
func (brokenPipe) Write([]byte) (int, error) { panic("write") }

// An agent that leaves stdin open is answered all the same.
func TestOpenStdin(t *testing.T) {
	in, agent := io.Pipe()
	t.Cleanup(func() { agent.Close() })
	go io.WriteString(agent, `{"hook_event_name":"PreToolUse"}`)
	var out strings.Builder
	o := Options{Agent: "gemini-cli", Stdin: in, Stdout: &out, Stderr: io.Discard, Socket: "/nowhere", State: t.TempDir()}
	if exit := Run(t.Context(), o); exit != 0 || out.String() != "{}\n" {
		t.Errorf("exit %d, stdout %q", exit, out.String())
	}
}

func TestLibreFangSpeaksThroughTheEnvironment(t *testing.T) {
	var seen events.Envelope
	socket := serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		seen = env
		return wire.Answer{EventID: "e"}, nil
	})
	vars := map[string]string{"HOOK_EVENT": "agent:end", "HOOK_EVENT_DATA": `{"agent_id":"a","session_id":"s"}`}
	got := called(t, Options{Agent: "librefang", Socket: socket, Getenv: func(k string) string { return vars[k] }}, "")
	if got != (said{}) || seen.Event != "agent:end" || seen.SessionID != "s" || seen.AgentID != "a" || seen.Wait || seen.Dialect != events.LibreFang {
		t.Errorf("got %+v, sent %+v", got, seen)
	}
}

// An agent that cannot ask a person denies, or leaves it to its own rules.
func TestAsk(t *testing.T) {
	socket := serve(t, func(context.Context, events.Envelope) (wire.Answer, *wire.Error) {
		return wire.Answer{Verdict: &verdict.Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "sure?"}}, nil
	})
	payload := captured(t, "codex/PreToolUse.json")
	if got := called(t, Options{Agent: "codex", Socket: socket}, payload); !strings.Contains(got.stdout, `"deny","permissionDecisionReason":"sure? (`) {
		t.Errorf("by default: got %+v", got)
	}
	if got := called(t, Options{Agent: "codex", Socket: socket, Ask: AskIsNone}, payload); got != (said{}) {
		t.Errorf("--ask=none: got %+v", got)
	}
}

// Cursor reports one call twice: the hooks run once, and both get the verdict.
func TestCursorsPairIsOneEvent(t *testing.T) {
	var mu sync.Mutex
	ids := map[string][]string{}
	socket := serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		mu.Lock()
		defer mu.Unlock()
		ids[env.Event] = append(ids[env.Event], env.ID)
		v := &verdict.Verdict{Allowed: true, Continue: true}
		if env.Event == "preToolUse" && strings.Contains(string(env.Data), "rewrite me") {
			v.UpdatedInput = json.RawMessage(`{"command":"rewritten"}`)
		}
		return wire.Answer{Verdict: v}, nil
	})
	o := Options{Agent: "cursor", Socket: socket, State: t.TempDir()}
	call := func(event, rest string) {
		called(t, o, `{"conversation_id":"c","generation_id":"g","hook_event_name":"`+event+`",`+rest+`}`)
	}
	last := func(event string) string {
		mu.Lock()
		defer mu.Unlock()
		list := ids[event]
		if len(list) == 0 {
			return "none"
		}
		return list[len(list)-1]
	}
	shell := func(command string) (first, second string) {
		call("preToolUse", `"tool_name":"Shell","tool_input":{"command":"`+command+`"}`)
		if command == "rewrite me" {
			command = "rewritten"
		}
		call("beforeShellExecution", `"command":"`+command+`"`)
		return last("preToolUse"), last("beforeShellExecution")
	}
	one, two := shell("make test")
	if one == "" || one != two {
		t.Errorf("the pair has ids %q and %q", one, two)
	}
	if again, _ := shell("make test"); again == one {
		t.Error("the same command, run again, is another call")
	}
	if one, two := shell("rewrite me"); one == "" || one != two {
		t.Errorf("a rewritten pair has ids %q and %q", one, two)
	}
	call("beforeShellExecution", `"command":"alone"`)
	if got := last("beforeShellExecution"); got != "" {
		t.Errorf("an event that stands alone has id %q", got)
	}
	call("preToolUse", `"tool_name":"MCP:make","tool_input":{"a":1,"b":2}`)
	call("beforeMCPExecution", `"tool_name":"MCP:make","tool_input":"{\"b\":2, \"a\":1}"`)
	if one, two := last("preToolUse"), last("beforeMCPExecution"); one == "" || one != two {
		t.Errorf("an MCP pair has ids %q and %q", one, two)
	}
	call("postToolUse", `"tool_name":"Shell","tool_input":{"command":"ls"},"tool_output":"{}"`)
	call("afterShellExecution", `"command":"ls","output":""`)
	if one, two := last("postToolUse"), last("afterShellExecution"); one == "" || one != two {
		t.Errorf("an after pair has ids %q and %q", one, two)
	}
	call("preToolUse", `"tool_name":"Read","tool_input":{}`)
	if got := last("preToolUse"); got != "" {
		t.Errorf("a call without a pair has id %q", got)
	}
}

// A hook that redacts changes the result that the model and later hooks see.
func TestRedaction(t *testing.T) {
	socket := house(t, map[string][2]string{
		"redact": {"events: [tool_response_transform]\n", `grep -q 's3cret' && echo '{"hook_specific_output":{"updated_tool_response":"key is [redacted]"}}'` + "\nexit 0\n"},
		"after":  {"events: [PostToolUse, AfterTool, postToolUse]\nblocking: true\n", `grep -q 's3cret' && { echo 'the secret came through' >&2; exit 2; }` + "\nexit 0\n"},
	})
	for _, tt := range []struct{ agent, event, payload, want string }{
		{"claude-code", "PostToolUse", strings.Replace(captured(t, "claude-code/PostToolUse.json"), `"stdout": "hello-from-tool"`, `"stdout": "key is s3cret"`, 1),
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"key is [redacted]","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}}`},
		{"codex", "PostToolUse", strings.Replace(captured(t, "codex/PostToolUse.json"), `"hello-from-tool\n"`, `"key is s3cret"`, 1),
			`{"decision":"block","reason":"key is [redacted]"}`},
		{"gemini-cli", "AfterTool", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"env"},"tool_response":{"llmContent":"key is s3cret","returnDisplay":"…"}}`,
			`{"decision":"deny","reason":"key is [redacted]"}`},
		{"copilot", "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"env"},"toolResult":{"resultType":"success","textResultForLlm":"key is s3cret"}}`,
			`{"modifiedResult":{"resultType":"success","textResultForLlm":"key is [redacted]"}}`},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			o := Options{Agent: tt.agent, Args: []string{tt.event}, Socket: socket}
			if got := called(t, o, tt.payload); got != (said{tt.want + "\n", "", 0}) {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
			clean := called(t, o, strings.Replace(strings.Replace(tt.payload, "s3cret", "nothing", 1), "[redacted]", "", 1))
			if strings.Contains(clean.stdout, "redacted") {
				t.Errorf("without a secret: got %+v", clean)
			}
		})
	}
}

// Redacted text stays out, also when hookd stops in between.
func TestRedactionOutlivesTheDaemon(t *testing.T) {
	socket := serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		if env.Event != "tool_response_transform" {
			return wire.Answer{}, &wire.Error{Code: wire.CodeDraining, Message: "hookd is stopping"}
		}
		return wire.Answer{Verdict: &verdict.Verdict{Allowed: true, Continue: true, UpdatedToolResponse: json.RawMessage(`"[redacted]"`)}}, nil
	})
	got := called(t, Options{Agent: "codex", Socket: socket}, captured(t, "codex/PostToolUse.json"))
	if got.stdout != `{"decision":"block","reason":"[redacted]"}`+"\n" || got.exit != 0 || !strings.Contains(got.stderr, "stopping") {
		t.Errorf("got %+v", got)
	}
}

// The program itself: exit codes as an agent sees them.
func TestProgram(t *testing.T) {
	socket := house(t, map[string][2]string{"guard": {"events: [PreToolUse]\n", "echo no >&2; exit 2\n"}})
	run := func(stdin string, args ...string) said {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], args...)
		cmd.Env = append(os.Environ(), "BRIDGE_TEST_MAIN=1", "HOOKD_SOCKET="+socket, "HOME="+t.TempDir(), "XDG_CACHE_HOME=")
		cmd.Stdin = strings.NewReader(stdin)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return said{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	}
	payload := captured(t, "claude-code/PreToolUse.json")
	for _, tt := range []struct {
		name, stdin, args string
		stdout, stderr    string // parts
		exit              int
	}{
		{"answer", payload, "claude-code", `"permissionDecision":"deny"`, "", 0},
		{"flags_anywhere", payload, "claude-code --timeout 20s PreToolUse --ask none", `"permissionDecision":"deny"`, "", 0},
		{"unknown_flag", payload, "claude-code --fial-closed", "", "fial-closed", 1},
		{"unknown_flag_copilot", `{}`, "copilot preToolUse --nope", "{}", "nope", 0},
		{"bad_ask", payload, "claude-code --ask maybe", "", "--ask", 1},
		{"unknown_agent", payload, "clod", "", "unknown agent", 1},
		{"no_arguments", "", "", "", "usage", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := run(tt.stdin, strings.Fields(tt.args)...)
			if got.exit != tt.exit || !strings.Contains(got.stdout, tt.stdout) || !strings.Contains(got.stderr, tt.stderr) || (tt.stderr == "") != (got.stderr == "") || (tt.stdout == "") != (got.stdout == "") {
				t.Errorf("got %+v, want %+v", got, tt)
			}
		})
	}
}
