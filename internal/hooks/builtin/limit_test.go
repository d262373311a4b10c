package builtin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/events"
)

// limited sends a result through the limiter and returns the replacement, ""
// if there is none.
func limited(t *testing.T, b *bench, category, tool, result, input string) string {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"tool_category": category, "tool_name": tool, "tool_response": result, "tool_input": json.RawMessage(input)})
	if err != nil {
		t.Fatal(err)
	}
	call := callOf(b.call.Row, string(payload))
	b.call.Data, b.call.Canonical, b.call.Tool = call.Data, call.Canonical, call.Tool
	var text string
	if raw := b.answer().Specific.UpdatedResponse; raw != nil {
		if err := json.Unmarshal(raw, &text); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func newLimiter(t *testing.T) *bench {
	b := newBench(t, "limit_large_tool_results", "tool_response_transform", `{}`)
	b.call.DataDir, b.call.SessionID = t.TempDir(), "s/../../x"
	return b
}

func TestLimitKeepsItsBound(t *testing.T) {
	for name, result := range map[string]string{
		"one-line":        strings.Repeat("é", 40000),
		"bytes":           strings.Repeat("line of text\n", 6000),
		"lines":           strings.Repeat("x\n", 2001),
		"no-line-end":     strings.Repeat("x\n", 2000) + "x",
		"wide-characters": strings.Repeat("日本語\n", 9000),
	} {
		for _, tool := range [][2]string{{"shell", "shell"}, {"filesystem", "read_file"}, {"background_jobs", "view"}} {
			got := limited(t, newLimiter(t), tool[0], tool[1], result, `{}`)
			if got == "" || len(got) > maxResultBytes || !utf8.ValidString(got) {
				t.Errorf("%s of %s: got %d bytes, valid %v, want at most %d", name, tool[1], len(got), utf8.ValidString(got), maxResultBytes)
			}
			if spilled(got) != result {
				t.Errorf("%s of %s: the file does not have the whole result", name, tool[1])
			}
		}
	}
}

func TestLimitLeavesSmallResultsAlone(t *testing.T) {
	for _, result := range []string{"", "x", strings.Repeat("x", maxResultBytes), strings.Repeat("x\n", maxResultLines)} {
		if got := limited(t, newLimiter(t), "shell", "shell", result, `{}`); got != "" {
			t.Errorf("%d bytes: got a notice of %d", len(result), len(got))
		}
	}
}

func TestLimitSaysHowToReadOn(t *testing.T) {
	lines := strings.Repeat("0123456789\n", 6000)
	got := limited(t, newLimiter(t), "filesystem", "read_file", lines, `{"line":101}`)
	if !strings.Contains(got, `"line": 2101`) {
		t.Errorf("got %.400q, want it to go on at line 2101", got)
	}
	got = limited(t, newLimiter(t), "filesystem", "read_file", strings.Repeat("x", 60000), `{}`)
	if strings.Contains(got, "call read_file again") || !strings.Contains(got, "cannot advance") {
		t.Errorf("got %.400q, want no call that would loop", got)
	}
}

func TestLimitKeepsAJobsHeader(t *testing.T) {
	result := "exit code: 3\n--- Output ---\n" + strings.Repeat("noise\n", 20000)
	if got := limited(t, newLimiter(t), "background_jobs", "view", result, `{}`); !strings.Contains(got, "exit code: 3") {
		t.Errorf("got %.300q, want the exit code kept", got)
	}
}

// A session's name never leads out of the data directory, and its end removes
// its files and nothing else.
func TestLimitCleansUpAfterASession(t *testing.T) {
	b := newLimiter(t)
	keep := filepath.Join(b.call.DataDir, "keep")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	limited(t, b, "shell", "shell", strings.Repeat("x", 60000), `{}`)
	other := newLimiter(t)
	other.call.DataDir, other.call.SessionID = b.call.DataDir, ".."
	limited(t, other, "shell", "shell", strings.Repeat("y", 60000), `{}`)
	dirs, err := os.ReadDir(filepath.Join(b.call.DataDir, "tool-results"))
	if err != nil || len(dirs) != 2 {
		t.Fatalf("got %v, %v, want a directory for each session", dirs, err)
	}
	info, err := os.Stat(filepath.Join(b.call.DataDir, "tool-results", dirs[0].Name()))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v, want a directory for the user alone", info.Mode(), err)
	}
	other.call.Row = events.LookupIn(events.DockerAgent, "session_end")
	other.answer()
	if _, err := os.Stat(other.call.resultDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the session's directory: got %v, want it removed", err)
	}
	for _, path := range []string{keep, b.call.resultDir()} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: got %v, want it left", path, err)
		}
	}
}

func TestLimitWithoutAFileIsStillBounded(t *testing.T) {
	b := newLimiter(t)
	if err := os.WriteFile(filepath.Join(b.call.DataDir, "tool-results"), nil, 0o600); err != nil { // no directory can be made here
		t.Fatal(err)
	}
	got := limited(t, b, "shell", "shell", strings.Repeat("x", 60000), `{}`)
	if len(got) > maxResultBytes || !strings.Contains(got, "could not be saved") || len(b.logged) != 1 {
		t.Errorf("got %.200q, logged %q, want a bounded excerpt and a log entry", got, b.logged)
	}
}
