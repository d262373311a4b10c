package learn

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
)

const home, project = "/home/me", "/home/me/project"

// shapesOf reads a line in the project.
func shapesOf(t testing.TB, agent events.Dialect, tool, input string) (string, bool) {
	t.Helper()
	call, _ := dialect.Made(agent, tool, []byte(input))
	shapes, ok := Shapes(facts.Read(call, facts.Env{Cwd: project, Home: home}), call, project)
	var keys []string
	for i := range shapes {
		keys = append(keys, strings.ReplaceAll(shapes[i].Key(), "\n", " / "))
	}
	return strings.Join(keys, " + "), ok
}

func TestShapes(t *testing.T) {
	for line, want := range map[string]string{
		"git status":                            "",
		"cd src && ls -la | head -3":            "",
		"go test ./...":                         "go test / run project:",
		"cd src && go test ./... | tail -5":     "go test / run project:",
		"git add -A && git commit -m x":         "git add / write index: + git commit / run project:hooks / write commit:",
		"npm run lint":                          "npm run / run project:lint",
		"git commit -m 'fix: a b'":              "git commit / run project:hooks / write commit:",
		"pytest -q tests/a.py":                  "pytest / run project:",
		"gofmt -w main.go":                      "gofmt / write /home/me/project/main.go",
		"gh pr view 3":                          "gh pr view 3 / connect host:github.com",
		"timeout 60 go test ./... -run 'A|B C'": "go test / run project:",
	} {
		got, ok := shapesOf(t, "claude-code", "Bash", `{"command":`+quoted(line)+`}`)
		if !ok || got != want {
			t.Errorf("%s: %v, %q, want %q", line, ok, got, want)
		}
	}
}

func quoted(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}
