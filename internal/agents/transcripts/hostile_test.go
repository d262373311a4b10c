package transcripts

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// listing has the files of a home: names, sizes, times.
func listing(t *testing.T, home string) string {
	var b strings.Builder
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Size(), info.ModTime(), info.Mode())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNothingIsWritten reads the samples of each agent, databases with a log among them.
func TestNothingIsWritten(t *testing.T) {
	for _, name := range []events.Dialect{"claude-code", "opencode", "openclaw", "cline"} {
		home := homeOf(t, name)
		before := listing(t, home)
		if calls, _ := readAll(t, home); len(calls) == 0 {
			t.Errorf("%s: no call was found", name)
		}
		if after := listing(t, home); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", name, before, after)
		}
	}
}

// claudeAt is the place of a transcript of Claude Code in a home.
func claudeAt(t testing.TB, home, name string) string {
	dir := filepath.Join(home, ".claude", "projects", "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func write(t testing.TB, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asked is a line with a call of Claude Code, and answered its result.
func asked(id, command string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-23T17:26:01.2Z","cwd":"/p","sessionId":"s","message":{"content":`+
		`[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}}`+"\n", id, command)
}

func answered(id string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"tool_use_id":%q,"type":"tool_result","content":"x"}]}}`+"\n", id)
}

// TestHostileFiles puts files that do harm to careless readers beside a good one, whose call is
// found all the same.
func TestHostileFiles(t *testing.T) {
	good := asked("good", "ls") + answered("good")
	deep := strings.Repeat(`{"message":`, 200_000)
	for name, text := range map[string]string{
		"half a line":       good + asked("late", "ls")[:80],
		"garbage":           "\x00\xff{{{\n" + good,
		"binary":            strings.Repeat("\x00", 3<<20) + "\n" + good,
		"a line of 20 MB":   `{"type":"tool_use` + strings.Repeat("x", 20<<20) + "\n" + good,
		"deep":              `{"type":"assistant","x":"tool_use",` + deep[1:] + "\n" + good,
		"types":             `{"type":"assistant","message":[1,"tool_use"],"cwd":7,"timestamp":{}}` + "\n" + good,
		"other types":       `{"type":"assistant","message":{"content":[{"type":"tool_use","id":1,"name":[],"input":"x"}]}}` + "\n" + good,
		"bad arguments":     `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":}}]}}` + "\n" + good,
		"no end":            `{"type":"user","message":{"content":[{"tool_use_id":"\` + "\n" + good,
		"result first":      answered("good2") + good,
		"carriage returns":  strings.ReplaceAll(good, "\n", "\r\n"),
		"a cwd with a line": strings.Replace(good, `"cwd":"/p"`, `"cwd":"/p\n\u001b[2J"`, 1),
	} {
		home := t.TempDir()
		write(t, claudeAt(t, home, "s.jsonl"), text)
		calls, _ := readAll(t, home)
		found := false
		for _, c := range calls {
			found = found || c.ID == "good" && c.Outcome == Ran
			if strings.ContainsAny(c.Cwd, "\n\x1b") {
				t.Errorf("%s: the folder is %q", name, c.Cwd)
			}
		}
		if !found {
			t.Errorf("%s: the call is not found: %d others", name, len(calls))
		}
	}
}

// TestWhatIsNoFile leaves out links, pipes and folders.
func TestWhatIsNoFile(t *testing.T) {
	home, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "x.jsonl")
	write(t, elsewhere, asked("linked", "ls"))
	if err := os.Symlink(elsewhere, claudeAt(t, home, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(claudeAt(t, home, "pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(claudeAt(t, home, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if found := Find(Options{Home: home}); len(found.Files) != 0 {
		t.Errorf("found %v", found.Files[0])
	}
}

// TestASwappedFile is not read where a link has taken its place since it was found.
func TestASwappedFile(t *testing.T) {
	home, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "x.jsonl")
	write(t, elsewhere, asked("linked", "ls"))
	path := claudeAt(t, home, "s.jsonl")
	write(t, path, asked("own", "ls"))
	found := Find(Options{Home: home})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	stats, err := found.Files[0].Read(context.Background(), time.Time{}, func(c *Call) { t.Errorf("read %s", c.ID) })
	if err == nil || stats.Whole {
		t.Errorf("the link was followed: %+v", stats)
	}
}

// TestManyCallsWithoutResults are given, and few of them are held.
func TestManyCallsWithoutResults(t *testing.T) {
	home := t.TempDir()
	var b bytes.Buffer
	const calls = 30_000
	for i := range calls {
		b.WriteString(asked(fmt.Sprint("c", i), strings.Repeat("x", 2000)))
	}
	write(t, claudeAt(t, home, "s.jsonl"), b.String())
	b = bytes.Buffer{}
	f := Find(Options{Home: home}).Files[0]
	n, most := 0, uint64(0)
	var m runtime.MemStats
	if _, err := f.Read(context.Background(), time.Time{}, func(*Call) {
		if n++; n%5000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n != calls || most > 80<<20 {
		t.Errorf("%d of %d calls, %d MB held", n, calls, most>>20)
	}
}

// TestAHostileDatabase has a view without end in the place of a table, and a database that is garbage.
func TestAHostileDatabase(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".local/share/opencode/opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE session (id, parent_id, directory)`, `INSERT INTO session VALUES ('s', NULL, '/p')`,
		`CREATE VIEW part AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
			SELECT i AS id, 's' AS session_id, i AS time_created, '{"type":"tool"}' AS data FROM n`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if calls, _ := readAll(t, home); len(calls) != 0 {
		t.Errorf("%d calls of a view", len(calls))
	}
	write(t, path, "SQLite format 3\x00"+strings.Repeat("\xff", 4096))
	f := Find(Options{Home: home}).Files[0]
	if stats, err := f.Read(context.Background(), time.Time{}, func(*Call) {}); err == nil || stats.Whole {
		t.Errorf("garbage was read: %+v", stats)
	}
}

// TestCutAnywhere reads the samples with their ends cut off: each call whose result stands before
// the cut is found with it.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []events.Dialect{"claude-code", "codex", "gemini-cli", "qwen-code", "copilot", "pi", "kimi", "cline"} {
		home := homeOf(t, name)
		for _, f := range Find(Options{Home: home}).Files {
			text, err := os.ReadFile(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			for end := 1; end < len(text); end += 1 + len(text)/25 {
				write(t, f.Path, string(text[:end]))
				done := 0
				if _, err := f.Read(context.Background(), time.Time{}, func(c *Call) {
					if c.Outcome != "" {
						done++
					}
				}); err != nil {
					t.Fatalf("%s cut at %d: %v", f.Path, end, err)
				}
				if done < last {
					t.Errorf("%s cut at %d: %d calls, %d with less of it", f.Path, end, done, last)
				}
				last = done
			}
			write(t, f.Path, string(text))
		}
	}
}

// TestCallsOfThePast leaves out calls before the time that was asked for, and whole files.
func TestCallsOfThePast(t *testing.T) {
	home := t.TempDir()
	path := claudeAt(t, home, "s.jsonl")
	write(t, path, asked("old", "ls")+answered("old")+
		strings.Replace(asked("new", "ls"), "2026-11-23", "2026-11-25", 1)+answered("new"))
	since := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	var ids []string
	f := Find(Options{Home: home, Since: since.Add(-time.Hour)}).Files[0]
	if _, err := f.Read(context.Background(), since, func(c *Call) { ids = append(ids, c.ID) }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(ids) != "[new]" {
		t.Errorf("found %v", ids)
	}
	if err := os.Chtimes(path, since, since.Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found := Find(Options{Home: home, Since: since}); len(found.Files) != 0 || found.Older != 1 {
		t.Errorf("found %+v", found)
	}
}

func FuzzRead(f *testing.F) {
	for i, a := range agents {
		_ = filepath.WalkDir(filepath.Join("testdata", string(a.name)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, err := os.ReadFile(path)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(i, text)
			}
			return nil
		})
	}
	f.Add(0, []byte(asked("a", "ls")+answered("a")))
	f.Fuzz(func(t *testing.T, i int, text []byte) {
		a := agents[(i&0xffff)%len(agents)]
		name := "s.jsonl"
		if a == &openCode || a == &crush {
			return // databases alone
		}
		if a == &cline {
			name = "s.messages.json"
		}
		path := filepath.Join(t.TempDir(), name)
		write(t, path, string(text))
		file := &File{Agent: a.name, Path: path, Size: int64(len(text)), of: a, root: filepath.Dir(path)}
		c := &collector{file: file, pending: map[string]*Call{}, each: func(c *Call) {
			if c.ID == "" || c.Tool == "" || len(c.Input) == 0 {
				t.Errorf("a call without a part: %+v", c)
			}
		}}
		_ = a.read(context.Background(), file, c) // without Read, which hides a panic
		c.end()
	})
}

// TestATimeInTheFuture is not known: a scan of 8000 years of days would tell nothing.
func TestATimeInTheFuture(t *testing.T) {
	home := t.TempDir()
	for id, year := range map[string]string{"now": "2026", "then": "9999"} {
		text := strings.Replace(asked(id, "ls")+answered(id), `"2026-`, `"`+year+`-`, 1)
		write(t, claudeAt(t, home, id+".jsonl"), text)
	}
	calls, _ := readAll(t, home)
	for _, c := range calls {
		if known := c.ID == "now"; known == c.Time.IsZero() {
			t.Errorf("%s has the time %v", c.ID, c.Time)
		}
	}
	if len(calls) != 2 {
		t.Errorf("%d calls", len(calls))
	}
}
