package ui_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// outcomeGuard answers a call by a word in it.
const outcomeGuard = `case "$(cat)" in
*say-deny*) echo 'main is protected' >&2; exit 2;;
*say-ask*) echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"is this meant?"}}';;
*say-rewrite*) echo '{"hookSpecificOutput":{"updatedInput":{"command":"echo ran-instead"}}}';;
*say-both*) echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"safe","updatedInput":{"command":"echo ran-instead"}}}';;
*say-allow*) echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"safe"}}';;
*say-fail*) echo 'no such table: rules' >&2; exit 1;;
esac
`

// heard has the values that one call must have on record, and on the page.
type heard struct {
	outcome, decision, told string
	rewrote                 bool
}

// heardBy says it for agents of three kinds. The first asks a person, the second cannot, and
// the third takes another input without an approval.
var heardBy = map[string]map[string]heard{
	"claude-code": {
		"say-deny": {"deny", "deny", "deny", false}, "say-ask": {"ask", "ask", "ask", false}, "say-nothing": {"none", "none", "none", false},
		"say-rewrite": {"rewrite", "none", "none", true}, "say-both": {"rewrite", "allow", "allow", true},
		"say-allow": {"allow", "allow", "allow", false}, "say-fail": {"deny", "deny", "deny", false},
	},
	"claude-code -p": {"say-ask": {"deny", "deny", "deny", false}},
	"codex": {
		"say-deny": {"deny", "deny", "deny", false}, "say-ask": {"deny", "deny", "deny", false}, "say-nothing": {"none", "none", "none", false},
		"say-rewrite": {"none", "none", "none", false}, "say-both": {"rewrite", "allow", "allow", true},
		"say-allow": {"allow", "allow", "none", false}, "say-fail": {"deny", "deny", "deny", false},
	},
	"gemini-cli": {
		"say-deny": {"deny", "deny", "deny", false}, "say-ask": {"ask", "ask", "ask", false}, "say-nothing": {"none", "none", "none", false},
		"say-rewrite": {"rewrite", "none", "none", true}, "say-both": {"rewrite", "allow", "none", true},
		"say-allow": {"allow", "allow", "none", false}, "say-fail": {"deny", "deny", "deny", false},
	},
}

// The page says of each decision the same as the record says and the agent has read: for each
// outcome, agent and failure of a guard.
func TestSentencesAreTheRecord(t *testing.T) {
	home := hooktest.ShortDir(t)
	hooktest.Must(t, os.Chmod(home, 0o700))
	hooktest.Hook(t, home, "outcomes", "events: PreToolUse\ntimeout: 20s\n", outcomeGuard)
	hooktest.Hook(t, home, "watcher", "events: UserPromptSubmit\non_error: warn\ntimeout: 20s\n", "cat > /dev/null; echo 'no disk' >&2; exit 3\n")
	s := open(t, home, ui.Options{}, "#now")
	names := map[string]string{"claude-code": "Claude Code", "codex": "Codex", "gemini-cli": "Gemini CLI"}
	for agent, calls := range heardBy {
		dialect := strings.TrimSuffix(agent, " -p")
		for word, want := range calls {
			said := bridged(t, s, agent, "PreToolUse", fmt.Sprintf(`"tool_name":%q,"tool_input":{"command":"echo %s %s"}`, shellOf(dialect), word, agent))
			d := newest(t, s, "echo "+word+" "+agent, dialect)
			if string(d.Outcome) != want.outcome || string(d.Decision) != want.decision || d.Told == nil ||
				string(d.Told.Decision) != want.told || d.Told.Rewrote != want.rewrote {
				t.Errorf("%s %s: the record is %s %s told %+v, want %+v", agent, word, d.Outcome, d.Decision, d.Told, want)
				continue
			}
			if want.told != "none" && !strings.Contains(said, jsonText(d.Told.Reason)) || want.rewrote != strings.Contains(said, "echo ran-instead") {
				t.Errorf("%s %s: the agent has read %s, and the record says %+v", agent, word, said, d.Told)
			}
			if agent != "claude-code" && !hooktest.All() {
				continue // `make test-all` looks at the page for each agent
			}
			s.goTo("#now") // and back: the list is read again
			s.goTo("#stream?open=" + d.EventID + "&sel=" + d.EventID)
			row := fmt.Sprintf(`document.querySelector('#stream tr[data-id="%s"]')`, d.EventID)
			s.until("its row", row)
			if state := s.text(row + `.querySelector(".f-state").textContent.trim()`); state != want.outcome {
				t.Errorf("%s %s: the row says %q, the record %q", agent, word, state, want.outcome)
			}
			if instead := s.text(row + `.textContent.includes("echo ran-instead")`); instead != fmt.Sprint(want.rewrote) {
				t.Errorf("%s %s: the row shows the new input: %s, want %v", agent, word, instead, want.rewrote)
			}
			untaken := dialect != "claude-code" && word == "say-allow" || agent+word == "codexsay-rewrite" || agent+word == "gemini-clisay-both"
			if shown := s.text(row + `.textContent.includes(" was ignored: ")`); len(d.Untaken) > 0 != untaken || shown != fmt.Sprint(untaken) {
				t.Errorf("%s %s: the record has %q, and the row shows it: %s", agent, word, d.Untaken, shown)
			}
			sentence := ""
			if want.told != "none" || want.rewrote {
				sentence = "to " + names[dialect] + ": "
				parts := []string{}
				if want.told != "none" {
					parts = append(parts, want.told)
					if reason := strings.TrimSpace(d.Told.Reason); reason != "" {
						parts = append(parts, "“"+reason+"”")
					}
				}
				if want.rewrote {
					parts = append(parts, "another input")
				}
				sentence += strings.Join(parts, ", ")
			}
			s.until("its peek is read", `document.querySelector("#stream .peek .kv a")`)
			sentence = cmp.Or(sentence, "nothing")
			if got := s.text(`document.querySelector("#stream .peek .told dd").textContent`); got != sentence {
				t.Errorf("%s %s: the page says %q, want %q", agent, word, got, sentence)
			}
		}
	}
	failuresAreSaid(t, s)
}

// failuresAreSaid looks at the page's words about hooks whose failure denies, and passes.
func failuresAreSaid(t *testing.T, s *site) {
	for range 2 {
		bridged(t, s, "claude-code", "PreToolUse", `"tool_name":"Bash","tool_input":{"command":"echo say-fail"}`)
		bridged(t, s, "claude-code", "UserPromptSubmit", `"prompt":"hello"`)
	}
	for hook, want := range map[string]struct{ failure, here, now string }{
		"outcomes": {"denies", "a guard that fails denies", "What it guards is denied."},
		"watcher":  {"passes", "a failure is no opinion here", "What it guards passes."},
	} {
		runs, err := s.client.Runs(t.Context(), client.RunQuery{Hook: hook, Result: "failed"})
		hooktest.Must(t, err)
		if len(runs) < 2 || string(runs[0].Failure) != want.failure || runs[0].Cause == "" || strings.Contains(runs[0].Cause, "status") {
			t.Fatalf("%s: the record is %+v", hook, runs)
		}
		if want.failure == "passes" {
			passes(t, s, runs[0])
		}
		s.goTo("#run?id=" + runs[0].ID)
		s.until("what its failure does", fmt.Sprintf(`document.querySelector("#run ol")?.textContent.includes(%q)`, want.here))
		s.goTo("#now")
		s.until("it is in the inbox", fmt.Sprintf(`[...document.querySelectorAll("#now .item")].some((i) => i.textContent.includes(%q) && i.textContent.includes(%q) && i.textContent.includes(%q))`,
			hook, runs[0].Cause, want.now))
	}
}

// passes looks at the row of a decision to which the only guard said nothing, for it failed.
func passes(t *testing.T, s *site, run client.Run) {
	t.Helper()
	list, err := s.client.Decisions(t.Context(), client.DecisionQuery{Event: run.Event})
	hooktest.Must(t, err)
	want := "it failed, which denies nothing here: " + run.Cause
	if len(list) == 0 || len(list[0].Untaken) != 1 || list[0].Untaken[0] != run.Hook+": "+want {
		t.Fatalf("the record is %+v", list)
	}
	s.goTo("#now")
	s.goTo("#stream") // again: rows that come later wait for a key
	s.until("the row says that the guard failed", fmt.Sprintf(`document.querySelector('#stream tr[data-id="%s"]')?.textContent.includes(%q)`, list[0].EventID, want))
}

func shellOf(dialect string) string {
	if dialect == "gemini-cli" {
		return "run_shell_command"
	}
	return "Bash"
}

// jsonText is a text as it stands in JSON, without its quotes.
func jsonText(text string) string {
	quoted, _ := json.Marshal(text)
	return strings.Trim(string(quoted), `"`)
}

// bridged calls the bridge as an agent does, and returns the answer that the agent reads.
func bridged(t *testing.T, s *site, agent, event, members string) string {
	t.Helper()
	dialect, headless := strings.CutSuffix(agent, " -p")
	if dialect == "gemini-cli" && event == "PreToolUse" {
		event = "BeforeTool"
	}
	var stdout, stderr strings.Builder
	bridge.Run(t.Context(), bridge.Options{
		Agent: dialect, Socket: s.client.Socket(), State: t.TempDir(), Stdout: &stdout, Stderr: &stderr,
		Stdin: strings.NewReader(fmt.Sprintf(`{"session_id":"%s","cwd":"/w","hook_event_name":%q,%s}`, strings.ReplaceAll(agent, " ", ""), event, members)),
		Getenv: func(name string) string {
			if headless && name == "CLAUDE_CODE_ENTRYPOINT" {
				return "sdk-cli"
			}
			return ""
		},
	})
	return stdout.String() + stderr.String()
}

// newest is the newest decision about a subject of an agent.
func newest(t *testing.T, s *site, subject, dialect string) client.Decision {
	t.Helper()
	var found []client.Decision
	hooktest.Until(t, "the decision about "+subject, func() bool {
		list, err := s.client.Decisions(t.Context(), client.DecisionQuery{Text: subject, Agent: dialect})
		found = list
		return err == nil && len(list) > 0
	})
	return found[0]
}
