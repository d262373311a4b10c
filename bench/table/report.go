package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// report holds the findings of one run of this program.
type report struct {
	rows          []row
	where, repeat string
}

var began = time.Now()

func newReport(b *bench, rows []row) report {
	where := fmt.Sprintf("%s, %d cores, %s, %s; load average at the start %s.",
		began.UTC().Format("2006-01-02 15:04 MST"), runtime.NumCPU(), machine(), runtime.Version(), b.load)
	took := time.Since(began).Round(time.Second)
	repeat := fmt.Sprintf("%d rounds, samples of %s; took %s.", b.rounds, b.sample, took)
	return report{rows: rows, where: where, repeat: repeat}
}

// outcome is the row's verdict in one word or two.
func (r row) outcome() string {
	word := "–"
	for _, c := range r.checks {
		switch {
		case c.info:
		case !c.ok:
			return "not reached"
		default:
			word = "reached"
		}
	}
	return word
}

// text is the table for a terminal.
func (r report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s\n\n", r.where, r.repeat)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range r.rows {
		fmt.Fprintf(w, "%s\t%s\n", row.measure, row.what)
		for _, c := range row.checks {
			word := "reached"
			if !c.ok {
				word = "NOT REACHED"
			}
			if c.info {
				word = ""
			}
			fmt.Fprintf(w, "\t  %s\t%s\t%s\n", c.target, c.got, word)
		}
		if row.beside != "" {
			fmt.Fprintf(w, "\t  (%s)\n", row.beside)
		}
	}
	w.Flush()
	return b.String()
}

// markdown is the same for the file.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nRepeat all of it with `make bench`, one row with the command in its last column, in the folder `bench`. %s\n\n", r.where, r.repeat)
	b.WriteString("| measure | to reach | got | | beside it | command |\n| --- | --- | --- | --- | --- | --- |\n")
	var notes []string
	for _, row := range r.rows {
		var targets, gots []string
		for _, c := range row.checks {
			targets, gots = append(targets, c.target), append(gots, c.got)
		}
		outcome := row.outcome()
		if note := inTheWay[row.measure]; outcome == "not reached" {
			outcome = "**not reached**"
			if note != "" {
				notes = append(notes, wrapped("* `"+row.measure+"`: "+note))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `go run ./table -run '^%s$'` |\n", cell(row.what), cell(strings.Join(targets, "<br>")),
			cell(strings.Join(gots, "<br>")), outcome, cell(row.beside), row.measure)
	}
	if len(notes) > 0 {
		b.WriteString("\nWhat stands in the way of what is not reached:\n\n" + strings.Join(compact(notes), "\n") + "\n")
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// wrapped breaks an entry of a list between words, so that no line has more than 120 characters.
func wrapped(entry string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(entry) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+n > 120:
			b.WriteString("\n  ")
			width = 2
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}

func compact(list []string) (kept []string) {
	for _, text := range list {
		if len(kept) == 0 || kept[len(kept)-1] != text {
			kept = append(kept, text)
		}
	}
	return kept
}

// write puts the table into a Markdown file.
func (r report) write(file string) error { return replaceIn(file, "table", r.markdown()) }

// replaceIn replaces the text between the two marks called name in a file; the rest of
// the file is people's.
func replaceIn(file, name, text string) error {
	begin, end := "<!-- "+name+": written by the program -->\n", "<!-- end of "+name+" -->\n"
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return fmt.Errorf("%s has no marks for the %s: add the lines\n%s%s", file, name, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+text+end+after), 0o644)
}
