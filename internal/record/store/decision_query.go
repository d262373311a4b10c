package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/wire"
)

// decisionQuery selects decisions.
type decisionQuery wire.DecisionQuery

// Decisions returns a page of decisions; Next as in that of Runs.
func (s *archive) Decisions(ctx context.Context, asked wire.DecisionQuery) (page wire.Decisions, err error) {
	page.Decisions, page.Next, err = pageOf(ctx, s, asked.Limit, decisionQuery(asked),
		func(d wire.Decision) uint64 { return d.Seq })
	if err != nil {
		return page, fmt.Errorf("query decisions: %w", err)
	}
	return page, nil
}

// longestDecision is from an event to its decision, with a good margin.
const longestDecision = 2 * time.Hour

func (q decisionQuery) bounds(ctx context.Context, db *sql.DB) (low, high int64, err error) {
	since, until := shifted(q.Since, -longestDecision), shifted(q.Until, longestDecision)
	return stretch{"decisions", "at", since, until, q.Before}.bounds(ctx, db)
}

// firstSince finds by halving the first number whose time is t or later; text
// selects the first number from one on, and its time.
func firstSince(ctx context.Context, db *sql.DB, text string, low, high int64, t time.Time) (int64, error) {
	for low < high {
		mid := low + (high-low)/2
		var seq, at int64
		err := db.QueryRowContext(ctx, text, mid).Scan(&seq, &at)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && at >= t.UnixNano():
			high = mid
		case err != nil:
			return 0, err
		default:
			low = seq + 1
		}
	}
	return low, nil
}

// between returns the newest decisions with numbers from ≤ seq < to.
func (q decisionQuery) between(ctx context.Context, db *sql.DB, from, to int64, limit int) ([]wire.Decision, error) {
	if words := trigrams(q.Text); words != "" {
		return q.withText(ctx, db, words, from, to, limit)
	}
	text, args := q.sql(decisionColumns, from, to, limit)
	return list(ctx, db, scanDecision, text, args...)
}

// How many blocks withText reads at first, and at most in one statement.
const (
	firstBlocks = 2
	mostBlocks  = 64
)

// withText is between by way of the index of text: a few blocks at first, since where many
// have the text they are enough. No more of the index is read than for those.
func (q decisionQuery) withText(
	ctx context.Context, db *sql.DB, words string, from, to int64, limit int,
) (found []wire.Decision, err error) {
	for n := firstBlocks; len(found) < limit && from < to; n = min(2*n, mostBlocks) {
		blocks, err := textBlocks(ctx, db, words, from, to, n)
		if err != nil || len(blocks) == 0 {
			return found, err
		}
		text, args := q.inBlocks(decisionColumns, blocks, from, to)
		more, err := list(ctx, db, scanDecision, text, args...)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(more, func(a, b wire.Decision) int { return cmp.Compare(b.Seq, a.Seq) })
		found, to = append(found, more...), blocks[len(blocks)-1]
	}
	return found[:min(limit, len(found))], nil
}

// inBlocks selects columns of the decisions in blocks that fit with numbers from ≤ seq < to,
// in no order.
func (q decisionQuery) inBlocks(columns string, blocks []int64, from, to int64) (text string, args []any) {
	ends := make([][2]int64, len(blocks))
	for i, b := range blocks {
		ends[i] = [2]int64{max(b, from), min(b+textBlock, to)}
	}
	numbers, _ := json.Marshal(ends) // integers: it cannot fail
	c := conditions{table: "d."}
	c.add("d.seq >= b.value ->> 0") // and from and to are in no condition: SQLite might look between those
	c.add("d.seq < b.value ->> 1")
	q.restrict(&c)
	return `SELECT ` + columns + ` FROM json_each(?) b CROSS JOIN decisions d WHERE ` + c.text(),
		append([]any{string(numbers)}, c.args...)
}

// sql selects columns of the newest decisions that fit, with the index that promises the
// fewest rows.
func (q decisionQuery) sql(columns string, from, to int64, limit int) (text string, args []any) {
	c := conditions{table: "d."}
	c.add("d.seq >= ?", from)
	c.add("d.seq < ?", to)
	q.restrict(&c)
	index := q.index(&c)
	return `SELECT ` + columns + ` FROM decisions d` + index + ` WHERE ` + c.text() + ` ORDER BY d.seq DESC LIMIT ?`,
		append(c.args, limit)
}

// saidColumn is the first of wire.Decision.Words as an expression; guarded is the second.
const saidColumn = `CASE WHEN d.guarded = 'not asked' AND d.decision = 'none'
		AND CAST(d.detail AS TEXT) ->> 'rewrote' IS NULL THEN d.guarded
	WHEN d.decision NOT IN ('allow', 'none') THEN d.decision
	ELSE CASE ifnull(CAST(d.detail AS TEXT) ->> 'rewrote', '') WHEN '' THEN d.decision
		WHEN '["context"]' THEN CASE d.decision WHEN 'none' THEN 'context' ELSE d.decision END
		ELSE 'rewrite' END END`

// restrict adds the conditions of the decisions that fit.
func (q decisionQuery) restrict(c *conditions) {
	c.any(wire.List(q.Decision), func(word string) {
		switch wire.Outcome(word) {
		case wire.OutcomeDeny, wire.OutcomeAsk:
			c.or("d.decision = ?", word) // which has an index
			return
		case wire.OutcomeDisobeyed, wire.OutcomeNotAsked:
			c.or("d.guarded = ?", word) // which has an index, too
			return
		}
		c.or(saidColumn+" = ?", word)
	})
	c.in(wire.List(q.Tool), "tool")
	c.in(wire.List(q.Session), "session_id")
	c.in(wire.List(q.Agent), "agent_id", "agent_name", "dialect")
	c.in(wire.List(q.Event), "event", "kind")
	c.any(wire.List(q.Hook), func(hook string) { c.or("instr(d.hooks, ?)", "\n"+hook+"\n") })
	c.folders("cwd", wire.List(q.Cwd))
	if q.EventID != "" {
		c.add("d.event_seq = (SELECT seq FROM events WHERE id = ?)", q.EventID)
	}
	if !q.Parts && q.EventID == "" {
		c.add("NOT d.part")
	}
	if q.Text != "" {
		pattern := like(q.Text)
		c.add(`(d.subject LIKE ? ESCAPE '\' OR d.reason LIKE ? ESCAPE '\')`, pattern, pattern)
	}
	for _, text := range q.Without {
		pattern := like(text)
		c.add(`NOT (d.subject LIKE ? ESCAPE '\' OR d.reason LIKE ? ESCAPE '\')`, pattern, pattern)
	}
	const detail = "CAST(d.detail AS TEXT) ->> "
	if q.Rewrote != "" {
		c.add(detail + "'rewrote' IS NOT NULL")
		if q.Rewrote != "yes" {
			c.add(detail+`'new_subject' LIKE ? ESCAPE '\'`, like(q.Rewrote))
		}
	}
	c.any(wire.List(q.Result), func(word string) {
		c.or(map[string]string{
			"none": "d.ran IS NULL", "failed": "CAST(d.ran AS TEXT) ->> 'failed' = 1",
			"ran": "d.ran IS NOT NULL AND ifnull(CAST(d.ran AS TEXT) ->> 'failed', 0) = 0",
		}[word])
	})
	if q.Undo != "" {
		c.add("(ifnull("+detail+"'$.undo.files', 0) > 0) = ?", q.Undo == "yes")
	}
	c.any(wire.List(q.Path), func(path string) { c.named(path, wire.PathBefore, wire.PathAfter) })
	c.any(wire.List(q.Host), func(host string) { c.named(host, wire.HostBefore, wire.HostAfter) })
	if q.Longer > 0 {
		c.add(detail+"'duration_ms' > ?", float64(q.Longer)/float64(time.Millisecond))
	}
	if q.Shorter > 0 {
		c.add(detail+"'duration_ms' < ?", float64(q.Shorter)/float64(time.Millisecond))
	}
	if q.Shadow {
		c.add("d.shadow")
	}
	c.span("d.at", q.Since, q.Until)
}

// index names the index for a query that asks for one value; "" = the numbers alone.
// Where any of several values fits, the order of numbers serves better.
func (q decisionQuery) index(c *conditions) string {
	switch {
	case q.EventID != "":
		return " INDEXED BY decisions_event"
	case one(q.Session):
		c.add("d.session_id <> ''")
		return " INDEXED BY decisions_session"
	case one(q.Tool):
		c.add("d.tool <> ''")
		return " INDEXED BY decisions_tool"
	case q.Decision == "disobeyed" || q.Decision == "not asked":
		c.add("d.guarded IN ('not asked', 'disobeyed')")
		return " INDEXED BY decisions_guarded"
	case q.Decision == "deny" || q.Decision == "ask":
		c.add("d.decision IN ('deny', 'ask')")
		return " INDEXED BY decisions_decision"
	}
	return ""
}

// one is whether a list by comma has one value, and it leaves nothing out.
func one(text string) bool {
	list := wire.List(text)
	return len(list) == 1 && !strings.HasPrefix(list[0], "-")
}

// conditions are those of a statement, joined by and.
type conditions struct {
	table string // before a column
	list  []string
	args  []any
	either
}

// either are conditions, and one must hold.
type either []string

func (c *conditions) add(condition string, args ...any) {
	c.list, c.args = append(c.list, condition), append(c.args, args...)
}

// span adds that a column is a time from since on and before until; zero = no limit.
func (c *conditions) span(column string, since, until time.Time) {
	if !since.IsZero() {
		c.add(column+" >= ?", since.UnixNano())
	}
	if !until.IsZero() {
		c.add(column+" < ?", until.UnixNano())
	}
}

// in adds that one of the columns has one of the values, if there are any.
func (c *conditions) in(values []string, columns ...string) {
	c.any(values, func(value string) {
		for _, column := range columns {
			c.or(c.table+column+" = ?", value)
		}
	})
}

// any adds the condition that one condition of the values holds, and none of those that begin with -; add adds
// them with or.
func (c *conditions) any(values []string, add func(value string)) {
	for _, value := range values {
		if !strings.HasPrefix(value, "-") {
			add(value)
		}
	}
	c.join("")
	for _, value := range values {
		if not, is := strings.CutPrefix(value, "-"); is {
			add(not)
			c.join("NOT ")
		}
	}
}

// join adds that one of the conditions since the last join holds.
func (c *conditions) join(not string) {
	if len(c.either) > 0 {
		c.list = append(c.list, not+"("+strings.Join(c.either, " OR ")+")")
		c.either = nil
	}
}

// folders adds that the column is one of the folders, or below one of them.
func (c *conditions) folders(column string, folders []string) {
	column = c.table + column
	c.any(folders, func(folder string) {
		folder = strings.TrimSuffix(folder, "/")
		c.or("("+column+" = ? OR substr("+column+", 1, ?) = ?)", folder, utf8.RuneCountInString(folder)+1, folder+"/")
	})
}

func (c *conditions) or(condition string, args ...any) {
	c.either, c.args = append(c.either, condition), append(c.args, args...)
}

// named adds that the subject has a name between such characters.
func (c *conditions) named(name, before, after string) {
	pattern := globbed.Replace(name)
	if !strings.HasPrefix(name, "/") {
		pattern = "[" + before + "]" + pattern
	}
	if !strings.HasSuffix(name, "/") {
		pattern += "[" + after + "]"
	}
	c.or("' ' || lower(d.subject) || ' ' GLOB lower(?)", "*"+pattern+"*")
}

// globbed writes characters that are patterns of GLOB as themselves.
var globbed = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (c *conditions) text() string { return strings.Join(c.list, " AND ") }

// like is the pattern of a text that has part.
func like(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part) + "%"
}

// mostTrigrams are looked up for a text: the trigrams that promise the fewest blocks. The
// decisions found are read in any case, and to look up words that most blocks have takes long.
// One of a million decisions of about the same words was found in seconds by all trigrams of its
// text. Four of them found it in some 10 ms.
const mostTrigrams = 4

// trigrams is the match that decisions_text must have where a text has part; "" = part is
// too short, or has a character that a trigram cannot have.
func trigrams(part string) string {
	runes := []rune(part)
	if len(runes) < 3 || strings.ContainsRune(part, 0) || !utf8.ValidString(part) {
		return ""
	}
	var all []string
	for i := range len(runes) - 2 {
		all = append(all, string(runes[i:i+3]))
	}
	slices.SortStableFunc(all, func(a, b string) int { return rarity(b) - rarity(a) })
	all = slices.Compact(all)
	var words []string
	for _, t := range all[:min(len(all), mostTrigrams)] {
		words = append(words, `"`+strings.ReplaceAll(t, `"`, `""`)+`"`)
	}
	return strings.Join(words, " AND ")
}

// rarity guesses how rare a trigram is, by how rare its characters are in commands
// and in English: digits and signs tell one line from another.
func rarity(trigram string) (sum int) {
	const frequent = " etaoinsrhldcumfpgwybvkxjqz-/.0123456789"
	for _, r := range strings.ToLower(trigram) {
		if i := strings.IndexRune(frequent, r); i >= 0 {
			sum += i
		} else {
			sum += len(frequent)
		}
	}
	return sum
}
