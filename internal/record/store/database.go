package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver

	"github.com/hookd/hookd/internal/base/replacefile"
)

// readers is how many queries run side by side.
const readers = 4

// database is the open file: one connection that writes and a few that read.
type database struct {
	path      string
	pool      *sql.DB // of conn alone
	conn      *sql.Conn
	stmts     map[string]*sql.Stmt              // of conn, by their text: those that read
	execs     map[string]driver.StmtExecContext // the same: those that write
	args      []driver.NamedValue               // of the statement under way
	reading   *sql.DB
	main, wal os.FileInfo  // as opened, to notice that they were deleted
	file      *os.File     // main, to look at its header; closed last, for that takes SQLite's locks away
	merges    atomic.Int64 // grows when the log begins and ends to be merged, which changes the main file
	sizes     sizes        // as of the last commit
	full      bool         // synchronous is FULL
}

// sizes are those of the files, and how often the log had been merged.
type sizes struct{ main, wal, merges int64 }

// openDatabase opens the file, makes it if there is none, and migrates it.
func openDatabase(path string, durable Durability, steps []string) (db *database, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := prepareFile(path); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, classify(err))
	}
	// Opening it reports a bad path.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // as SQLite does, so that the log is found
	}
	db = &database{path: path, stmts: map[string]*sql.Stmt{}, execs: map[string]driver.StmtExecContext{}}
	defer func() {
		if err != nil {
			db.close()
		}
	}()
	ctx := context.Background()
	if db.pool, err = sql.Open("sqlite", dsn(path, "busy_timeout(2000)", "cache_size(-8000)")); err != nil {
		return db, fmt.Errorf("open store %s: %w", path, classify(err))
	}
	db.pool.SetMaxOpenConns(1)
	if db.conn, err = db.pool.Conn(ctx); err != nil {
		return db, fmt.Errorf("open store %s: %w", path, classify(err))
	}
	if _, err = identify(ctx, db.conn, path, len(steps)); err != nil {
		return db, err // untouched
	}
	if err = db.setUp(ctx, durable); err != nil {
		return db, fmt.Errorf("open store %s: %w", path, classify(err))
	}
	if err = migrate(ctx, db.conn, path, steps); err != nil {
		return db, err
	}
	if db.reading, err = sql.Open("sqlite", dsn(path, "busy_timeout(2000)", "query_only(1)")); err != nil {
		return db, fmt.Errorf("open store %s: %w", path, classify(err))
	}
	db.reading.SetMaxOpenConns(readers + 1) // one for checkpoints
	db.reading.SetMaxIdleConns(readers + 1)
	return db, nil
}

// setUp puts the connection into the mode that the promises rest on. The
// order matters: auto_vacuum can only be set while the file is empty.
func (d *database) setUp(ctx context.Context, durable Durability) error {
	sync := "FULL" // at first: the journal names the database by what is written then
	if d.full = durable == DurableFsync; !d.full {
		sync = "NORMAL"
	}
	pragmas := []string{
		"auto_vacuum = INCREMENTAL", "synchronous = " + sync, "wal_autocheckpoint = 0", "journal_size_limit = 67108864",
	}
	if runtime.GOOS == "darwin" && durable == DurableFsync { // there fsync alone does not reach the disk
		pragmas = append(pragmas, "fullfsync = 1", "checkpoint_fullfsync = 1")
	}
	for _, p := range pragmas {
		if _, err := d.conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	var mode string
	if err := d.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %s, want wal: is it on a network file system?", mode)
	}
	return nil
}

// syncCommits has the next transactions synced as they are committed, or not. It is
// called outside of transactions.
func (d *database) syncCommits(full bool) error {
	if full == d.full {
		return nil
	}
	text := "PRAGMA synchronous = NORMAL"
	if full {
		text = "PRAGMA synchronous = FULL"
	}
	// Not prepared once and for all: it acts when it is prepared.
	if _, err := d.conn.ExecContext(context.Background(), text); err != nil {
		return err
	}
	d.full = full
	return nil
}

// prepareFile makes the file if it is missing, and the user's alone.
// SQLite gives its log the mode of the database.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if err = f.Close(); err != nil {
			return err
		}
		return replacefile.SyncDir(dir)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Not opened here: closing it would drop the locks of another connection.
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() == 0o600 {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func dsn(path string, pragmas ...string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return u.String()
}

// exec runs a statement of the writer and returns the number of rows changed.
// It speaks to the driver itself: the locks and conversions of database/sql
// cost a tenth of a short statement. An argument is an int, or a driver.Value.
func (d *database) exec(text string, args ...any) (changed int64, err error) {
	err = d.conn.Raw(func(conn any) error {
		stmt, err := d.writing(conn, text)
		if err != nil {
			return err
		}
		d.args = d.args[:0]
		for i, a := range args {
			if n, ok := a.(int); ok {
				a = int64(n)
			}
			d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: a})
		}
		res, err := stmt.ExecContext(context.Background(), d.args)
		clear(d.args)
		if err != nil {
			return err
		}
		changed, err = res.RowsAffected()
		return err
	})
	return changed, err
}

// writing prepares a statement of the driver's connection, once.
func (d *database) writing(conn any, text string) (driver.StmtExecContext, error) {
	if stmt := d.execs[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	d.execs[text] = stmt.(driver.StmtExecContext)
	return d.execs[text], nil
}

// row reads one row through the writer's connection, which sees all that the
// transaction under way has written.
func (d *database) row(text string, args ...any) *sql.Row {
	stmt, err := d.stmt(text)
	if err != nil {
		return d.conn.QueryRowContext(context.Background(), text, args...) // fails the same way
	}
	return stmt.QueryRowContext(context.Background(), args...)
}

func (d *database) stmt(text string) (*sql.Stmt, error) {
	if stmt := d.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := d.conn.PrepareContext(context.Background(), text)
	if err == nil {
		d.stmts[text] = stmt
	}
	return stmt, err
}

// query reads all rows through the writer's connection.
func query[T any](d *database, scan func(scanner) (T, error), text string, args ...any) ([]T, error) {
	stmt, err := d.stmt(text)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.Background(), args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

func collect[T any](rows *sql.Rows, scan func(scanner) (T, error)) (all []T, err error) {
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// remember takes down which files are open.
func (d *database) remember() (err error) {
	if d.main, err = os.Stat(d.path); err != nil {
		return err
	}
	if d.wal, err = os.Stat(d.path + "-wal"); err != nil {
		return err
	}
	if d.file == nil {
		d.file, err = os.Open(d.path)
	}
	return err
}

// header is how each database begins.
const header = "SQLite format 3\x00"

// present fails with errGone unless the open files still have their
// names: text written to a file without a name is lost.
func (d *database) present() error {
	for name, was := range map[string]os.FileInfo{d.path: d.main, d.path + "-wal": d.wal} {
		is, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(was, is) {
			return fmt.Errorf("%w: %s", errGone, name)
		}
	}
	var begin [len(header)]byte
	n, err := d.file.ReadAt(begin[:], 0)
	if n < len(begin) && err == io.EOF || n == len(begin) && string(begin[:]) != header {
		return fmt.Errorf("%w: its header was overwritten", errCut)
	}
	return nil
}

// measure takes down how large the files are.
func (d *database) measure() (err error) {
	d.sizes, err = d.sizesNow()
	return err
}

func (d *database) sizesNow() (z sizes, err error) {
	z.merges = d.merges.Load()
	main, err := os.Stat(d.path)
	if err != nil {
		return z, err
	}
	wal, err := os.Stat(d.path + "-wal")
	if err != nil {
		return z, err
	}
	z.main, z.wal = main.Size(), wal.Size()
	return z, nil
}

// uncut fails with errCorrupt when one of the files has become shorter since the
// last commit: SQLite would go on writing, and its writes would be lost. SQLite
// cuts the log off only while it commits, the main file only in a merge.
func (d *database) uncut() error {
	was := d.sizes
	now, err := d.sizesNow()
	switch {
	case err != nil: // present tells
		return nil
	case now.wal < was.wal:
		return fmt.Errorf("%w: its log was cut off", errCut)
	case now.main < was.main && now.merges == was.merges && d.merges.Load() == was.merges && was.merges%2 == 0:
		return fmt.Errorf("%w: it was cut off", errCut)
	}
	return nil
}

func (d *database) close() error {
	var errs []error
	if d.reading != nil {
		errs = append(errs, d.reading.Close())
	}
	for _, stmt := range d.stmts {
		stmt.Close()
	}
	if d.conn != nil {
		d.conn.Raw(func(any) error {
			for _, stmt := range d.execs {
				stmt.(driver.Stmt).Close()
			}
			return nil
		})
		d.conn.Close()
	}
	if d.pool != nil {
		errs = append(errs, d.pool.Close())
	}
	if d.file != nil {
		d.file.Close()
	}
	return errors.Join(errs...)
}
