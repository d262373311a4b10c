package transcripts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// isDatabase reports whether a transcript is an SQLite database, by its name.
func isDatabase(path string) bool {
	return strings.HasSuffix(path, ".db") || strings.HasSuffix(path, ".sqlite")
}

// sqliteLength is SQLite's number of the limit of a text's length, SQLITE_LIMIT_LENGTH.
const sqliteLength = 0

// rows gives each row of a query on a copy of a database and its log. The database itself is not
// opened as one: SQLite would write beside it. tables must be there, as tables and no views; a
// database without them has nothing to give.
func rows(ctx context.Context, f *File, tables []string, query string, each func(scan func(...any) error) error,
	args ...any) error {
	dir, err := os.MkdirTemp("", "hookd-scan-") // 0700
	if err != nil {
		return fmt.Errorf("copy %s: %w", f.Path, err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.db")
	if err := copyFile(ctx, f.Path, path); err != nil {
		return fmt.Errorf("copy %s: %w", f.Path, err)
	}
	if err := copyFile(ctx, f.Path+"-wal", path+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("copy %s: %w", f.Path, err)
	}
	settings := url.Values{"_pragma": {"query_only(1)", "trusted_schema(0)", "cell_size_check(1)", "cache_size(-4000)",
		"mmap_size(0)", "temp_store(1)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+settings.Encode())
	if err != nil {
		return fmt.Errorf("open the copy of %s: %w", f.Path, err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open the copy of %s: %w", f.Path, err)
	}
	defer conn.Close()
	if _, err := sqlite.Limit(conn, sqliteLength, 2*maxLine); err != nil {
		return fmt.Errorf("bound the copy of %s: %w", f.Path, err)
	}
	for _, table := range tables {
		var n int
		const query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
		err := conn.QueryRowContext(ctx, query, table).Scan(&n)
		if err != nil {
			return fmt.Errorf("read the copy of %s: %w", f.Path, err)
		}
		if n == 0 {
			return nil
		}
	}
	found, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the copy of %s: %w", f.Path, err)
	}
	defer found.Close()
	for found.Next() {
		if err := each(found.Scan); err != nil {
			return fmt.Errorf("read the copy of %s: %w", f.Path, err)
		}
	}
	return found.Err()
}

// copyFile copies a regular file of this user, a piece at a time.
func copyFile(ctx context.Context, from, to string) error {
	in, err := (&File{Path: from}).open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	for left := int64(maxFile); left > 0; {
		n, err := io.CopyN(out, in, min(left, 8<<20))
		switch left -= n; {
		case err == io.EOF:
			return out.Close()
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
	return errors.New("it is too large")
}

// sinceMillis is a time as rows have it; 0 for the zero time.
func sinceMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
