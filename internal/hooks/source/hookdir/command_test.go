package hookdir

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Each row is a rule of `command`.
func TestFindCommand(t *testing.T) {
	dir, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{
		dir + "/run.sh", dir + "/two words.sh", dir + "/both", dir + "/sub/run", home + "/bin/mine",
		bin + "/both", bin + "/tool", bin + "/two words",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		hooktest.Write(t, name, "#!/bin/sh\n", 0o700)
	}
	hooktest.Write(t, dir+"/plain.sh", "#!/bin/sh\n", 0o600)
	hooktest.Write(t, dir+"/noshebang", "echo\n", 0o700)
	hooktest.Write(t, dir+"/zero", "", 0o700)
	hooktest.Write(t, dir+"/crlf", "#!/bin/sh\r\n", 0o700)
	hooktest.Write(t, dir+"/nointerpreter", "#!/no/such/thing -x\n", 0o700)
	hooktest.Write(t, dir+"/askedofenv", "#!/usr/bin/env -S no-such-thing -x\n", 0o700)
	hooktest.Write(t, dir+"/binary", "\x7fELF\x00", 0o700)
	hooktest.Write(t, bin+"/plain", "#!/bin/sh\n", 0o600)

	for _, c := range []struct {
		command, args string // args as YAML, "" = none
		path          string
		argv          []string
		problem       string
	}{
		{"./run.sh", "", "DIR/run.sh", []string{}, ""},
		{"run.sh", "", "DIR/run.sh", []string{}, ""},
		{"./run.sh -a  b\tc", "", "DIR/run.sh", []string{"-a", "b", "c"}, ""},
		{"./run.sh '$X' | cat", "", "DIR/run.sh", []string{"'$X'", "|", "cat"}, ""},
		{"sub/run x", "", "DIR/sub/run", []string{"x"}, ""},
		{"./two words.sh", "", "DIR/two words.sh", nil, ""},
		{"two words.sh", "", "DIR/two words.sh", nil, ""},
		{"./two words.sh", "[]", "DIR/two words.sh", []string{}, ""},
		{"./run.sh", "[a b, '*']", "DIR/run.sh", []string{"a b", "*"}, ""},
		{"./run.sh -a", "[]", "DIR/run.sh -a", []string{}, "no such file"},
		{"both", "", "DIR/both", []string{}, ""},
		{"tool x", "", "BIN/tool", []string{"x"}, ""},
		{"tool", "[x]", "BIN/tool", []string{"x"}, ""},
		{"BIN/tool y", "", "BIN/tool", []string{"y"}, ""},
		{"~/bin/mine", "", "HOME/bin/mine", []string{}, ""},
		{"~/bin/mine z", "", "HOME/bin/mine", []string{"z"}, ""},
		{"gone", "", "DIR/gone", []string{}, "not found in the folder nor in PATH"},
		{"plain", "", "DIR/plain", []string{}, "not found in the folder nor in PATH"},
		{"./gone x", "", "DIR/gone", []string{"x"}, "no such file"},
		{"./sub", "", "DIR/sub", []string{}, "is a directory"},
		{"./plain.sh", "", "DIR/plain.sh", []string{}, "is not executable (chmod +x DIR/plain.sh)"},
		{"./noshebang", "", "DIR/noshebang", []string{}, "has no #! line, the system cannot start it (make its first line #!/bin/sh)"},
		{"./zero", "", "DIR/zero", []string{}, "has no #! line, the system cannot start it (make its first line #!/bin/sh)"},
		{"./crlf", "", "DIR/crlf", []string{}, `has Windows line ends, the system looks for an interpreter with \r in its name (tr -d '\r' < DIR/crlf > DIR/crlf.clean && cat DIR/crlf.clean > DIR/crlf && rm DIR/crlf.clean)`},
		{"./nointerpreter", "", "DIR/nointerpreter", []string{}, "its interpreter /no/such/thing does not exist (head -n 1 DIR/nointerpreter)"},
		{"./askedofenv", "", "DIR/askedofenv", []string{}, "its interpreter no-such-thing is not in PATH (command -v no-such-thing)"},
		{"./binary", "", "DIR/binary", []string{}, ""},
	} {
		t.Run(c.command+c.args, func(t *testing.T) {
			places := strings.NewReplacer("DIR", dir, "HOME", home, "BIN", bin)
			yaml := fmt.Sprintf("name: a\nevents: a\ncommand: %q\n", places.Replace(c.command))
			if c.args != "" {
				yaml += "args: " + c.args + "\n"
			}
			hooktest.Write(t, filepath.Join(dir, FileName), yaml, 0o600)
			h, problems := Read(dir, Options{Home: home, Path: "relative:" + bin + ":"})
			if h == nil {
				t.Fatalf("rejected: %v", problems)
			}
			if got, want := h.Path, places.Replace(c.path); got != want {
				t.Errorf("path = %q, want %q", got, want)
			}
			if len(h.Args) != len(c.argv) || len(c.argv) > 0 && !reflect.DeepEqual(h.Args, c.argv) {
				t.Errorf("args = %q, want %q", h.Args, c.argv)
			}
			got := ""
			for _, p := range problems {
				if !p.Warning || p.Line != 3 || p.Column != 10 {
					t.Errorf("problem %+v: want a warning at 3:10", p)
				}
				_, got, _ = strings.Cut(p.String(), strings.Fields(places.Replace(c.command))[0])
				_, got, _ = strings.Cut(got, ": ")
			}
			if want := places.Replace(c.problem); got != want {
				t.Errorf("problem = %q, want %q", got, want)
			}
		})
	}
}

// A file that could change the result of Read is named, so that it is watched.
func TestFiles(t *testing.T) {
	bin := t.TempDir()
	hooktest.Write(t, bin+"/tool", "#!/bin/sh\n", 0o700)
	dir := folder(t, "name: a\nevents: a\ncommand: tool run\nworking_dir: /w\n")
	h, _ := Read(dir, Options{Path: bin})
	want := []string{dir + "/HOOK.yaml", dir + "/tool", dir + "/tool run", bin + "/tool", "/w"}
	for _, name := range want {
		found := false
		for _, got := range Files(dir, h) {
			found = found || got == name
		}
		if !found {
			t.Errorf("%s is missing in %q", name, Files(dir, h))
		}
	}
	if got := Files(dir, nil); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("of a rejected hook: %q, want %q", got, want[:1])
	}
}
