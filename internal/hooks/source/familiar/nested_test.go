package familiar

import (
	"fmt"
	"github.com/hookd/hookd/internal/base/hooktest"
	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"math/rand/v2"
	"strings"
	"testing"
)

// grammar makes words that hold the placeholder in contexts within contexts.
type grammar struct {
	*rand.Rand
	tags int // of here-documents
}

// word returns the text of one shell word and its meaning, with @ for
// the value. In backquotes there are neither here-documents nor more
// backquotes: shells disagree about the first, the parser about the second.
func (g *grammar) word(depth int, ticked bool) (text, want string) {
	n := 13
	if depth == 0 {
		n = 6
	} else if ticked {
		n = 10
	}
	switch g.IntN(n) {
	case 0:
		return `{{x}}`, `@`
	case 1:
		return `'a "$(id) {{x}}b\'`, `a "$(id) @b\`
	case 2:
		return `"it's {{x}}\$ \\"`, `it's @$ \`
	case 3:
		return `c\{{x}}`, `c@`
	case 4:
		return `"\{{x}}'${{x}}'"`, `\@'$@'`
	case 5:
		return `--o={{ x }}'{{x}}'"{{x}}"`, `--o=@@@`
	case 6:
		a, wantA := g.word(depth-1, ticked)
		b, wantB := g.word(depth-1, ticked)
		return a + b, wantA + wantB
	case 7:
		inner, want := g.word(depth-1, ticked)
		return `"<$(printf '%s.' ` + inner + `)>"`, "<" + want + ".>"
	case 8:
		inner, want := g.word(depth-1, ticked)
		return `"$(v=` + inner + ` && case "$v" in ` + inner + `) printf '%s.' "$v";; esac)"`, want + "."
	case 9:
		inner, want := g.word(depth-1, ticked)
		return `${nothing-` + inner + `}`, want
	case 10:
		inner, want := g.word(depth-1, true)
		escaped := strings.NewReplacer(`\`, `\\`, "`", "\\`", `$`, `\$`, `"`, `\"`).Replace(`printf '%s.' ` + inner)
		return "\"`" + escaped + "`\"", want + "."
	case 11:
		inner, want := g.word(depth-1, ticked)
		g.tags++
		return fmt.Sprintf("\"$(cat <<E%d\n'{{x}} $(printf '%%s.' %s)\nE%d\n)\"", g.tags, inner, g.tags), "'@ " + want + "."
	default:
		g.tags++
		return fmt.Sprintf("\"$(cat <<'E%d'\n`$(id) \\ {{x}}.\nE%d\n)\"", g.tags, g.tags), "`$(id) \\ @."
	}
}

func TestValuesArriveInContextsWithinContexts(t *testing.T) {
	g := &grammar{Rand: rand.New(rand.NewPCG(3, 4))}
	values := []string{"it's \"$(touch CANARY)\" `touch CANARY` \\", "*\n\n-rf \\\\ $x } ) ; EOF\nE1\n", "'", "\"", "`", "\\", "$(", "", "\n", "a b", "#", "~", "\u0088\xff\x00"}
	for name, shell := range shells(t) {
		dir := t.TempDir()
		for i := range hooktest.Amount(300, 60) {
			g.tags = 0
			text, want := g.word(1+i%3, false)
			value := values[g.IntN(len(values))]
			arrives(t, shell, dir, fmt.Sprintf("%s/%d %q", name, i, value), compiled(t, "printf '[%s]' "+text), "["+want+"]", value)
		}
	}
}
