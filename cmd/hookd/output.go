package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/people/card"
)

// colour is an SGR code; "" is none.
type colour string

const (
	plain  colour = ""
	bold   colour = "1"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	blue   colour = "34"
	dim    colour = "2"
)

// printer writes text for people. Everything that it is given to print as a
// cell or a value is escaped. The first error of the writer ends the output.
type printer struct {
	w       io.Writer
	colours bool
	wide    bool // -o wide: every column, whole
	csv     bool // -o csv: tables are comma-separated values, whole
	width   int  // columns of the terminal; 0 = lines may be of any length
	written int  // lines so far
	err     error
}

func (a *app) printer(f *os.File) *printer {
	return &printer{w: f, colours: isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		wide: a.format == "wide", csv: a.format == "csv", width: columnsOf(f)}
}

// columnsOf returns how many columns the output has: those of $COLUMNS, else of
// the terminal, 0 in a pipe or a file.
func columnsOf(f *os.File) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if !isTerminal(f) {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// print answers with v as JSON, or with the text that human writes.
func (a *app) print(v any, human func(*printer)) error {
	if a.format == "json" {
		return writeJSON(a.out, v, "  ")
	}
	p := a.printer(a.out)
	human(p)
	return p.err
}

// writeJSON writes v on a line of its own; without indent on exactly one.
func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escape(b.String(), keepNewlines))
	return err
}

// line writes its parts, which must be escaped where they are not our own.
func (p *printer) line(parts ...string) {
	if p.written++; p.err == nil {
		_, p.err = io.WriteString(p.w, strings.Join(parts, "")+"\n")
	}
}

// linef writes a text of people, on several lines where the terminal is too narrow for one. A command at its
// end stays whole: people copy it.
func (p *printer) linef(format string, args ...any) {
	text := escape(fmt.Sprintf(format, args...), keepNothing)
	if strings.Contains(text, ": hookd ") {
		p.line(text)
		return
	}
	p.hung(len(text)-len(strings.TrimLeft(text, " ")), text)
}

// sentence writes a text of people, on several lines where the terminal is too narrow for one.
func (p *printer) sentence(c colour, text string) {
	text = escape(text, keepNothing)
	if p.width > 0 && !p.wide {
		text = fillLines(text, p.width)
	}
	for line := range strings.SplitSeq(text, "\n") {
		p.line(p.paint(c, line))
	}
}

// hung is line for a text that goes on below itself, indented, where the terminal is too narrow for it.
func (p *printer) hung(indent int, parts ...string) {
	text := strings.Join(parts, "")
	if p.width > 0 && !p.wide {
		text = hangLines(text, indent, max(p.width, indent+leastHelp/2))
	}
	p.line(text)
}

var painted = lazyregexp.New("\x1b\\[[0-9;]*m")

// seenColumns is how many columns a text takes, whose colours take none.
func seenColumns(text string) int { return runewidth.StringWidth(painted.ReplaceAllString(text, "")) }

func (p *printer) paint(c colour, s string) string {
	if !p.colours || c == plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// Longest texts shown for people, in characters: -o json has all of them.
const (
	maxCell  = 400
	maxValue = 16 << 10
)

// pair is a name and its value.
type pair struct {
	name  string
	value cell
}

func kv(name, value string) pair { return pair{name, text(value)} }

// pairs writes names and values; those without a value are left out. On a terminal a value
// that is too long goes on below itself.
func (p *printer) pairs(list ...pair) {
	width := 0
	for _, kv := range list {
		width = max(width, len(kv.name))
	}
	for _, kv := range list {
		if kv.value.text != "" {
			value := escape(shorten(kv.value.text, maxValue), keepNewlines)
			if p.width > 0 && !p.wide {
				value = fillLines(value, max(p.width-width-2, leastHelp))
			}
			value = strings.ReplaceAll(value, "\n", "\n"+strings.Repeat(" ", width+2))
			p.line(p.paint(bold, kv.name), strings.Repeat(" ", width-len(kv.name)+2), p.paint(kv.value.c, value))
		}
	}
}

// block writes text of several lines, indented.
func (p *printer) block(s string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(escape(s, keepNewlines), "\n"), "\n") {
		p.line("  ", line)
	}
}

func (p *printer) problems(list []client.Problem) {
	for _, pr := range list {
		label, c := "error", red
		if pr.Warning {
			label, c = "warning", yellow
		}
		p.hung(2, p.paint(c, label+":"), " ", escape(problemText(pr), keepNothing))
		if pr.Hint != "" {
			p.hung(4, "  hint: ", escape(pr.Hint, keepNothing))
		}
	}
}

// problemText tells the place and the problem, as compilers do.
func problemText(pr client.Problem) string {
	where := pr.File
	if pr.Line > 0 {
		where += fmt.Sprintf(":%d:%d", pr.Line, pr.Column)
	}
	if where == "" {
		return pr.Message
	}
	return where + ": " + pr.Message
}

// errorsIn counts the problems that are no warnings.
func errorsIn(list []client.Problem) int {
	n := 0
	for _, pr := range list {
		if !pr.Warning {
			n++
		}
	}
	return n
}

// result is a run's result in its colour.
func result(r client.Result) cell {
	switch r {
	case client.ResultOK:
		return cell{string(r), green}
	case client.ResultDeny:
		return cell{string(r), yellow}
	}
	return cell{string(r), red}
}

// state is a hook's state in its colour.
func state(s string) cell {
	switch s {
	case "active":
		return cell{s, green}
	case "disabled":
		return cell{s, dim}
	case "degraded":
		return cell{s, yellow}
	case "waiting":
		return cell{"waiting for allow", yellow}
	}
	return cell{s, red}
}

// sizeText is a size for people.
func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return card.Plural(int(n), "byte")
}

// millis writes a duration in milliseconds as people read it.
func millis(ms float64) string { return duration.Millis(ms) }

// ago writes how long ago t was, as people say it; "" for the zero time.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	now, local := time.Now(), t.Local()
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return card.Plural(int(d.Seconds()), "second") + " ago"
	case d < time.Hour:
		return card.Plural(int(d.Minutes()), "minute") + " ago"
	case d < 12*time.Hour:
		return card.Plural(int(d.Hours()), "hour") + " ago"
	case local.Format(time.DateOnly) == now.Format(time.DateOnly):
		return "today " + local.Format("15:04")
	case local.Format(time.DateOnly) == now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "yesterday " + local.Format("15:04")
	case local.Year() == now.Year():
		return local.Format("2 Jan")
	}
	return local.Format("2 Jan 2006")
}
