package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// Callers tell these errors apart with errors.Is.
var (
	ErrFull      = errors.New("no space left for the database")
	ErrIO        = errors.New("the disk does not take or give what it should")
	ErrReadOnly  = errors.New("the database cannot be written")
	ErrBusy      = errors.New("the database is locked by another program")
	ErrQueueFull = errors.New("too much waits on disk for its hooks")
	ErrClosed    = errors.New("the store is closed")
	ErrNewer     = errors.New("the database was written by a newer hookd")
	ErrForeign   = errors.New("the file is another program's database")
	ErrLocked    = errors.New("another hookd uses the database")
	ErrNotFound  = errors.New("not found")
	ErrAmbiguous = errors.New("more than one id begins so")
)

var (
	errCorrupt  = errors.New("the database is corrupt")
	errBehind   = fmt.Errorf("%w: too many events wait for it", ErrIO)
	errCut      = fmt.Errorf("%w: it was changed from outside", errCorrupt)
	errPending  = fmt.Errorf("%w: pending runs", errCorrupt)
	errGone     = errors.New("the database was deleted or replaced")
	errReplaced = errors.New("the database is being examined")
)

// classify wraps err so that errors.Is tells its meaning for the store. A
// classified error stays as it is.
func classify(err error) error {
	if kind := kindOf(err); kind != nil && !errors.Is(err, kind) {
		return fmt.Errorf("%w: %w", kind, err)
	}
	return err
}

// kindOf returns the meaning of err for the store, nil when that is not known.
func kindOf(err error) error {
	var e *sqlite.Error
	switch {
	case errors.As(err, &e) && e.Code() == sqlite3.SQLITE_ERROR && schemaDamaged.MatchString(e.Error()):
		return errCorrupt
	case errors.As(err, &e):
		return kindOfCode(e.Code())
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	case errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EFBIG):
		return ErrIO
	}
	return nil
}

// schemaDamaged finds that the text of the schema is another one, which SQLite's own check does not see.
var schemaDamaged = lazyregexp.New(`no such (column|table|index)|has no column named`)

// kindOfCode sorts SQLite's result codes: https://sqlite.org/rescode.html
func kindOfCode(code int) error {
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_IOERR:
		return ErrIO
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return ErrReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrBusy
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return errCorrupt
	}
	return nil
}

// damagedRow wraps the error of a row with a value that is none of its column: the file is damaged.
func damagedRow(err error) error {
	if err != nil && strings.Contains(err.Error(), "sql: Scan error on column") && !errors.Is(err, errCorrupt) {
		return fmt.Errorf("%w: %w", errCorrupt, err)
	}
	return err
}

// refused reports whether err is about one row, not about the disk.
func refused(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrOutboxFull) || errors.As(err, &e) &&
		(e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT || e.Code()&0xff == sqlite3.SQLITE_TOOBIG)
}

// outage is why and since when nothing can be written.
type outage struct {
	err    error
	since  time.Time
	reopen bool // the handles are not to be trusted any more
}

// IncidentKind names an incident of the store.
type IncidentKind string

const (
	IncidentDown    IncidentKind = "down"    // it cannot write; Err says why
	IncidentHealed  IncidentKind = "healed"  // it can again
	IncidentCorrupt IncidentKind = "corrupt" // moved aside, a new file was begun
	IncidentGone    IncidentKind = "gone"    // deleted from outside, a new file was begun
	IncidentJournal IncidentKind = "journal" // a part of the journal is not there, damaged, or of another database
	IncidentMemory  IncidentKind = "memory"  // Options.Memory cannot be used: a kill may take decisions
)

// Incident is something that a person should hear of.
type Incident struct {
	Kind        IncidentKind
	Err         error
	Path        string // of the database
	MovedTo     string // where the file is now that was set aside, or kept; "" = there is none
	Kept        int    // pending runs that were written to the new file
	Lost        int    // accepted runs, or events of which the runs are not known, that do not run
	More        bool   // there may be more of them
	DeadLetters int64  // that went with the lost file
}

// Error tells the whole incident in one line.
func (i Incident) Error() string {
	least := ""
	if i.More {
		least = "at least "
	}
	lost := fmt.Sprintf("%d pending runs kept, %s%d lost", i.Kept, least, i.Lost)
	if i.DeadLetters > 0 {
		lost += fmt.Sprintf(", %d dead letters lost", i.DeadLetters)
	}
	switch i.Kind {
	case IncidentCorrupt:
		return fmt.Sprintf("store %s: %v: moved to %s, a new one begun, %s", i.Path, i.Err, i.MovedTo, lost)
	case IncidentGone:
		return fmt.Sprintf("store %s: %v: a new one begun, %s", i.Path, i.Err, lost)
	case IncidentJournal:
		if i.MovedTo != "" {
			lost += ", the file is kept as " + i.MovedTo
		}
		return fmt.Sprintf("store %s: %v: %s", i.Path, i.Err, lost)
	case IncidentMemory:
		return fmt.Sprintf("store: %s: %v", i.Path, i.Err)
	case IncidentHealed:
		return fmt.Sprintf("store %s: writes again", i.Path)
	default:
		return fmt.Sprintf("store %s: %v", i.Path, i.Err)
	}
}

func (i Incident) Unwrap() error { return i.Err }
