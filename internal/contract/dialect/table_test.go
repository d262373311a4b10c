package dialect_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/hookd/hookd/internal/events"
)

// specTable says which names share a kind. StopFailure stands in two of its
// rows: its kind is error, and it is Also a turn.stop.
var specTable = []struct {
	kind  Kind
	cells map[Dialect]string
}{
	{"daemon.start", map[Dialect]string{LibreFang: "gateway:startup"}},
	{"session.start", map[Dialect]string{LibreFang: "session:start", DockerAgent: "session_start", Familiar: "onStart", ClaudeCode: "SessionStart", Codex: "SessionStart", GeminiCLI: "SessionStart", Cursor: "sessionStart"}},
	{"session.end", map[Dialect]string{LibreFang: "session:end", DockerAgent: "session_end", ClaudeCode: "SessionEnd", Codex: "SessionEnd", GeminiCLI: "SessionEnd", Cursor: "sessionEnd"}},
	{"session.reset", map[Dialect]string{LibreFang: "session:reset"}},
	{"prompt.submit", map[Dialect]string{LibreFang: "agent:start", DockerAgent: "user_prompt_submit", ClaudeCode: "UserPromptSubmit", Codex: "UserPromptSubmit", GeminiCLI: "BeforeAgent", Cursor: "beforeSubmitPrompt"}},
	{"turn.step", map[Dialect]string{LibreFang: "agent:step"}},
	{"turn.stop", map[Dialect]string{LibreFang: "agent:end", DockerAgent: "stop", Familiar: "onStop", ClaudeCode: "Stop StopFailure", Codex: "Stop", GeminiCLI: "AfterAgent", Cursor: "stop"}},
	{"tool.before", map[Dialect]string{DockerAgent: "pre_tool_use", Familiar: "beforeToolCall", ClaudeCode: "PreToolUse", Codex: "PreToolUse", GeminiCLI: "BeforeTool", Cursor: "preToolUse beforeShellExecution beforeMCPExecution"}},
	{"tool.after", map[Dialect]string{DockerAgent: "post_tool_use", Familiar: "afterToolCall", ClaudeCode: "PostToolUse PostToolUseFailure", Codex: "PostToolUse", GeminiCLI: "AfterTool", Cursor: "postToolUse postToolUseFailure"}},
	{"tool.transform", map[Dialect]string{LibreFang: "transform_tool_result", DockerAgent: "tool_response_transform"}},
	{"permission.request", map[Dialect]string{DockerAgent: "permission_request", ClaudeCode: "PermissionRequest", Codex: "PermissionRequest"}},
	{"model.before", map[Dialect]string{DockerAgent: "before_llm_call", Familiar: "beforeMessage", GeminiCLI: "BeforeModel"}},
	{"model.after", map[Dialect]string{DockerAgent: "after_llm_call", Familiar: "afterMessage", GeminiCLI: "AfterModel"}},
	{"compact.before", map[Dialect]string{DockerAgent: "pre_compact", ClaudeCode: "PreCompact", Codex: "PreCompact", GeminiCLI: "PreCompress", Cursor: "preCompact"}},
	{"compact.after", map[Dialect]string{DockerAgent: "after_compaction", ClaudeCode: "PostCompact", Codex: "PostCompact"}},
	{"error", map[Dialect]string{DockerAgent: "on_error", Familiar: "onError", ClaudeCode: "StopFailure"}},
	{"notification", map[Dialect]string{DockerAgent: "notification", ClaudeCode: "Notification", GeminiCLI: "Notification"}},
	{"subagent.stop", map[Dialect]string{DockerAgent: "subagent_stop", ClaudeCode: "SubagentStop", Codex: "SubagentStop", Cursor: "subagentStop"}},
}

// beyondSpec are further names of a kind of specTable, for the dialects that have a column there.
var beyondSpec = []string{
	"claude-code UserPromptExpansion", "claude-code PreSkillShellCommand", "cursor beforeReadFile", "cursor beforeTabFileRead",
	"cursor afterShellExecution", "cursor afterMCPExecution", "cursor afterFileEdit", "cursor afterTabFileEdit",
	"cursor afterAgentResponse", "cursor afterAgentThought",
}

func TestTableIsSpecs(t *testing.T) {
	for _, row := range specTable {
		for _, d := range []Dialect{LibreFang, DockerAgent, Familiar, ClaudeCode, Codex, GeminiCLI, Cursor} {
			var got []string
			for _, c := range All() {
				if c.Dialect == d && (c.Kind == row.kind || c.Also == row.kind) && !slices.Contains(beyondSpec, string(d)+" "+c.Name) {
					got = append(got, c.Name)
				}
			}
			if want := strings.Fields(row.cells[d]); !slices.Equal(got, want) {
				t.Errorf("%s of %s: got %q, want %q", row.kind, d, got, want)
			}
		}
	}
}

func TestKindsOfTheirOwn(t *testing.T) {
	const own = "tool_input_transform tool_guard user_steering_messages_submit user_followup_submit turn_start turn_end before_compaction " +
		"on_user_input on_max_iterations on_agent_switch on_session_resume on_tool_approval_decision worktree_create skill_content_guard prompt_file_guard"
	for _, name := range strings.Fields(own) {
		c := LookupIn(DockerAgent, name)
		if c == nil {
			t.Errorf("%s has no row", name)
			continue
		}
		for _, other := range c.Aliases() {
			if c.Kind != Kind(name) || other.Name != name {
				t.Errorf("%s has kind %s and goes by %s, want its own", name, c.Kind, other.Name)
			}
		}
	}
	for _, name := range []string{EventReload, EventHookChanged, EventStop} {
		if c := Lookup(name); c == nil || c.Dialect != Hookd || c.Kind != Kind(name) || c.Decidable {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

// The names of each agent, by count.
func TestEveryNameHasARow(t *testing.T) {
	want := map[Dialect]int{
		LibreFang: 8, DockerAgent: 30, Familiar: 7, ClaudeCode: 34, Codex: 12, GeminiCLI: 11, Cursor: 21,
		Copilot: 15, Kimi: 20, Windsurf: 12, Cline: 11, Antigravity: 6, Hermes: 28, OpenCode: 15, OpenClaw: 19, Hookd: 9,
		Qwen: 22, Pi: 9, Droid: 9, Kilo: 15, Qoder: 27, Crush: 2, Goose: 12, Kiro: 5, Grok: 15, OpenHands: 6, Devin: 8,
		VSCode: 8, Amp: 5, Tabnine: 11, DeepAgents: 10,
	}
	got := map[Dialect]int{}
	for _, c := range All() {
		got[c.Dialect]++
	}
	for _, d := range Dialects() {
		if got[d] != want[d] {
			t.Errorf("%s has %d rows, want %d", d, got[d], want[d])
		}
	}
	if len(want) != len(Dialects()) {
		t.Errorf("got %d dialects, want %d", len(Dialects()), len(want))
	}
}

// shared are kinds of one name that several dialects have, and mean the same by.
var shared = append([]string{"notification", "before_compaction", "agent_end", "turn_end"}, strings.Fields(inherited)...)

// inherited are the names that agents took over from another agent, with their
// meanings.
const inherited = "PermissionDenied PostToolBatch InstructionsLoaded MessageDisplay ConfigChange CwdChanged WorktreeCreate " +
	"WorktreeRemove Elicitation ElicitationResult TaskCreated TaskCompleted TeammateIdle Setup BeforeToolSelection " +
	"permission.replied command.executed"

func TestRowsAreSound(t *testing.T) {
	type key struct {
		d    Dialect
		name string
	}
	seen := map[key]bool{}
	own := map[Kind]string{} // kinds of one name
	for _, c := range All() {
		at := string(c.Dialect) + " " + c.Name
		k := key{c.Dialect, c.Name}
		if seen[k] {
			t.Errorf("%s stands twice", at)
		}
		seen[k] = true
		if err := CheckName(c.Name); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if c.When == "" {
			t.Errorf("%s does not say when", at)
		}
		if string(c.Kind) == c.Name && c.Name != "session.start" { // a kind's name, and a name of Amp's
			if other, ok := own[c.Kind]; ok && !slices.Contains(shared, c.Name) {
				t.Errorf("kind %s stands for %s and %s", c.Kind, other, at)
			}
			own[c.Kind] = at
		}
		soundCapabilities(t, at, c)
		soundFields(t, at, c)
	}
}

func soundCapabilities(t *testing.T, at string, c *Contract) {
	t.Helper()
	if LookupIn(c.Dialect, c.Name) != c || For(c.Dialect, c.Name) != c {
		t.Errorf("%s is not found under its own name", at)
	}
	if (c.Rewrite != RewriteNone) != (c.Target != "") {
		t.Errorf("%s rewrites %q in field %q", at, c.Rewrite, c.Target)
	}
	if c.Target != "" && !slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Name == c.Target }) {
		t.Errorf("%s rewrites %s, which it does not document", at, c.Target)
	}
	if c.FailClosed && !c.CanBlock {
		t.Errorf("%s fails closed but cannot block", at)
	}
	if c.PlainText == PlainContext && !c.Context {
		t.Errorf("%s takes plain text as context but takes none", at)
	}
	if c.Kind == KindToolBefore && !c.FailClosed {
		t.Errorf("%s is a tool.before but does not fail closed", at)
	}
	if c.Kind == KindToolBefore && c.Decision != DecisionVerdict {
		t.Errorf("%s is a tool.before but ignores permission_decision", at)
	}
}

func soundFields(t *testing.T, at string, c *Contract) {
	t.Helper()
	known := []Type{String, Integer, Number, Boolean, Object, Array, Any}
	seen := map[string]bool{}
	for _, f := range c.Fields {
		if f.Name == "" || f.Doc == "" || !slices.Contains(known, f.Type) {
			t.Errorf("%s: field %+v", at, f)
		}
		if seen[f.Name] {
			t.Errorf("%s documents %s twice", at, f.Name)
		}
		seen[f.Name] = true
	}
}

func TestLibreFangObserves(t *testing.T) {
	for _, c := range All() {
		if c.Dialect != LibreFang || c.Name == "transform_tool_result" {
			continue
		}
		if c.Decidable || c.CanBlock || c.FailClosed || c.Context || c.Rewrite != RewriteNone {
			t.Errorf("%s can decide: %+v", c.Name, c)
		}
	}
	c := Lookup("transform_tool_result")
	if !c.Decidable || !c.Sequence || !c.FirstWins || c.CanBlock || c.FailClosed ||
		c.PlainText != PlainReplaces || c.Rewrite != RewriteResponse || c.Target != "tool_output" {
		t.Errorf("transform_tool_result: got %+v", c)
	}
}

// The contract table of docker-agent, with hookd's exceptions.
// Columns: G/F, par/seq, then B = can block, C = fails closed, X = context and
// plain text, D/P = permission_decision, M = metadata.
const dockerTable = `
pre_tool_use G seq BCD updated_input
tool_input_transform G seq B updated_input
tool_guard G par BCDM
permission_request G par BPM updated_input
tool_response_transform G seq - updated_tool_response
post_tool_use G par BX
session_start F par X
user_prompt_submit F par BX
user_steering_messages_submit F par BX
user_followup_submit F par BX
turn_start F par X
turn_end F par -
before_llm_call F seq B updated_messages
after_llm_call F par -
session_end F par -
pre_compact F par BX
before_compaction F par B summary
after_compaction F par -
subagent_stop F par -
on_user_input F par -
stop F par X
notification F par -
on_error F par -
on_max_iterations F par -
on_agent_switch F par -
on_session_resume F par -
on_tool_approval_decision F par -
worktree_create F par BX
skill_content_guard F par BC
prompt_file_guard F par BC
`

func TestDockerAgentCapabilities(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(dockerTable), "\n")
	for _, line := range lines {
		col := strings.Fields(line)
		c := LookupIn(DockerAgent, col[0])
		if c == nil {
			t.Errorf("%s has no row", col[0])
			continue
		}
		if got := dockerLine(c); got != line {
			t.Errorf("got %s, want %s", got, line)
		}
		if !c.Decidable {
			t.Errorf("%s is not decidable: its hooks' system messages would be lost", c.Name)
		}
	}
}

// dockerLine writes c as a line of dockerTable.
func dockerLine(c *Contract) string {
	shape, run, flags := "F", "par", ""
	if c.ToolMatched && c.Name != "on_tool_approval_decision" {
		shape = "G"
	}
	if c.Sequence {
		run = "seq"
	}
	for _, f := range []struct {
		letter string
		on     bool
	}{
		{"B", c.CanBlock}, {"C", c.FailClosed}, {"X", c.Context && c.PlainText == PlainContext},
		{"D", c.Decision == DecisionVerdict}, {"P", c.Decision == DecisionPermission}, {"M", c.Metadata},
	} {
		if f.on {
			flags += f.letter
		}
	}
	if flags == "" {
		flags = "-"
	}
	line := strings.Join([]string{c.Name, shape, run, flags}, " ")
	if c.Summary {
		line += " summary"
	}
	if c.Rewrite != RewriteNone {
		line += " " + string(c.Rewrite)
	}
	return line
}

// A hook that prints facts that the model has to know works with every agent that takes
// context at the start or with a prompt.
func TestPlainTextIsContextEverywhere(t *testing.T) {
	agents := 0
	for _, c := range slices.Concat(OfKind(KindSessionStart), OfKind(KindPromptSubmit)) {
		if c.Dialect == Familiar || !c.Context {
			continue
		}
		agents++
		if c.PlainText != PlainContext {
			t.Errorf("%s of %s: plain text is %q", c.Name, c.Dialect, c.PlainText)
		}
	}
	if agents < 12 {
		t.Errorf("got %d rows", agents)
	}
	if c := LookupIn(Familiar, "onStart"); c.PlainText != "" {
		t.Errorf("Familiar's output is what captureOutput says, got %q", c.PlainText)
	}
}

func TestFamiliarBlocksAsSeed001Says(t *testing.T) {
	for name, blocks := range map[string]bool{
		"onStart": true, "onStop": true, "beforeToolCall": true, "beforeMessage": true,
		"afterToolCall": false, "onError": false, "afterMessage": false,
	} {
		c := LookupIn(Familiar, name)
		if c.CanBlock != blocks || c.FailClosed != (name == "beforeToolCall") || !c.Decidable || !c.Context {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

func TestStopBlocksWhereItKeepsTheAgentWorking(t *testing.T) {
	for d, want := range map[Dialect]bool{DockerAgent: false, ClaudeCode: true, Codex: true, Cursor: true, Kimi: true, Antigravity: true} {
		name := "Stop"
		if d == DockerAgent || d == Cursor {
			name = "stop"
		}
		if got := LookupIn(d, name).CanBlock; got != want {
			t.Errorf("%s of %s: can block %v, want %v", name, d, got, want)
		}
	}
	if c := LookupIn(ClaudeCode, "StopFailure"); c.Decidable {
		t.Errorf("StopFailure can decide: %+v", c)
	}
}

// No dialect has a name twice, and each row is the same one wherever it is asked for.
func TestRowsAreFoundInTheirDialect(t *testing.T) {
	for _, c := range All() {
		if got := LookupIn(c.Dialect, c.Name); got != c {
			t.Errorf("%s %s: got %p, want %p", c.Dialect, c.Name, got, c)
		}
	}
	for _, d := range []Dialect{ClaudeCode, "", "nobody"} {
		if got := LookupIn(d, "absent"); got != nil {
			t.Errorf("%q: got %+v", d, got)
		}
	}
}

func TestLookupTakesTheFirstColumn(t *testing.T) {
	for name, want := range map[string]Dialect{
		"agent:end": LibreFang, "gateway:startup": LibreFang, "transform_tool_result": LibreFang, "stop": DockerAgent,
		"notification": DockerAgent, "subagent_stop": DockerAgent, "Stop": ClaudeCode, "PreToolUse": ClaudeCode, "SessionStart": ClaudeCode,
		"sessionStart": Cursor, "preToolUse": Cursor, "postToolUse": Cursor, "errorOccurred": Copilot, "Interrupt": Codex,
		"TaskStart": Cline, "pre_llm_call": Hermes,
	} {
		if c := Lookup(name); c == nil || c.Dialect != want {
			t.Errorf("Lookup(%q): got %+v, want a row of %s", name, c, want)
		}
	}
	if c := Lookup("un:known"); c != nil {
		t.Errorf("got %+v for an unknown name", c)
	}
	if c := LookupIn(Familiar, "stop"); c != nil {
		t.Errorf("got %+v for another dialect's name", c)
	}
}

func TestForIsNeverNil(t *testing.T) {
	if c := For(Cursor, "stop"); c.Dialect != Cursor || !c.CanBlock {
		t.Errorf("the sender's dialect comes first: got %+v", c)
	}
	// A sender cannot escape a guard by inventing a dialect.
	if c := For("my-agent", "pre_tool_use"); !c.FailClosed || c.Dialect != DockerAgent {
		t.Errorf("got %+v", c)
	}
	c := For(Kimi, "my:event")
	if c.Name != "my:event" || c.Kind != "my:event" || c.Dialect != Kimi || c.Decidable || c.CanBlock {
		t.Errorf("got %+v, want a row that observes", c)
	}
	// A name that is spelled like a kind does not become that kind.
	for _, name := range []string{"my:event", "error", "prompt.submit"} {
		c := For("", name)
		if got := c.Aliases(); len(got) != 1 || got[0] != c || len(OfKind(c.Kind)) != 0 {
			t.Errorf("%s goes by %v, want its own name alone", name, got)
		}
	}
}

func TestOfKindStandsInColumnOrder(t *testing.T) {
	for _, row := range specTable {
		last := -1
		for _, c := range OfKind(row.kind) {
			at := slices.Index(Dialects(), c.Dialect)
			if at < last {
				t.Errorf("%s: %s is behind a later column", row.kind, c.Dialect)
			}
			last = at
		}
	}
	if got := OfKind("un:known"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestStopFailureReachesBothKinds(t *testing.T) {
	var got []string
	for _, c := range LookupIn(ClaudeCode, "StopFailure").Aliases() {
		got = append(got, c.Name)
	}
	for _, want := range []string{"on_error", "onError", "StopFailure", "agent:end", "stop", "Stop"} {
		if !slices.Contains(got, want) {
			t.Errorf("StopFailure does not go by %s: %q", want, got)
		}
	}
	for _, c := range LookupIn(ClaudeCode, "Stop").Aliases() {
		if c.Name == "StopFailure" {
			t.Error("Stop goes by StopFailure")
		}
	}
}

func TestPreemptLane(t *testing.T) {
	c := Lookup("pre_tool_use").Preempt()
	if c.Sequence || c.Rewrite != RewriteNone || c.Target != "" || !c.Metadata || !c.FailClosed || c.Decision != DecisionVerdict {
		t.Errorf("got %+v", c)
	}
	if o := Lookup("pre_tool_use"); !o.Sequence || o.Rewrite != RewriteInput {
		t.Errorf("Preempt changed the table: %+v", o)
	}
}

func BenchmarkLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if For(ClaudeCode, "PreToolUse") == nil || Lookup("agent:end") == nil {
			b.Fatal("no row")
		}
	}
}
