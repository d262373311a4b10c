package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/record/audit"
)

// auditBatch is how many records are read while those before them are looked at, and
// auditBatches how many such batches there are.
const (
	auditBatch   = 256
	auditBatches = 3
)

// linked is a record with the hash that it stands on.
type linked struct {
	audit.Link
	before audit.Hash
}

// batch has records whose texts are in one buffer.
type batch struct {
	records []linked
	texts   []byte
}

// add copies a record into the batch.
func (b *batch) add(r linked) {
	from := len(b.texts)
	b.texts = append(b.texts, r.Text...)
	r.Text = b.texts[from:len(b.texts):len(b.texts)] // stays what it is when the buffer grows
	b.records = append(b.records, r)
}

// ReadAudit calls each with the records of the database at path, from since on, in order,
// and with the hash that each stands on; it returns the head that the database has. No
// daemon is asked: one may run or not. The text of a record is valid until each returns.
// Records are read by one goroutine and each is called by the caller's: both take about the
// same time.
func ReadAudit(
	ctx context.Context, path string, since time.Time, each func(audit.Link, audit.Hash) error,
) (head audit.Head, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	full, empty := make(chan *batch, auditBatches), make(chan *batch, auditBatches)
	for range auditBatches {
		empty <- new(batch)
	}
	go func() {
		defer close(full)
		head, err = readAudit(ctx, path, since, full, empty)
	}()
	var stopped error
	for b := range full {
		for _, r := range b.records {
			if stopped == nil {
				if stopped = each(r.Link, r.before); stopped != nil {
					cancel()
				}
			}
		}
		b.records, b.texts = b.records[:0], b.texts[:0]
		empty <- b
	}
	if stopped != nil {
		return head, stopped
	}
	return head, err
}

// errPruned is the error of a reader from which the daemon has pruned the records that come next.
var errPruned = errors.New("records were pruned while they were read: type the command again")

// readAudit fills batches that are empty. It ends when ctx does. No transaction is open while it waits for the
// caller, who may wait for a person: the log of the database could not begin again.
func readAudit(
	ctx context.Context, path string, since time.Time, full chan<- *batch, empty <-chan *batch,
) (head audit.Head, err error) {
	db, err := sql.Open("sqlite", dsn(path, "busy_timeout(2000)", "query_only(1)"))
	if err != nil {
		return head, err
	}
	defer db.Close()
	head, next, last, before, err := chainSince(ctx, db, since)
	if errors.Is(err, sql.ErrNoRows) { // there is no head, or no record
		return head, nil
	}
	for wanted := next; err == nil && next <= last; wanted = next {
		into := <-empty
		_, err = list(ctx, db, func(row scanner) (none struct{}, err error) {
			var n int64
			var text, hash sql.RawBytes
			if err := row.Scan(&n, &text, &hash); err != nil {
				return none, err
			}
			r := linked{audit.Link{N: uint64(n), Text: text}, before}
			copy(r.Hash[:], hash)
			before, next = r.Hash, n+1
			into.add(r)
			return none, nil
		}, `SELECT n, text, hash FROM audit WHERE n BETWEEN ? AND ? ORDER BY n LIMIT ?`, next, last, auditBatch)
		if err == nil && (len(into.records) == 0 || into.records[0].N != uint64(wanted)) {
			err = notPruned(ctx, db, last, wanted)
		}
		if len(into.records) == 0 {
			return head, err
		}
		if err == nil {
			full <- into
		}
	}
	return head, err
}

// chainSince returns the head of the chain, the numbers of its records since a time, and the hash that the first of
// them stands on.
func chainSince(
	ctx context.Context, db *sql.DB, since time.Time,
) (head audit.Head, first, last int64, before audit.Hash, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return head, 0, 0, before, err
	}
	defer tx.Rollback() // it has nothing to commit
	if head, err = readHead(tx.QueryRowContext(ctx, `SELECT n, hash FROM audit_head`)); err != nil {
		return head, 0, 0, before, err
	}
	// And all behind the first, also where the clock was set back: no record is left out.
	err = tx.QueryRowContext(ctx, `SELECT n, (SELECT max(n) FROM audit) FROM audit WHERE at >= ? ORDER BY n LIMIT 1`,
		nanos(since)).Scan(&first, &last)
	if err == nil {
		before, err = hashBefore(ctx, tx, first)
	}
	return head, first, last, before, err
}

// notPruned fails with errPruned where a record behind last says that the record with the number wanted was pruned.
func notPruned(ctx context.Context, db querier, last, wanted int64) error {
	all, err := anchors(ctx, db, last)
	if slices.ContainsFunc(all, func(a audit.Anchor) bool { return a.UpTo >= uint64(wanted) }) {
		return errPruned
	}
	return err
}

// Unchained returns how many denials the database at path has on record.
func Unchained(ctx context.Context, path string) (n int64, err error) {
	db, err := sql.Open("sqlite", dsn(path, "busy_timeout(2000)", "query_only(1)"))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return countDenials(func(text string, args ...any) *sql.Row { return db.QueryRowContext(ctx, text, args...) })
}

// hashBefore is the hash that record n stands on: the hash of the record before it, or of the
// pruned records.
func hashBefore(ctx context.Context, tx *sql.Tx, n int64) (h audit.Hash, err error) {
	var hash []byte
	err = tx.QueryRowContext(ctx, `SELECT hash FROM audit WHERE n < ? ORDER BY n DESC LIMIT 1`, n).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return anchorOf(ctx, tx, n-1)
	}
	copy(h[:], hash)
	return h, err
}

// anchorOf is the hash of the last record that was pruned, as the chain says; zero where
// it does not.
func anchorOf(ctx context.Context, db querier, upTo int64) (h audit.Hash, err error) {
	all, err := anchors(ctx, db, 0)
	for _, a := range all {
		if a.UpTo == uint64(upTo) {
			return audit.ParseHash(a.Hash), nil
		}
	}
	return h, err
}

// anchors returns the statements about pruned records behind a number.
func anchors(ctx context.Context, db querier, after int64) (all []audit.Anchor, err error) {
	texts, err := list(ctx, db, func(row scanner) (text []byte, err error) { return text, row.Scan(&text) },
		`SELECT text FROM audit WHERE n > ? AND instr(text, CAST('"kind":"pruned"' AS BLOB)) > 0 ORDER BY n`, after)
	for _, text := range texts {
		if a, ok := audit.AnchorIn(text); ok {
			all = append(all, a)
		}
	}
	return all, err
}
