package familiar

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// shells are the programs that /bin/sh may be: the system's, and bash under that name.
func shells(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{"sh": "/bin/sh"}
	if path, err := exec.LookPath("bash"); err == nil {
		found["bash"] = path
	}
	return found
}

// run binds s and runs it as hookd does: sh -c, values in the environment and
// in 0600 files.
func run(t *testing.T, shell, dir string, s hook.Template, values func(string) (string, bool)) (stdout, stderr string, exit int) {
	t.Helper()
	bound, err := s.Bind(values)
	if err != nil {
		t.Fatalf("bind: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // bash cuts long values slowly
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", bound.Text)
	cmd.Args[0] = "sh"
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), bound.Env...)
	for _, f := range bound.Files {
		name := filepath.Join(t.TempDir(), f.Env)
		if err := os.WriteFile(name, f.Content, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, f.Env+"="+name)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("start %s: %v", shell, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func only(value string) func(string) (string, bool) {
	return func(string) (string, bool) { return value, true }
}

func compiled(t *testing.T, script string) *Script {
	t.Helper()
	s, problems := Compile(script)
	if s == nil {
		t.Fatalf("Compile(%q): %v", script, problems)
	}
	return s
}

func TestValuesArriveByteForByteAndNothingElseRuns(t *testing.T) {
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, n := t.TempDir(), 0
			for _, spot := range spots {
				s := compiled(t, spot.script)
				for kind, value := range hostile {
					if slices.Contains(cuts, spot.name) {
						value = value[:min(len(value), 8<<10)]
					}
					// A tenth of all spots, in `make test-all` each, and of the second shell a third: maps are in random order.
					if n++; n%10 == 0 || hooktest.All() && (name == "sh" || n%3 == 0) {
						arrives(t, shell, dir, spot.name+"/"+kind, s, spot.want, value)
					}
				}
			}
		})
	}
}

// arrives runs s with value in the empty folder dir and checks the output,
// and that the folder stays empty.
func arrives(t *testing.T, shell, dir, name string, s *Script, want, value string) {
	t.Helper()
	value = strings.ReplaceAll(value, "CANARY", filepath.Join(dir, "canary"))
	stdout, stderr, exit := run(t, shell, dir, s, only(value))
	if want = strings.ReplaceAll(want, "@", clean(value)); stdout != want || exit != 0 || stderr != "" {
		t.Errorf("%s: printed %s, exit %d, stderr %q; want %s\n%s", name, short(stdout), exit, stderr, short(want), s.Text())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%s: something else ran: %v %v", name, left, err)
	}
}

func short(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%q… (%d bytes)", s[:300], len(s))
	}
	return fmt.Sprintf("%q", s)
}

func TestRandomValuesArrive(t *testing.T) {
	pieces := []string{"'", "\"", "$(touch CANARY)", "`touch CANARY`", "\\", "\n", " ", "*", "-rf", "$x", "${x}", "}", "{{x}}", ")", ";", "&", "|", "#", "<", ">", "EOF\n", "\x00", "\xff", "\xc3", "é", "\u0088", "a", "\t", "!", "~", "=", "["}
	random := rand.New(rand.NewPCG(1, 2))
	for name, shell := range shells(t) {
		dir := t.TempDir()
		for range hooktest.Amount(150, 30) {
			var value strings.Builder
			for range random.IntN(12) {
				value.WriteString(pieces[random.IntN(len(pieces))])
			}
			spot := spots[random.IntN(len(spots))]
			arrives(t, shell, dir, name+"/"+spot.name, compiled(t, spot.script), spot.want, value.String())
		}
	}
}

// template is a script that is bound already.
type template struct{ text string }

func (t template) Bind(func(string) (string, bool)) (hook.Bound, error) {
	return hook.Bound{Text: t.text}, nil
}
