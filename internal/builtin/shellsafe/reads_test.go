package shellsafe

import (
	"os"
	"strings"
	"testing"
)

// readLines returns the lines of a file in testdata without comments; \n in a
// line is a line end.
func readLines(t testing.TB, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		list = append(list, line)
	}
	return list
}

// unescaped makes \n of a line in testdata a line end where it is one: outside
// of quotes, as \n has a meaning to printf, sed and others.
func unescaped(line string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == 0 && strings.HasPrefix(line[i:], `\\n`):
			b.WriteString("\\\n")
			i += 2
		case quote == 0 && strings.HasPrefix(line[i:], `\n`):
			b.WriteByte('\n')
			i++
		case c == '\'' || c == '"':
			if quote == 0 {
				quote = c
			} else if quote == c {
				quote = 0
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func TestReadsOfAgentsAreQuiet(t *testing.T) {
	list := readLines(t, "reads.txt")
	if len(list) < 300 {
		t.Errorf("got %d lines, want at least 300", len(list))
	}
	for _, line := range list {
		if got := Assess(unescaped(line)); !got.Safe() {
			t.Errorf("%q asks: %s", line, got.Reason)
		}
	}
}

func TestLinesThatLookHarmlessAsk(t *testing.T) {
	for _, line := range readLines(t, "asks.txt") {
		if got := Assess(unescaped(line)); got.Safe() {
			t.Errorf("%q is quiet", line)
		}
	}
}

// quietLines are all lines of the tables that are held to be quiet.
func quietLines(t testing.TB) (list []string) {
	for _, tt := range table {
		if tt.want == safe {
			list = append(list, tt.line)
		}
	}
	list = append(list, lines(safeLines)...)
	for _, line := range readLines(t, "reads.txt") {
		list = append(list, unescaped(line))
	}
	return list
}

func askingLines(t testing.TB) (list []string) {
	for _, line := range readLines(t, "asks.txt") {
		list = append(list, unescaped(line))
	}
	return list
}
