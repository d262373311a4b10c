package timerslack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The test binary is the program that is executed again.
const helperVar = "TIMERSLACK_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVar) == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	if from := os.Getenv("FROM"); from != "" && os.Getenv(againVar) == "" {
		slack, _ := strconv.Atoi(from)
		set(uintptr(slack))
	}
	Raise()
	_, leaks := os.LookupEnv(againVar)
	_, gives := Raised()
	fmt.Println(os.Getpid(), slacks(), strings.Join(os.Args[1:], " "), leaks, gives)
}

// slacks returns those of all threads, as far as they differ.
func slacks() string {
	var list []string
	tasks, _ := filepath.Glob("/proc/self/task/*")
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/" + filepath.Base(task) + "/timerslack_ns")
		if s := strings.TrimSpace(string(text)); s != "" && !strings.Contains(strings.Join(list, "+"), s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, "+")
}

func TestRaise(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may read the slack of other threads")
	}
	if now := current(); now != usual {
		t.Skipf("the tests were started with a slack of %d ns", now)
	}
	for _, c := range []struct {
		name string
		env  []string
		want string
		back bool // processes get the usual one back
	}{
		{"all threads, and the process and its arguments stay", nil, "300000", true},
		{"a slack that is not the usual one stays", []string{"FROM=70000"}, "50000+70000", false},
		{"one as long as ours stays, for processes too", []string{"FROM=300000"}, "50000+300000", false},
		{"not twice", []string{againVar + "=1"}, "50000", false},
	} {
		cmd := exec.Command(os.Args[0], "serve", "--flag")
		cmd.Env = append(os.Environ(), append(c.env, helperVar+"=1")...)
		out, err := cmd.Output()
		f := strings.Fields(string(out))
		if err != nil || len(f) != 6 {
			t.Errorf("%s: %q, %v", c.name, out, err)
			continue
		}
		if f[0] != strconv.Itoa(cmd.Process.Pid) || f[2] != "serve" || f[3] != "--flag" || f[4] != "false" {
			t.Errorf("%s: %q, want process %d with its arguments, and %s not in its environment", c.name, out, cmd.Process.Pid, againVar)
		}
		if f[5] != strconv.FormatBool(c.back) {
			t.Errorf("%s: processes get the usual slack back: %s", c.name, f[5])
		}
		if !sameSet(f[1], c.want) {
			t.Errorf("%s: slack %s, want %s", c.name, f[1], c.want)
		}
	}
}

func sameSet(got, want string) bool {
	g, w := strings.Split(got, "+"), strings.Split(want, "+")
	if len(g) != len(w) {
		return false
	}
	for _, s := range w {
		if !strings.Contains("+"+got+"+", "+"+s+"+") {
			return false
		}
	}
	return true
}
