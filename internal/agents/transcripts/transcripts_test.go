package transcripts

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

var update = flag.Bool("update", false, "write the calls that were found into testdata")

// homeOf lays out the samples of an agent, which real agents have written, as a home.
func homeOf(t testing.TB, name events.Dialect) string {
	home := t.TempDir()
	from := filepath.Join("testdata", string(name))
	if err := os.CopyFS(home, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	switch name {
	case "claude-code": // its sessions in other modes
		modes := filepath.Join(home, "modes")
		if err := os.Rename(modes, filepath.Join(home, ".claude", "projects", "modes")); err != nil {
			t.Fatal(err)
		}
	case "opencode":
		database(t, filepath.Join(home, ".local/share/opencode/opencode.db"),
			filepath.Join(home, "opencode.db.oc.rows.jsonl"), filepath.Join(home, "opencode.db.oc2.rows.jsonl"))
	case "openclaw":
		database(t, filepath.Join(home, ".openclaw/agents/main/agent/openclaw-agent.sqlite"),
			filepath.Join(home, "openclaw-agent.sqlite.rows.jsonl"))
	}
	return home
}

// A hook's JSON denies with its reason alone: the lines are those of a real run of 2.1.197, shortened. A command that
// failed has an exit code.
func TestClaudeDeniedByJSON(t *testing.T) {
	home := t.TempDir()
	line := func(id, content string) string {
		return `{"type":"assistant","sessionId":"s","timestamp":"2026-11-29T06:52:46Z","cwd":"/p","message":{"content":` +
			`[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"touch made"}}]}}` + "\n" +
			`{"type":"user","sessionId":"s","timestamp":"2026-11-29T06:52:46Z","cwd":"/p","message":{"role":"user","content":` +
			`[{"type":"tool_result","content":"` + content + `","is_error":true,"tool_use_id":"` + id + `"}]},` +
			`"toolUseResult":"Error: ` + content + `"}` + "\n"
	}
	hooktest.Write(t, filepath.Join(home, ".claude/projects/-p/s.jsonl"), line("a", "main is protected (house-rules)")+
		line("b", `Exit code 1\nPermission to use it is denied`)+line("c", "[Request interrupted by user for tool use]"), 0o600)
	var got []string
	for _, f := range Find(Options{Home: home}).Files {
		if _, err := f.Read(t.Context(), time.Time{}, func(c *Call) {
			got = append(got, fmt.Sprintf("%s %s %s", c.ID, c.Outcome, c.By))
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(got)
	if want := []string{"a denied hook", "b failed ", "c failed "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The lines are in the form that several readers of others know; no real run was at hand.
func TestDroid(t *testing.T) {
	home := t.TempDir()
	hooktest.Write(t, filepath.Join(home, ".factory/sessions/-p/s.jsonl"), `{"type":"session_start","id":"s","title":"x","cwd":"/p"}
{"type":"message","id":"1","timestamp":"2026-11-20T10:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"Execute","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"Create","input":{"file_path":"/p/x"}}]}}
{"type":"message","id":"2","timestamp":"2026-11-20T10:00:01Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","content":"no","is_error":true}]}}
{"type":"message","id":"3","timestamp":"2026-11-20T10:00:02Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"c","na`, 0o600)
	hooktest.Write(t, filepath.Join(home, ".cursor/projects/p/agent-transcripts/a.jsonl"), "{}\n", 0o600)
	found := Find(Options{Home: home})
	var got []string
	for _, f := range found.Files {
		stats, err := f.Read(t.Context(), time.Time{}, func(c *Call) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s %s", c.Agent, c.Session, c.Tool, c.Input, c.Outcome, c.Cwd))
		})
		if err != nil || stats.Skipped != 1 {
			t.Errorf("%+v, %v", stats, err)
		}
	}
	want := []string{`droid s Execute {"command":"ls"} ran /p`, `droid s Create {"file_path":"/p/x"} failed /p`}
	if !slices.Equal(got, want) || !slices.Equal(found.Unread, []string{"Cursor"}) {
		t.Errorf("got %q, unread %q", got, found.Unread)
	}
}

// database makes a database of rows, the last of which stand in its log alone.
func database(t testing.TB, path string, files ...string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // what closes it would empty the log
	tables := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var is struct {
				Table string
				Row   map[string]json.RawMessage
			}
			if err := json.Unmarshal(lines.Bytes(), &is); err != nil {
				t.Fatal(err)
			}
			columns := tables[is.Table]
			if columns == nil {
				for name := range is.Row {
					columns = append(columns, name)
				}
				tables[is.Table] = columns
				if _, err := db.Exec(fmt.Sprintf("CREATE TABLE %s (%q)", is.Table, strings.Join(columns, `","`))); err != nil {
					if _, err := db.Exec("CREATE TABLE " + is.Table + ` ("` + strings.Join(columns, `","`) + `")`); err != nil {
						t.Fatal(err)
					}
				}
			}
			var values []any
			for _, name := range columns {
				values = append(values, column(t, is.Row[name]))
			}
			marks := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
			if _, err := db.Exec("INSERT INTO "+is.Table+` ("`+strings.Join(columns, `","`)+`") VALUES (`+marks+")", values...); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// column is a value as the database has it: JSON as text.
func column(t testing.TB, v json.RawMessage) any {
	var is struct {
		JSON json.RawMessage `json:"$json"`
	}
	if json.Unmarshal(v, &is) == nil && is.JSON != nil {
		var b bytes.Buffer
		if err := json.Compact(&b, is.JSON); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if len(v) == 0 || d.Decode(&value) != nil {
		return nil
	}
	if n, ok := value.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i
		}
		return n.String()
	}
	return value
}

// readAll reads all transcripts of a home, the oldest first, each call once.
func readAll(t testing.TB, home string) (calls []*Call, stats Stats) {
	found := Find(Options{Home: home})
	slices.SortFunc(found.Files, func(x, y *File) int { return strings.Compare(x.Path, y.Path) })
	once := NewOnce()
	for _, f := range found.Files {
		s, err := f.Read(context.Background(), time.Time{}, func(c *Call) {
			if once.First(c) {
				calls = append(calls, c)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
		stats.Calls += s.Calls
		stats.Skipped += s.Skipped
	}
	return calls, stats
}

// said is a call on one line.
func said(c *Call) string {
	prompt := "-"
	if c.Prompt.Asked {
		prompt = map[bool]string{true: "yes", false: "no"}[c.Prompt.Yes]
		if c.Prompt.Estimated {
			prompt += "?"
		}
	}
	or := func(text string) string {
		if text == "" {
			return "-"
		}
		return text
	}
	in := "main"
	if c.Subagent {
		in = "sub"
	}
	return fmt.Sprintf("%s %s %s %-6s %-6s %-4s %s %s", c.Time.UTC().Format("15:04:05"), in, or(c.Cwd), or(string(c.Outcome)),
		or(string(c.By)), prompt, c.Tool, c.Input)
}

// TestRealTranscripts reads transcripts that real agents have written in scenarios: allowed, denied
// by each party that can, failed, edited, by a subagent, resumed, forked, ended in between.
func TestRealTranscripts(t *testing.T) {
	for _, a := range agents {
		if _, err := os.Stat(filepath.Join("testdata", string(a.name))); err != nil {
			continue
		}
		t.Run(string(a.name), func(t *testing.T) {
			calls, stats := readAll(t, homeOf(t, a.name))
			var b strings.Builder
			for _, c := range calls {
				if c.Agent != a.name || c.Session == "" || c.ID == "" {
					t.Errorf("a call without agent, session or id: %+v", c)
				}
				b.WriteString(said(c) + "\n")
			}
			if stats.Skipped > 0 {
				t.Errorf("%d lines could not be read", stats.Skipped)
			}
			file := filepath.Join("testdata", string(a.name)+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || string(want) != b.String() {
				t.Errorf("%v; found\n%s\nwant\n%s", err, b.String(), want)
			}
		})
	}
}

// TestTypedPrompts counts what a person typed in a real session, where Claude Code itself wrote a notice of a
// subagent's end, two notices of a refusal and the summary of a compaction in the place of prompts.
func TestTypedPrompts(t *testing.T) {
	calls, _ := readAll(t, homeOf(t, "claude-code"))
	turns := map[string]int{}
	for _, c := range calls {
		turns[string(c.Input)] = c.Turn
	}
	for command, want := range map[string]int{"touch one.txt": 1, "touch refused.txt": 4, "touch after-compaction.txt": 6,
		"touch resumed.txt": 7, "touch compacted.txt": 9} { // its eighth is /compact
		if got := turns[`{"command":"`+command+`","description":"run it"}`]; got != want {
			t.Errorf("%s: %d prompts came before it, want %d", command, got, want)
		}
	}
}
