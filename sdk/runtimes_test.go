package sdk

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// runtime is a program that runs hooks.
type runtime struct {
	name    string
	argv    []string
	program string // in testdata: its extension says which SDK file it takes
}

// pythons are the names that interpreters have which hooks can be written for.
var pythons = []string{"python3", "python3.8", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13",
	"python3.14"}

// runtimes returns the runtimes of this machine.
func runtimes(t *testing.T) []runtime {
	t.Helper()
	for _, name := range []string{"python3", "node", "bun", "deno"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Log("SKIP-TOOL " + name)
		}
	}
	return found()
}

// found looks for the runtimes once: an interpreter that a version manager leads to takes long to say its version.
var found = sync.OnceValue(func() (list []runtime) {
	seen := map[string]bool{}
	for _, name := range pythons {
		version, err := exec.Command(name, "-c", "import sys; print(sys.version)").Output()
		if err != nil || seen[string(version)] {
			continue // not there, or the same as python3
		}
		seen[string(version)] = true
		list = append(list, runtime{name, []string{name}, "py"})
	}
	for _, r := range []runtime{
		{"node", []string{"node"}, "mjs"},
		{"bun", []string{"bun", "run"}, "ts"},
		{"deno", []string{"deno", "run", "--quiet", "--no-lock", "--allow-all"}, "ts"},
	} {
		if _, err := exec.LookPath(r.argv[0]); err == nil {
			list = append(list, r)
		}
	}
	if takesTypes("node") {
		list = append(list, runtime{"node with types", []string{"node"}, "ts"})
	}
	return list
})

// takesTypes reports whether a node runs TypeScript as it is.
func takesTypes(node string) bool {
	text, err := exec.Command(node, "-p", "process.features.typescript").Output()
	return err == nil && strings.TrimSpace(string(text)) == "strip"
}

// program copies a program of testdata and the SDK files to a folder of their own and
// returns the command that runs it.
func (r runtime) command(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", name+"."+r.program))
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		name + "." + r.program: string(text), "hookd.py": Python, "hookd.mjs": JavaScript, "hookd.ts": TypeScript,
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	argv := append(r.argv[1:len(r.argv):len(r.argv)], filepath.Join(dir, name+"."+r.program))
	cmd := exec.CommandContext(t.Context(), r.argv[0], argv...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HOOK_EVENT") && !strings.HasPrefix(v, "PYTHON") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// output runs cmd with stdin and returns its stdout.
func output(t *testing.T, cmd *exec.Cmd, stdin []byte) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w: %.2000s", cmd, err, stderr.Bytes()))
	}
	return text
}
