package store

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

var update = flag.Bool("update", false, "write newest.sql")

// A database that is made in one step is the one that all migrations make, one after the other.
func TestNewest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "migrated.db")
	for v := 1; v < len(migrations); v++ {
		db, err := openDatabase(path, DurableOS, migrations[:v])
		hooktest.Must(t, err)
		hooktest.Must(t, db.close())
	}
	migrated := dump(t, path)
	if *update {
		hooktest.Write(t, "newest.sql", migrated, 0o644)
		return
	}
	if newest != migrated {
		t.Error("newest.sql is not what the migrations make: go test ./internal/record/store -run TestNewest -update")
	}
	if made := dump(t, filepath.Join(t.TempDir(), "made.db")); made != newest {
		t.Errorf("newest.sql makes\n%s\nwant itself", made)
	}
}

// dump opens a database with all migrations, and returns the statements that make its tables and their rows.
func dump(t *testing.T, path string) string {
	t.Helper()
	db, err := openDatabase(path, DurableOS, migrations)
	hooktest.Must(t, err)
	defer db.close()
	text := func(s scanner) (v string, err error) { return v, s.Scan(&v) }
	// SQLite makes the tables behind a virtual one, and those of its own.
	made, err := query(db, text, `SELECT sql || ';' FROM sqlite_schema s WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
		AND NOT EXISTS (SELECT 1 FROM sqlite_schema v WHERE v.sql LIKE 'CREATE VIRTUAL %' AND s.tbl_name LIKE v.name || '_%') ORDER BY rowid`)
	hooktest.Must(t, err)
	tables, err := query(db, text, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'
		AND name NOT LIKE 'decisions\_text\_%' ESCAPE '\'`)
	hooktest.Must(t, err)
	for _, table := range tables {
		columns, err := query(db, text, fmt.Sprintf(`SELECT 'quote(' || name || ')' FROM pragma_table_info('%s')`, table))
		hooktest.Must(t, err)
		rows, err := query(db, text, fmt.Sprintf(`SELECT %s FROM %s`, strings.Join(columns, ` || ', ' || `), table))
		hooktest.Must(t, err)
		for _, row := range rows {
			made = append(made, fmt.Sprintf("INSERT INTO %s VALUES (%s);", table, row))
		}
	}
	return strings.Join(made, "\n") + "\n"
}
