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

// begin runs before the runtime does: no code that it reaches may call it, also not for an index out of range.
func TestBeginStandsAlone(t *testing.T) {
	targets := []string{runtime.GOARCH}
	if hooktest.All() {
		targets = []string{"amd64", "arm64"}
	}
	for _, arch := range targets {
		cmd := exec.Command("go", "build", "-gcflags=-S", ".")
		cmd.Env = append(os.Environ(), "GOARCH="+arch, "GOOS=linux", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		calls, own := calls(string(out))
		for from := range reached(calls, "begin") {
			for _, to := range calls[from] {
				if !own[to] && to != "syscall.RawSyscall6" {
					t.Errorf("%s: %s calls %s", arch, from, to)
				}
			}
		}
		if n := len(reached(calls, "begin")); n < 8 {
			t.Errorf("%s: begin reaches %d functions: is its listing read rightly?", arch, n)
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
	const own = "github.com/hookd/hookd/internal/agents/early."
	var at string
	for line := range strings.Lines(listing) {
		if m := textLine.FindStringSubmatch(line); m != nil {
			at = strings.TrimPrefix(m[1], own)
			nosplit[at] = strings.Contains(m[2], "nosplit")
		} else if m := callLine.FindStringSubmatch(line); m != nil {
			calls[at] = append(calls[at], strings.TrimPrefix(m[1], own))
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
			if !strings.Contains(to, ".") {
				visit(to)
			}
		}
	}
	visit(from)
	return all
}
