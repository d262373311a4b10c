package docs

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/hooktest"
)

// worker is a guard of the gallery that runs as hookd runs it, spoken to in lines.
type worker struct {
	t   testing.TB
	in  *json.Encoder
	out *bufio.Scanner
	pid int
}

// answer is what a guard says: allow, deny or ask, "" for no opinion, and why.
type answer struct{ decision, reason string }

// talk starts a guard for a user whose home is home, until the test ends.
func talk(t testing.TB, name, home string) *worker {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	hooktest.Must(t, gallery.Copy(name, dir))
	return speak(t, home, dir, filepath.Join(dir, "guard.py"))
}

// speak starts a persistent program in a folder.
func speak(t testing.TB, home, dir string, argv ...string) *worker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "HOME="+home)
	in, err := cmd.StdinPipe()
	hooktest.Must(t, err)
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	return &worker{t, json.NewEncoder(in), lines, cmd.Process.Pid}
}

// judge gives the guard a tool call and returns its answer.
func (w *worker) judge(cwd, tool string, input map[string]any) answer {
	w.t.Helper()
	event := map[string]any{
		"event_id": "e1", "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "tool_name": tool, "tool_input": input,
	}
	hooktest.Must(w.t, w.in.Encode(event))
	if !w.out.Scan() {
		w.t.Fatalf("the guard has ended at %v: %v", input, w.out.Err())
	}
	var said struct {
		EventID  string `json:"event_id"`
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			Decision string `json:"permission_decision"`
			Reason   string `json:"permission_decision_reason"`
		} `json:"hook_specific_output"`
	}
	hooktest.Must(w.t, json.Unmarshal(w.out.Bytes(), &said))
	switch {
	case said.EventID != "e1":
		w.t.Fatalf("no answer to %v: %s", input, w.out.Text())
	case said.Decision == "block":
		return answer{"deny", said.Reason}
	}
	return answer{said.Specific.Decision, said.Specific.Reason}
}

// cases gives a guard each line of testdata/NAME.txt as the call that it stands for. A
// line begins with what the guard is to say: deny, ask, stop for either, or pass.
func cases(t *testing.T, name string, call func(line string) (tool string, input map[string]any)) {
	t.Helper()
	w := talk(t, name, "/home/me")
	counts := map[string]int{}
	for line := range strings.Lines(read(t, filepath.Join("testdata", name+".txt"))) {
		want, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || want == "#" {
			continue
		}
		text = strings.ReplaceAll(strings.TrimLeft(text, " "), "␤", "\n")
		counts[want]++
		tool, input := call(text)
		got := w.judge("/home/me/project", tool, input)
		is := map[string]string{"": "pass"}[got.decision] + got.decision
		if is != want && (want != "stop" || is == "pass") {
			t.Errorf("%q: %s %s, want %s", text, is, got.reason, want)
		}
	}
	if counts["deny"]+counts["stop"] < 50 || counts["pass"] < 50 {
		t.Errorf("too few lines: %v", counts)
	}
}
