package sdk

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/builtin/shellsafe/shelltest"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

var update = flag.Bool("update", false, "write testdata/lines.json: read what has changed there")

// said is what an SDK says of a line.
type said struct {
	Line     string     `json:"line,omitempty"`
	Commands [][]string `json:"commands"`
	Computed [][]int    `json:"computed"` // indexes of words that are only known when the line runs
	Unread   string     `json:"unread,omitempty"`
}

// read has the lines read by the SDK of a runtime.
func read(t *testing.T, r runtime, lines []string) []said {
	t.Helper()
	var in bytes.Buffer
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(text, '\n'))
	}
	var list []said
	for text := range bytes.Lines(output(t, r.command(t, "commands"), in.Bytes())) {
		var s said
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list = append(list, s)
	}
	if len(list) != len(lines) {
		t.Fatalf("got %d answers to %d lines", len(list), len(lines))
	}
	return list
}

// readers are a python and a node: what the others read is the same.
func readers(t *testing.T) (list []runtime) {
	for _, r := range runtimes(t) {
		if r.program != "ts" {
			list = append(list, r)
		}
	}
	return list
}

// The lines of testdata/lines.json are read as they stand there.
func TestLines(t *testing.T) {
	const path = "testdata/lines.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []said
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	lines := make([]string, len(want))
	for i, w := range want {
		lines[i] = w.Line
	}
	for _, r := range readers(t) {
		got := read(t, r, lines)
		for i := range got {
			got[i].Line = lines[i]
		}
		if *update {
			writeLines(t, path, got)
			return
		}
		for i, w := range want {
			if !reflect.DeepEqual(got[i], w) {
				t.Errorf("%s: %s\ngot  %q %s\nwant %q %s", r.name, w.Line, got[i].Commands, got[i].Unread, w.Commands, w.Unread)
			}
		}
	}
}

func writeLines(t *testing.T, path string, list []said) {
	var b bytes.Buffer
	for i, s := range list {
		b.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		b.Truncate(b.Len() - 1)
	}
	if err := os.WriteFile(path, append(b.Bytes(), "\n]\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every SDK says the same of a line. Each command that a shell parser finds in it, and
// whose words stand in the line, is listed, or the line is one that cannot be told.
func TestNoCommandIsMissed(t *testing.T) {
	lines := manyLines(t)
	var first []said
	for _, r := range readers(t) {
		got := read(t, r, lines)
		if first == nil {
			first = got
			for i, line := range lines {
				missed(t, line, got[i])
			}
			continue
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], first[i]) {
				t.Errorf("%s reads in another way:\n%s\ngot  %q %s\nwant %q %s", r.name, lines[i],
					got[i].Commands, got[i].Unread, first[i].Commands, first[i].Unread)
			}
		}
	}
}

// Each call that bash makes of a line is listed, or the line is one that cannot be told.
func TestCallsOfBashAreListed(t *testing.T) {
	lines := slices.DeleteFunc(shelltest.Lines(), func(line string) bool {
		return strings.Contains(line, "awk") || strings.Contains(line, "sed") // what these run is not looked at
	})
	said := read(t, readers(t)[0], lines)
	bash := shelltest.New(t)
	for i, line := range lines {
		if said[i].Unread != "" {
			continue
		}
		commands := said[i].Commands
		for n, words := range commands {
			for k, word := range words {
				if slices.Contains(said[i].Computed[n], k) || strings.HasPrefix(word, "~") {
					words[k] = shelltest.Any
				}
			}
		}
		for _, call := range bash.Run(line) {
			if !shelltest.Lists(commands, call) {
				t.Errorf("bash runs %q of %q, only listed: %q", call, line, commands)
			}
		}
	}
}

func missed(t *testing.T, line string, got said) {
	t.Helper()
	if got.Unread != "" || strings.Contains(line, "#") { // where the parser is wrong, see shellsafe's parse
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return // bash runs nothing of it
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		words, literal := fieldsOf(call.Args)
		if len(words) > 0 && words[0] == "--" {
			return true // of time --
		}
		if literal && !slices.ContainsFunc(got.Commands, func(c []string) bool { return same(c, words) }) {
			t.Errorf("not seen in %q: %q, only %q", line, words, got.Commands)
		}
		return true
	})
}

// same compares all words but the folder of a program.
func same(got, want []string) bool {
	if len(want) == 0 || len(got) != len(want) || !slices.Equal(got[1:], want[1:]) {
		return len(want) == 0
	}
	return got[0] == want[0] || strings.HasSuffix(want[0], "/"+got[0])
}

// fieldsOf returns what words are, if nothing in them is computed.
func fieldsOf(words []*syntax.Word) (fields []string, literal bool) {
	literal = true
	for _, w := range words {
		syntax.Walk(w, func(node syntax.Node) bool {
			switch node := node.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
				literal = false
			case *syntax.Lit:
				literal = literal && !strings.Contains(node.Value, "..") && !strings.HasPrefix(node.Value, "~")
			}
			return literal
		})
	}
	if !literal {
		return nil, false
	}
	fields, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(func(string) string { return "" })}, words...)
	return fields, err == nil
}

// manyLines are those with which shellsafe is tested, and random ones.
func manyLines(t *testing.T) (lines []string) {
	for _, name := range []string{"asks", "reads"} {
		text, err := os.ReadFile("../internal/builtin/shellsafe/testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
				lines = append(lines, strings.ReplaceAll(line, `\n`, "\n"))
			}
		}
	}
	parts := strings.Split(`rm -rf x|sudo |git push|ls|echo |;|&&| || |&|^|{ |; }|(|)|$(|)|"|'|\|`+"`"+`|$x|${x:-|}|{a,b}|`+
		`<<E|E|<<<|> f|2>&1|#| if | then | fi|for x in | do | done|while | case x in | esac| a)|;;|[[ | ]]|((|))|function f|f()|`+
		`x=|x=(|bash -c |env |xargs |eval |find . -exec | \;|timeout 5 |!|time |*|?|[a]|~|/bin/|-n | -- |$'|$"|<(|=~`, "|")
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			part := strings.ReplaceAll(parts[r.IntN(len(parts))], "^", "|")
			if b.WriteString(part); r.IntN(3) == 0 {
				b.WriteString([]string{" ", "\n", " "}[r.IntN(3)])
			}
		}
		lines = append(lines, b.String())
	}
	for i := range 1500 { // real lines with a character more or less
		line := []byte(lines[i%1200])
		at := r.IntN(len(line))
		if r.IntN(2) == 0 {
			line = slices.Delete(line, at, at+1)
		} else {
			line = slices.Insert(line, at, []byte("'\"\\ ;&|(){}$`#\n<>!*")[r.IntN(19)])
		}
		lines = append(lines, strings.ToValidUTF8(string(line), "?"))
	}
	return append(lines, shelltest.Lines()...)
}
