// Package card makes the view of an ask for people: the whole input, or its head, its tail
// and the part that made a guard ask, with a count of the omitted lines. Hidden characters
// are spelled out, runs of blanks and of empty lines are counted. It is pure and never
// fails; a card without the whole input has a digest only where its form for chats shows the whole input.
package card

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/wire"
)

// Limits of a short card: with more, it has head, tail and marks.
const (
	fewRows   = 12
	fewChars  = 2000
	headRows  = 3
	tailRows  = 2
	mostMarks = 8 // marked rows in a short card

	chatRows    = 30
	chatColumns = 80

	headChars = 240 // of a line in a short card
	tailChars = 80
)

// mostText bounds the text of a whole card, in bytes; mostParts its parts.
const (
	mostText  = 4 << 20
	mostParts = 200_000
)

// mostSaid bounds a sentence, in characters.
const mostSaid = 600

// Asking is a hook that asks, and why.
type Asking struct{ Hook, Reason string }

// Repo is the repository that a folder is in.
type Repo struct {
	Name   string // "" = the folder is in none
	Branch string // "" = it is on none, or that is not known
}

// Options are the facts that a card tells beside the input.
type Options struct {
	Short   bool            // head and tail are enough
	Masked  bool            // secrets were taken out of the input: the card cannot be whole
	Asking  []Asking        // at least one
	Agent   string          // as people call it
	Prompt  string          // that the call came after; "" = unknown
	Repo    *Repo           // nil = unknown
	Effects []string        // what the call does, in words; nil = unknown
	Undo    *wire.Kept      // what can be taken back; nil = it destroys nothing that is known
	Box     bool            // an allowed call runs in its box
	Opens   []string        // ways out of that box that an allow opens
	OwnWay  bool            // without an answer the agent asks in its own way
	Tried   bool            // a person tries hooks: there is no agent, and nothing runs
	Spans   []wire.CardSpan // what made hooks ask
}

// Digest is the digest that an allow of a carries: of all that the ask is about, with the whole
// input.
func Digest(a *wire.Ask) string {
	h := sha256.New()
	parts := []string{
		a.ID, a.EventID, a.Event, a.Hook, a.Reason, a.Agent, a.AgentID, string(a.Dialect), a.SessionID, a.Cwd, a.Tool,
	}
	for _, part := range append(parts, a.Hooks...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	fmt.Fprintf(h, "%d:%s", len(a.Input), a.Input)
	return hex.EncodeToString(h.Sum(nil))
}

// Make makes the card of an ask, whose Input is whole. digest is that of the ask; the
// card has it if it is whole.
func Make(a *wire.Ask, digest string, o Options) *wire.Card {
	lines := layout(a.Tool, a.Input)
	if a.Input == nil {
		lines = split(nil, "", "", a.Subject)
	}
	l := look{}
	n := 0
	for i := range lines {
		l.count(lines[i].text)
		if lines[i].is != wire.RowName {
			n++
		}
	}
	c := &wire.Card{Lines: n, Bytes: len(a.Input), Hidden: l.hidden+l.odd > 0, Spans: o.Spans}
	rows := rowsOf(lines, o.Spans)
	c.What = rows
	c.Whole = !o.Masked && a.Input != nil && bounded(rows)
	shown, whole := rows, c.Whole && few(rows, chatRows, chatRows*chatColumns)
	if !whole {
		shown = shorten(rows, len(o.Spans) > 0)
	}
	small := func(most, columns int) wire.CardSmall { return smallOf(shown, whole, c.Lines, most, columns) }
	c.Small = wire.CardSmalls{Phone: small(6, 40), Desktop: small(8, 56), Chat: small(chatRows, chatColumns)}
	if !c.Whole || o.Short && !few(rows, fewRows, fewChars) {
		c.What, c.Whole = shorten(rows, len(o.Spans) > 0), false
	}
	if c.Whole || c.Small.Chat.Allow {
		c.Digest = digest
	}
	c.Says = says(a, o, l, repeated(a.Input))
	return c
}

// Rows are the lines of an input as a short card has them, with the marks of spans.
func Rows(tool string, input []byte, spans []wire.CardSpan) []wire.CardRow {
	rows := rowsOf(layout(tool, input), spans)
	if bounded(rows) && few(rows, fewRows, fewChars) {
		return rows
	}
	return shorten(rows, len(spans) > 0)
}

// Change are the lines of the difference between two inputs of a tool; the words that differ are marked.
func Change(tool string, before, after []byte) []wire.CardRow {
	removed, added := layout(tool, before), layout(tool, after)
	head, tail := same(removed, added)
	rows := rowsOf(removed[:head], nil)
	changed := func(list, other []line, is string) {
		var spans []wire.CardSpan
		for i := range list {
			list[i].is = is
			if i >= len(other) || list[i].argument == "" {
				continue
			}
			l := list[i]
			from, to := differs(l.text, other[i].text)
			spans = append(spans, wire.CardSpan{Argument: l.argument, From: l.at + from, To: l.at + to})
		}
		rows = append(rows, rowsOf(list, spans)...)
	}
	changed(slices.Clone(removed[head:len(removed)-tail]), added[head:len(added)-tail], wire.RowRemoved)
	changed(slices.Clone(added[head:len(added)-tail]), removed[head:len(removed)-tail], wire.RowAdded)
	rows = append(rows, rowsOf(removed[len(removed)-tail:], nil)...)
	if bounded(rows) && few(rows, 2*fewRows, 2*fewChars) {
		return rows
	}
	return shorten(rows, true)
}

// differs are the bytes of a text that another does not have, in whole words.
func differs(text, other string) (from, to int) {
	for from < min(len(text), len(other)) && text[from] == other[from] {
		from++
	}
	end := 0
	for end < min(len(text), len(other))-from && text[len(text)-1-end] == other[len(other)-1-end] {
		end++
	}
	if ends := func(s string) bool { return from == len(s) || s[from] == ' ' }; !ends(text) || !ends(other) {
		from = strings.LastIndexAny(text[:from], " \t") + 1
	}
	to = len(text) - end
	if rest := strings.IndexAny(text[to:], " \t"); to > from && rest >= 0 {
		to += rest
	} else if to > from {
		to = len(text)
	}
	return from, max(from, to)
}

// bounded reports whether rows are not too much for a card.
func bounded(rows []wire.CardRow) bool {
	text, parts := 0, 0
	for _, row := range rows {
		parts += 1 + len(row.Parts)
		for _, p := range row.Parts {
			text += len(p.Text)
		}
	}
	return text <= mostText && parts <= mostParts
}

// few reports whether there are not more rows, and not more characters in them.
func few(rows []wire.CardRow, mostRows, mostChars int) bool {
	chars := 0
	for _, row := range rows {
		chars += length(row.Parts)
	}
	return len(rows) <= mostRows && chars <= mostChars
}

// shorten keeps head, tail and marked rows with one row around them. A row that stands
// for left-out rows says how much they are.
func shorten(rows []wire.CardRow, marked bool) (out []wire.CardRow) {
	keep := make([]bool, len(rows))
	for i := range rows {
		keep[i] = i < headRows || i >= len(rows)-tailRows
	}
	marks, left := 0, false
	for i, row := range rows {
		if !hasMark(row) {
			continue
		}
		if marks++; marks > mostMarks {
			left = left || !keep[i]
			continue
		}
		for j := max(0, i-1); j <= min(len(rows)-1, i+1); j++ {
			keep[j] = true
		}
	}
	for i := 0; i < len(rows); i++ {
		if keep[i] {
			out = append(out, cutRow(rows[i]))
			continue
		}
		gap := wire.CardRow{Is: wire.RowLeft}
		for ; i < len(rows) && !keep[i]; i++ {
			gap.Lines += rows[i].Lines + min(1, rows[i].Line)
			gap.Bytes += rows[i].Bytes
		}
		i--
		text := fmt.Sprintf("%s, %s left out", Plural(gap.Lines, "line"), Plural(gap.Bytes, "byte"))
		if marked && !left {
			text += ": nothing in them made a guard ask"
		}
		gap.Parts = []wire.CardPart{{Text: text, Is: wire.PartLeft}}
		out = append(out, gap)
	}
	return out
}

func hasMark(row wire.CardRow) bool {
	for _, p := range row.Parts {
		if p.Mark {
			return true
		}
	}
	return false
}

// cutRow is a row with the middle of a long line counted; marked parts stay.
func cutRow(row wire.CardRow) wire.CardRow {
	total := length(row.Parts)
	if total <= headChars+tailChars+40 {
		return row
	}
	var out []wire.CardPart
	at, left := 0, 0
	flush := func() {
		if left > 0 {
			text := "[" + Plural(left, "character") + " left out]"
			out = append(out, wire.CardPart{Text: text, Is: wire.PartLeft})
			left = 0
		}
	}
	marks := 0
	for _, p := range row.Parts {
		runes := []rune(p.Text)
		n := len(runes)
		from, to := at, at+n
		at = to
		if p.Mark {
			marks++
		}
		switch {
		case to <= headChars || from >= total-tailChars || p.Mark && marks <= mostMarks && n <= headChars:
			flush()
			out = append(out, p)
		case p.Is != "" || p.Mark: // whole or not at all: a number must not be cut
			left += n
		default:
			head, tail := max(0, min(n, headChars-from)), max(0, min(n, to-(total-tailChars)))
			if head > 0 {
				flush()
				out = append(out, wire.CardPart{Text: string(runes[:head])})
			}
			left += n - head - tail
			if tail > 0 {
				flush()
				out = append(out, wire.CardPart{Text: string(runes[n-tail:])})
			}
		}
	}
	flush()
	row.Parts = out
	return row
}

// says are the sentences of a card, in the order in which they are read.
func says(a *wire.Ask, o Options, l look, twice []string) (list []wire.CardSaid) {
	add := func(name, text string) {
		if text != "" {
			list = append(list, wire.CardSaid{Name: name, Text: text})
		}
	}
	for _, one := range o.Asking {
		reason := one.Reason
		if reason == "" {
			reason = "without a reason"
		}
		add("asks", said(one.Hook+": "+reason))
	}
	for _, text := range l.says() {
		add("look", text)
	}
	for _, name := range twice {
		add("look", "the argument "+said(name)+" stands more than once: which of them counts, the agent decides")
	}
	if a.Rewrote {
		add("look", "hooks have changed the input: this is what will run")
	}
	if o.Masked {
		add("look", "secrets are masked here: it cannot be allowed here")
	}
	add("where", whereOf(a, o.Repo))
	who := said(o.Agent)
	if o.Tried {
		who = "no agent: a person tries hooks with " + who
	}
	if a.SessionID != "" {
		who += ", session " + said(a.SessionID)
	}
	if o.Prompt != "" {
		who += ", after “" + cutText(said(o.Prompt), 80) + "”"
	}
	add("who", who)
	agent := said(o.Agent)
	add("if allowed", ifAllowed(agent, a.SessionID != "", o))
	if !o.Tried {
		add("undo", undo(o.Undo))
	}
	reason := o.Asking[0].Reason
	if len(o.Asking) > 1 {
		reason = a.Reason
	}
	add("if denied", agent+" does not run it and reads: “denied by you: "+said(reason)+"”")
	if o.OwnWay {
		add("no answer", agent+" asks in its own way.")
	} else {
		add("no answer", agent+" is told: denied, no answer came in time.")
	}
	return list
}

// whereOf says in which repository and folder the call is made.
func whereOf(a *wire.Ask, repo *Repo) string {
	where := said(a.Cwd)
	switch {
	case where == "":
		return "no folder is known"
	case repo == nil:
		return where
	case repo.Name == "":
		return where + ", in no repository"
	case repo.Branch == "":
		return said(repo.Name) + " · " + where
	}
	return said(repo.Name) + " on " + said(repo.Branch) + " · " + where
}

// ifAllowed names the effect of an allow.
func ifAllowed(agent string, session bool, o Options) string {
	if o.Tried {
		return "nothing runs."
	}
	does := "."
	if len(o.Effects) > 0 {
		does = ": " + said(strings.Join(o.Effects, " · ")) + "."
	}
	where := ""
	if o.Box {
		where = " in its box"
	}
	if len(o.Opens) > 0 {
		where += ", which lets it reach " + said(strings.Join(o.Opens, ", "))
	}
	later := ""
	if len(o.Opens) > 0 && session {
		later = " Allowed in this session, its later boxes reach that, too."
	}
	return agent + " runs it" + where + does + later
}

// undo says which effects of a call can be taken back, and which cannot.
func undo(k *wire.Kept) (text string) {
	if k == nil {
		return "it destroys no file, as far as hookd knows"
	}
	return said(k.Says())
}

// said is text that others wrote as a sentence has it.
func said(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " ⏎ ")
	var b strings.Builder
	for _, p := range parts(text, 0, nil) {
		b.WriteString(p.Text)
	}
	return cutText(b.String(), mostSaid)
}

// cutText is text of at most so many characters, and a count of the others.
func cutText(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + " [" + Plural(len(runes)-most, "character") + " left out]"
}
