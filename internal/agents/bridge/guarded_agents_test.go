//go:build agents

package bridge

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// someReals are the agents of a name.
func someReals(names ...string) (list []real) {
	for _, r := range slices.Concat(reals, plugged, others) {
		if slices.Contains(names, r.name) {
			list = append(list, r)
		}
	}
	return list
}

// An agent that ignores denials and rewrites is found by the results that it reports: here its hook
// command asks hookd and keeps the answer to itself.
func TestRealAgentsDisobey(t *testing.T) {
	for _, r := range someReals("claude-code", "gemini-cli") {
		t.Run(r.name, func(t *testing.T) {
			program, dir := r.found(t), t.TempDir()
			bridge, text := built(t, dir), r.text
			mute := filepath.Join(dir, "mute")
			hooktest.Write(t, mute, "#!/bin/sh\n"+bridge+" \"$@\" >/dev/null 2>&1\nexit 0\n", 0o755)
			r.text = func(call string, s *stage) string { return text(strings.Replace(call, bridge, mute, 1), s) }
			s := newStage(t, r, program, bridge)
			hooktest.Must(t, os.MkdirAll(s.work+"/made", 0o755)) // the old input works, too
			s.play(t, script{commands: commands[:2]})
			for subject, instead := range map[string]string{"rm -rf victim": "", "mkdir made/deep": "mkdir made/deep"} {
				s.isDisobeyed(t, subject, instead)
			}
		})
	}
}

// patches are edits of agents' own programs, after which they ignore the decisions of hooks: old, new, old, new …
var patches = map[string][]string{
	"gemini-cli": {"if (blockingError?.blocked) {", "if (false) {", "if (modifiedInput) {", "if (false) {"},
	"qwen-code":  {"if (preToolOutput.isDenied()) {", "if (false) {"},
	"kimi":       {"if (reason !== void 0) event.veto(denyToolExecution(reason));", ""},
	"pi": {
		"return await runner.emitToolCall({", "return void await runner.emitToolCall({",
		"input:args})}catch(err){throw err instanceof Error?err:", "input:structuredClone(args)})}catch(err){throw err instanceof Error?err:",
	},
	"openclaw": {"const hookResult = await hookRunner.runBeforeToolCall({", "const hookResult = void await hookRunner.runBeforeToolCall({"},
}

// cannotRewrite are agents that take no other input from a hook.
var cannotRewrite = []string{"qwen-code", "kimi"}

// An agent whose own program ignores denials and rewrites is told of at once, to hooks and to people.
func TestRealAgentsPatched(t *testing.T) {
	for _, r := range someReals(slices.Collect(maps.Keys(patches))...) {
		t.Run(r.name, func(t *testing.T) {
			program := patched(t, r)
			r.connects = true
			if r.settings == ".gemini/settings.json" {
				r.text = func(string, *stage) string { return `{"security":{"auth":{"selectedType":"gemini-api-key"}}}` }
			}
			r.hooks = map[string][2]string{
				"witness": {"events: [hookd:disobeyed]\n", "cat >> WORK/told; date +%s.%N >> WORK/told-at\n"},
				"rewriter": {"events: [PreToolUse]\nmatcher: Bash\n", `sed -n 's/.*"command":"touch old".*/` +
					`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"touch new"}}}/p'` + "\n"},
			}
			s := newStage(t, r, program, built(t, t.TempDir()))
			s.play(t, script{commands: []string{"rm -rf victim", "touch old"}})
			if s.has("victim") || !s.has("old") {
				t.Fatal("the patch does not work")
			}
			want := map[string]string{"rm -rf victim": "", "touch old": "touch old"}
			if slices.Contains(cannotRewrite, r.name) {
				delete(want, "touch old")
			}
			for subject, instead := range want {
				s.isDisobeyed(t, subject, instead)
			}
			told, _ := os.ReadFile(filepath.Join(s.work, "told-at"))
			t.Logf("hooks were told at\n%s", told)
			for _, args := range [][]string{{"status"}, {"decisions"}, {"log", "-n", "20"}, {"doctor", string(s.dialect), "--no-probe"}} {
				s.types(t, args...)
			}
		})
	}
}

// isDisobeyed waits until a call is on record as disobeyed; instead is the call that ran in its place.
func (s *stage) isDisobeyed(t *testing.T, subject, instead string) {
	t.Helper()
	hooktest.Until(t, subject+" is on record as disobeyed", func() bool {
		list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Decision: "disobeyed", Text: subject})
		hooktest.Must(t, err)
		if len(list) != 1 || list[0].Ran == nil || list[0].Ran.Instead != instead || list[0].Outcome != client.OutcomeDisobeyed {
			return false
		}
		t.Logf("%s: its result came at %s", subject, list[0].Ran.Time.Local().Format("15:04:05.000"))
		return true
	})
}

// types runs hookd on a terminal, as a person does, and logs its lines on obedience.
func (s *stage) types(t *testing.T, args ...string) {
	cmd := exec.Command("script", "-qec", strings.Join(append([]string{filepath.Join(hooktest.Programs(t), "hookd")}, args...), " "), "/dev/null")
	cmd.Env = []string{"HOME=" + s.home, "LIBREFANG_HOME=" + s.hookd, "HOOKD_SOCKET=" + s.socket, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "COLUMNS=80"}
	out, _ := cmd.CombinedOutput() // some fail where they find anything
	for line := range strings.Lines(string(out)) {
		if strings.Contains(strings.ToLower(line), "obey") {
			t.Logf("%v: %q", args, line)
		}
	}
}

// patched copies an agent's folder and edits its program there.
func patched(t *testing.T, r real) (program string) {
	program = r.found(t)
	within := filepath.Join("node_modules", ".bin", r.program)
	from, isNPM := strings.CutSuffix(program, within)
	if !isNPM {
		t.Skipf("SKIP-TOOL %s: %s is not in a folder of npm's", r.program, program)
	}
	to := t.TempDir()
	if out, err := exec.Command("cp", "-al", from+".", to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v\n%s", from, err, out)
	}
	edits, done := patches[r.name], 0
	hooktest.Must(t, filepath.WalkDir(to, func(path string, f os.DirEntry, err error) error {
		if err != nil || f.IsDir() || !strings.HasSuffix(path, "js") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), edits[0]) {
			return err
		}
		done++
		hooktest.Must(t, os.Remove(path)) // the file is a link to the agent's own
		return os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o755)
	}))
	if done == 0 {
		t.Fatalf("no file of %s has %q", from, edits[0])
	}
	return filepath.Join(to, within)
}

// ordinary are calls that people see each day: they also fail, print to stderr and have more than one line.
var ordinary = []string{
	"echo ordinary %d", "echo ordinary %d; false", "ls missing-ordinary-%d", "printf 'ordinary %d' | cat",
	"cat <<'END'\nordinary %d\nEND", "echo 'ordinär: ordinary %d' >&2", "touch ordinary-%[1]d && rm ordinary-%[1]d",
	"mkdir ordinary-%d", // the rewriter makes it mkdir -p
}

// Nothing is said against many ordinary calls, one after another and together.
func TestRealAgentsManyCalls(t *testing.T) {
	const calls = 400
	for _, r := range someReals("claude-code", "codex", "pi", "gemini-cli", "copilot", "cline", "openclaw") {
		t.Run(r.name, func(t *testing.T) {
			program := r.found(t)
			s := newStage(t, r, program, built(t, t.TempDir()))
			var all []string
			for i := range calls {
				all = append(all, fmt.Sprintf(ordinary[i%len(ordinary)], i))
			}
			n := 0
			for some := range slices.Chunk(all, 50) { // an agent reads all that was said before at each call
				n++
				s.play(t, script{commands: some, together: n%5 == 0})
			}
			list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Event: "tool.before", Text: "ordinary", Limit: 2 * calls})
			hooktest.Must(t, err)
			ran := 0
			for _, d := range list {
				if d.Ran != nil || r.cannot["rewrite"] != "" && strings.HasPrefix(d.Subject, "mkdir") { // it may be denied there
					ran++
				}
			}
			if len(list) != calls || ran != calls {
				t.Errorf("%d calls are on record, %d with a result, want %d", len(list), ran, calls)
			}
			s.guarded(t)
		})
	}
}
