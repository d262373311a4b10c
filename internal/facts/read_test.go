package facts

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Arguments that are too many, or too deep in others, are in doubt: a file may be named among them.
func TestArgumentsThatAreNotRead(t *testing.T) {
	many := `{"z":[` + strings.Repeat(`"a",`, 3000) + `"a"],"path":"/home/me/.ssh/id_rsa"}`
	deep := strings.Repeat(`{"x":`, 10) + `"/home/me/.ssh/id_rsa"` + strings.Repeat("}", 10)
	for input, want := range map[string]DoubtKind{many: DoubtLimits, deep: DoubtLimits, `{"path":"a"}`: ""} {
		f := Read(neutral.ToolCall{Own: "mcp__fs__read", Given: []byte(input), Input: []byte(input)}, Env{Cwd: "/w"})
		if got := (append(f.Doubts, Doubt{}))[0].Kind; got != want {
			t.Errorf("%.40s…: doubt %q, want %q", input, got, want)
		}
	}
}
