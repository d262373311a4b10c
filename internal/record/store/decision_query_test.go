package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// decision makes one about the event with the number before its own.
func decision(seq uint64, at time.Time) *wire.Decision {
	return &wire.Decision{
		EventID: events.NewID(at), Seq: seq, EventSeq: seq - 1, Time: at.UTC(), Event: "pre_tool_use", Kind: events.KindToolBefore,
		Dialect: events.ClaudeCode, SessionID: "s", Tool: "Bash", Subject: "ls", Decision: wire.OutcomeNone, DurationMS: 1.5,
	}
}

func TestDecisionComesBackWhole(t *testing.T) {
	s := open(t, options(t))
	e := event(1, "pre_tool_use", `{"a":1}`)
	accept(t, s, e)
	want := decision(2, e.Time)
	want.EventID, want.AgentID, want.AgentName, want.Cwd, want.Reason = e.EventID, "a", "n", "/w", "no\nnever"
	want.Decision, want.DecidedBy, want.Rewrote, want.Runs = wire.OutcomeDeny, []string{"x", "y"}, []string{"input"}, []string{"R1"}
	want.CallID, want.NewInput, want.NewSubject = "toolu_1", []byte(`{"command":"ls -l"}`), "ls -l"
	want.Told = &wire.Told{Decision: wire.OutcomeDeny, Reason: "no"}
	want.Answered = &wire.Answered{By: wire.ByGrant, ID: "g1", Time: time.Now().UTC()}
	want.Shadow = []wire.Shadowed{{Hook: "z", Decision: wire.OutcomeAsk, Reason: "hm", Rewrote: []string{"context"}}}
	s.Decided(want)
	flush(t, s)
	got, err := s.Decision(t.Context(), e)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v %v\nwant %+v", got, err, want)
	}
	page, err := s.Decisions(t.Context(), wire.DecisionQuery{})
	if err != nil || len(page.Decisions) != 1 || !reflect.DeepEqual(page.Decisions[0], *want) {
		t.Errorf("in a page: got %+v %v", page, err)
	}
	feed, err := s.Since(t.Context(), 0, 9, 10, 1<<20)
	if err != nil || len(feed.Records) != 2 || feed.Records[1].Decision == nil || !reflect.DeepEqual(feed.Records[1].Decision, want) {
		t.Errorf("in the stream: got %+v %v", feed, err)
	}
	if got, err := s.Decision(t.Context(), event(7, "x", `{}`)); got != nil || err != nil {
		t.Errorf("of another event: got %+v %v", got, err)
	}
}

// fits is q, read one by one.
func fits(q wire.DecisionQuery, d wire.Decision) bool {
	any := func(want string, got ...string) bool {
		return wire.AnyOf(wire.List(want), func(w string) bool { return slices.Contains(got, w) })
	}
	has := func(text string) bool {
		text = strings.ToLower(text)
		return strings.Contains(strings.ToLower(d.Subject), text) || strings.Contains(strings.ToLower(d.Reason), text)
	}
	took := time.Duration(d.DurationMS * float64(time.Millisecond))
	more := !slices.ContainsFunc(q.Without, has) && (q.Longer == 0 || took > q.Longer) && (q.Shorter == 0 || took < q.Shorter) &&
		(q.Rewrote == "" || len(d.Rewrote) > 0 && (q.Rewrote == "yes" || strings.Contains(d.NewSubject, q.Rewrote)))
	said := wire.AnyOf(wire.List(q.Decision), func(w string) bool { return slices.Contains(d.Words(), wire.Outcome(w)) })
	words := wire.DecisionQuery{Result: q.Result, Path: q.Path, Host: q.Host, Undo: q.Undo, Parts: true}
	return words.Fits(&d) && more && said && any(q.Tool, d.Tool) && any(q.Session, d.SessionID) && any(q.Hook, d.Hooks()...) &&
		any(q.Agent, d.AgentID, d.AgentName, string(d.Dialect)) && any(q.Event, d.Event, string(d.Kind)) &&
		wire.AnyOf(wire.List(q.Cwd), func(c string) bool { return d.Cwd == c || strings.HasPrefix(d.Cwd, c+"/") }) &&
		(q.Text == "" || has(q.Text)) &&
		(!q.Shadow || len(d.Shadow) > 0) && !d.Time.Before(q.Since) && (q.Until.IsZero() || d.Time.Before(q.Until)) && (q.Before == 0 || d.Seq < q.Before)
}

// Each query finds the decisions that it would find by looking at each decision,
// however many texts were indexed together.
func TestDecisionQueries(t *testing.T) {
	s := open(t, options(t))
	begin := time.Now().Add(-100 * time.Hour).UTC()
	pick := func(list ...string) string { return list[rand.N(len(list))] }
	var all []wire.Decision
	for i := range 300 {
		d := decision(uint64(2*i+2), begin.Add(time.Duration(i)*20*time.Minute))
		d.SessionID, d.Tool, d.AgentID = pick("", "s1", "s2"), pick("", "Bash", "Write", "mcp__x__y"), pick("", "a", "b")
		d.Dialect, d.Event = events.Dialect(pick("claude-code", "codex")), pick("pre_tool_use", "PreToolUse")
		d.Cwd = pick("", "/w", "/w/sub", "/world", "/ä", "/ä/b")
		d.Subject, d.Reason = pick("sudo LS -l", "git push", "100% _sure_", "äöü", "ls", "cat src/App/main.go", "curl https://api.github.com/x?y", "rm -r /w/sub/[a]*"), pick("", "no sudo here", `say "no"`, "über")
		d.Decision = wire.Outcome(pick("deny", "ask", "allow", "none"))
		if rand.N(2) == 0 {
			d.DecidedBy = []string{pick("guard", "other"), "third"}
		}
		if rand.N(4) == 0 {
			d.Shadow = []wire.Shadowed{{Hook: pick("guard", "shady"), Decision: wire.OutcomeDeny}}
		}
		switch rand.N(4) {
		case 0:
			d.Rewrote = []string{"context"}
		case 1:
			d.Rewrote = []string{"input", "context"}
		}
		if rand.N(2) == 0 {
			d.Kept = &wire.Kept{Word: "kept", Files: rand.N(2)}
		}
		d.Outcome, d.Kind = d.Word(), "tool.before"
		seen := *d
		s.Decided(d)
		if rand.N(2) == 0 {
			seen.Guarded, seen.Ran = wire.Guarded(pick("asked", "disobeyed", "not asked")), &wire.Ran{Failed: rand.N(2) == 0}
			s.Ended(seen.EventSeq, seen.Guarded, *seen.Ran)
		}
		all = append(all, seen)
	}
	flush(t, s)
	slices.Reverse(all)
	queries := []wire.DecisionQuery{
		{}, {Limit: 7}, {Decision: "deny"}, {Decision: "deny,ask"}, {Decision: "allow"}, {Decision: "none"}, {Decision: "rewrite"}, {Decision: "context,deny"}, {Tool: "Bash"},
		{Tool: "Bash,Write"}, {Session: "s1"}, {Session: "none"}, {Agent: "a"}, {Agent: "codex"},
		{Hook: "guard"}, {Hook: "shady,other"}, {Hook: "guar"}, {Event: "tool.before"}, {Event: "PreToolUse"},
		{Cwd: "/w"}, {Cwd: "/ä"}, {Cwd: "/w/sub,/world"}, {Shadow: true}, {EventID: "none"},
		{Decision: "-none"}, {Tool: "-Bash"}, {Hook: "-guard"}, {Session: "s1,-s2"}, {Cwd: "-/w"},
		{Without: []string{"rm"}, Tool: "Bash,-Write"}, {Rewrote: "yes"}, {Rewrote: "x"}, {Longer: 2 * time.Millisecond}, {Shorter: 2 * time.Millisecond},
		{Result: "ran"}, {Result: "failed,none"}, {Result: "-none"}, {Undo: "yes"}, {Undo: "no"},
		{Path: "src/app"}, {Path: "main.go"}, {Path: "src/ap"}, {Path: "-/w/sub,/w"}, {Path: "[a]*"},
		{Host: "github.com"}, {Host: "API.github.com"}, {Host: "hub.com"},
		{Text: "sudo"}, {Text: "SUDO ls"}, {Text: "ls"}, {Text: "%"}, {Text: "_sure_"}, {Text: `say "no"`}, {Text: "äöü"}, {Text: "über"}, {Text: "x"}, {Text: "nothing has this text"},
		{Text: "no sudo here", Tool: "Bash", Decision: "deny", Session: "s1"},
		{Since: begin.Add(20 * time.Hour), Until: begin.Add(30 * time.Hour)}, {Until: begin.Add(time.Hour)}, {Since: begin.Add(99 * time.Hour), Text: "git push"},
	}
	for _, together := range []int{0, 1, 7, 300} { // as they were written; what a transaction has together; as versions before did
		if together > 0 {
			err := s.do(t.Context(), func(db *database) error {
				_, err := db.exec(`DELETE FROM decisions_text`)
				for part := range slices.Chunk(all, together) {
					for i := range part {
						s.w.texts.add(&part[i])
					}
					err = errors.Join(err, s.w.texts.flush(db))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, q := range queries {
			var want, got []uint64
			for _, d := range all {
				if fits(q, d) && q.EventID == "" {
					want = append(want, d.Seq)
				}
			}
			for next := q; ; {
				page, err := s.Decisions(t.Context(), next)
				if err != nil {
					t.Fatalf("%+v: %v", q, err)
				}
				for _, d := range page.Decisions {
					got = append(got, d.Seq)
				}
				if next.Before = page.Next; page.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("indexed %d together, %+v: got %d, want %d", together, q, len(got), len(want))
			}
		}
	}
}

// Each question is answered by an index or in the order of numbers: no plan looks
// at all of a table or sorts.
func TestDecisionQueriesUseTheirIndex(t *testing.T) {
	s := open(t, options(t))
	accept(t, s, event(1, "pre_tool_use", `{}`))
	for _, tt := range []struct {
		q    wire.DecisionQuery
		plan string
	}{
		{wire.DecisionQuery{}, "SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		{wire.DecisionQuery{Since: time.Unix(1, 0), Until: time.Unix(2, 0)}, "SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		{wire.DecisionQuery{Tool: "Bash"}, "SEARCH d USING INDEX decisions_tool (tool=? AND rowid>? AND rowid<?)"},
		{wire.DecisionQuery{Session: "s", Tool: "Bash"}, "SEARCH d USING INDEX decisions_session (session_id=? AND rowid>? AND rowid<?)"},
		{wire.DecisionQuery{Decision: "deny"}, "SEARCH d USING INDEX decisions_decision (decision=? AND rowid>? AND rowid<?)"},
		{wire.DecisionQuery{EventID: "E"}, "SEARCH d USING INDEX decisions_event (event_seq=? AND rowid>? AND rowid<?)"},
	} {
		text, args := decisionQuery(tt.q).sql(decisionColumns, 1, 9, 50)
		checkPlan(t, s, text, args, tt.plan)
	}
	text, args := textQuery(trigrams("sudo"), 1, 9, 2)
	checkPlan(t, s, text, args, "SCAN decisions_text VIRTUAL TABLE INDEX 192:M1><") // by words and numbers, in their order
	text, args = decisionQuery{Text: "sudo"}.inBlocks(decisionColumns, []int64{64, 0}, 1, 99)
	checkPlan(t, s, text, args, "SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")
}

// checkPlan checks how a statement is answered: as wanted, without a look at all of a table
// and without sorting.
func checkPlan(t *testing.T, s *Store, text string, args []any, want string) {
	t.Helper()
	plan, err := list(t.Context(), s.db.reading, func(row scanner) (text string, err error) {
		var a, b, c int
		return text, row.Scan(&a, &b, &c, &text)
	}, `EXPLAIN QUERY PLAN `+text, args...)
	got := strings.Join(plan, "; ")
	if err != nil || !strings.Contains(got, want) || strings.Contains(got, "SCAN d ") || strings.HasSuffix(got, "SCAN d") || strings.Contains(got, "TEMP B-TREE") {
		t.Errorf("%s: plan %q %v, want %q", text, got, err, want)
	}
}

// Text is found as soon as its decision is, also of many that are written at once.
func TestTextIsIndexedWithItsDecision(t *testing.T) {
	t.Parallel()
	s := open(t, options(t))
	for i := range 1000 {
		d := decision(uint64(i+2), time.Now())
		d.Subject = fmt.Sprintf("needle %d of many", i)
		s.Decided(d)
	}
	flush(t, s)
	for _, n := range []int{0, 77, 999} {
		page, err := s.Decisions(t.Context(), wire.DecisionQuery{Text: fmt.Sprintf("needle %d of", n)})
		if err != nil || len(page.Decisions) != 1 || page.Decisions[0].Seq != uint64(n+2) {
			t.Errorf("needle %d: got %+v %v", n, page, err)
		}
	}
}

// Decisions go with their events, and those whose event was never kept with those
// of their age.
func TestPruneDecisions(t *testing.T) {
	o := options(t)
	o.Limits.MaxRuns = 3
	s := open(t, o)
	for i := range uint64(10) {
		if i%3 > 0 {
			accept(t, s, event(2*i+1, "pre_tool_use", `{}`))
		}
		s.Decided(decision(2*i+2, time.Now()))
		flush(t, s) // each has an index row of its own
	}
	prune(t, s)
	page, err := s.Decisions(t.Context(), wire.DecisionQuery{})
	var left []uint64
	for _, d := range page.Decisions {
		left = append(left, d.EventSeq)
	}
	if want := []uint64{19, 17, 15, 13, 11}; err != nil || !slices.Equal(left, want) {
		t.Errorf("decisions about %v are left (%v), want %v", left, err, want)
	}
	page, err = s.Decisions(t.Context(), wire.DecisionQuery{Text: "ls "[:2] + ""})
	if err != nil || len(page.Decisions) != len(left) {
		t.Errorf("by text: got %+v %v", page, err)
	}
	var texts int
	if err := s.db.reading.QueryRow(`SELECT count(*) FROM decisions_text`).Scan(&texts); err != nil || texts != len(left) {
		t.Errorf("the texts of %d are left (%v), want %d", texts, err, len(left))
	}
}

// After the clock was set back by hours a session goes on with its next event, and counts as idle without one.
func TestSessionsOfALaterTime(t *testing.T) {
	s := open(t, options(t))
	send := func(seq uint64, session, name, subject string, at time.Time) {
		e := event(seq, name, `{}`)
		e.Dialect, e.SessionID, e.Tool, e.Subject, e.Time = events.ClaudeCode, session, "Bash", subject, at
		e.Contract = events.For(events.ClaudeCode, name)
		s.Note(e, nil)
	}
	now := time.Now().UTC()
	send(1, "rests", "PreToolUse", "ls", now.Add(5*time.Hour))
	send(2, "goes on", "PreToolUse", "ls", now.Add(5*time.Hour))
	send(3, "goes on", "PreToolUse", "pwd", now.Add(-time.Second))
	flush(t, s)
	list, err := s.Sessions(t.Context(), wire.SessionQuery{}, nil)
	if err != nil || len(list) != 2 || list[0].State != wire.SessionIdle || list[1].State != wire.SessionWorking ||
		list[1].Subject != "pwd" || list[1].Last.After(now) {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestSessionsAreCounted(t *testing.T) {
	o := options(t)
	s := open(t, o)
	at := time.Now().Add(-10 * time.Minute).UTC()
	seq := uint64(0)
	send := func(session, name, tool, subject string) {
		seq++
		e := event(seq, name, `{}`)
		e.Dialect, e.SessionID, e.Tool, e.Subject, e.Cwd, e.AgentName = events.ClaudeCode, session, tool, subject, "/w", "coder"
		e.Contract = events.For(events.ClaudeCode, name)
		e.Time = at.Add(time.Duration(seq) * time.Second)
		s.Note(e, nil)
	}
	check := func(want ...string) {
		t.Helper()
		flush(t, s)
		list, err := s.Sessions(t.Context(), wire.SessionQuery{}, nil)
		var got []string
		for _, x := range list {
			got = append(got, fmt.Sprintf("%s %s %d events %d tools %d denied %d asked %s:%s", x.SessionID, x.State, x.Events, x.Tools, x.Denials, x.Asks, x.Tool, x.Subject))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q %v, want %q", got, err, want)
		}
	}
	send("s1", "SessionStart", "", "")
	check("s1 idle 1 events 0 tools 0 denied 0 asked :")
	send("s1", "UserPromptSubmit", "", "mend it")
	send("s1", "PreToolUse", "Bash", "sudo ls")
	d := decision(100, at.Add(3*time.Second))
	d.SessionID, d.Decision = "s1", wire.OutcomeDeny
	s.Decided(d)
	check("s1 working 3 events 1 tools 1 denied 0 asked Bash:sudo ls")
	d = decision(101, at.Add(time.Minute))
	d.SessionID, d.Decision = "s1", wire.OutcomeAsk
	s.Decided(d)
	check("s1 waiting 3 events 1 tools 1 denied 1 asked Bash:sudo ls")
	d = decision(102, at.Add(2*time.Minute))
	d.SessionID, d.Guarded = "s1", wire.GuardedNotAsked
	s.Decided(d)
	check("s1 waiting 3 events 2 tools 1 denied 1 asked Bash:sudo ls")
	held := []SessionKey{{"s1", events.ClaudeCode}, {"none", events.Codex}}
	send("s1", "PreToolUse", "Bash", "sudo ls") // it goes on to work
	flush(t, s)
	for want, keys := range [][]SessionKey{nil, held} {
		list, err := s.Sessions(t.Context(), wire.SessionQuery{State: wire.SessionWaiting}, keys)
		if err != nil || len(list) != want || want == 1 && list[0].State != wire.SessionWaiting {
			t.Errorf("%+v: %+v, %v", keys, list, err)
		}
	}
	if list, err := s.Sessions(t.Context(), wire.SessionQuery{State: wire.SessionWorking}, held); err != nil || len(list) > 0 {
		t.Errorf("a session that waits is said to work: %+v, %v", list, err)
	}
	closed(t, s)
	s = open(t, o)
	send("s1", "Stop", "", "")
	send("s2", "PreToolUse", "Read", "/w/x")
	send("s2", "SessionEnd", "", "")
	check("s2 ended 2 events 1 tools 0 denied 0 asked Read:/w/x", "s1 idle 5 events 3 tools 1 denied 1 asked Bash:sudo ls")
	for _, tt := range []struct {
		q    wire.SessionQuery
		want int
	}{
		{wire.SessionQuery{State: wire.SessionEnded}, 1}, {wire.SessionQuery{Agent: "coder"}, 2},
		{wire.SessionQuery{Agent: "codex"}, 0}, {wire.SessionQuery{Session: "s1"}, 1},
		{wire.SessionQuery{Cwd: "/"}, 2}, {wire.SessionQuery{Limit: 1}, 1},
	} {
		if list, err := s.Sessions(t.Context(), tt.q, nil); err != nil || len(list) != tt.want {
			t.Errorf("%+v: got %d %v, want %d", tt.q, len(list), err, tt.want)
		}
	}
}

// A session that was working, and sends nothing, is quiet, then idle: in the history, and to wire.Aged.
func TestSilentSessions(t *testing.T) {
	s := open(t, options(t))
	for i, c := range []struct {
		event, after, want string
		silent             time.Duration
	}{
		{"PreToolUse", wire.SessionWorking, wire.SessionWorking, wire.QuietAfter - time.Minute},
		{"PreToolUse", wire.SessionWorking, wire.SessionQuiet, wire.QuietAfter + time.Minute},
		{"PreToolUse", wire.SessionWorking, wire.SessionIdle, wire.IdleAfter + time.Minute},
		{"PermissionRequest", wire.SessionWaiting, wire.SessionWaiting, wire.IdleAfter - time.Minute},
		{"PermissionRequest", wire.SessionWaiting, wire.SessionIdle, wire.IdleAfter + time.Minute},
		{"Stop", wire.SessionIdle, wire.SessionIdle, wire.QuietAfter + time.Minute},
		{"SessionEnd", wire.SessionEnded, wire.SessionEnded, wire.IdleAfter + time.Minute},
	} {
		e := event(uint64(i+1), c.event, `{}`)
		e.Dialect, e.SessionID, e.Contract = events.ClaudeCode, fmt.Sprint("s", i), events.For(events.ClaudeCode, c.event)
		e.Time = time.Now().Add(-c.silent)
		s.Note(e, nil)
		flush(t, s)
		list, err := s.Sessions(t.Context(), wire.SessionQuery{Session: e.SessionID, State: c.want}, nil)
		if err != nil || len(list) != 1 || list[0].State != c.want {
			t.Errorf("%s %s ago: %+v, %v, want %s", c.event, c.silent, list, err, c.want)
		}
		if got := wire.Aged(c.after, e.Time, time.Now()); got != c.want {
			t.Errorf("%s for %s: %s, want %s", c.after, c.silent, got, c.want)
		}
	}
}

// The records of the version before decisions are there after its migration. That holds also when
// the migration was killed and begun again.
func TestVersionBeforeDecisionsIsMigrated(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	const before = 5
	db, err := openDatabase(o.Path, DurableOS, migrations[:before])
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour) // an hour that is not read as part of a day
	for _, text := range []string{
		`INSERT INTO runs (seq, id, event_id, event, hook, session_id, agent_id, agent_name, result, started, ended, detail)
			VALUES (2, 'R1', 'E1', 'agent:end', 'log', 's', '', '', 'ok', ` + fmt.Sprint(started.UnixNano()) + `, ` + fmt.Sprint(started.UnixNano()) + `, CAST('{"exit_code":0,"queue_ms":1,"duration_ms":2,"stdout":{"bytes":0},"stderr":{"bytes":0}}' AS BLOB))`,
		`INSERT INTO spans (length, start, hook, runs, failures, blocked, durations) VALUES (3600, ` + fmt.Sprint(floor(started.Unix(), hour)) + `, 'log', 4, 1, 2, X'')`,
	} {
		if _, err := db.exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := (state{epoch: "E", seq: 100, runs: 1}).save(db); err != nil {
		t.Fatal(err)
	}
	// A process that is killed in the middle leaves a transaction without its end.
	if _, err := db.exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.conn.ExecContext(context.Background(), migrations[before][:strings.Index(migrations[before], "CREATE TABLE sessions")]); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(filepath.Dir(o.Path), "copy.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(db.path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+end, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db.close()
	for _, path := range []string{o.Path, copied} {
		o.Path = path
		s := open(t, o)
		page, err := s.Runs(t.Context(), wire.RunQuery{})
		if err != nil || len(page.Runs) != 1 || page.Runs[0].Hook != "log" || page.Runs[0].Subject != "" || s.Epoch() != "E" {
			t.Errorf("%s: got %+v %v of epoch %s", path, page, err, s.Epoch())
		}
		stats, err := s.Stats(t.Context(), wire.StatsQuery{Hook: "log"})
		if err != nil || len(stats) != 0 { // the day has none
			t.Errorf("%s: got %+v %v", path, stats, err)
		}
		stats, err = s.Stats(t.Context(), wire.StatsQuery{Hook: "log", Since: started.Add(-time.Second), Until: started.Add(time.Second)})
		if err != nil || len(stats) != 1 || stats[0].Runs != 4 || stats[0].Denied != 2 {
			t.Errorf("%s: got %+v %v", path, stats, err)
		}
		s.Decided(decision(s.FirstSeq()+1, time.Now()))
		flush(t, s)
		if page, err := s.Decisions(t.Context(), wire.DecisionQuery{Tool: "Bash"}); err != nil || len(page.Decisions) != 1 {
			t.Errorf("%s: got %+v %v", path, page, err)
		}
		closed(t, s)
		if _, err := openDatabase(path, DurableOS, migrations[:before]); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "install that hookd, or move the file away") {
			t.Errorf("the older hookd got %v", err)
		}
	}
}

// The subject of an Unread event is looked up for its kept record, and for its session.
func TestUnreadEventsAreLookedUp(t *testing.T) {
	o := options(t)
	o.About = func(e *events.Event) { e.Tool, e.Subject = "Bash", "of "+string(e.Data) }
	s := open(t, o)
	for i, size := range []int{1, 10, 20} {
		e := event(uint64(i+1), "pre_tool_use", fmt.Sprintf(`{"n":%0*d}`, 1, size))
		e.SessionID, e.Unread = "s", true
		var p *Prepared
		if i == 1 {
			p = s.Prepare(e, false)
		}
		if i == 2 {
			accept(t, s, e, "hook")
		} else {
			s.Note(e, p)
		}
	}
	flush(t, s)
	for i, want := range []string{`of {"n":1}`, `of {"n":10}`, `of {"n":20}`} {
		feed, err := s.Since(t.Context(), uint64(i), uint64(i+1), 1, 1<<20)
		if err != nil || len(feed.Records) != 1 || feed.Records[0].Event.Tool != "Bash" || feed.Records[0].Event.Subject != want {
			t.Errorf("event %d: got %+v %v, want %q", i+1, feed, err, want)
		}
	}
	list, err := s.Sessions(t.Context(), wire.SessionQuery{}, nil)
	if err != nil || len(list) != 1 || list[0].Events != 3 || list[0].Subject != `of {"n":20}` {
		t.Errorf("got %+v %v", list, err)
	}
}

// A session is named by an end or a beginning of its id that no other has.
func TestSessionIDs(t *testing.T) {
	s := open(t, options(t))
	for i, id := range []string{"01a203b-111111", "01a203b-222222", "ä-ünï-ß", "222222"} {
		e := event(uint64(i+1), "pre_tool_use", `{}`)
		e.SessionID = id
		s.Note(e, nil)
	}
	flush(t, s)
	for part, want := range map[string]string{
		"01a203b-111111": "01a203b-111111", "111111": "01a203b-111111", "222222": "222222", "-222222": "01a203b-222222",
		"ï-ß": "ä-ünï-ß", "none": "none", "": "", "%%%": "%%%",
	} {
		if got, err := s.SessionID(t.Context(), part); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", part, got, err, want)
		}
	}
	if got, err := s.SessionID(t.Context(), "01a"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("got %q %v", got, err)
	}
}

// How long a person took is no time that agents waited for hooks.
func TestWaitedIsTheTimeOfHooks(t *testing.T) {
	s := open(t, options(t))
	for seq, answered := range []*wire.Answered{nil, {By: wire.ByPerson, HeldMS: 60_000}} {
		d := decision(uint64(seq+1), time.Now())
		d.AgentName, d.DurationMS, d.Answered = "coder", 5, answered
		if answered != nil {
			d.DurationMS += answered.HeldMS
		}
		s.Decided(d)
	}
	flush(t, s)
	list, err := s.Stats(t.Context(), wire.StatsQuery{By: "agent"})
	if err != nil || len(list) != 1 || list[0].Waited != 10*time.Millisecond {
		t.Errorf("%+v, %v", list, err)
	}
}
