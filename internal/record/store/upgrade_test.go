package store

import (
	"bufio"
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/hookd/hookd/wire"
)

const upgradeEnv = "HOOKD_STORE_UPGRADE_TEST"

// upgradeChild opens a database, and stops within the migration of its last step: after
// as many statements as the variable says. It prints a line there.
func upgradeChild() {
	sqlite.MustRegisterScalarFunction("halfway", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		fmt.Println("halfway")
		<-time.After(time.Hour) // not for ever: the runtime would call that a deadlock
		return int64(0), nil
	})
	step, _ := strconv.Atoi(os.Getenv(upgradeEnv + "_STEP"))
	cut, _ := strconv.Atoi(os.Getenv(upgradeEnv + "_CUT"))
	steps := slices.Clone(migrations[:step+1])
	parts := statements(steps[step])
	steps[step] = strings.Join(parts[:cut], "") + "SELECT halfway();" + strings.Join(parts[cut:], "")
	_, err := openDatabase(os.Getenv(upgradeEnv), DurableOS, steps)
	panic(fmt.Sprint("the migration came to its end: ", err))
}

// statements are those of a script, each with its end.
func statements(script string) (list []string) {
	rest := script
	for {
		n := strings.Index(rest, ";\n")
		if n < 0 {
			return list
		}
		list, rest = append(list, rest[:n+2]), rest[n+2:]
	}
}

// A process that is killed anywhere in the upgrade from the version before decisions
// leaves a database that the next one upgrades, with all that it held.
func TestUpgradeIsKilled(t *testing.T) {
	t.Parallel()
	o := options(t)
	const before = 5
	db, err := openDatabase(o.Path, DurableOS, migrations[:before])
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	started := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour) // an hour that is not read as part of a day
	for i := range n {
		run := fmt.Sprintf(`INSERT INTO runs (seq, id, event_id, event, hook, session_id, agent_id, agent_name, result, started, ended, detail)
			VALUES (%d, 'R%d', 'E1', 'agent:end', 'log', 's', '', '', 'ok', %d, %[3]d, CAST('{}' AS BLOB))`, i+2, i, started.UnixNano())
		span := fmt.Sprintf(`INSERT INTO spans (length, start, hook, runs, failures, blocked, durations)
			VALUES (3600, %d, 'log%d', 4, 1, 2, X'')`, floor(started.Unix(), hour), i)
		for _, text := range []string{run, span} {
			if _, err := db.conn.ExecContext(context.Background(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := (state{epoch: "E", seq: 1000, runs: n}).save(db); err != nil {
		t.Fatal(err)
	}
	db.close()
	for step := before; step < len(migrations); step++ {
		for cut := range len(statements(migrations[step])) + 1 {
			killUpgrade(t, o.Path, step, cut)
		}
	}
	s := open(t, o)
	page, err := s.Runs(t.Context(), wire.RunQuery{Limit: 2 * n})
	if err != nil || len(page.Runs) != n || s.Epoch() != "E" || s.Health().Runs != n {
		t.Errorf("got %d runs %v of epoch %s, %d counted", len(page.Runs), err, s.Epoch(), s.Health().Runs)
	}
	stats, err := s.Stats(t.Context(), wire.StatsQuery{Since: started.Add(-time.Second), Until: started.Add(time.Second)})
	if err != nil || len(stats) != n || stats[0].Runs != 4 {
		t.Errorf("got the counts of %d hooks %v", len(stats), err)
	}
	s.Decided(decision(s.FirstSeq()+1, time.Now()))
	flush(t, s)
	found, err := s.Decisions(t.Context(), wire.DecisionQuery{Text: "ls", Decision: string(wire.OutcomeNone)})
	if err != nil || len(found.Decisions) != 1 {
		t.Errorf("got %+v %v", found, err)
	}
}

// killUpgrade lets a child upgrade to step and kills it after as many statements as cut.
func killUpgrade(t *testing.T, path string, step, cut int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), upgradeEnv+"="+path, fmt.Sprint(upgradeEnv, "_STEP=", step), fmt.Sprint(upgradeEnv, "_CUT=", cut))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	cmd.Process.Kill()
	cmd.Wait()
	if line != "halfway\n" {
		t.Fatalf("step %d, cut %d: the child said %q %v", step, cut, line, err)
	}
}
