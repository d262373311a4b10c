package store

import (
	"context"
	"database/sql"
	"fmt"
)

// pieceBytes is how much of a payload stands in one row. SQLite has a whole row
// in memory, and more than once, whenever it reads or writes it: a longer payload
// goes on in the table parts, piece by piece.
const pieceBytes = 256 << 10

// split returns the part that stands in the event's own row, and the rest.
func split(data []byte) (first, rest []byte) {
	n := min(len(data), pieceBytes)
	return data[:n:n], data[n:]
}

// insertPieces writes the pieces that follow the event's own row; later tells that they are
// the pieces that history will keep.
func insertPieces(db *database, seq uint64, later bool, rest []byte) error {
	for n := 0; len(rest) > 0; n++ {
		var part []byte
		part, rest = split(rest)
		_, err := db.exec(`INSERT INTO parts (seq, later, n, data) VALUES (?, ?, ?, ?)`, int64(seq), later, n, part)
		if err != nil {
			return fmt.Errorf("insert part %d of event %d: %w", n, seq, err)
		}
	}
	return nil
}

// querier is a connection, or a transaction in which all queries see one moment.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

// join returns the data of an event: first, which its own row has, and more
// bytes of pieces.
func join(ctx context.Context, db querier, seq uint64, later bool, first []byte, more int) ([]byte, error) {
	if more == 0 {
		return first, nil
	}
	data := append(make([]byte, 0, len(first)+more), first...)
	rows, err := db.QueryContext(ctx, `SELECT data FROM parts WHERE seq = ? AND later = ? ORDER BY n`,
		int64(seq), later)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var part sql.RawBytes
		if err := rows.Scan(&part); err != nil {
			return nil, err
		}
		if len(data)+len(part) > cap(data) {
			break
		}
		data = append(data, part...)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(data) != len(first)+more {
		return nil, fmt.Errorf("read event %d: %w: pieces of its data are missing", seq, errCorrupt)
	}
	return data, nil
}
