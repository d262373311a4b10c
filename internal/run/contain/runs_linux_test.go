package contain

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/facts/facttest"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/run/box"
)

// sessionTools names a folder with node_modules and py/bin, a virtual environment of Python: programs of the sessions
// that the machine lacks. With it each line runs, which takes a quarter of an hour; else some do.
const sessionTools = "HOOKD_SESSION_TOOLS"

// lineTime is the longest that a line may take. No line of the sessions needs a tenth.
const lineTime = 3 * time.Minute

// eachLine is of how many lines `make test-all` runs one.
const eachLine = 6

// Harmless lines of real sessions do the same in a box as without one. In one by Landlock some fail, as
// docs/reference/contain.md says: the test lists them.
func TestSessionsInBoxes(t *testing.T) {
	hooktest.Outside(t)
	calls, err := facttest.HarmlessCalls("../../facts/testdata/harmless")
	hooktest.Must(t, err)
	guards := readRules(t, "contain", "command-guard", "secret-guard", "self-guard")
	judged := newWorldIn(t, hooktest.HomeDir(t))
	s := newSession(t)
	s.fresh(t)
	levels := slices.DeleteFunc([]box.Level{box.Namespaces, box.Landlock}, func(l box.Level) bool {
		r := s.run(t, l, "true")
		if r.exit != 0 {
			t.Logf("%s: %s", l, r.text)
		}
		return r.exit != 0
	})
	s.away(t)
	if len(levels) == 0 {
		t.Skip("this machine makes no box")
	}
	counts, out, number := map[string]int{}, &strings.Builder{}, 0
	for _, h := range calls {
		if h.Line == "" || judge(t, guards, h.Call()) != rules.Contain || judged.why(h.Line) != "" {
			continue
		}
		if h.Line == "next build" {
			counts["left out"]++ // it first installs packages
			continue
		}
		number++
		run := os.Getenv(sessionTools) != "" || hooktest.All() && number%eachLine == 0 || strings.HasPrefix(h.Line, "git add")
		if !run {
			continue // most compile
		}
		line := strings.NewReplacer("abc1234", "feature").Replace(h.Line)
		bare := s.ran(t, "", line)
		if why := bare.missing(); why != "" {
			counts["left out"]++
			fmt.Fprintf(out, "left out: %q: %s\n", h.Line, why)
			continue
		}
		for _, level := range levels {
			boxed := s.ran(t, level, line)
			why := boxed.differsFrom(bare)
			switch {
			case why == "" && bare.exit == 0:
				counts[string(level)+": same"]++
			case why == "":
				counts[string(level)+": same failure"]++
				fmt.Fprintf(out, "fails without a box: %q: %s\n", h.Line, last(bare.text))
			default:
				if level == box.Namespaces {
					t.Errorf("%q differs in a box: %s\n%s", h.Line, why, last(boxed.text))
				}
				counts[string(level)+": differs"]++
				fmt.Fprintf(out, "%s: %q: %s\n\tbare:  %s\n\tboxed: %s\n", level, h.Line, why, last(bare.text), last(boxed.text))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "%s: %d\n", name, counts[name])
	}
	t.Log("\n" + out.String())
}

func last(text string) string {
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-300):]
}

// session is a home with a project for the lines.
type session struct {
	home, project, template, modules, self string
	env                                    []string
}

// lineRun is how a line ended, and the files of the project after it.
type lineRun struct {
	exit  int
	text  string
	files map[string]string
}

func newSession(t *testing.T) *session {
	t.Helper()
	home := hooktest.HomeDir(t)
	self, err := os.Executable()
	hooktest.Must(t, err)
	s := &session{home: home, project: home + "/project", template: home + "/template", self: self}
	for _, dir := range []string{".cache/go-build", "go/pkg", ".npm", ".cargo/registry", ".m2/repository"} {
		hooktest.Must(t, os.MkdirAll(filepath.Join(home, dir), 0o755))
	}
	archive, err := os.ReadFile("testdata/session.txtar")
	hooktest.Must(t, err)
	for _, file := range strings.Split("\n"+string(archive), "\n-- ")[1:] {
		name, text, _ := strings.Cut(file, " --\n")
		text += "\n"
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		hooktest.Write(t, filepath.Join(s.template, name), text, mode)
	}
	real, _ := os.UserHomeDir()
	path := os.Getenv("PATH")
	if dir := os.Getenv(sessionTools); dir != "" {
		path = s.project + "/node_modules/.bin:" + dir + "/py/bin:" + path
		s.modules = home + "/modules"
		if out, err := exec.Command("cp", "-al", dir+"/node_modules", s.modules).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.env = []string{
		"HOME=" + home, "PATH=" + path, "LANG=C.UTF-8", "USER=me", "GOTOOLCHAIN=local", "GOPROXY=off",
		"RUSTUP_HOME=" + real + "/.rustup", "PYENV_ROOT=" + real + "/.pyenv",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z", "EDITOR=true",
		"NEXT_TELEMETRY_DISABLED=1", "TURBO_TELEMETRY_DISABLED=1",
		"npm_config_offline=true", "CARGO_NET_OFFLINE=true", "PIP_NO_INDEX=1", "UV_OFFLINE=1", // no line gets programs to run
		"npm_config_package_manager_strict=false", "PYTHONDONTWRITEBYTECODE=1",
	}
	s.in(t, s.template, "", `git init -q -b main . && rm -f .git/hooks/*.sample && git add -A && git commit -qm one &&
		git checkout -qb feature && echo x > feature.txt && git add -A &&
		git commit -qm feature && git checkout -q main && echo y > main.txt && git add -A && git commit -qm two`)
	return s
}

// ran runs a line in a new copy of the project.
func (s *session) ran(t *testing.T, level box.Level, line string) lineRun {
	t.Helper()
	s.fresh(t)
	if strings.Contains(line, "git commit") {
		s.in(t, s.project, "", `for f in src/app.js Cargo.toml CHANGELOG.md tests/run.js; do echo >> $f; done`)
		if !strings.Contains(line, "git add") && !strings.Contains(line, "-am") {
			s.in(t, s.project, "", "git add -A")
		}
	}
	if strings.HasPrefix(line, "ctest") {
		s.in(t, s.project, "", "cmake -B build -S . && cmake --build build")
	}
	r := s.run(t, level, line)
	r.files = s.left(t)
	s.away(t)
	return r
}

// away takes the modules out of the project: to move them is faster than to copy them.
func (s *session) away(t *testing.T) {
	t.Helper()
	if s.modules != "" {
		hooktest.Must(t, os.Rename(s.project+"/node_modules", s.modules))
	}
}

func (s *session) fresh(t *testing.T) {
	t.Helper()
	hooktest.Must(t, os.RemoveAll(s.project))
	if out, err := exec.Command("cp", "-a", s.template, s.project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if s.modules != "" {
		hooktest.Must(t, os.Rename(s.modules, s.project+"/node_modules"))
	}
}

// run runs a line in the project, at a level; "" = without a box.
func (s *session) run(t *testing.T, level box.Level, line string) lineRun {
	t.Helper()
	return s.in(t, s.project, level, line)
}

func (s *session) in(t *testing.T, dir string, level box.Level, line string) (r lineRun) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lineTime)
	defer cancel()
	argv := []string{"bash", "-c", line}
	if level != "" {
		argv = append([]string{s.self, "box", "--profile", box.Project, "--level", string(level), "--"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, s.env, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("%q cannot be started", argv)
	}
	return lineRun{exit: cmd.ProcessState.ExitCode(), text: out.String()}
}

// left lists the files of the project: names and modes, and the text of files that the template has, too, and of git's
// branches.
func (s *session) left(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(s.project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, s.project+"/")
		if d.IsDir() {
			if name == "node_modules" || strings.HasSuffix(name, "/incremental") { // rustc names files there by chance
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[name] = info.Mode().String()
		_, lerr := os.Lstat(filepath.Join(s.template, name))
		isRef := strings.HasPrefix(name, ".git/refs/") || name == ".git/HEAD"
		if strings.HasPrefix(name, ".git/") && !isRef || lerr != nil {
			return nil
		}
		text, err := os.ReadFile(path)
		files[name] += " " + string(text)
		return err
	})
	hooktest.Must(t, err)
	return files
}

// missing says which program of the line the machine lacks; "" = none.
func (r lineRun) missing() string {
	for line := range strings.Lines(r.text) {
		for _, sign := range []string{"command not found", "No such file or directory", "No module named", "npx canceled", "ENOTCACHED"} {
			if strings.Contains(line, sign) && r.exit != 0 || strings.Contains(line, "command not found") {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// differsFrom says how a run differs from another.
func (r lineRun) differsFrom(bare lineRun) string {
	var all []string
	if r.exit != bare.exit {
		all = append(all, fmt.Sprintf("exit code %d, not %d", r.exit, bare.exit))
	}
	for _, name := range slices.Sorted(maps.Keys(bare.files)) {
		if got, ok := r.files[name]; !ok {
			all = append(all, name+" is missing")
		} else if got != bare.files[name] {
			all = append(all, name+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if _, ok := bare.files[name]; !ok {
			all = append(all, name+" is new")
		}
	}
	if len(all) > 6 {
		all = append(all[:6], fmt.Sprintf("%d more", len(all)-6))
	}
	return strings.Join(all, ", ")
}
