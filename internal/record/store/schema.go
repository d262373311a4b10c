package store

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"
)

// applicationID marks the file as hookd's: "hkd" and a zero, see
// https://sqlite.org/pragma.html#pragma_application_id
const applicationID = 0x686b6400

// migrationsText has the migrations, divided by lines that say so.
//
//go:embed migrations.sql
var migrationsText string

// migrations bring the schema from version i to i+1; PRAGMA user_version is
// how many were applied. They are only ever appended to.
var migrations = strings.Split(migrationsText, "\n-- next step\n")

// newest makes the tables that all migrations make: a new database costs one step, a third of the time of all.
// TestNewest compares the two, and writes the file.
//
//go:embed newest.sql
var newest string

// migrate brings the database to the newest version, each step whole or not
// at all.
func migrate(ctx context.Context, conn *sql.Conn, path string, steps []string) error {
	version, err := identify(ctx, conn, path, len(steps))
	if err != nil {
		return err
	}
	for version < len(steps) {
		step, next := steps[version], version+1
		if version == 0 && len(steps) >= len(migrations) {
			step, next = newest, len(migrations)
		}
		script := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
			step, applicationID, next)
		if _, err := conn.ExecContext(ctx, script); err != nil {
			conn.ExecContext(ctx, "ROLLBACK")
			return fmt.Errorf("migrate %s from version %d to %d: %w", path, version, next, classify(err))
		}
		version = next
	}
	return nil
}

// identify returns the version of a database that this hookd may open.
func identify(ctx context.Context, conn *sql.Conn, path string, newest int) (version int, err error) {
	var app, tables int
	row := conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&app, &version, &tables); err != nil {
		return 0, fmt.Errorf("read the version of %s: %w", path, classify(err))
	}
	switch {
	case app != applicationID && (app != 0 || tables > 0):
		return 0, fmt.Errorf("open %s: %w: move it away or set store.path", path, ErrForeign)
	case version > newest:
		return 0, fmt.Errorf("open %s: %w: it has version %d, this one knows up to %d: "+
			"install that hookd, or move the file away", path, ErrNewer, version, newest)
	}
	return version, nil
}
