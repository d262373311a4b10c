package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/hookd/hookd/wire"
)

// textBlock is a power of two: text of decisions is found by blocks of so many numbers, in
// which each decision is then read. The index has one row for the decisions of a block that
// one transaction writes, named by the greatest of their numbers: to index them together
// takes a quarter of the time, since most of their words are the same.
const textBlock = 64

// blockOf returns the first number of the block that seq is in.
func blockOf(seq int64) int64 { return seq &^ (textBlock - 1) }

// texts are the decisions of the transaction under way whose text is to be indexed.
type texts struct{ list []*wire.Decision }

func (t *texts) add(d *wire.Decision) { t.list = append(t.list, d) }

// forget drops everything: the decisions did not get to the disk.
func (t *texts) forget() {
	clear(t.list)
	t.list = t.list[:0]
}

// flush indexes them.
func (t *texts) flush(db *database) error {
	slices.SortFunc(t.list, func(a, b *wire.Decision) int { return cmp.Compare(a.Seq, b.Seq) })
	var text []byte
	for i, d := range t.list {
		text = append(append(append(append(text, d.Subject...), '\n'), d.Reason...), '\n')
		if i+1 < len(t.list) && blockOf(int64(t.list[i+1].Seq)) == blockOf(int64(d.Seq)) {
			continue
		}
		_, err := db.exec(`INSERT INTO decisions_text (rowid, text) VALUES (?, ?)`, int64(d.Seq), string(text))
		if err != nil {
			return fmt.Errorf("index the text of decisions up to %d: %w", d.Seq, err)
		}
		text = text[:0]
	}
	t.forget()
	return nil
}

// textBlocks returns the newest blocks, newest first and most at most, < 0 = all, that may have
// decisions with numbers from ≤ seq < to whose text has words; see trigrams.
func textBlocks(ctx context.Context, db *sql.DB, words string, from, to int64, most int) ([]int64, error) {
	query, args := textQuery(words, from, to, most)
	blocks, err := list(ctx, db, func(row scanner) (block int64, err error) {
		err = row.Scan(&block)
		return blockOf(block), err
	}, query, args...)
	return slices.Compact(blocks), err
}

func textQuery(words string, from, to int64, most int) (text string, args []any) {
	return `SELECT rowid FROM decisions_text WHERE decisions_text MATCH ? AND rowid >= ? AND rowid < ?
		ORDER BY rowid DESC LIMIT ?`, []any{words, from, blockOf(to-1) + textBlock, most}
}

// texts deletes the index entries of deleted decisions, from the oldest on.
func (p *pruning) texts(db *database) (more bool, err error) {
	n, err := db.exec(`DELETE FROM decisions_text WHERE rowid IN (SELECT rowid FROM decisions_text
		WHERE rowid < ifnull((SELECT min(seq) FROM decisions), 1 << 62) ORDER BY rowid LIMIT ?)`, floodRows)
	if err != nil {
		return false, fmt.Errorf("delete the text of decisions: %w", err)
	}
	return n == floodRows, nil
}
