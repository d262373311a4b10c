package sdk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// want is the required answer of the guard of testdata, which denies sudo.
type want int

const (
	nothing want = iota // no opinion
	denial
	failure // or a denial: what matters is that it is not nothing
	either  // nothing or a failure
)

type hostile struct {
	line string // without the newline
	id   string
	want want
}

// Each event is another one: with -hostile 10000 it takes minutes, and finds more.
var hostiles = flag.Int("hostile", 500, "how many hostile events each runtime is given")

// spawns is how many of them are given to a process of their own.
const spawns = 12

// hostileEvents are lines as a sender, an agent or a model could make them.
func hostileEvents(n int) (list []hostile) {
	r := rand.New(rand.NewPCG(3, 4))
	quote := func(s string) string {
		text, _ := json.Marshal(s)
		return string(text)
	}
	runs := func(doubt string, programs ...string) string {
		var list []string
		for _, name := range programs {
			kind := "literal"
			if strings.HasPrefix(name, "$") {
				kind = "unknown"
			}
			list = append(list, fmt.Sprintf(`{"words":[{"text":%s,"kind":%q},{"text":"x","kind":"literal"}]}`, quote(name), kind))
		}
		facts := `"commands":[` + strings.Join(list, ",") + `]`
		if doubt != "" {
			facts += fmt.Sprintf(`,"doubts":[{"kind":%q,"text":"in doubt"}]`, doubt)
		}
		return `"facts":{` + facts + `}`
	}
	commands := []struct {
		text, facts string
		want        want
	}{
		{"ls", runs("", "ls"), nothing}, {"/usr/bin/sudo ls", runs("", "/usr/bin/sudo", "ls"), denial},
		{"ls; SUDO.exe rm x", runs("program", "ls", "SUDO.exe", "rm"), denial}, {"$(sudo x)", runs("eval"), failure},
		{"echo sudo", runs("", "echo"), nothing}, {"'", runs("parse"), failure}, {"$x y", runs("", "$x"), failure},
		{"./a", runs("program", "./a"), nothing}, {"ls -9", runs("option", "ls"), nothing}, {"bash", runs("open", "bash"), failure},
		{strings.Repeat("x;", 20_000), runs("limits", "x"), failure}, {"", `"facts":{}`, nothing},
		{"sudo x", `"facts":null`, failure}, {"sudo x", `"facts":"sudo"`, failure}, {"sudo x", `"a":1`, failure},
		{"sudo x", `"facts":{"commands":7}`, failure}, {"sudo x", `"facts":{"doubts":[7]}`, failure},
		{"ls\u2028sudo x", runs("", "ls\u2028sudo"), nothing}, {"ls", runs("", strings.Repeat("a", 100_000)), nothing},
	}
	values := []string{
		"null", "1e400", "-0", "123456789012345678901234567890", `"\ud800"`, `"\u2028\u2029"`, `"\u0000"`, "[]", `{"a":{}}`, "1.5e-400",
		strings.Repeat("[", 900) + strings.Repeat("]", 900), strings.Repeat("9", 5000), `"` + strings.Repeat("x", 300_000) + `"`,
		`{"__proto__":{"command":"sudo"},"constructor":1}`, `"\r\n{\"event_id\":\"fake\"}\n"`, "true",
	}
	names := []string{"PreToolUse", "PreToolUse", "PreToolUse", "pre_tool_use", "beforeShellExecution"}
	for i := range n {
		id := fmt.Sprintf("01HOSTILE%06d", i)
		h := hostile{id: id, want: nothing}
		switch kind := r.IntN(12); {
		case kind < 7: // a call of the shell
			c, name := commands[r.IntN(len(commands))], names[r.IntN(len(names))]
			if len(c.text) > 10_000 && r.IntN(60) > 0 {
				c = commands[0]
			}
			value := values[r.IntN(len(values))]
			if len(value) > 10_000 && r.IntN(60) > 0 {
				value = "null"
			}
			input := fmt.Sprintf(`%s,"tool_name":"Bash","tool_input":{"command":%s,"x":%s}`, c.facts, quote(c.text), value)
			if name == "beforeShellExecution" {
				input = fmt.Sprintf(`%s,"command":%s,"x":%s`, c.facts, quote(c.text), value)
			}
			h.want = c.want
			h.line = fmt.Sprintf(`{"hook_event_name":%q,%s,"data":{"event_id":"fake"},"event_id":%q}`, name, input, id)
			switch { // python takes no such number, others do
			case strings.HasPrefix(value, "99") && c.want == nothing:
				h.want = either
			case strings.HasPrefix(value, "99"):
				h.want = failure
			}
		case kind == 7: // a command that is no text
			h.want = failure
			h.line = fmt.Sprintf(`{"event_id":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%s}}`, id,
				[]string{"7", "null", `{"a":1}`, "[1]", "true"}[r.IntN(5)])
		case kind == 8: // no command at all
			h.want = failure
			h.line = fmt.Sprintf(`{"event_id":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":%s}`, id,
				[]string{"{}", "null", `"ls"`, "[]", "7"}[r.IntN(5)])
		case kind == 9: // broken JSON with an id
			h.want = failure
			h.line = fmt.Sprintf(`{"event_id":%q,"hook_event_name":"PreToolUse","tool_name":%s`, id,
				[]string{`"Bash"`, `"Bash"]}`, `tru}`, `"\x"}`, "\"\xff\"}", `{}}}`}[r.IntN(6)])
		case kind == 10: // an event with another meaning
			h.line = fmt.Sprintf(`{"hook_event_name":%q,"event_id":%q,"facts":{},"command":"sudo x","x":%s}`,
				[]string{"agent:end", "my:own", "constructor", "__proto__", "toString"}[r.IntN(5)], id, values[r.IntN(8)])
			if strings.Contains(h.line, `"my:own"`) {
				h.line = strings.Replace(h.line, "command", "other", 1)
			}
		default: // deep, as the id is at its end
			deep := 200_000
			h.want = either // what an interpreter cannot read is a failure, what it can is no opinion
			if r.IntN(50) > 0 {
				deep = 2000
			}
			h.line = fmt.Sprintf(`{"hook_event_name":"agent:end","facts":{},"x":%s%s,"event_id":%q}`, strings.Repeat(`[`, deep), strings.Repeat(`]`, deep), id)
		}
		list = append(list, h)
	}
	return list
}

// fits reports whether an answer is the wanted one.
func (h hostile) fits(answer map[string]any) bool {
	delete(answer, "event_id")
	why, failed := answer["hook_failed"].(string)
	failed = failed && why != "" && len(answer) == 1
	denied := answer["decision"] == "deny" && answer["reason"] != ""
	switch h.want {
	case nothing:
		return len(answer) == 0
	case denial:
		return denied
	case failure:
		return denied || failed
	}
	return len(answer) == 0 || failed
}

// A kept hook answers each hostile event with one line, in order, and none that it
// cannot read in silence.
func TestHostileEventsKept(t *testing.T) {
	list := hostileEvents(*hostiles)
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			cmd := r.command(t, "guard")
			var in, stderr bytes.Buffer
			for _, h := range list {
				in.WriteString(h.line)
				in.WriteByte('\n')
			}
			cmd.Stdin, cmd.Stderr = &in, &stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReaderSize(out, 1<<20)
			for i, h := range list {
				line, err := lines.ReadBytes('\n')
				if err != nil {
					t.Fatalf("answer %d of %d: %v: %.300s\n%.2000s", i, len(list), err, h.line, last(stderr.Bytes(), 2000))
				}
				var answer map[string]any
				if err := json.Unmarshal(line, &answer); err != nil || answer["event_id"] != h.id {
					t.Fatalf("got %.300q to %.300s, want one line of JSON with its id", line, h.line)
				}
				if !h.fits(answer) {
					t.Errorf("got %.300s to %.300s, want %d", line, h.line, h.want)
				}
			}
			if rest, _ := lines.ReadBytes('\n'); len(rest) > 0 {
				t.Errorf("got another line: %.300q", rest)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func last(text []byte, n int) []byte { return text[max(0, len(text)-n):] }

// The same events to processes that are started for each: an event that cannot be read
// is exit status 1, and stdout has the answer and nothing else.
func TestHostileEventsSpawned(t *testing.T) {
	list := hostileEvents(spawns)
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			model := r.command(t, "guard")
			for i, h := range list {
				if i%3 != 0 && !hooktest.All() {
					continue // TestHostileEventsKept gives all of them to one process
				}
				cmd := exec.CommandContext(t.Context(), model.Path, model.Args[1:]...)
				cmd.Dir, cmd.Env = model.Dir, append(model.Env, "HOOK_EVENT=PreToolUse")
				cmd.Stdin = strings.NewReader(h.line + "\n")
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				var exit *exec.ExitError
				if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
					t.Fatalf("got %v for %.300s, want exit status 0 or 1: %.2000s", err, h.line, stderr.Bytes())
				}
				answer := map[string]any{}
				switch {
				case err != nil && (len(out) > 0 || stderr.Len() == 0):
					t.Errorf("got %.300q and %q for %.300s, want the reason on stderr alone", out, stderr.String(), h.line)
				case err != nil:
					answer["hook_failed"] = "exit status 1"
				case len(out) > 0 && json.Unmarshal(out, &answer) != nil:
					t.Errorf("got %.300q for %.300s, want one object", out, h.line)
				}
				if !h.fits(answer) {
					t.Errorf("got %.300q for %.300s, want %d", out, h.line, h.want)
				}
			}
		})
	}
}

// Without an event there is no answer, and that is a failure: an empty stdin, a line
// that says not which event it is.
func TestNoEventIsAFailure(t *testing.T) {
	for _, r := range runtimes(t) {
		for _, c := range []struct{ stdin, env string }{
			{"", "HOOK_EVENT=x"}, {"[]\n", "HOOK_EVENT=x"}, {"{\n", "HOOK_EVENT=x"}, {"{\"a\":1}\n", "A=1"}, {"[]\n", "A=1"}, {"nonsense\n", "A=1"},
		} {
			cmd := r.command(t, "guard")
			cmd.Env = append(cmd.Env, c.env)
			cmd.Stdin = strings.NewReader(c.stdin)
			out, err := cmd.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || len(out) > 0 {
				t.Errorf("%s, stdin %q, %s: got %q, %v, want exit status 1 alone", r.name, c.stdin, c.env, out, err)
			}
		}
	}
}
