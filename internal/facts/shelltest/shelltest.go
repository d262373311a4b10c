// Package shelltest makes shell lines, and says which of their commands a real shell runs: for tests
// of code that reads lines without running them. It is for tests only.
//
// The programs of the lines are m1 to m4, which do nothing but note how they were called.
package shelltest

import (
	_ "embed"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

var (
	//go:embed templates.txt
	templatesText string
	//go:embed words.txt
	wordsText string
	//go:embed programs.txt
	programsText string
	//go:embed lines.txt
	linesText string

	templates = rows(templatesText)
	words     = rows(wordsText)
	programs  = rows(programsText)
)

// rows are the lines of a file, in which ␤ and ␍ stand for the ends of lines.
func rows(text string) (list []string) {
	for row := range strings.Lines(text) {
		list = append(list, strings.NewReplacer("␤", "\n", "␍", "\r").Replace(strings.TrimSuffix(row, "\n")))
	}
	return list
}

// Lines returns the lines of lines.txt and random ones: as many as a test tries in a few
// seconds, the same each time, or HOOKD_LINES others.
//
// Without HOOKTEST_ALL it is each third of lines.txt.
func Lines() []string {
	lines := rows(linesText)[1:] // behind its comment
	if !hooktest.All() {
		for i := range len(lines) / 3 {
			lines[i] = lines[3*i]
		}
		lines = lines[:len(lines)/3]
	}
	seed, n := uint64(7), hooktest.Amount(250, 50)
	if many, err := strconv.Atoi(os.Getenv("HOOKD_LINES")); err == nil {
		seed, n = uint64(time.Now().UnixNano()), many
	}
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	for range n {
		line := g.line(1 + g.IntN(3))
		if g.IntN(4) == 0 {
			line = g.damaged(line)
		}
		lines = append(lines, line)
	}
	return lines
}

// generator makes random lines.
type generator struct{ *rand.Rand }

func (g generator) pick(list []string) string { return list[g.IntN(len(list))] }

// call is a simple command.
func (g generator) call() string {
	call := g.pick(programs)
	for range g.IntN(3) {
		call += g.pick([]string{" ", " ", "  ", "\t"}) + g.pick(words)
	}
	switch g.IntN(8) {
	case 0:
		before := strings.Split("A=1 |A=b B=c |A+=x |A=(1 2) |A='x y' |A=$(echo z) |A[1]=2 |2>&1 |>o |<i |<<<z |{fd}>o |A= ", "|")
		call = g.pick(before) + call
	case 1:
		after := strings.Split(" >o| 2>o| >>o| &>o| <i| <<<h| 2>&1| <>o| >&2| 3<&0| 2>&-|>o|2>o", "|")
		call += g.pick(after)
	}
	return call
}

// line is a line in which constructs stand in each other up to depth.
func (g generator) line(depth int) string {
	if depth == 0 || g.IntN(8) == 0 {
		return g.call()
	}
	var b strings.Builder
	rest := g.pick(templates)
	for rest != "" {
		before, choice, found := strings.Cut(rest, "⟨")
		b.WriteString(before)
		if !found {
			break
		}
		choice, rest, _ = strings.Cut(choice, "⟩")
		b.WriteString(g.pick(strings.Split(choice, "¦")))
	}
	return g.fill(b.String(), depth)
}

// fill puts random text in the place of each ‹name› of a template.
func (g generator) fill(template string, depth int) string {
	var b strings.Builder
	for rest := template; ; {
		before, name, found := strings.Cut(rest, "‹")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, _ = strings.Cut(name, "›")
		b.WriteString(g.text(name, depth-1))
	}
}

var (
	inDouble     = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	inBackquotes = strings.NewReplacer(`\`, `\\`, "`", "\\`")
	inBoth       = strings.NewReplacer(`\`, `\\`, "`", "\\`", `"`, `\"`)
)

func (g generator) text(name string, depth int) string {
	switch name {
	case "line":
		return g.line(depth)
	case "quoted":
		return "'" + strings.ReplaceAll(g.line(depth), "'", `'\''`) + "'"
	case "double":
		return `"` + inDouble.Replace(g.line(depth)) + `"`
	case "backquoted":
		return inBackquotes.Replace(g.line(depth))
	case "double backquoted":
		return inBoth.Replace(g.line(depth))
	case "call":
		return g.call()
	case "word":
		return g.pick(words)
	case "end":
		return g.pick([]string{"; ", "\n", " ;", "\n\n", "; # c\n", " #c\n", ";"})
	case "space":
		return g.pick([]string{"\ufeff", "\u00a0", "\u2003", "\v", "\f", "\r", "\x01", "\u200b", " \\\n", "\\\n", "${IFS}", "$IFS"})
	}
	panic("shelltest: no text " + name)
}

// damaged is a line with a character more or less.
func (g generator) damaged(line string) string {
	runes := []rune(line)
	at := g.IntN(len(runes))
	if g.IntN(2) == 0 {
		return string(slices.Delete(runes, at, at+1))
	}
	marks := []rune("'\"\\ ;&|(){}$`#\n<>!*=[]~-\t")
	return string(slices.Insert(runes, at, marks[g.IntN(len(marks))]))
}
