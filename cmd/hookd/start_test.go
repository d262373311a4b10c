package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// Each command pays for all that packages make before main: tables are read on first use.
func TestPackagesMakeLittleBeforeMain(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(own, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const most = 1 << 20 // bytes of one package
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, `).FindAllStringSubmatch(string(out), -1)
	if len(inits) < 10 {
		t.Fatalf("no packages in\n%s", out)
	}
	for _, init := range inits {
		if bytes, err := strconv.Atoi(init[2]); err != nil || bytes > most {
			t.Errorf("package %s allocates %s bytes before main, at most %d may be", init[1], init[2], most)
		}
	}
}
