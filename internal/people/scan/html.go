package scan

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/learn"
)

//go:embed report.html
var page string

// reportTemplate returns the report as one file: no script, nothing that is fetched.
func reportTemplate() (*template.Template, error) {
	return template.New("report").Funcs(template.FuncMap{
		"num": card.Thousands, "some": card.Plural, "parts": parts, "does": does,
		"day":  func(t time.Time) string { return t.Local().Format("2 Jan") },
		"join": func(list []string) string { return strings.Join(list, ", ") },
		"dash": func(n int) string {
			if n == 0 {
				return "–"
			}
			return card.Thousands(n)
		},
	}).Parse(page)
}

// bar is a day of the chart, which is 1000 wide and chartHeight high.
type bar struct{ X, Y, W, H, S, SY string }

const chartHeight = 56

// WriteHTML writes the report as a page of one file. host is shown; "" = none is.
func (r *Report) WriteHTML(w io.Writer, host string) error {
	v := struct {
		R                                    *Report
		Host, Span, Took, Headline, From, To string
		Most, Unread                         int
		Secrets                              bool
		Bars                                 []bar
	}{R: r, Host: host, Took: fmt.Sprintf("%.1f s", float64(r.TookMS)/1000), Headline: r.Headline(),
		Unread:  r.Transcripts.Found - r.Transcripts.Read - r.Transcripts.Failed,
		Secrets: r.Secrets.Read+r.Secrets.Carried > 0}
	if !r.First.IsZero() {
		v.From, v.To = r.First.Local().Format("2 Jan"), r.Last.Local().Format("2 Jan")
		v.Span = v.From + " to " + r.Last.Local().Format("2 Jan 2006")
	}
	for _, d := range r.Days {
		v.Most = max(v.Most, d.Calls)
	}
	v.Bars = bars(r.Days, v.Most)
	report, err := reportTemplate()
	if err == nil {
		err = report.Execute(w, v)
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// Headline is the report in one sentence.
func (r *Report) Headline() string {
	days := 0
	if !r.First.IsZero() {
		days = int(r.Last.Sub(r.First).Hours()/24) + 1
	}
	text := fmt.Sprintf("In %s your agents made %s. hookd would have stopped %s of them", card.Plural(days, "day"),
		card.Plural(r.Calls, "call"), card.Thousands(r.Stopped))
	if r.Prompts.Asked > 0 {
		return text + fmt.Sprintf(", and asked you %s times instead of %s.", card.Thousands(r.Prompts.Left),
			card.Thousands(r.Prompts.Asked))
	}
	return text + fmt.Sprintf(", and asked you about %s.", card.Thousands(r.AskedAbout))
}

// bars draws the days. A day on which a call would have been stopped shows that, however many
// others there were.
func bars(days []Day, most int) (list []bar) {
	if most == 0 {
		return nil
	}
	step := 1000 / float64(len(days))
	at := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	for i, d := range days {
		b := bar{X: at(float64(i) * step), W: at(max(step-2, 1))}
		height := float64(d.Calls) / float64(most) * (chartHeight - 2)
		b.Y, b.H = at(chartHeight-height), at(height)
		if d.Stopped > 0 {
			stopped := max(3, float64(d.Stopped)/float64(most)*(chartHeight-2))
			b.S, b.SY = at(stopped), at(chartHeight-stopped)
		}
		list = append(list, b)
	}
	return list
}

// part is a piece of a line.
type part struct {
	Text   string
	Marked bool
}

// parts cuts the line of an example at its marks.
func parts(e Example) (list []part) {
	from := 0
	for _, m := range e.Marks {
		if m.From >= from && m.From < m.To && m.To <= len(e.Line) {
			list = append(list, part{e.Line[from:m.From], false}, part{e.Line[m.From:m.To], true})
			from = m.To
		}
	}
	return append(list, part{e.Line[from:], false})
}

// does names the effects that a rule would let a call have.
func does(p learn.Proposal) string {
	list := []string{"reads"}
	for _, e := range p.Does {
		target := strings.TrimSuffix(e.Target, ":")
		switch {
		case target == "project":
			target = "this project's code"
		case strings.HasPrefix(target, "project:"):
			target = "the project's " + strings.TrimPrefix(target, "project:")
		}
		list = append(list, string(e.Kind)+"s "+target)
	}
	return strings.Join(list, ", ")
}
