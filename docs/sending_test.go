package docs

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// snippet is a block of a document: its language, and the rest of the line
// that opens it.
type snippet struct{ lang, name, text string }

func snippets(t *testing.T, file string) (all []snippet) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)(?: ([^\n]*))?\n(.*?)^```$").FindAllStringSubmatch(read(t, file), -1) {
		all = append(all, snippet{m[1], m[2], m[3]})
	}
	if len(all) == 0 {
		t.Fatalf("%s has no blocks, the search is broken", file)
	}
	return all
}

func TestMain(m *testing.M) {
	code := m.Run()
	hooktest.RemovePrograms()
	os.Exit(code)
}

// user has a daemon, a home folder and hookd in PATH.
type user struct {
	*house
	env []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	hooktest.NeedTool(t, "go")
	bin := hooktest.Programs(t)
	home := newHome(t)
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH")}
	for _, name := range []string{"PYENV_ROOT", "RUSTUP_HOME", "CARGO_HOME", "TMPDIR"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	real, _ := os.UserHomeDir() // where version managers keep their tools
	env = append(env, toolHome("RUSTUP_HOME", real, ".rustup"), toolHome("CARGO_HOME", real, ".cargo"), toolHome("PYENV_ROOT", real, ".pyenv"))
	return &user{start(t, filepath.Join(home, ".librefang")), env}
}

func toolHome(name, home, folder string) string {
	if value := os.Getenv(name); value != "" {
		return name + "=" + value
	}
	return name + "=" + filepath.Join(home, folder)
}

func (u *user) command(dir string, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, u.env
	return cmd
}

// run runs a program to its end.
func (u *user) run(dir string, argv ...string) string {
	u.t.Helper()
	out, err := u.command(dir, argv...).CombinedOutput()
	if err != nil {
		u.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

func (u *user) guard() {
	u.t.Helper()
	hooktest.Write(u.t, filepath.Join(u.home, "hooks", "no-sudo", "HOOK.yaml"), "name: no-sudo\nevents: pre_tool_use\ntype: script\ntimeout: 1m\nscript: 'if grep -q sudo; then echo \"no sudo here\" >&2; exit 2; fi'\n", 0o644)
	if _, err := u.client.Reload(u.t.Context()); err != nil {
		u.t.Fatal(err)
	}
}

// languages say how a snippet becomes a program. Languages that build get a name.
var languages = map[string]struct {
	tool string
	run  func(u *user, dir, file string) []string
}{
	"rust": {"rustc", func(u *user, dir, file string) []string {
		program := filepath.Join(dir, strings.TrimSuffix(file, ".rs"))
		u.run(dir, "rustc", "--edition", "2021", "-D", "warnings", "-o", program, file)
		return []string{program}
	}},
}

// Each sending program sends its event once, and is denied its call.
func TestSnippetsSend(t *testing.T) {
	for _, s := range snippets(t, "reference/sending-events.md") {
		lang, ok := languages[s.lang]
		if !ok || !strings.HasPrefix(s.name, "send.") {
			continue
		}
		t.Run(s.lang, func(t *testing.T) {
			hooktest.NeedTool(t, lang.tool)
			u := newUser(t)
			dir := t.TempDir()
			hooktest.Write(t, filepath.Join(dir, s.name), s.text, 0o644)
			argv := lang.run(u, dir, s.name)
			if out, err := u.command(dir, argv...).Output(); err != nil || !strings.Contains(string(out), "\ncall it\n") {
				t.Errorf("without a guard: %v, %s", err, out)
			}
			u.guard()
			for range 2 { // the same id again: taken once
				if out := u.run(dir, argv...); !strings.Contains(out, "\ndo not call it") {
					t.Errorf("%s", out)
				}
			}
			zero, told := uint64(0), 0
			count := func(r client.Record) {
				if r.Event != nil && r.Event.Event == "my-app:deployed" && string(r.Event.Data) == `{"version":"1.2"}` || r.Event != nil && strings.Contains(string(r.Event.Data), `"version": "1.2"`) {
					told++
				}
			}
			for r, err := range u.client.Subscribe(t.Context(), client.SubscribeOptions{Since: &zero}) {
				if err != nil {
					t.Fatal(err)
				}
				if count(r); r.Seq >= u.seq() {
					break
				}
			}
			if told != 1 {
				t.Errorf("the event was told %d times", told)
			}
			cmd := u.command(dir, argv...)
			cmd.Env = append(cmd.Env, "HOOKD_SOCKET="+filepath.Join(dir, "none"))
			if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), "call it") {
				t.Errorf("without a daemon: %v, %s", err, out)
			}
		})
	}
}

func (u *user) seq() uint64 {
	status, err := u.client.Status(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	return status.Seq
}

// Each following program sees the events that happen, and comes back to a daemon that
// was restarted.
func TestSnippetsFollow(t *testing.T) {
	for _, s := range snippets(t, "reference/sending-events.md") {
		if !strings.HasPrefix(s.name, "follow") {
			continue
		}
		t.Run(s.lang, func(t *testing.T) {
			var argv []string
			u := newUser(t)
			dir := t.TempDir()
			if s.lang == "sh" {
				hooktest.NeedTool(t, "jq")
				argv = []string{"sh", "-e", "-c", s.text}
			} else {
				hooktest.NeedTool(t, languages[s.lang].tool)
				hooktest.Write(t, filepath.Join(dir, s.name), s.text, 0o644)
				argv = languages[s.lang].run(u, dir, s.name)
			}
			u.guard()
			out := u.follow(dir, argv)
			u.awaitSubscriber()
			u.send(event{"", "my-app:started", nil})
			u.send(event{"", "my-other:thing", nil})
			if got := u.send(runs(docker, "ls")); len(got.Runs) != 1 {
				t.Fatalf("got %+v, want a run of no-sudo", got)
			}
			out.want(t, "event my-app:started", "event pre_tool_use", "run pre_tool_use no-sudo")
			u.restart()
			u.awaitSubscriber()
			u.send(event{"", "my-app:again", nil})
			out.want(t, "event my-app:again")
		})
	}
}

func (u *user) awaitSubscriber() {
	u.t.Helper()
	hooktest.Until(u.t, "a subscriber follows", func() bool {
		s, err := u.client.Status(u.t.Context())
		return err == nil && s.Subscribers > 0
	})
}

// output is the output of a program that does not end.
type output struct{ lines chan string }

func (u *user) follow(dir string, argv []string) output {
	u.t.Helper()
	cmd := u.command(dir, argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	out := output{make(chan string, 100)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for in := bufio.NewScanner(io.Reader(pipe)); in.Scan(); {
			out.lines <- in.Text()
		}
	}()
	u.t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		cmd.Wait()
	})
	return out
}

// want waits for lines, each with a number after its first word. Gaps, and
// runs of another language's fewer words, do not matter.
func (o output) want(t *testing.T, texts ...string) {
	t.Helper()
	var seen []string
	for _, text := range texts {
		for {
			select {
			case line := <-o.lines:
				seen = append(seen, line)
			case <-time.After(hooktest.Patience):
				t.Fatalf("%q does not come, after %q", text, seen)
			}
			words := strings.Fields(seen[len(seen)-1])
			if len(words) > 2 && words[0] != "gap" && words[0] != "verdict" { // some programs show all records
				got := strings.Join(append(words[:1:1], words[2:]...), " ")
				if got != text && got+" no-sudo" != text {
					t.Errorf("got %q, want %q", got, text)
				}
				break
			}
		}
	}
}

// Every shell block that ends runs as it stands.
func TestSnippetsShell(t *testing.T) {
	hooktest.NeedTool(t, "jq", "curl", "nc")
	u := newUser(t)
	for _, s := range snippets(t, "reference/sending-events.md") {
		if s.lang != "sh" || s.name != "" {
			continue
		}
		out := u.run(u.home, "sh", "-e", "-c", s.text)
		if strings.Contains(s.text, "jq -n") && !strings.HasSuffix(out, "\ndo not call it\n") {
			t.Errorf("%s", out)
		}
		if strings.Contains(s.text, "curl") && strings.Count(out, `"event_id"`) != 2 {
			t.Errorf("%s", out)
		}
	}
}
