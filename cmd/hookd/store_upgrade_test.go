package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/hookd/hookd/internal/base/hooktest"
)

// oldVersion is that of testdata/hookd-2.sql, which has oldRuns runs and, of the hook note, four
// that are pending; the first of them was under way.
const (
	oldVersion  = 2
	oldRuns     = 8
	interrupted = 1
)

// moreRuns makes the upgrade take long enough to be killed in it.
const moreRuns = 20_000

// database opens that of the home, also beside a daemon.
func (h *home) database(mode string) *sql.DB {
	h.Helper()
	db, err := sql.Open("sqlite", "file:"+h.path("hookd.db")+"?mode="+mode+"&_pragma=busy_timeout(10000)")
	if err != nil {
		h.Fatal(err)
	}
	return db
}

// makeOld puts the database of an old hookd into the home, of events that have just come.
func (h *home) makeOld() {
	h.Helper()
	for _, name := range []string{"hookd.db", "hookd.db-wal", "hookd.db-shm"} {
		os.Remove(h.path(name))
	}
	text, err := os.ReadFile(filepath.Join("testdata", "hookd-2.sql"))
	if err != nil {
		h.Fatal(err)
	}
	db := h.database("rwc")
	defer db.Close()
	now := time.Now().UnixNano()
	for _, script := range []string{
		string(text),
		fmt.Sprintf(`UPDATE events SET at = %d; UPDATE runs SET started = %[1]d, ended = %[1]d; UPDATE dead SET at = %[1]d`, now),
		fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO runs
			SELECT 1000 + i, 'R' || i, 'E' || i, 'agent:end', 'log', 's', '', '', 'ok', %d, %[2]d, CAST('{}' AS BLOB) FROM n`,
			moreRuns, now),
		`PRAGMA journal_mode = WAL`,
	} {
		if _, err := db.Exec(script); err != nil {
			h.Fatal(err)
		}
	}
}

// version returns that of the schema on disk; 0 = it cannot be read at the moment.
func (h *home) version() (v int) {
	db := h.database("ro")
	defer db.Close()
	db.QueryRow(`SELECT user_version FROM pragma_user_version`).Scan(&v)
	return v
}

// killUpgrade starts a daemon and kills it once the database is in the middle of the upgrade:
// when it has written to its log, or, with a version, when it has come beyond that.
func (h *home) killUpgrade(beyond int) {
	h.Helper()
	cmd := h.command("serve", "--fire-startup=false")
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	hooktest.Until(h.T, "the upgrade is under way", func() bool {
		if beyond > 0 {
			return h.version() > beyond
		}
		log, err := os.Stat(h.path("hookd.db-wal"))
		return err == nil && log.Size() > 0
	})
	cmd.Process.Kill()
	cmd.Wait()
}

// The database of an old hookd is upgraded by daemons that are killed, one after the other, and
// the last one has all that was in it.
func TestUpgradeByDaemonsThatAreKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serve()
	h.end(syscall.SIGKILL)
	newest := h.version()
	halfway := 0
	for tries := 0; halfway == 0; tries++ {
		if tries == 10 {
			t.Fatal("no daemon was killed in the middle of an upgrade")
		}
		h.makeOld()
		for version := 0; version < newest; {
			h.killUpgrade(version)
			now := h.version()
			if now < max(version, oldVersion) {
				t.Fatalf("the version is %d after %d", now, version)
			}
			if version = now; version < newest {
				halfway++
			}
		}
	}
	t.Logf("%d daemons were killed in the middle of the upgrade to version %d", halfway, newest)
	h.serve()
	h.acked = []string{"6}", "7}", "8}", "9}"} // were pending, as the hook cuts them out
	h.ranAll()
	if out, code := h.hookd("dlq", "list"); code != 0 || !strings.Contains(out, "failed 2 times") {
		t.Errorf("dlq list says %q, exit code %d", out, code)
	}
	if out, code := h.hookd("history", "--event", "pre_tool_use"); code != 0 || !strings.Contains(out, "guard") {
		t.Errorf("history says %q, exit code %d", out, code)
	}
	h.end(syscall.SIGTERM)
	db := h.database("ro")
	defer db.Close()
	var sound string
	var runs int
	row := db.QueryRow(`SELECT (SELECT integrity_check FROM pragma_integrity_check), (SELECT count(*) FROM runs)`)
	if err := row.Scan(&sound, &runs); err != nil || sound != "ok" || runs != oldRuns+moreRuns+interrupted+len(h.acked) {
		t.Errorf("the database is %q with %d runs: %v", sound, runs, err)
	}
}
