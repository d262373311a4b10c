package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// falseAlarms count how often a database that seemed to be damaged was sound after all.
type falseAlarms struct {
	number int
	last   time.Time
	unread time.Time // when the disk first did not give it; zero = it does
}

// mostFalseAlarms within Options.unread are believed. After that SQLite is: it sees more than its check does.
const mostFalseAlarms = 3

// reopen is attach, and examines a database that seems to be damaged.
func (s *healer) reopen() error {
	err := s.opener.attach()
	for errors.Is(err, errCorrupt) {
		if err = s.examine(err); err != nil {
			return err
		}
		err = s.opener.attach()
	}
	return err
}

// examine looks again at a database that SQLite calls damaged, and closes it. SQLite takes a read that failed
// for damage: https://sqlite.org/rescode.html#ioerr_corruptfs. It returns nil when the database is sound, ErrIO
// while the disk does not give the files, for Options.unread at most, and else cause.
func (s *healer) examine(cause error) error {
	s.opener.detach()
	select {
	case <-s.suspect: // of another reader, about the file that is closed now
	default:
	}
	var of *sqlite.Error
	if errors.Is(cause, errCut) || !errors.As(cause, &of) && !errors.Is(cause, errPending) {
		return cause
	}
	err := s.sound()
	for range rereads {
		if err == nil {
			break
		}
		time.Sleep(rereadAfter)
		err = s.sound()
	}
	d := &s.w.falseAlarms
	switch {
	case errors.Is(err, ErrIO):
		if d.unread.IsZero() {
			d.unread = time.Now()
		}
		if time.Since(d.unread) < s.opts.unread {
			return err
		}
		return cause
	case err != nil:
		return cause
	}
	if time.Since(d.last) > s.opts.unread {
		d.number = 0
	}
	d.unread, d.last, d.number = time.Time{}, time.Now(), d.number+1
	if d.number > mostFalseAlarms {
		return cause
	}
	return nil
}

// sound returns nil when SQLite finds no fault in the whole database, and ErrIO when the disk does not give it.
func (s *healer) sound() error {
	for _, suffix := range []string{"", "-wal"} {
		if err := readThrough(s.opts.Path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrIO, err)
		}
	}
	db, err := sql.Open("sqlite", dsn(s.opts.Path, "busy_timeout(2000)", "query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	var says string
	if err := db.QueryRow("PRAGMA quick_check(1)").Scan(&says); err != nil {
		return classify(err)
	}
	if says == "ok" {
		return nil
	}
	if code := errorCode.FindStringSubmatch(says); code != nil {
		if n, err := strconv.Atoi(code[1]); err == nil && kindOfCode(n) == ErrIO {
			return fmt.Errorf("%w: %s", ErrIO, says)
		}
	}
	return fmt.Errorf("%w: %s", errCorrupt, says)
}

// errorCode finds why SQLite's check has not got a page.
var errorCode = lazyregexp.New(`error code=(\d+)`)

// readThrough reads a file to its end, as SQLite does.
func readThrough(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for part, at := make([]byte, 1<<20), int64(0); ; {
		n, err := f.ReadAt(part, at)
		switch at += int64(n); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
