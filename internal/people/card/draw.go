package card

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/hookd/hookd/wire"
)

// Draw draws rows of a card on a terminal of so many columns: numbers before the lines,
// ▌ before a line with a mark and ▔ below the mark. A long line goes on behind ↳, below
// itself. rowAt tells of each drawn line which row it is of.
func Draw(rows []wire.CardRow, columns int) (lines []string, rowAt []int) {
	digits := 3
	for _, row := range rows {
		digits = max(digits, len(fmt.Sprint(row.Line)))
	}
	for i, row := range rows {
		number, sign := strings.Repeat(" ", digits), " "
		if row.Line > 0 {
			number = fmt.Sprintf("%*d", digits, row.Line)
		}
		switch row.Is {
		case wire.RowAdded:
			sign = "+"
		case wire.RowRemoved:
			sign = "-"
		case wire.RowValue:
			sign = "="
		case wire.RowName:
			number = strings.Repeat("─", digits)
		case wire.RowLeft, wire.RowEmpty:
			number = strings.Repeat("╱", digits)
		}
		if hasMark(row) {
			sign = "▌"
		}
		head, next := " "+number+" "+sign, strings.Repeat(" ", digits+1)+" ↳"
		for j, one := range fold(row.Parts, max(8, columns-runewidth.StringWidth(head))) {
			if j > 0 {
				head = next
			}
			lines, rowAt = append(lines, head+one.text), append(rowAt, i)
			if one.under != "" {
				lines, rowAt = append(lines, strings.Repeat(" ", digits+3)+one.under), append(rowAt, i)
			}
		}
	}
	return lines, rowAt
}

// folded is a part of a row that fits on a line, and the text that stands below it.
type folded struct{ text, under string }

// fold breaks parts at so many columns. A part that is spelled out or counted stays together
// where a line has room for it.
func fold(list []wire.CardPart, columns int) (out []folded) {
	var text, under strings.Builder
	width := 0
	end := func() {
		out = append(out, folded{text.String(), strings.TrimRight(under.String(), " ")})
		text.Reset()
		under.Reset()
		width = 0
	}
	put := func(s string, w int, mark bool) {
		if width+w > columns && width > 0 {
			end()
		}
		text.WriteString(s)
		sign := " "
		if mark {
			sign = "▔"
		}
		under.WriteString(strings.Repeat(sign, w))
		width += w
	}
	for _, p := range list {
		if p.Is != "" {
			for _, chip := range chips(p.Text) {
				if w := runewidth.StringWidth(chip); w <= columns {
					put(chip, w, p.Mark)
					continue
				}
				for _, r := range chip {
					put(string(r), runewidth.RuneWidth(r), p.Mark)
				}
			}
			continue
		}
		for _, r := range p.Text {
			put(string(r), runewidth.RuneWidth(r), p.Mark)
		}
	}
	end()
	return out
}

// chips are the pieces in brackets of a text of several.
func chips(text string) []string {
	if !strings.HasPrefix(text, "[") {
		return []string{text}
	}
	list := strings.SplitAfter(text, "]")
	return list[:len(list)-1] // behind the last bracket there is nothing
}

// smallOf is the input in plain text for a place of so many lines and columns. Rows that
// are not whole, and rows that do not fit, are shortened.
func smallOf(rows []wire.CardRow, whole bool, lines, most, columns int) wire.CardSmall {
	var drawn [][]string
	var all []string
	for _, row := range rows {
		one := smallRow(row, columns)
		drawn, all = append(drawn, one), append(all, one...)
	}
	if whole && len(all) <= most {
		return wire.CardSmall{Lines: all, Allow: true}
	}
	return wire.CardSmall{Lines: shortSmall(rows, drawn, lines, most-1)}
}

// shortSmall keeps the rows that have a mark and then the head, within so many lines, and says
// how much that is of all.
func shortSmall(rows []wire.CardRow, drawn [][]string, lines, room int) (out []string) {
	keep := make([]bool, len(rows))
	used, whole := 0, 0
	take := func(i int) {
		if n := 1 + min(1, len(drawn[i])-1); !keep[i] && used+n+1 <= room {
			keep[i] = true
			used += n + 1 // and what is left out beside it
			if len(drawn[i]) == 1 {
				whole += min(1, rows[i].Line)
			}
		}
	}
	for i, row := range rows {
		if hasMark(row) {
			take(i)
		}
	}
	for i, row := range rows {
		if row.Is != wire.RowLeft && row.Is != wire.RowEmpty {
			take(i)
		}
	}
	for i, one := range drawn {
		switch {
		case keep[i] && len(one) > 1:
			out = append(out, one[0], "[this line goes on]")
		case keep[i]:
			out = append(out, one[0])
		case i == 0 || keep[i-1]:
			out = append(out, "[lines are left out]")
		}
	}
	return append(out, Thousands(whole)+" of "+Plural(lines, "line")+" are here: it cannot be allowed here.")
}

// smallRow is a row in plain text, broken at so many columns.
func smallRow(row wire.CardRow, columns int) (lines []string) {
	head := ""
	switch row.Is {
	case wire.RowAdded:
		head = "+ "
	case wire.RowRemoved:
		head = "- "
	case wire.RowName:
		head = "── "
	}
	for i, one := range fold(row.Parts, columns-2) {
		if i > 0 {
			head = "↳ "
		}
		lines = append(lines, head+one.text)
	}
	return lines
}
