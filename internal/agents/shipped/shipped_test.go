package shipped

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// rowsOf are the names of an agent's rows.
func rowsOf(agent events.Dialect) (names []string) {
	for _, c := range events.All() {
		if c.Dialect == agent {
			names = append(names, c.Name)
		}
	}
	return names
}

// install writes a package of an agent: its program and one file beside it.
func install(t *testing.T, file, text string) (program string) {
	t.Helper()
	dir := t.TempDir()
	hooktest.Write(t, filepath.Join(dir, "package.json"), `{"name": "x", "version": "1.2.3"}`, 0o644)
	program = filepath.Join(dir, "bin", "agent")
	hooktest.Write(t, program, "#!/bin/sh\n", 0o755)
	if file != "." {
		hooktest.Write(t, filepath.Join(dir, file), text, 0o644)
	} else {
		hooktest.Write(t, program, text, 0o755)
	}
	link := filepath.Join(dir, "link")
	hooktest.Must(t, os.Symlink(program, link))
	return link
}

// Each form in which names are shipped is read, wherever in a large file it stands.
func TestForms(t *testing.T) {
	list := func(names []string) string { return `x=["` + strings.Join(names, `","`) + `"];` }
	enumeration := func(names []string) (text string) {
		for _, n := range names {
			text += fmt.Sprintf(" HookEventName2[%q] = %q;\n", n, n)
		}
		return text
	}
	for _, tt := range []struct {
		agent events.Dialect
		file  string
		text  func([]string) string
	}{
		{events.ClaudeCode, ".", func(names []string) string {
			names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "PreToolUse" || n == "PostToolUse" })
			return list(append([]string{"PreToolUse", "PostToolUse"}, names...))
		}},
		{events.Codex, "vendor/x86_64/bin/codex", func(names []string) (text string) {
			for _, n := range names {
				kebab := n
				for i := len(kebab) - 1; i > 0; i-- {
					if kebab[i] >= 'A' && kebab[i] <= 'Z' {
						kebab = kebab[:i] + "-" + kebab[i:]
					}
				}
				text += `{"title": "` + strings.ToLower(kebab) + `.command.input"}` + "\x00" +
					`{"title": "` + strings.ToLower(kebab) + `.command.output"}`
			}
			return text
		}},
		{events.GeminiCLI, "bundle/chunk-X.js", enumeration},
		{events.Qwen, "chunks/chunk-X.js", enumeration},
	} {
		t.Run(string(tt.agent), func(t *testing.T) {
			rows := rowsOf(tt.agent)
			program := install(t, tt.file, strings.Repeat("x", pieceSize-100)+tt.text(rows)+strings.Repeat("y", pieceSize))
			r, err := Compare(tt.agent, program)
			if err != nil || r.Differs() || r.Version != "1.2.3" || len(r.Names) != len(rows) || len(r.Files) != 1 {
				t.Errorf("got %+v, %v", r, err)
			}
			r, err = Compare(tt.agent, install(t, tt.file, tt.text(append(slices.Clone(rows[:len(rows)-1]), "BrandNew"))))
			if err != nil || !slices.Equal(r.NoRow, []string{"BrandNew"}) || !slices.Equal(r.NotIn, rows[len(rows)-1:]) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

// Tools that hookd does not know are a difference; tools of their own names are told with what they reach, and
// tools that hookd is never asked about, too.
func TestTools(t *testing.T) {
	text := `x={RUN_TOOL_NAME = "run_shell_command", A_TOOL_NAME2 = "activate_skill"; NEW_TOOL_NAME = "dig_tunnel", X_NAME = "none"}`
	for _, name := range rowsOf(events.GeminiCLI) {
		text += fmt.Sprintf(" HookEventName2[%q] = %q;\n", name, name)
	}
	r, err := Compare(events.GeminiCLI, install(t, "bundle/a.js", text))
	if err != nil || !r.Differs() || !slices.Equal(r.Unknown, []string{"dig_tunnel"}) || len(r.Tools) != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
	if len(r.Reach) != 1 || !slices.Equal(r.Reach[0].Tools, []string{"activate_skill"}) || len(r.Unseen) != 0 {
		t.Errorf("got %+v", r)
	}
	r, err = Compare(events.Codex, install(t, ".", `"title": "pre-tool-use.command.input"`))
	if err != nil || len(r.Tools) != 0 || !slices.ContainsFunc(r.Unseen, func(u Reach) bool { return u.Tools[0] == "write_stdin" && u.Why != "" }) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A name that was left out on purpose is no difference. A name that comes another way is not missed.
func TestLeftAndElsewhere(t *testing.T) {
	text := `a.trigger("chat.message",b)a.trigger("tool.execute.before",b)a.trigger("tool.execute.after")a.trigger("file.open")` +
		`a.trigger("experimental.session.compacting",b)a.trigger("chat.params",b)`
	r, err := Compare(events.OpenCode, install(t, ".", text))
	if err != nil || r.Differs() || len(r.Left) != 1 || !slices.Equal(r.Left[0].Names, []string{"chat.params"}) || r.Left[0].Why == "" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestNothingToCompare(t *testing.T) {
	if _, err := Compare(events.Copilot, ""); !errors.Is(err, ErrNone) {
		t.Errorf("an agent that ships none: %v", err)
	}
	if _, err := Compare("unknown", ""); !errors.Is(err, ErrNone) {
		t.Errorf("an unknown agent: %v", err)
	}
	if r, err := Compare(events.ClaudeCode, install(t, ".", "another program")); !errors.Is(err, ErrNone) || r.Program == "" {
		t.Errorf("a program without names: %+v, %v", r, err)
	}
	if _, err := Compare(events.ClaudeCode, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Compare(events.ClaudeCode, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("not installed: %v", err)
	}
}

// The tables have only entries that make sense: a pattern that can be read, and rows that are there.
func TestTables(t *testing.T) {
	for _, agent := range dialect.AgentsWith(func(s *neutral.Settings) bool { return s.Ships != nil }) {
		s := dialect.Settings(events.Dialect(agent)).Ships
		if err := (&Report{}).read(t.TempDir(), s); err != nil || len(s.Files) == 0 {
			t.Errorf("%s: %v, files %q", agent, err, s.Files)
		}
		for _, left := range s.Left {
			for name := range strings.FieldsSeq(left.Names) {
				if slices.Contains(rowsOf(events.Dialect(agent)), name) || left.Why == "" {
					t.Errorf("%s: %s has a row, or no reason: %q", agent, name, left.Why)
				}
			}
		}
		for _, row := range strings.Fields(s.Elsewhere) {
			if !slices.Contains(rowsOf(events.Dialect(agent)), row) {
				t.Errorf("%s: there is no row %s", agent, row)
			}
		}
	}
}
