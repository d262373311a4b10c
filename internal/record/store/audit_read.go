package store

import (
	"context"
	"database/sql"
	"errors"
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

// readAudit fills batches that are empty. It ends when ctx does.
func readAudit(
	ctx context.Context, path string, since time.Time, full chan<- *batch, empty <-chan *batch,
) (head audit.Head, err error) {
	db, err := sql.Open("sqlite", dsn(path, "busy_timeout(2000)", "query_only(1)"))
	if err != nil {
		return head, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return head, err
	}
	defer tx.Rollback() // it has nothing to commit
	if head, err = readHead(tx.QueryRowContext(ctx, `SELECT n, hash FROM audit_head`)); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return head, err
	}
	var first int64 // and all behind it, also where the clock was set back: no record is left out
	err = tx.QueryRowContext(ctx, `SELECT n FROM audit WHERE at >= ? ORDER BY n LIMIT 1`, nanos(since)).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return head, nil
	}
	var before audit.Hash
	if err == nil {
		before, err = hashBefore(ctx, tx, first)
	}
	if err != nil {
		return head, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT n, text, hash FROM audit WHERE n >= ? ORDER BY n`, first)
	if err != nil {
		return head, err
	}
	defer rows.Close()
	into := <-empty
	for rows.Next() {
		var n int64
		var text, hash sql.RawBytes
		if err := rows.Scan(&n, &text, &hash); err != nil {
			return head, err
		}
		r := linked{audit.Link{N: uint64(n), Text: text}, before}
		copy(r.Hash[:], hash)
		before = r.Hash
		if into.add(r); len(into.records) == auditBatch {
			full <- into
			into = <-empty
		}
	}
	full <- into
	return head, rows.Err()
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
	texts, err := list(ctx, db, func(row scanner) (text []byte, err error) { return text, row.Scan(&text) },
		`SELECT text FROM audit WHERE instr(text, CAST('"kind":"pruned"' AS BLOB)) > 0 ORDER BY n`)
	for _, text := range texts {
		if a, ok := audit.AnchorIn(text); ok && a.UpTo == uint64(upTo) {
			return audit.ParseHash(a.Hash), nil
		}
	}
	return h, err
}
