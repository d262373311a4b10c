//go:build agents

package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// A process of the tests is an MCP server whose tool makes a file, where the agent starts it as one.
func init() {
	if file := os.Getenv("BRIDGE_TEST_TOUCH"); file != "" {
		serveTouch(os.Stdin, os.Stdout, file)
		os.Exit(0)
	}
}

// waysOf are the ways of an agent to a call, beside its model's plain one.
type waysOf struct {
	settings string                     // file in the home that is there before hookd is connected; "" = none
	text     func(server object) string // of it; server starts the MCP server
	mcp      func(s *stage) []string    // arguments of a run that has the MCP server; nil = as ever
	tool     string                     // of the server, where the model is not told of it beforehand
	noMCP    string                     // why it has none; "" = it has
	back     object                     // arguments of the shell that put a command into the background
	noBack   string                     // why it has none
	skill    func(s *stage, lines []string) (args []string)
	noSkill  string
	gateway  []string // arguments of a process that has to run for subagents; nil = none has
	resume   func(s *stage) []string
	noResume string
}

func (w *waysOf) cannot(way string) string {
	return map[string]string{"mcp": w.noMCP, "background": w.noBack, "skill": w.noSkill, "resume": w.noResume}[way]
}

const noShellLines = "no shell lines in its skills"

func asEver(s *stage) []string { return s.args }

// instead returns args with the argument old replaced.
func instead(args []string, old string, new ...string) []string {
	i := slices.Index(args, old)
	return slices.Concat(args[:i], new, args[i+1:])
}

func markdown(lines []string, open, shut string) string {
	text := "---\ndescription: marks\nallowed-tools: Bash(touch:*), Bash(rm:*)\n---\nSay done.\n"
	for _, line := range lines {
		text += open + line + shut + "\n"
	}
	return text
}

var realWays = map[string]*waysOf{
	"claude-code": {
		mcp: func(s *stage) []string {
			file := filepath.Join(s.home, "mcp.json")
			hooktest.Write(s.t, file, raw(object{"mcpServers": object{"marker": s.server()}}), 0o600)
			return append(instead(s.args, "Bash", "Bash,mcp__marker__touch_4711"), "--mcp-config", file)
		},
		tool: "mcp__marker__touch_4711",
		back: object{"run_in_background": true},
		skill: func(s *stage, lines []string) []string {
			hooktest.Write(s.t, filepath.Join(s.home, ".claude/skills/mark/SKILL.md"), markdown(lines, "!`", "`"), 0o600)
			return instead(s.args, "do it", "/mark")
		},
		resume: func(s *stage) []string { return append([]string{"--continue"}, s.args...) },
	},
	"codex": {
		mcp: func(s *stage) []string {
			server := fmt.Sprintf("mcp_servers.marker={command=%q,args=[],env={BRIDGE_TEST_TOUCH=%q}}", os.Args[0], s.touched())
			return append([]string{"-c", server}, s.args...)
		},
		back: object{"yield_time_ms": 250}, noSkill: noShellLines,
		resume: func(s *stage) []string { return instead(s.args, "do it", "resume", "--last", "do it") },
	},
	"gemini-cli": {
		settings: ".gemini/settings.json",
		text: func(server object) string {
			return raw(object{"security": object{"auth": object{"selectedType": "gemini-api-key"}}, "mcpServers": object{"marker": server}})
		},
		back: object{"is_background": true},
		skill: func(s *stage, lines []string) []string {
			text := "prompt = '''Say done.\n"
			for _, line := range lines {
				text += "!{" + line + "}\n"
			}
			hooktest.Write(s.t, filepath.Join(s.home, ".gemini/commands/mark.toml"), text+"'''\n", 0o600)
			return instead(s.args, "do it", "/mark")
		},
		resume: func(s *stage) []string { return append([]string{"--resume", "latest"}, s.args...) },
	},
	"qwen-code": {
		settings: ".qwen/settings.json", tool: "mcp__marker__touch_4711",
		text: func(server object) string { return raw(object{"mcpServers": object{"marker": server}}) },
		back: object{"is_background": true},
		skill: func(s *stage, lines []string) []string {
			hooktest.Write(s.t, filepath.Join(s.home, ".qwen/commands/mark.md"), markdown(lines, "!{", "}"), 0o600)
			return instead(s.args, "do it", "/mark")
		},
		resume: func(s *stage) []string { return append([]string{"--continue"}, s.args...) },
	},
	"opencode": {
		settings: ".config/opencode/opencode.json",
		text: func(server object) string {
			return raw(object{"autoupdate": false, "share": "disabled", "mcp": object{"marker": object{
				"type": "local", "command": []any{server["command"]}, "environment": server["env"], "enabled": true,
			}}})
		},
		noBack: "its shell has none",
		skill: func(s *stage, lines []string) []string {
			hooktest.Write(s.t, filepath.Join(s.home, ".config/opencode/command/mark.md"), markdown(lines, "!`", "`"), 0o600)
			return []string{"run", "--command", "mark"}
		},
		resume: func(s *stage) []string { return []string{"run", "-c", "do it"} },
	},
	"openclaw": {
		settings: ".openclaw/openclaw.json", tool: "marker__touch_4711",
		back: object{"background": true}, noSkill: noShellLines, resume: asEver,
		gateway: []string{"gateway", "run"},
	},
	"cline": {
		settings: "mcp.json",
		text:     func(server object) string { return raw(object{"mcpServers": object{"marker": server}}) },
		noBack:   "its shell has none", noSkill: noShellLines,
		noResume: "with a person alone: `--id` wants a terminal",
	},
	"pi": {
		noMCP: "it has no MCP", noBack: "its shell has none", noSkill: noShellLines,
		resume: func(s *stage) []string { return append([]string{"-c"}, s.args...) },
	},
	"copilot": {
		settings: ".copilot/mcp-config.json",
		text: func(server object) string {
			server["type"], server["tools"] = "local", []string{"*"}
			return raw(object{"mcpServers": object{"marker": server}})
		},
		back: object{"mode": "async", "shellId": "one"}, noSkill: noShellLines,
		resume: func(s *stage) []string { return append([]string{"--continue"}, s.args...) },
	},
	"kimi": {
		settings: ".kimi-code/mcp.json",
		text:     func(server object) string { return raw(object{"mcpServers": object{"marker": server}}) },
		back:     object{"run_in_background": true, "description": "in the background"}, noSkill: noShellLines,
		resume: func(s *stage) []string { return append([]string{"--continue"}, s.args...) },
	},
}

// gatewayPort is where OpenClaw's gateway listens.
const gatewayPort = 28741

func (s *stage) listens(port int) bool {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// server starts the MCP server.
func (s *stage) server() object {
	return object{"command": os.Args[0], "args": []string{}, "env": object{"BRIDGE_TEST_TOUCH": s.touched()}}
}

func (s *stage) touched() string { return filepath.Join(s.work, "by-mcp") }

// TestRealAgentsWays: a call is asked about, and a denial counts, on each way of an agent to it. It prints
// the table of ways for docs/reference/agents.md.
func TestRealAgentsWays(t *testing.T) {
	ways := []string{"subagent", "mcp", "skill", "background", "parallel", "resume"}
	table := "| agent | version | " + strings.Join(ways, " | ") + " |\n" + strings.Repeat("| --- ", len(ways)+2) + "|\n"
	var mu sync.Mutex
	dir := t.TempDir()
	bridge := sync.OnceValue(func() string { return built(t, dir) })
	t.Run("all", func(t *testing.T) {
		for _, r := range someReals("claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "openclaw", "cline", "pi", "copilot", "kimi") {
			t.Run(r.name, func(t *testing.T) {
				w := realWays[r.name]
				s := newStage(t, prepared(r, w), r.found(t), bridge())
				row := []string{r.name, s.says(t)}
				for _, way := range ways {
					cell := w.cannot(way)
					if cell == "" {
						t.Run(way, func(t *testing.T) { cell = s.goes(t, w, way) })
					}
					row = append(row, cell)
				}
				s.doctor(t)
				mu.Lock()
				defer mu.Unlock()
				table += "| " + strings.Join(row, " | ") + " |\n"
				t.Logf("so far:\n%s", table)
			})
		}
	})
}

// prepared is an agent whose settings hookd is connected in as a person does.
func prepared(r real, w *waysOf) real {
	// Gemini takes a slash command for text where a hook adds context before it.
	r.connects, r.hooks = true, map[string][2]string{"context": {"events: [agent:end]\n", "exit 0\n"}, "witness": {"events: [PreToolUse, PreSkillShellCommand]\n", `
case "$(cat)" in *"rm -rf victim"*) echo no >&2; exit 2;; esac
`}}
	switch old := r.text; {
	case w.text != nil:
		r.settings, r.text = w.settings, func(_ string, s *stage) string { return w.text(s.server()) }
	case r.name == "openclaw":
		r.text = func(bridge string, s *stage) string {
			more := raw(object{
				"mcp":     object{"servers": object{"marker": s.server()}},
				"gateway": object{"mode": "local", "port": gatewayPort, "bind": "loopback", "auth": object{"mode": "none"}},
			})
			return strings.Replace(old(bridge, s), `{"agents"`, strings.TrimSuffix(more, "}")+`,"agents"`, 1)
		}
	case r.name == "claude-code", r.name == "codex":
		r.text = nil
	}
	if r.dialect == events.Cline {
		command := r.command
		r.command = func(url string) (args, env []string) {
			args, env = command(url)
			return args, append(env, "CLINE_MCP_SETTINGS_PATH=HOME/mcp.json")
		}
	}
	return r
}

// goes has the agent go a way, and says how hookd saw it.
func (s *stage) goes(t *testing.T, w *waysOf, way string) string {
	for i, e := range s.env {
		s.env[i] = strings.Replace(e, "=HOME/", "="+s.home+"/", 1)
	}
	marks, args := []string{"touch by-" + way, "rm -rf victim"}, s.args
	sc := script{commands: marks}
	switch way {
	case "subagent":
		if sc.delegate = s.delegate; s.delegate == nil {
			return "it has none"
		}
		if w.gateway != nil {
			gateway := s.begin(t, w.gateway)
			defer gateway.cancel()
			gateway.until(t, "the gateway listens", func() bool { return s.listens(gatewayPort) })
			args = instead(slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--local" }), "one", "two")
		}
	case "mcp":
		sc, marks = script{delegate: &delegate{has: "touch_4711", tool: w.tool, args: func(string) object { return object{} }}}, []string{"touch_4711"}
		if w.mcp != nil {
			args = w.mcp(s)
		}
	case "skill":
		sc, args = script{}, w.skill(s, marks)
	case "background":
		sc.more = w.back
	case "parallel":
		marks = []string{"touch by-parallel", "touch by-parallel-2", "touch by-parallel-3"}
		sc = script{commands: marks, together: true}
	case "resume":
		args = w.resume(s)
	}
	s.model.play(sc)
	r := s.begin(t, args)
	err := <-r.ended
	r.cancel()
	if !s.has("by-" + way) {
		t.Errorf("nothing was made: %v\n%.3000s", err, r.out.String())
		if n := len(s.model.asked()); n > 0 {
			t.Logf("the model was asked %d times, last\n%.6000s", n, s.model.asked()[n-1])
		}
		return s.cannot[way]
	}
	if !s.has("victim/kept") {
		if !s.said(neutral.LineCall) || way != "skill" {
			t.Error("the denied command ran, and hookd does not name it as a blind spot")
		}
		hooktest.Write(t, filepath.Join(s.work, "victim/kept"), "", 0o600)
		return "**not asked**"
	}
	asked := s.askedAbout(t, marks)
	if asked < len(marks) {
		t.Errorf("asked about %d of %q\n%.2000s", asked, marks, r.out.String())
		list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Limit: 6})
		for _, d := range list {
			t.Logf("%s %s %s %s: %s %s %v", d.Time, d.Event, d.Tool, d.Subject, d.Outcome, d.Guarded, err)
		}
		return fmt.Sprintf("asked about %d of %d", asked, len(marks))
	}
	return "asked"
}

// doctor types the command, and prints which of the ways it has seen.
func (s *stage) doctor(t *testing.T) {
	cmd := exec.Command(filepath.Join(hooktest.Programs(t), "hookd"), "doctor", string(s.dialect), "-o", "json", "--no-probe")
	cmd.Env = []string{"HOME=" + s.home, "LIBREFANG_HOME=" + s.hookd, "HOOKD_SOCKET=" + s.socket, "PATH=" + os.Getenv("PATH")}
	out, _ := cmd.Output() // it fails where it finds anything
	var r struct {
		Ways []struct{ Way, Seen, Cannot, Try, Bad string }
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	for _, w := range r.Ways {
		t.Logf("doctor: %s: seen %q, %s%s%s", w.Way, w.Seen, w.Cannot, w.Try, w.Bad)
	}
}

// said reports whether hookd names a kind of call that its agent does not ask about.
func (s *stage) said(kind neutral.CallKind) bool {
	return slices.ContainsFunc(dialect.Coverage(s.dialect), func(c dialect.Covered) bool { return c.Kind == kind && c.Why != "" })
}

// askedAbout counts the calls that hookd was asked about by their marks.
func (s *stage) askedAbout(t *testing.T, marks []string) (n int) {
	list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Limit: 500})
	hooktest.Must(t, err)
	for _, mark := range marks {
		if slices.ContainsFunc(list, func(d client.Decision) bool {
			return d.Guarded == client.GuardedAsked && (strings.Contains(d.Subject, mark) || strings.Contains(d.Tool, mark))
		}) {
			n++
		}
	}
	return n
}

// serveTouch is an MCP server with one tool, which makes a file.
func serveTouch(in io.Reader, out io.Writer, file string) {
	lines := json.NewDecoder(in)
	for {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string
			Params struct{ ProtocolVersion string }
		}
		if lines.Decode(&m) != nil {
			return
		}
		result := object{}
		switch m.Method {
		case "initialize":
			result = object{
				"protocolVersion": m.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "marker", "version": "1"},
			}
		case "tools/list":
			result = object{"tools": []any{object{
				"name": "touch_4711", "description": "makes a mark", "inputSchema": object{"type": "object", "properties": object{}},
			}}}
		case "tools/call":
			text := "made"
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				text = err.Error()
			}
			result = object{"content": []any{object{"type": "text", "text": text}}}
		}
		if m.ID != nil {
			fmt.Fprintln(out, raw(object{"jsonrpc": "2.0", "id": m.ID, "result": result}))
		}
	}
}
