package learn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/facttest"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// approved is work that people approve day after day.
var approved = []string{
	"go test ./...", "go test ./a -run TestB", "go build ./...", "go vet ./...", "npm test", "npm run lint", "npm run build",
	"git add -A", "git commit -m 'fix: a'", "git stash", "pytest -q tests", "cargo test", "cargo build", "gofmt -w main.go",
	"prettier --write src/app.js", "gh pr view 3", "mkdir -p build", "tsc --noEmit", "eslint src", "yarn test", "pnpm run check",
	"mvn test", "gradle test", "rspec", "git checkout -b topic", "touch notes.md", "echo hi > notes.md", "cp a.txt b.txt",
	"python3 tool.py", "make", "docker ps", "bash run.sh", "npm install left-pad", "git push origin topic", "rm notes.md",
}

// add adds a call that a person answered, on so many days.
func add(t testing.TB, e *Evidence, tool string, input map[string]any, yes bool, days int) {
	t.Helper()
	given, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	call, names := dialect.Made("claude-code", tool, given)
	env := facts.Env{Cwd: facttest.Project, Home: facttest.Home}
	f := facts.Read(call, env)
	shapes, ok := Shapes(f, call, facttest.Project)
	if !ok {
		return
	}
	guards, err := rules.Gallery(facttest.Home, "command-guard", "secret-guard", "self-guard")
	if err != nil {
		t.Fatal(err)
	}
	named := guards.Judge(&rules.Subject{Facts: f, Tools: names, Data: given, Cwd: env.Cwd, Project: env.Cwd, Home: env.Home,
		Read: func(line string) *facts.Facts { return facts.Line(line, env) }}).Action != ""
	for day := range days {
		for range 5 {
			e.Add(shapes, named, Reaction{Asked: true, Yes: yes, Agent: "claude-code", Root: facttest.Project, Line: f.Text,
				Whole: f.Text, Cwd: facttest.Project, Time: time.Date(2026, 11, 10+day, 9, 0, 0, 0, time.UTC)})
		}
	}
}

func bash(line string) map[string]any { return map[string]any{"command": line} }

// written writes proposals into a hooks directory and reads the rules back.
func written(t testing.TB, dir string, list []Proposal) *rules.Set {
	t.Helper()
	file, err := Write(dir, facttest.Home, list)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, problems := hookdir.ReadText(filepath.Dir(file), text, hookdir.Options{Home: facttest.Home})
	if h == nil {
		t.Fatalf("%v\n%s", problems, text)
	}
	var doc struct {
		Rules yaml.Node `yaml:"rules"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	set, bad := rules.Read(&doc.Rules, nil, rules.Options{Home: facttest.Home})
	if len(bad) > 0 {
		t.Fatalf("%v\n%s", bad, text)
	}
	return set
}

// decision is the decision of rules about a call in the project.
func decision(t testing.TB, set *rules.Set, tool string, input map[string]any, cwd string) rules.Action {
	t.Helper()
	given, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	call, names := dialect.Made("claude-code", tool, given)
	env := facts.Env{Cwd: cwd, Home: facttest.Home}
	return set.Judge(&rules.Subject{Facts: facts.Read(call, env), Tools: names, Data: given, Cwd: cwd, Project: cwd,
		Home: facttest.Home, Read: func(line string) *facts.Facts { return facts.Line(line, env) }}).Action
}

// TestLearnedRulesAllowNoAttack holds rules that were learned from common work against the attacks.
func TestLearnedRulesAllowNoAttack(t *testing.T) {
	var e Evidence
	for _, line := range approved {
		add(t, &e, "Bash", bash(line), true, 3)
	}
	add(t, &e, "Edit", map[string]any{"file_path": facttest.Project + "/main.go", "old_string": "a", "new_string": "b"}, true, 3)
	list, _ := e.Proposals(facttest.Home)
	set := written(t, t.TempDir(), list)
	allowed := 0
	for _, line := range approved {
		if decision(t, set, "Bash", bash(line), facttest.Project) == rules.Allow {
			allowed++
		}
	}
	if len(list) < 15 || allowed < 15 {
		t.Errorf("%d rules allow %d of %d lines: %v", len(list), allowed, len(approved), list)
	}
	attacks, err := facttest.Attacks("../../facts/testdata/attacks")
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, a := range attacks {
		call := a.Call()
		if decision(t, set, call.Tool, call.Input, call.Cwd) == rules.Allow {
			passed++
			t.Errorf("allowed: %s", call.Text())
		}
	}
	t.Logf("%d rules allow %d of %d lines and %d of %d attacks", len(list), allowed, len(approved), passed, len(attacks))

	// Those that use common work, or the words of a learned rule, as their way in.
	text, err := os.ReadFile("testdata/attacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := rules.Gallery(facttest.Home, Hook)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		for name, by := range map[string]*rules.Set{"quiet": quiet, "learned": set} {
			if decision(t, by, "Bash", bash(line), facttest.Project) == rules.Allow {
				t.Errorf("%s allows: %s", name, line)
			}
		}
	}
}

// TestNeverLearned are calls that no number of approvals makes a rule of.
func TestNeverLearned(t *testing.T) {
	for _, line := range []string{
		"python3 tool.py", "make", "bash run.sh", "npx eslint src", "docker run x", "sudo go test ./...", "npm install left-pad",
		"git push origin main", "git push -f", "rm notes.md", "curl -s https://example.org/", "cat .env", "node x.js",
		"sometool --x", "eval \"$(cat x)\"", "go test ./... > ~/out.txt", "cp a ../b", "git reset --hard", "npm publish",
		"X=1 go test ./...", "find . -name x -delete", "ssh host ls", "kubectl get pods", "./run.sh", "terraform apply",
	} {
		var e Evidence
		add(t, &e, "Bash", bash(line), true, 5)
		if list, _ := e.Proposals(facttest.Home); len(list) > 0 {
			t.Errorf("%s: proposed %+v", line, list[0].Name)
		}
	}
}

// TestWhatSpeaksAgainst a rule: a refusal, few days, a guard.
func TestWhatSpeaksAgainst(t *testing.T) {
	for name, answers := range map[string]func(*Evidence){
		"refused once": func(e *Evidence) {
			add(t, e, "Bash", bash("go test ./..."), true, 5)
			add(t, e, "Bash", bash("go test ./other"), false, 1)
		},
		"one day": func(e *Evidence) { add(t, e, "Bash", bash("go test ./..."), true, 1) },
		"a refusal that is a guess": func(e *Evidence) {
			add(t, e, "Bash", bash("go test ./..."), true, 5)
			e.Add(shapesOfTest(t), false, Reaction{Asked: true, Estimated: true, Root: project})
		},
		"a refusal behind more shapes than are remembered": func(e *Evidence) {
			add(t, e, "Bash", bash("go test ./..."), true, 5)
			for i := range mostShapes {
				e.shapes[fmt.Sprint(i)] = &seen{}
			}
			add(t, e, "Bash", bash("gofmt -w a.go && go test ./..."), false, 1)
		},
		"times that are not known": func(e *Evidence) {
			add(t, e, "Bash", bash("go test ./..."), true, 1)
			e.Add(shapesOfTest(t), false, Reaction{Asked: true, Yes: true, Root: project})
		},
		"a word that looks like a path outside": func(e *Evidence) {
			add(t, e, "Bash", bash("bazel test //..."), true, 5)
		},
	} {
		var e Evidence
		answers(&e)
		if list, _ := e.Proposals(facttest.Home); len(list) > 0 {
			t.Errorf("%s: proposed %+v", name, list[0].Name)
		}
	}
}

// shapesOfTest are the shapes of a call that tests.
func shapesOfTest(t *testing.T) []Shape {
	t.Helper()
	call, _ := dialect.Made("claude-code", "Bash", []byte(`{"command":"go test ./..."}`))
	shapes, ok := Shapes(facts.Read(call, facts.Env{Cwd: project, Home: home}), call, project)
	if !ok {
		t.Fatal("no shapes")
	}
	return shapes
}

// TestEstimates count only where a person wants that.
func TestEstimates(t *testing.T) {
	for _, estimate := range []bool{false, true} {
		e := Evidence{Estimate: estimate}
		shapes := shapesOfTest(t)
		for i := range 6 {
			e.Add(shapes, false, Reaction{Asked: true, Yes: true, Estimated: true, Root: project, Line: "go test ./...",
				Whole: "go test ./...", Cwd: project, Time: time.Date(2026, 11, 10+i, 9, 0, 0, 0, time.UTC)})
		}
		if list, _ := e.Proposals(facttest.Home); len(list) > 0 != estimate {
			t.Errorf("estimate %v: %d proposals", estimate, len(list))
		}
	}
}

// TestWithinTheProject holds a rule in the project that it was learned in, with the rule's words.
func TestWithinTheProject(t *testing.T) {
	var e Evidence
	add(t, &e, "Bash", bash("go test ./..."), true, 3)
	list, _ := e.Proposals(facttest.Home)
	set := written(t, t.TempDir(), list)
	for line, want := range map[string]rules.Action{
		"go test ./...": rules.Allow, "cd a && go test ./... | tail -3": rules.Allow, "go test ./... -run A": rules.Allow,
		"go test ./... -o ~/.bashrc": "", "go run .": "", "go test ./... && git push": "", "go test ./... > out.txt": "",
		"go test -exec 'rm -rf ~' ./...": "", "git status": rules.Allow,
		"cd /tmp/evil && go test ./...": "", "cd && go test ./...": "", "cd .. && go test ./...": "",
		"go -C /tmp/evil test ./...": "", "go test -C=/tmp/evil ./...": "", "go test ../other": "", "go test /tmp/evil": "",
		"cd /tmp/evil || true; go test ./...": "", "pushd /tmp/evil; go test ./...": "", "popd; go test ./...": "",
		"bash -c 'cd /tmp/evil; go test ./...'": "", "cd $X && go test ./...": "", "cd - && go test ./...": "",
		"(cd a; go test ./...)": rules.Allow, "go test -C/tmp/evil ./...": "", "cd ~/x; go test ./...": "",
		"cd -- /tmp/evil && go test ./...": "", "env -C /tmp/evil go test ./...": "",
	} {
		if got := decision(t, set, "Bash", bash(line), facttest.Project); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if got := decision(t, set, "Bash", bash("go test ./..."), facttest.Home+"/other"); got != "" {
		t.Errorf("in another project: %q", got)
	}
}

// TestCommands are all that was learned, whenever it was.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"go test ./...", "npm run lint", "git commit -m 'fix: a'", "echo hi > notes.md"} {
		var e Evidence
		add(t, &e, "Bash", bash(line), true, 3)
		list, _ := e.Proposals(facttest.Home)
		if len(list) == 0 {
			t.Fatalf("nothing to learn of %s", line)
		}
		written(t, dir, list)
	}
	file := filepath.Join(dir, Hook, hookdir.FileName)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := strings.Replace(string(text), "tests:\n", "tests:\n  - {name: 'learned: npm run lint 2', cwd: "+facttest.Project+
		"/b, data: {command: npm run lint}, expect: allow}\n", 1) // learned in another project, too
	if err := os.WriteFile(file, []byte(again), 0o600); err != nil || again == string(text) {
		t.Fatal(err, again)
	}
	if got := Commands(dir); fmt.Sprint(got) != "[[npm run lint] [go test ./...]]" {
		t.Errorf("got %q", got)
	}
	if got := Commands(t.TempDir()); got != nil {
		t.Errorf("without a hook: %q", got)
	}
}

// TestUndo takes out all that was written, and nothing else.
func TestUndo(t *testing.T) {
	var e Evidence
	add(t, &e, "Bash", bash("go test ./..."), true, 3)
	list, _ := e.Proposals(facttest.Home)
	dir := t.TempDir()
	for range 2 { // twice is once
		written(t, dir, list)
	}
	if names := Learned(dir); fmt.Sprint(names) != "[learned: go test ./...]" {
		t.Errorf("learned %v", names)
	}
	if n, err := Undo(dir, facttest.Home); n != 1 || err != nil {
		t.Errorf("undone %d, %v", n, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}

	own := filepath.Join(dir, Hook, hookdir.FileName)
	if err := os.Mkdir(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "name: quiet\n# mine\nrules:\n  - allow: {effect: read}\ntests:\n  - {data: {command: ls}, expect: allow}\n"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	written(t, dir, list)
	if n, err := Undo(dir, facttest.Home); n != 1 || err != nil {
		t.Errorf("undone %d, %v", n, err)
	}
	if left, err := os.ReadFile(own); err != nil || strings.TrimSpace(string(left)) != strings.TrimSpace(text) {
		t.Errorf("left %s, %v", left, err)
	}
}

// TestUndoAfterEdits takes out the learned rules and leaves the rules that a person wrote.
func TestUndoAfterEdits(t *testing.T) {
	for name, edit := range map[string]func(string) string{
		"own rule": func(s string) string {
			return strings.Replace(s, "rules:\n", "rules:\n  - {name: mine, deny: {command: terraform}}\n", 1)
		},
		"no tests": func(s string) string { s, _, _ = strings.Cut(s, "\ntests:"); return s + "\n# mine\n" },
		"no rules": func(s string) string {
			return s[:strings.Index(s, "\nrules:")] + "\n# mine" + s[strings.Index(s, "\ntests:"):]
		},
	} {
		var e Evidence
		add(t, &e, "Bash", bash("go test ./..."), true, 3)
		list, _ := e.Proposals(facttest.Home)
		dir := t.TempDir()
		written(t, dir, list)
		file := filepath.Join(dir, Hook, hookdir.FileName)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(edit(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Undo(dir, facttest.Home)
		left, gone := os.ReadFile(file)
		if err != nil || gone != nil || !strings.Contains(string(left), "mine") || strings.Contains(string(left), prefix) {
			t.Errorf("%s: %v, %v\n%s", name, err, gone, left)
		}
		if _, err := Write(dir, facttest.Home, list); err != nil || len(Learned(dir)) != 1 {
			t.Errorf("%s: learned again: %v", name, err)
		}
	}
}

// TestLearnedTwice proposes a learned rule no more, but its words in another project, under a name of their own.
func TestLearnedTwice(t *testing.T) {
	proposed := func(line string, roots ...string) []Proposal {
		var e Evidence
		for _, root := range roots {
			call, _ := dialect.Made("claude-code", "Bash", []byte(`{"command":"`+line+`"}`))
			f := facts.Read(call, facts.Env{Cwd: root, Home: facttest.Home})
			shapes, _ := Shapes(f, call, root)
			for day := range 6 {
				e.Add(shapes, false, Reaction{Asked: true, Yes: true, Root: root, Whole: line, Cwd: root,
					Time: time.Date(2026, 11, 10+day, 9, 0, 0, 0, time.UTC)})
			}
		}
		list, _ := e.Proposals(facttest.Home)
		return list
	}
	dir, other := t.TempDir(), facttest.Home+"/other"
	written(t, dir, New(dir, facttest.Home, proposed("go test ./...", facttest.Project, other)))
	if again := New(dir, facttest.Home, proposed("go test ./...", other)); len(again) > 0 {
		t.Errorf("proposed again: %+v", again)
	}
	third := New(dir, facttest.Home, proposed("go test ./...", facttest.Home+"/third"))
	set := written(t, dir, third)
	for _, root := range []string{facttest.Project, other, facttest.Home + "/third"} {
		if got := decision(t, set, "Bash", bash("go test ./..."), root); got != rules.Allow {
			t.Errorf("in %s: %q", root, got)
		}
	}
	if n, err := Undo(dir, facttest.Home); n != 2 || err != nil {
		t.Errorf("undone %d, %v", n, err)
	}
}

// TestUndoIsExact leaves the hook of a person as they wrote it, blank lines too, unless they have changed it since.
func TestUndoIsExact(t *testing.T) {
	const own = "# mine\nname:   quiet # hi\n\n\nrules:\n    - allow:  {effect: read}\n\n    # a comment\n    - name: own\n      allow: [go vet *]\n# end\n"
	var e Evidence
	add(t, &e, "Bash", bash("go test ./..."), true, 3)
	list, _ := e.Proposals(facttest.Home)
	for _, edited := range []bool{false, true} {
		dir := t.TempDir()
		file := filepath.Join(dir, Hook, hookdir.FileName)
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time there is a rule that was learned
			written(t, dir, list)
		}
		if edited {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.Replace(string(text), "go vet *", "go doc *", 1))
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := Undo(dir, facttest.Home); n != 1 || err != nil {
			t.Errorf("%d rules, %v", n, err)
		}
		text, err := os.ReadFile(file)
		if got := string(text); err != nil || !edited && got != own || edited && !strings.Contains(got, "go doc *") {
			t.Errorf("edited %v: %v\n%s", edited, err, got)
		}
		if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
			t.Errorf("left %v", left)
		}
	}
}
