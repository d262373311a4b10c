package shellsafe

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// jail is a scratch directory in which a line runs as another user, without a
// network, to see whether it changes a file. Programs are the machine's own.
type jail struct {
	work, home, path string
	attr             syscall.SysProcAttr
	before           string
}

const nobodyID = 65534

// jailed are the programs a line may run: those that read, and those by which
// a line that should have asked would show itself. Programs that ask every file
// system or process of the machine (df, ps) are not among them: any one of those
// may hang, beyond the reach of a signal.
const jailed = `awk base64 basename bash cat cksum cmp column comm cp cut dash date dd diff dirname du echo env expand expr file find
fmt fold gawk getent git grep gzip head hostname id install join jq kill ln ls mawk md5sum mkdir mktemp mv nice nl nohup nproc od
paste perl printenv printf readlink realpath rev rm rmdir sed seq setsid sh sha256sum sleep sort split stat stdbuf strings
sum tac tail tar tee test time timeout touch tr tree true truncate tsort uname uniq unlink unzip uptime wc which who whoami xargs xxd`

// newJail makes a jail. It skips the test if this machine cannot hold a line in
// one: without another user to run as, only lines of the table are run.
func newJail(t testing.TB, trusted bool) *jail {
	t.Helper()
	root, err := os.MkdirTemp("", "hookd-jail-") // not t.TempDir: another user has to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	j := &jail{work: filepath.Join(root, "work"), home: filepath.Join(root, "home"), path: filepath.Join(root, "bin")}
	j.attr = syscall.SysProcAttr{Setpgid: true, Cloneflags: syscall.CLONE_NEWNET}
	switch {
	case os.Getuid() == 0:
		j.attr.Credential = &syscall.Credential{Uid: nobodyID, Gid: nobodyID}
	case trusted:
		j.attr.Cloneflags |= syscall.CLONE_NEWUSER
		j.attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		j.attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	default:
		t.Skip("SKIP-TOOL jail: only root can run lines as another user")
	}
	j.fill(t, root)
	if out, err := j.run("true"); err != nil {
		t.Skipf("SKIP-TOOL jail: this machine cannot make one: %v %s", err, out)
	}
	j.before = j.digest(t)
	return j
}

// fill writes the files that lines look at.
func (j *jail) fill(t testing.TB, root string) {
	t.Helper()
	for _, dir := range []string{j.work, j.home, j.path, j.work + "/src", j.work + "/node_modules", j.work + "/internal"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "f", "x", "file", "a.txt", "b.txt", "f.txt", "file.txt", "main.go", "a.go", "src/x.ts", "README.md", "go.mod",
		"config", "names", "files", "files.txt", "input.txt", "log.txt", "app.py", "package.json", "data.csv", "index", "list", "script"} {
		if err := os.WriteFile(filepath.Join(j.work, name), []byte("1 a.txt\n2 touch made-by-"+filepath.Base(name)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(j.work, "x"), []byte("#!/bin/sh\ntouch made-by-x\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(jailed) {
		if target, err := exec.LookPath(name); err == nil {
			_ = os.Symlink(target, filepath.Join(j.path, name))
		}
	}
	for _, name := range []string{"gmake", "ed", "just"} { // programs that the table does not know
		if err := os.WriteFile(filepath.Join(j.path, name), []byte("#!/bin/sh\ntouch made-by-"+name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobodyID, nobodyID))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _ = j.run(`git init -q . && git add . && git -c user.name=n -c user.email=e commit -qm first`)
}

// run runs a line and what it leaves behind, for two seconds at most.
func (j *jail) run(line string) (output []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return j.start(ctx, "-c", line)
}

// runAll runs lines one after the other in one jail.
func (j *jail) runAll(t testing.TB, lines []string) {
	t.Helper()
	script := filepath.Join(j.path, "lines")
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "timeout 2 bash -c '%s' </dev/null >/dev/null 2>&1\n", strings.ReplaceAll(line, "'", `'\''`))
	}
	if err := os.WriteFile(script, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := j.start(t.Context(), "+e", script); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("run the lines: %v %s", err, out)
	}
}

func (j *jail) start(ctx context.Context, args ...string) (output []byte, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(j.path, "bash"), args...)
	attr := j.attr
	cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = j.work, &attr, time.Second
	cmd.Env = []string{"PATH=" + j.path, "HOME=" + j.home, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	output, err = cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return output, err
}

// digest sums up every file of the jail: names, modes and contents.
func (j *jail) digest(t testing.TB) string {
	t.Helper()
	sum := sha256.New()
	for _, root := range []string{j.work, j.home} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintln(sum, path, info.Mode())
			if !info.Mode().IsRegular() {
				return nil
			}
			content, err := os.ReadFile(path)
			sum.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return string(sum.Sum(nil))
}

// holds runs a quiet line and reports a file that it changed.
func (j *jail) holds(t testing.TB, line string) {
	t.Helper()
	output, _ := j.run(line)
	if j.digest(t) != j.before {
		t.Fatalf("%q is quiet and changes a file: %s", line, output)
	}
}

func TestQuietLinesChangeNothing(t *testing.T) {
	j := newJail(t, true)
	var quiet []string
	for _, line := range quietLines(t) {
		if !waits(line) && Assess(line).Safe() {
			quiet = append(quiet, line)
		}
	}
	if len(quiet) < 400 {
		t.Errorf("got %d quiet lines, want at least 400", len(quiet))
	}
	j.runAll(t, quiet)
	if j.digest(t) != j.before {
		one := newJail(t, true)
		for _, line := range quiet {
			one.holds(t, line)
		}
		t.Error("the quiet lines together change a file")
	}
	if _, err := j.run("touch made"); err != nil || j.digest(t) == j.before {
		t.Errorf("the jail does not see a new file: %v", err)
	}
}

// waits reports whether a line goes through the machine or waits for its time
// to pass: such a line tells no more than the others.
func waits(line string) bool {
	for _, slow := range []string{"sleep", "tail -f", "find /", "watch", "wait"} {
		if strings.Contains(line, slow) {
			return true
		}
	}
	return false
}

// FuzzQuietLinesChangeNothing runs what passes as quiet.
func FuzzQuietLinesChangeNothing(f *testing.F) {
	j := newJail(f, false)
	for i, line := range quietLines(f) {
		if i%10 == 0 { // the others are run by the test above
			f.Add(line)
		}
	}
	for _, line := range askingLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) <= 4096 && !waits(line) && Assess(line).Safe() {
			j.holds(t, line)
		}
	})
}
