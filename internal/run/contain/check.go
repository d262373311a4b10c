package contain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/run/box"
)

// Check is one thing that was tried in a box of a profile.
type Check struct {
	Profile string `json:"profile"`
	Try     string `json:"try"`
	// Result is kept, reached, works, broken, or skipped where it does not work without a box either.
	Result string `json:"result"`
	Detail string `json:"detail,omitempty"`
}

// Results of a Check.
const (
	Kept    = "kept"    // the attack had no effect
	Reached = "reached" // the attack got out: the box does not hold
	Works   = "works"
	Broken  = "broken"
	Skipped = "skipped"
	NoBox   = "no box"

	MakeBox = "make a box" // a Try: its detail says why the strongest could not be made
)

// tries are lines that print REACHED, or connect to a port or socket, where nothing keeps them.
var tries = []struct{ name, line string }{
	{"write beside the project", `echo x > ../beside/file && echo REACHED`},
	{"write through a link", `ln -sfn "$PWD/../beside" out && echo x > out/file && echo REACHED`},
	{"remove what is beside the project", `rm -r ../beside && echo REACHED`},
	{"write a hook of git", `echo x > .git/hooks/pre-commit && echo REACHED`},
	{"move the git folder away", `mv .git .git2 && echo REACHED`},
	{"connect to a port of the machine", `(exec 3<>/dev/tcp/127.0.0.1/$PORT) && echo TRIED`},
	{"read the environment of a process", `cat /proc/$OUTSIDE/environ > /dev/null && echo REACHED`},
	{"send a signal to a process", `kill -0 $OUTSIDE && echo REACHED`},
	{"make namespaces of its own", `unshare -Ur true && echo REACHED`},
	{"find a token in the environment", `[ -n "$CHECK_TOKEN" ] && echo REACHED`},
	// Landlock hides the files of a folder, not their names.
	{"read hookd's files", `cat "$HOME"/.librefang/* | grep -q . && echo REACHED`},
	{"read keys", `cat "$HOME"/.ssh/* | grep -q . && echo REACHED`},
}

// works are lines that must go on as they do without a box.
var works = []struct{ name, line, profile string }{
	{"read the project", `cat file`, box.Read},
	{"keep an exit code", `exit 7`, box.Read},
	{"write the project", `echo x > src/new && cat src/new`, box.Project},
	{"use a temporary folder", `f=$(mktemp) && echo x > "$f" && cat "$f" && rm "$f"`, box.Project}, // a name of its own
}

// CheckMachine tries boxes of each built-in profile on a folder of its own in home, which it removes.
// An error means that nothing could be tried.
func CheckMachine(ctx context.Context, bridge, home string) ([]Check, error) {
	if _, err := os.Stat(bridge); err != nil {
		return nil, fmt.Errorf("find hookd-bridge, which makes boxes: %w", err)
	}
	dir, err := os.MkdirTemp(home, ".hookd-box-check-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to try boxes in: %w", err)
	}
	defer os.RemoveAll(dir)
	c := &checker{bridge: bridge, dir: dir}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for what gets out: %w", err)
	}
	defer port.Close()
	c.port = port
	_, number, _ := net.SplitHostPort(port.Addr().String())
	c.env = append(os.Environ(), "PORT="+number, fmt.Sprintf("OUTSIDE=%d", os.Getpid()), "CHECK_TOKEN=1")
	for _, profile := range names() {
		c.profile(ctx, profile)
	}
	return c.list, nil
}

type checker struct {
	bridge, dir string
	env         []string
	port        net.Listener // of the machine
	list        []Check
}

func (c *checker) add(profile, try, result, detail string) {
	c.list = append(c.list, Check{profile, try, result, detail})
}

func (c *checker) profile(ctx context.Context, profile string) {
	if err := c.fresh(); err != nil {
		c.add(profile, "make a project", Broken, err.Error())
		return
	}
	args := []string{"--profile", profile}
	strongest := append(args[:2:2], "--level", string(box.Strongest))
	why := c.cannot(ctx, strongest)
	switch {
	case profile == box.ProjectNet:
		args = strongest
	case why != "":
		c.list = append(c.list, Check{Profile: profile, Try: MakeBox, Result: Works, Detail: "a weaker one: " + why})
		why = c.cannot(ctx, args)
	}
	if why != "" {
		c.add(profile, MakeBox, NoBox, why)
		return
	}
	for _, t := range tries {
		if c.fresh() != nil || !c.gets(ctx, nil, t.line) {
			c.add(profile, t.name, Skipped, "it does not work without a box either")
			continue
		}
		result := Kept
		if c.fresh() == nil && c.gets(ctx, args, t.line) {
			result = Reached
		}
		c.add(profile, t.name, result, "")
	}
	for _, w := range works {
		if profile == box.Read && w.profile != box.Read || c.fresh() != nil {
			continue
		}
		want, code := c.run(ctx, nil, w.line)
		_ = c.fresh() // the folder was made before
		if got, exit := c.run(ctx, args, w.line); got != want || exit != code {
			c.add(profile, w.name, Broken, fmt.Sprintf("exit code %d, not %d: %s", exit, code, strings.TrimSpace(got)))
			continue
		}
		c.add(profile, w.name, Works, "")
	}
}

// cannot says why there is no box for arguments; "" = there is one.
func (c *checker) cannot(ctx context.Context, args []string) string {
	out, exit := c.run(ctx, args, "true")
	if exit == 0 {
		return ""
	}
	_, why, _ := strings.Cut(strings.TrimSpace(out), "nothing was run: ")
	return cmp.Or(why, fmt.Sprintf("exit code %d", exit))
}

// gets reports whether a try has its effect, in a box if args are given.
func (c *checker) gets(ctx context.Context, args []string, line string) bool {
	out, _ := c.run(ctx, args, line)
	return c.connected() || strings.Contains(out, "REACHED")
}

// connected reports whether a line has connected to the port. Connections wait there in order, and the checker's own is
// behind those of the line.
func (c *checker) connected() (is bool) {
	own, err := net.Dial("tcp", c.port.Addr().String())
	if err != nil {
		return true // it cannot be known
	}
	defer own.Close()
	for {
		conn, err := c.port.Accept()
		if err != nil {
			return true
		}
		conn.Close()
		if conn.RemoteAddr().String() == own.LocalAddr().String() {
			return is
		}
		is = true
	}
}

// tryTime is how long one line may take.
const tryTime = 10 * time.Second

func (c *checker) run(ctx context.Context, args []string, line string) (out string, exit int) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	words := []string{shell(), "-c", line}
	if args != nil {
		words = append(append(append([]string{c.bridge, "box"}, args...), "--"), words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(c.dir, "project"), c.env
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return err.Error(), -1
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// fresh makes the project and the folder beside it again.
func (c *checker) fresh() error {
	for _, name := range []string{"project", "beside"} {
		if err := os.RemoveAll(filepath.Join(c.dir, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"project/.git/hooks", "project/src", "beside"} {
		if err := os.MkdirAll(filepath.Join(c.dir, name), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"project/file", "project/.git/config", "project/.git/HEAD", "beside/file"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte("text\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
