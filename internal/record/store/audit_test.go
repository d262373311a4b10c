package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

// verified is the report of a look at the chain in the database at path.
func verified(t testing.TB, path string, noted audit.Head) audit.Report {
	t.Helper()
	c := audit.NewChecker(noted)
	head, err := ReadAudit(context.Background(), path, time.Time{}, func(r audit.Link, prev audit.Hash) error {
		c.AddNext(r, prev)
		return nil
	})
	hooktest.Must(t, err)
	return c.End(true, &head)
}

// chained makes a database with so many records, and one record that says that the chain began.
func chained(t testing.TB, n int) (path string) {
	t.Helper()
	return chainOf(t, n, func(i int) any { return map[string]int{"call": i} })
}

func chainOf(t testing.TB, n int, detail func(i int) any) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "hookd.db")
	s, err := Open(Options{Path: path, Durable: DurableOS, sweep: -1})
	hooktest.Must(t, err)
	for i := range n {
		s.Audit(time.Now(), audit.Denied, detail(i))
		if i%10_000 == 0 {
			hooktest.Must(t, s.Flush(context.Background()))
		}
	}
	hooktest.Must(t, s.Close())
	return path
}

func harm(t testing.TB, path string, texts ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	hooktest.Must(t, err)
	defer db.Close()
	for _, text := range texts {
		_, err := db.Exec(text)
		hooktest.Must(t, err)
	}
}

// Each change of a record is found afterwards, and the record named.
func TestTheChainTellsWhatWasChanged(t *testing.T) {
	t.Parallel()
	whole := chained(t, 20)
	noted := verified(t, whole, audit.Head{})
	if len(noted.Findings) > 0 || noted.Records != 21 || noted.Head.N != 21 {
		t.Fatalf("untouched: %+v", noted)
	}
	cases := map[string]struct {
		do   []string
		want string
	}{
		"changed":                               {[]string{`UPDATE audit SET text = CAST(replace(CAST(text AS TEXT), '"call":5', '"call":6') AS BLOB) WHERE n = 7`}, "record 7 (denied"},
		"changed to the same length of nothing": {[]string{`UPDATE audit SET text = CAST('x' AS BLOB) WHERE n = 7`}, "record 7 is not"},
		"hash changed":                          {[]string{`UPDATE audit SET hash = zeroblob(32) WHERE n = 7`}, "record 7 (denied"},
		"removed":                               {[]string{`DELETE FROM audit WHERE n = 7`}, "record 7 is missing"},
		"some removed":                          {[]string{`DELETE FROM audit WHERE n BETWEEN 7 AND 9`}, "records 7 to 9 are missing"},
		"the first removed":                     {[]string{`DELETE FROM audit WHERE n <= 3`}, "[{3 removed records 1 to 3 are missing at the front: no record says that they were pruned, so record 4 cannot be checked}]"},
		"all but the last removed":              {[]string{`DELETE FROM audit WHERE n <= 20`}, "records 1 to 20 are missing at the front"},
		"the very first removed":                {[]string{`DELETE FROM audit WHERE n = 1`}, "record 1 is missing at the front"},
		"one behind what is missing changed": {[]string{`DELETE FROM audit WHERE n = 7`,
			`UPDATE audit SET text = CAST('x' AS BLOB) WHERE n = 8`}, "record 8 is not"},
		"the last removed": {[]string{`DELETE FROM audit WHERE n = 21`}, "record 21 is missing at the end"},
		"all removed":      {[]string{`DELETE FROM audit`}, "records 1 to 21 are missing at the end"},
		"removed and moved up": {[]string{`DELETE FROM audit WHERE n = 7`,
			`UPDATE audit SET n = -n WHERE n > 7`, `UPDATE audit SET n = -n - 1 WHERE n < 0`}, "record 7 holds record 8"},
		"reordered": {[]string{`UPDATE audit SET n = 100 WHERE n = 7`, `UPDATE audit SET n = 7 WHERE n = 8`,
			`UPDATE audit SET n = 8 WHERE n = 100`}, "record 7 holds record 8"},
		"inserted": {[]string{`UPDATE audit SET n = -n WHERE n >= 7`, `UPDATE audit SET n = -n + 1 WHERE n < 0`,
			`INSERT INTO audit SELECT 7, at, text, hash FROM audit WHERE n = 6`}, "record 7 holds record 6"},
		"added at the end":  {[]string{`INSERT INTO audit SELECT 22, at, text, hash FROM audit WHERE n = 21`}, "record 22 holds record 21"},
		"head moved back":   {[]string{`DELETE FROM audit WHERE n > 10`, `UPDATE audit_head SET n = 10, hash = (SELECT hash FROM audit WHERE n = 10)`}, "records 11 to 21 are missing at the end: the head that was noted is record 21"},
		"noted one removed": {[]string{`DELETE FROM audit WHERE n = 21`, `INSERT INTO audit SELECT 21, at, CAST(replace(CAST(text AS TEXT), '"n":20', '"n":21') AS BLOB), hash FROM audit WHERE n = 20`}, "record 21 is not the head that was noted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := chained(t, 20)
			harm(t, path, c.do...)
			head := audit.Head{}
			if strings.Contains(c.want, "that was noted") {
				head = noted.Head
			}
			r := verified(t, path, head)
			if strings.Contains(c.want, "missing") && len(r.Findings) != 1 {
				t.Errorf("what is there was found, too: %+v", r.Findings)
			}
			if len(r.Findings) == 0 || !strings.Contains(fmt.Sprint(r.Findings), c.want) {
				t.Errorf("want %q among %+v", c.want, r.Findings)
			}
		})
	}
}

// Pruning leaves an anchor, which is checked, too; the chain goes on over a restart.
func TestPruningLeavesAnAnchor(t *testing.T) {
	path := chained(t, 2500)
	s, err := Open(Options{Path: path, Durable: DurableOS, sweep: -1, Limits: Limits{MaxRuns: 700}})
	hooktest.Must(t, err)
	hooktest.Must(t, s.Prune(t.Context()))
	s.Audit(time.Now(), audit.Denied, "after it")
	hooktest.Must(t, s.Close())
	r := verified(t, path, audit.Head{})
	if len(r.Findings) > 0 || r.First != 1802 || r.Pruned != 1801 || r.Head.N != 2503 {
		t.Errorf("after pruning: %+v", r)
	}
	for _, c := range []struct {
		do, want string
		noted    audit.Head
	}{
		{"", "record 7, the head that was noted, is before the first record that is left", audit.Head{N: 7}},
		{`DELETE FROM audit WHERE n = 1802`, "record 1802 is missing at the front: no record", audit.Head{}},
		{`DELETE FROM audit WHERE n < 1900`, "records 1802 to 1899 are missing at the front: no record", audit.Head{}},
		{`DELETE FROM audit WHERE instr(text, CAST('"kind":"pruned"' AS BLOB)) > 0`, "records 1 to 1899 are missing at the front", audit.Head{}},
	} {
		harm(t, path, c.do)
		if r := verified(t, path, c.noted); len(r.Findings) == 0 || !strings.HasPrefix(r.Findings[len(r.Findings)-1].Text, c.want) {
			t.Errorf("%s: got %+v, want %q", c.do, r.Findings, c.want)
		}
	}
}

// Of a session that was removed each gap is named, and nothing else is.
func TestARemovedSessionIsNamedRecordByRecord(t *testing.T) {
	for name, sessions := range map[string]int{"few gaps": 4, "more gaps than are listed": 80} {
		t.Run(name, func(t *testing.T) {
			const each = 5
			path := chainOf(t, sessions*each, func(i int) any { return map[string]string{"session": fmt.Sprint("s", i%2)} })
			harm(t, path, `DELETE FROM audit WHERE instr(text, CAST('"session":"s1"' AS BLOB)) > 0`)
			r := verified(t, path, audit.Head{})
			for i, f := range r.Findings {
				n := 3 + 2*i // record 1 says that the chain begins
				want := fmt.Sprintf("record %d is missing, so record %d cannot be checked", n, n+1)
				if n == sessions*each+1 {
					want = fmt.Sprintf("record %d is missing at the end", n)
				}
				if f.What != "removed" || f.Text != want {
					t.Errorf("got %+v, want %q", f, want)
				}
			}
			if got, want := len(r.Findings)+r.More, sessions*each/2; got != want {
				t.Errorf("%d findings, want %d", got, want)
			}
		})
	}
}

// BenchmarkVerify reads denials as agents get them, some 350 bytes each.
func BenchmarkVerify(b *testing.B) {
	path := chainOf(b, 100_000, func(i int) any {
		return auditedDecision{
			EventID: events.NewID(time.Now()), Event: "pre_tool_use", Dialect: "claude-code", SessionID: events.NewID(time.Now()),
			Cwd: "/home/ann/src/hookd", Tool: "shell", Subject: fmt.Sprintf("git push --force origin main-%d", i),
			Decision: wire.OutcomeDeny, DecidedBy: []string{"policy:command-guard"},
			Reason: "force push rewrites what others have: push to a branch of your own",
		}
	})
	b.ResetTimer()
	for b.Loop() {
		if r := verified(b, path, audit.Head{}); len(r.Findings) > 0 {
			b.Fatal(r.Findings)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N)*10, "s/million")
}

// A caller may stop at any record, and gets its own error.
func TestReadingTheChainStops(t *testing.T) {
	path, stop := chained(t, 3*auditBatch), errors.New("enough")
	for _, last := range []uint64{1, auditBatch, auditBatch + 1, 3*auditBatch + 1} {
		seen := uint64(0)
		_, err := ReadAudit(t.Context(), path, time.Time{}, func(r audit.Link, _ audit.Hash) error {
			if seen++; r.N != seen {
				t.Errorf("record %d came as the %d.", r.N, seen)
			}
			if r.N == last {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || seen != last {
			t.Errorf("it ended after %d records of %d with %v", seen, last, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadAudit(ctx, path, time.Time{}, func(audit.Link, audit.Hash) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has ended got %v", err)
	}
}

// A reader that waits for a person, such as one behind a pager, keeps no part of the database's log from being used
// again, and reads each record of the moment when it began. Records that are pruned meanwhile end it with an error.
func TestASlowReaderOfTheChain(t *testing.T) {
	for name, prunes := range map[string]bool{"reads all": false, "is overtaken by pruning": true} {
		t.Run(name, func(t *testing.T) {
			o, n := options(t), (auditBatches+3)*auditBatch
			s := open(t, o)
			add := func(count int) {
				for i := range count {
					s.Audit(time.Now(), audit.Denied, i)
				}
				flush(t, s)
			}
			add(n)
			reads, goes, ended := make(chan struct{}), make(chan struct{}), make(chan error)
			c, once := audit.NewChecker(audit.Head{}), sync.Once{}
			go func() {
				head, err := ReadAudit(t.Context(), o.Path, time.Time{}, func(r audit.Link, prev audit.Hash) error {
					once.Do(func() { close(reads); <-goes })
					c.AddNext(r, prev)
					return nil
				})
				if r := c.End(true, &head); err == nil && (r.Records != n+1 || len(r.Findings) > 0) {
					err = fmt.Errorf("%d records, want %d: %v", r.Records, n+1, r.Findings)
				}
				ended <- err
			}()
			<-reads
			add(n)
			if prunes {
				upTo := int64(n - 1)
				hooktest.Must(t, s.do(t.Context(), func(db *database) error {
					if err := s.auditing.chain(db, time.Now(), audit.Pruned, audit.Anchor{UpTo: uint64(upTo)}); err != nil {
						return err
					}
					_, err := db.exec(`DELETE FROM audit WHERE n <= ?`, upTo)
					return err
				}))
			}
			other, err := sql.Open("sqlite", dsn(o.Path))
			hooktest.Must(t, err)
			defer other.Close()
			hooktest.Until(t, "the log can begin again", func() bool {
				var busy, pages, merged int
				hooktest.Must(t, other.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &merged))
				return busy == 0
			})
			close(goes)
			if err := <-ended; prunes != errors.Is(err, errPruned) || !prunes && err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// An agent that tries again and again to weaken a guard does not fill the memory while the disk takes nothing.
func TestAuditsThatWaitAreBounded(t *testing.T) {
	o := options(t)
	s := open(t, o)
	hangs, goes, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.do(t.Context(), func(*database) error {
			close(hangs)
			<-goes
			return nil
		})
	}()
	<-hangs
	for i := range 3 * mostAudits {
		s.Audit(time.Now(), audit.Refused, i)
	}
	h := s.Health()
	close(goes)
	if h.Backlog != mostAudits || h.Dropped != 2*mostAudits {
		t.Errorf("%d records wait and %d were dropped, want %d and %d", h.Backlog, h.Dropped, mostAudits, 2*mostAudits)
	}
	hooktest.Must(t, <-done)
	flush(t, s)
	s.Audit(time.Now(), audit.Refused, "later")
	flush(t, s)
	if r := verified(t, o.Path, audit.Head{}); len(r.Findings) > 0 || r.Head.N != mostAudits+2 {
		t.Errorf("the chain has %d records, want %d: %v", r.Head.N, mostAudits+2, r.Findings)
	}
}

// A part of the chain is whole from its first record on, also where the clock was set back.
func TestAPartOfTheChain(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "hookd.db"), time.Now()
	s, err := Open(Options{Path: path, Durable: DurableOS, sweep: -1})
	hooktest.Must(t, err)
	for _, ago := range []int{50, 40, 10, 45, 5} { // minutes
		s.Audit(now.Add(-time.Duration(ago)*time.Minute), audit.Denied, ago)
	}
	hooktest.Must(t, s.Close())
	for since, want := range map[int]int{60: 6, 42: 4, 30: 3, 7: 1, 1: 0} { // the first one says that the chain began
		c := audit.NewChecker(audit.Head{})
		_, err := ReadAudit(t.Context(), path, now.Add(-time.Duration(since)*time.Minute), func(r audit.Link, prev audit.Hash) error {
			c.Add(r, &prev)
			return nil
		})
		hooktest.Must(t, err)
		if r := c.End(false, nil); r.Records != want || len(r.Findings) > 0 {
			t.Errorf("since %d minutes: %+v, want %d records", since, r, want)
		}
	}
}

// A chain that was emptied beside denials on record is a fault: at once, and after it has gone on.
func TestEmptiedChainIsAFault(t *testing.T) {
	for name, emptied := range map[string]string{
		"all":     `DELETE FROM audit; DELETE FROM audit_head`,
		"records": `DELETE FROM audit`,
		"head":    `DELETE FROM audit_head`,
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			s := open(t, o)
			for n := range uint64(2) {
				d := decision(s.FirstSeq()+n, time.Now())
				d.Decision = wire.OutcomeDeny
				s.Decided(d)
			}
			flush(t, s)
			closed(t, s)
			alter(t, o.Path, emptied)
			n, err := Unchained(t.Context(), o.Path)
			if err != nil || n != 2 {
				t.Fatalf("%d denials on record, %v", n, err)
			}
			s = open(t, o)
			again := decision(s.FirstSeq()+1, time.Now())
			again.Decision = wire.OutcomeDeny
			s.Decided(again)
			flush(t, s)
			found := verified(t, o.Path, audit.Head{}).Findings
			told := strings.Contains(fmt.Sprint(s.Losses()), "emptied")
			if whole := name == "head"; (len(found) == 0) != whole || told != (name == "all") {
				t.Errorf("findings %v, losses %v", found, s.Losses())
			}
			if page, err := s.Decisions(t.Context(), wire.DecisionQuery{}); err != nil || len(page.Decisions) != 3 {
				t.Errorf("%d decisions, %v", len(page.Decisions), err)
			}
		})
	}
}
