//go:build amd64 || arm64

package early

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

const (
	house  = "github.com/hookd/hookd/internal/"
	here   = house + "agents/early"
	boxes  = house + "run/box"
	kernel = "syscall.RawSyscall6"
)

// begin runs before the runtime does, as does the child of a box: no code that they reach may call it, also not for an
// index out of range.
func TestBeginStandsAlone(t *testing.T) {
	if strings.Contains(os.Getenv("GOFLAGS"), " -l'") {
		t.Skip("make test compiles without inlining, unlike releases: make test-all runs this")
	}
	targets := []string{runtime.GOARCH}
	if hooktest.All() {
		targets = []string{"amd64", "arm64"}
	}
	for _, arch := range targets {
		cmd := exec.Command("go", "build", "-gcflags="+here+"=-S", "-gcflags="+boxes+"=-S", ".")
		cmd.Env = append(os.Environ(), "GOARCH="+arch, "GOOS=linux", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		calls, alone := calls(string(out))
		alone[kernel], alone[boxes+".rawClone"] = true, true // the second is in assembly
		for from, least := range map[string]int{here + ".begin": 20, boxes + ".first": 5, boxes + ".second": 3} {
			all := reached(calls, from)
			for f := range all {
				if !alone[f] {
					t.Errorf("%s: %s reaches %s", arch, from, f)
				}
			}
			if len(all) < least {
				t.Errorf("%s: %s reaches %d functions: is its listing read rightly?", arch, from, len(all))
			}
		}
	}
}

var (
	textLine = regexp.MustCompile(`^(\S+) STEXT (.*)size=`)
	callLine = regexp.MustCompile(`rel \d+\+\d+ t=R_CALL(?:ARM64)? (\S+)\+0`)
)

// calls reads the compiler's listing: the calls of each function, and the functions without a check of their stack.
func calls(listing string) (calls map[string][]string, nosplit map[string]bool) {
	calls, nosplit = map[string][]string{}, map[string]bool{}
	var at string
	for line := range strings.Lines(listing) {
		if m := textLine.FindStringSubmatch(line); m != nil {
			at = m[1]
			nosplit[at] = strings.Contains(m[2], "nosplit")
		} else if m := callLine.FindStringSubmatch(line); m != nil {
			calls[at] = append(calls[at], m[1])
		}
	}
	return calls, nosplit
}

// reached returns the functions that from reaches, itself among them.
func reached(calls map[string][]string, from string) map[string]bool {
	all := map[string]bool{}
	var visit func(string)
	visit = func(f string) {
		if all[f] {
			return
		}
		all[f] = true
		for _, to := range calls[f] {
			visit(to)
		}
	}
	visit(from)
	return all
}
