package facts

import "testing"

func begins(c *Command, program, word string) bool {
	return len(c.Words) > 1 && c.Words[0].Text == program && c.Words[1].Text == word
}

// TestProves asks for each line whether its success is that of go test.
func TestProves(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./...":                         true,
		"cd x && go test ./...":                 true,
		"go test ./... && echo done":            true,
		"cd x; go test ./...":                   true,
		"sudo env A=1 timeout 5 go test ./...":  true,
		"{ cd x; go test ./...; } && echo ok":   true,
		"(cd x && go test ./...)":               true,
		"time go test ./...":                    true,
		"go test ./... 2>&1 >out.txt":           true,
		"echo | go test ./...":                  true,
		"go test ./... | tail -5":               false,
		"go test ./...; echo done":              false,
		"go test ./... || true":                 false,
		"! go test ./...":                       false,
		"go test ./... &":                       false,
		"if go test ./...; then echo yes; fi":   false,
		"echo $(go test ./...)":                 false,
		"while true; do go test ./...; done":    false,
		"bash -c 'go test ./... ; true'":        false,
		"go test ./...\ntrue":                   false,
		"xargs go test ./...":                   false,
		"true && (go test ./... || go version)": false,
	} {
		f := Line(line, Env{Cwd: "/p", Home: "/home/u"})
		got, found := false, false
		for i, c := range f.Commands {
			if begins(&c, "go", "test") {
				found = true
				got = got || f.Proves(i)
			}
		}
		if !found || got != want {
			t.Errorf("%s: found %v, proves %v, want %v", line, found, got, want)
		}
	}
}

// TestGuards asks for each line whether git push only runs once go test has succeeded.
func TestGuards(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./... && git push":                true,
		"cd x && go test ./... && git push origin": true,
		"go test ./... && (cd y; git push)":        true,
		"go test ./...; git push":                  false,
		"go test ./... | tail && git push":         false,
		"go test ./... || git push":                false,
		"git push && go test ./...":                false,
		"(go test ./... || true) && git push":      false,
		"go test ./... && echo ok; git push":       false,
		"go test ./... & git push":                 false,
		"if go test ./...; then git push; fi":      false,
		"false && go test ./... || git push":       false,
	} {
		f := Line(line, Env{Cwd: "/p", Home: "/home/u"})
		test, push := -1, -1
		for i, c := range f.Commands {
			switch {
			case begins(&c, "go", "test"):
				test = i
			case begins(&c, "git", "push"):
				push = i
			}
		}
		if got := f.Guards(test, push); test < 0 || push < 0 || got != want {
			t.Errorf("%s: commands %d %d, guards %v, want %v", line, test, push, got, want)
		}
	}
}
