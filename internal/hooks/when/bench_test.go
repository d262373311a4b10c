package when

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/facts"
)

// BenchmarkCommands is the cost of a line for an event, once for all hooks with conditions.
func BenchmarkCommands(b *testing.B) {
	for name, line := range map[string]string{
		"short":   "ls -la",
		"usual":   `cd /home/u/src/app && git commit -m "fix: the parser" && npm test -- --watch=false 2>&1 | tail -20`,
		"long":    strings.Repeat(`echo "some text of a script" >> /tmp/file; `, 200),
		"nested":  strings.Repeat("(", 1000) + "ls" + strings.Repeat(")", 1000),
		"ifs":     strings.Repeat("if ", 20_000),
		"sudos":   strings.Repeat("sudo ", 5_000) + "'" + strings.Repeat("x ", 10_000) + "'",
		"substs":  strings.Repeat("$(", 20_000),
		"quoted":  strings.Repeat("x '", 20_000),
		"unknown": "x " + strings.Repeat("'a b=c d=e' ", 4_000),
		"braces":  "x " + strings.Repeat("{a,b}", 40),
		"equals":  "x " + strings.Repeat("a=b c;", 5000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				facts.Line(line, facts.Env{})
			}
		})
	}
}
