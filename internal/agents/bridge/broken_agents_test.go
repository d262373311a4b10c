//go:build agents

package bridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// broken are the ways in which a bridge, or a plugin, fails.
var broken = []struct {
	name    string
	destroy func(t *testing.T, file string)
	crash   string // a line of the bridge before it calls itself; "" = destroy has done all
}{
	{"removed", func(t *testing.T, file string) { hooktest.Must(t, os.Remove(file)) }, ""},
	{"mode 000", func(t *testing.T, file string) { hooktest.Must(t, os.Chmod(file, 0)) }, ""},
	{"replaced", func(t *testing.T, file string) { hooktest.Write(t, file, "#!/bin/sh\nexit 0\n", 0o755) }, ""},
	{"crashes under `ulimit -v`", nil, "ulimit -v 20000"},
	{"is killed", nil, "kill -9 $$"},
}

// rootReads is how mode 000 ends for root, who reads each plugin: docs/connect.md has how it ends for a user.
const rootReads = "root reads it"

// TestRealAgentsBrokenBridge breaks the bridge of each agent. Connected with --fail-closed, a call is denied or
// hookd tells. It holds the table of docs/connect.md, and prints a row that differs.
func TestRealAgentsBrokenBridge(t *testing.T) {
	page, err := os.ReadFile("../../../docs/connect.md")
	hooktest.Must(t, err)
	for _, r := range someReals("claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "openclaw", "cline", "pi", "copilot", "kimi") {
		t.Run(r.name, func(t *testing.T) {
			s := newBroken(t, r)
			row := []string{r.name}
			for i := range broken {
				row = append(row, s.breaks(t, i))
			}
			s.connect(t, "--fail-closed=false")
			row = append(row, s.crashes(t, "ulimit -v 20000", "open"))
			line := "| " + strings.Join(row, " | ") + " |\n"
			has := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(line), rootReads, "[^|]*"))
			if !has.Match(page) {
				t.Errorf("docs/connect.md does not have the row\n%s", line)
			}
		})
	}
}

// brokenStage is an agent that hookd's own command connects, with a bridge that can be told to crash.
type brokenStage struct {
	*stage
	hookdBin string
	file     string // the bridge, or the plugin
	text     string
	plugin   bool
}

func newBroken(t *testing.T, r real) *brokenStage {
	program, bin := r.found(t), hooktest.ShortDir(t)
	hooktest.Must(t, os.Symlink(filepath.Join(hooktest.Programs(t), "hookd"), filepath.Join(bin, "hookd")))
	s := &brokenStage{hookdBin: filepath.Join(bin, "hookd"), file: filepath.Join(bin, "hookd-bridge")}
	s.text = "#!/bin/sh\n[ -e '" + bin + "/crash' ] && . '" + bin + "/crash'\nexec '" + filepath.Join(hooktest.Programs(t), "hookd-bridge") + "' \"$@\"\n"
	hooktest.Write(t, s.file, s.text, 0o755)
	r = prepared(r, realWays[r.name])
	r.connects = false
	s.stage = newStage(t, r, program, s.file)
	for i, e := range s.env {
		s.env[i] = strings.Replace(e, "=HOME/", "="+s.home+"/", 1)
	}
	s.connect(t, "--fail-closed")
	o := connect.Options{Agent: string(s.dialect), Home: s.home, Getenv: func(string) string { return "" }}
	if s.plugin = connect.Inspect(o).Bridge == ""; s.plugin {
		plan, err := connect.Disconnect(o)
		hooktest.Must(t, err)
		i := slices.IndexFunc(plan.Changes, func(c connect.Change) bool { return strings.HasSuffix(c.Path, ".ts") && c.Remove })
		text, err := os.ReadFile(plan.Changes[i].Path)
		hooktest.Must(t, err)
		s.file, s.text = plan.Changes[i].Path, string(text)
	}
	return s
}

// connect types the command.
func (s *brokenStage) connect(t *testing.T, flag string) {
	cmd := exec.Command(s.hookdBin, "connect", string(s.dialect), flag)
	cmd.Env = []string{"HOME=" + s.home, "LIBREFANG_HOME=" + s.hookd, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// breaks breaks the bridge of a fail-closed agent and says how its next call came out.
func (s *brokenStage) breaks(t *testing.T, i int) (cell string) {
	b := broken[i]
	if b.crash != "" {
		return s.crashes(t, b.crash, b.name[:2])
	}
	b.destroy(t, s.file)
	if f, err := os.Open(s.file); err == nil && s.plugin && b.name == "mode 000" {
		f.Close()
		hooktest.Must(t, os.Chmod(s.file, 0o644))
		return rootReads
	}
	told := s.told(t, true)
	ran := s.makes(t, b.name[:3])
	switch {
	case told == "":
		t.Errorf("%s: not told", b.name)
		cell = "**not told**"
	case ran && s.askedAbout(t, []string{"by-" + b.name[:3]}) == 1:
		cell = "asked, told" // Copilot makes its hooks' programs executable
	case ran:
		cell = "told"
	default:
		cell = "denied, told"
	}
	t.Logf("%s: ran %t, %s", b.name, ran, told)
	hooktest.Must(t, os.RemoveAll(s.file))
	hooktest.Write(t, s.file, s.text, 0o755)
	s.told(t, false)
	return cell
}

// crashes has the bridge crash.
func (s *brokenStage) crashes(t *testing.T, line, mark string) string {
	if s.plugin {
		return "no bridge"
	}
	crash := filepath.Join(filepath.Dir(s.file), "crash")
	hooktest.Write(t, crash, line+"\n", 0o644)
	defer os.Remove(crash)
	switch ran := s.makes(t, mark); {
	case !ran:
		return "denied"
	case mark == "open":
		return s.unasked(t)
	default:
		t.Errorf("%s: the call ran", line)
		return "**runs**"
	}
}

// unasked waits until hookd tells that the agent ran a call without asking, with the call's words.
func (s *brokenStage) unasked(t *testing.T) string {
	begun := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ; time.Since(begun) < time.Minute; <-tick.C {
		list, err := s.client().Decisions(t.Context(), client.DecisionQuery{Decision: "not asked", Limit: 5})
		hooktest.Must(t, err)
		status, err := s.client().Status(t.Context())
		hooktest.Must(t, err)
		for _, u := range status.Unguarded {
			if len(list) > 0 && u.NotAsked > 0 && strings.Contains(list[0].Subject, "by-open") {
				d := list[0]
				t.Logf("not asked: %d, %s %s, after %s", u.NotAsked, d.Tool, d.Subject, time.Since(begun).Round(time.Second))
				return "told"
			}
		}
	}
	t.Error("a crash of an open bridge was not told")
	return "**runs**"
}

// makes has the agent make a file, and reports whether it did.
func (s *brokenStage) makes(t *testing.T, mark string) bool {
	name := "by-" + strings.ReplaceAll(mark, " ", "-")
	s.model.play(script{commands: []string{"touch " + name}})
	r := s.begin(t, s.args)
	err := <-r.ended
	r.cancel()
	if len(s.model.asked()) == 0 {
		t.Logf("%s: the agent did not ask its model: %v\n%.1000s", mark, err, r.out.String())
	}
	return s.has(name)
}

// told waits until hookd tells that the agent is unguarded, or that it no longer is, and returns its words.
func (s *brokenStage) told(t *testing.T, want bool) (why string) {
	begun := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ; time.Since(begun) < time.Minute; <-tick.C {
		status, err := s.client().Status(t.Context())
		hooktest.Must(t, err)
		why = ""
		for _, u := range status.Unguarded {
			if u.Agent == s.dialect {
				why = u.Gone
			}
		}
		if (why != "") == want {
			return why + " (after " + time.Since(begun).Round(time.Second).String() + ")"
		}
	}
	if !want {
		t.Errorf("hookd still says %s", why)
	}
	return ""
}
