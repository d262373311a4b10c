package main

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	harmless "github.com/hookd/hookd/internal/base/escape"
)

// cell is one field of a table.
type cell struct {
	text string
	c    colour
}

func text(s string) cell { return cell{text: s} }

func textf(format string, args ...any) cell { return cell{text: fmt.Sprintf(format, args...)} }

// column is the head of a column, and how the column yields where the table does
// not fit the terminal.
type column struct {
	title string
	yield int  // columns with the most give way first; 0 = last, when nothing else is left
	end   bool // its end says more than its beginning, as of a path
	spare bool // left out where the texts would otherwise have no room
}

// Columns by their worth: names and figures stay, texts give way.
func fixed(titles ...string) []column {
	list := make([]column, len(titles))
	for i, title := range titles {
		list[i] = column{title: title}
	}
	return list
}

func nameColumn(title string) column  { return column{title: title, yield: 1} }
func textColumn(title string) column  { return column{title: title, yield: 2} }
func asideColumn(title string) column { return column{title: title, yield: aside} }
func pathColumn(title string) column  { return column{title: title, yield: 2, end: true} }

// hookColumn has names of hooks: those of packs and of docker-agent differ at their end.
func hookColumn(title string) column { return column{title: title, yield: 1, end: true} }

// spareColumn has text that other columns or another command say, too.
func spareColumn(title string) column { return column{title: title, yield: aside, spare: true} }

// aside is the yield of columns that are left out where even the least of all has no room.
const aside = 3

// leasts are how many columns are left of a text, step by step: each column gives way to
// the first before one gives way to the next.
var leasts = [...]int{24, 14, 8}

const between = 2 // blanks between columns

// table writes rows under a header. Columns are as wide as they need to be. On a
// terminal that is too narrow they shrink, the columns with the least worth first, or are
// left out. So is a column without any text.
func (p *printer) table(header []column, rows [][]cell) {
	head := make([]cell, len(header))
	for i, h := range header {
		head[i] = cell{h.title, bold}
	}
	rows = append([][]cell{head}, rows...)
	if p.csv {
		p.line(strings.TrimSuffix(csvOf(rows), "\n"))
		return
	}
	for _, row := range rows {
		for i := range row {
			row[i].text = escape(shorten(row[i].text, maxCell), keepNothing)
		}
	}
	header, rows = only(header, rows, func(i int) bool {
		return slices.ContainsFunc(rows[1:], func(row []cell) bool { return row[i].text != "" })
	})
	if len(header) == 0 {
		return
	}
	widths := widthsOf(header, rows)
	if p.width > 0 && !p.wide {
		without := func(least int, goes func(column) bool) {
			if need(header, widths, least) > p.width {
				header, rows = only(header, rows, func(i int) bool { return !goes(header[i]) })
				widths = widthsOf(header, rows)
			}
		}
		without(leasts[1], func(c column) bool { return c.spare })
		without(leasts[2], func(c column) bool { return c.yield == aside })
		shrink(header, widths, p.width)
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			c.text = cut(c.text, widths[i], header[i].end)
			b.WriteString(p.paint(c.c, c.text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-runewidth.StringWidth(c.text)+between))
			}
		}
		p.line(strings.TrimRight(b.String(), " "))
	}
}

// csvOf is rows as comma-separated values, not fitted to the screen. A text that a spreadsheet would take for a
// formula begins with an apostrophe: others wrote it.
func csvOf(rows [][]cell) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, row := range rows {
		fields := make([]string, len(row))
		for i, c := range row {
			text := escape(c.text, keepNothing)
			if len(text) > 1 && strings.IndexByte("=+-@\t", text[0]) >= 0 { // a spreadsheet would take it for a formula
				text = "'" + text
			}
			fields[i] = text
		}
		_ = w.Write(fields) // a strings.Builder takes all
	}
	w.Flush()
	return b.String()
}

// widthsOf returns how wide the columns need to be.
func widthsOf(header []column, rows [][]cell) []int {
	widths := make([]int, len(header))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(c.text))
		}
	}
	return widths
}

// need returns how wide a line is of whose columns that give way least is left.
func need(header []column, widths []int, least int) int {
	width := between * (len(widths) - 1)
	for i, w := range widths {
		if header[i].yield > 0 {
			w = min(w, max(least, len(header[i].title)))
		}
		width += w
	}
	return width
}

// only returns the columns that are wanted.
func only(header []column, rows [][]cell, wanted func(i int) bool) (columns []column, short [][]cell) {
	short = make([][]cell, len(rows))
	for i, h := range header {
		if !wanted(i) {
			continue
		}
		columns = append(columns, h)
		for j, row := range rows {
			short[j] = append(short[j], row[i])
		}
	}
	return columns, short
}

// shrink takes from widths until a line fits, as far as that is possible.
func shrink(header []column, widths []int, width int) {
	over := between*(len(widths)-1) - width
	for _, w := range widths {
		over += w
	}
	most := slices.MaxFunc(header, func(a, b column) int { return a.yield - b.yield }).yield
	for _, least := range leasts {
		for yield := most; yield > 0; yield-- {
			over -= narrow(header, widths, yield, least, over)
		}
	}
	narrow(header, widths, 0, leasts[len(leasts)-1], over)
}

// narrow takes over from the columns of a yield, the widest first, and leaves least of each. It
// returns how much it has taken.
func narrow(header []column, widths []int, yield, least, over int) (taken int) {
	for ; taken < over; taken++ {
		widest := -1
		for i, h := range header {
			if h.yield == yield && widths[i] > max(least, len(h.title)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return taken
}

// cut shortens s to so many columns, and shows that it did. end keeps the end.
func cut(s string, width int, end bool) string {
	if runewidth.StringWidth(s) <= width {
		return s
	}
	if end {
		return runewidth.TruncateLeft(s, runewidth.StringWidth(s)-width+1, "…")
	}
	return strings.TrimRight(runewidth.Truncate(s, width, "…"), " ")
}

// fit cuts a line that is too long for the terminal.
func (p *printer) fit(line string) string {
	if p.width <= 0 || p.wide {
		return line
	}
	return cut(line, p.width, false)
}

// shortest is how much of an id a table shows at least.
const shortest = 6

// endings returns the end of each id that no other of them has. The beginning
// of an id is a time, which ids of one page share; commands accept an end.
func endings(ids []string) func(id string) string {
	n, longest := shortest, 0
	for _, id := range ids {
		longest = max(longest, len(id))
	}
	for ; n < longest; n++ {
		seen := map[string]string{}
		unique := !slices.ContainsFunc(ids, func(id string) bool {
			end := harmless.Tail(id, n)
			other, taken := seen[end]
			seen[end] = id
			return taken && other != id
		})
		if unique {
			break
		}
	}
	return func(id string) string { return harmless.Tail(id, n) }
}
