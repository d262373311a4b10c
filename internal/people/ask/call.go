package ask

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
)

// call is a tool call as answers about it are compared: whole, with its secrets, and
// as it will be executed.
type call struct {
	own   string // name of the tool, as its agent calls it
	tool  string // canonical
	lines []string
	alone *facts.Command // that the only line consists of; nil = more than that, or in doubt
	shell bool           // lines are command lines, which are compared word by word
	like  bool           // it is certain what lines are, so that a glob can cover them
	parts []string       // digests: of all that counts, and of that without lines
}

// spoken are arguments of a shell tool that only say something to people, or how long
// the agent waits: the same command may come with others.
var spoken = []string{
	"description", "justification", "explanation", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens",
}

// open are tools whose other arguments a glob leaves open, because it is about where
// they act: the text that a file tool writes differs each time.
var open = []string{"Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "LS", "WebFetch", "WebSearch"}

// maxText bounds the text that a glob is compared with.
const maxText = 8 << 10

// callOf reads the call that e is about, with data in place of its own. ok is false
// where it cannot be compared with another: it is no tool call, or has an argument
// twice.
func callOf(e *events.Event, data json.RawMessage) (c call, ok bool) {
	about := *e
	about.Data = data
	t := dialect.Call(&about)
	c = call{own: t.Own, tool: t.Tool, shell: t.Tool == neutral.Shell}
	args, once := arguments(t.Given)
	if t.Own == "" || !once {
		return c, false
	}
	var key string
	if c.shell {
		maps.DeleteFunc(args, func(key string, _ []byte) bool { return slices.Contains(spoken, key) })
		c.lines = t.Commands()
		key = onlyKey(args, c.lines)
	} else if name, text := t.Subject(); text != "" {
		c.lines = []string{text}
		key = onlyKey(args, c.lines)
		if _, known := args[name]; known {
			key = name
		}
	}
	if c.like = key != "" && len(c.lines[0]) <= maxText && !t.Guessed && t.Code == ""; c.like && c.shell {
		c.alone = facts.Line(c.lines[0], facts.Env{Cwd: e.Cwd}).Alone()
	}
	whole := digest(args)
	delete(args, key)
	if slices.Contains(open, c.tool) {
		clear(args)
	}
	c.parts = []string{whole, digest(args)}
	return c, true
}

// arguments are the members of a tool's input without blanks; a value that is no
// object is one member. once is false when two members have one name except for the
// letter case: which of them counts depends on how the agent reads JSON.
func arguments(input json.RawMessage) (args map[string][]byte, once bool) {
	args = map[string][]byte{}
	folded := map[string]bool{}
	if text := bytes.TrimSpace(input); len(text) == 0 || text[0] != '{' {
		return map[string][]byte{"": compact(text)}, true
	}
	for key, value := range rawjson.Members(input) {
		if low := strings.ToLower(key); folded[low] {
			return nil, false
		} else {
			folded[low] = true
		}
		args[key] = compact(value)
	}
	return args, true
}

func compact(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// onlyKey is the argument whose value is the one line; "" if there is none, or another
// argument has the same value.
func onlyKey(args map[string][]byte, lines []string) (found string) {
	if len(lines) != 1 {
		return ""
	}
	for key, value := range args {
		if neutral.TextOf(value) != lines[0] {
			continue
		}
		if found != "" {
			return ""
		}
		found = key
	}
	return found
}

func digest(args map[string][]byte) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(h, "%d:%s=%d:%s\n", len(key), key, len(args[key]), args[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// calls are the calls that an answer is about: the call as the agent made it, and as hooks have
// rewritten it. An agent that takes no rewrite executes the first.
type calls []call

// exact identifies the calls with all that counts.
func (cs calls) exact() string { return cs.sum(0) }

// given identifies the call as the agent made it.
func (cs calls) given() string { return cs[:1].sum(0) }

// rest identifies them without the part that a glob covers.
func (cs calls) rest() string { return cs.sum(1) }

func (cs calls) sum(part int) string {
	h := sha256.New()
	for _, c := range cs {
		fmt.Fprintf(h, "%q %q %s\n", c.own, c.tool, c.parts[part])
	}
	return hex.EncodeToString(h.Sum(nil))
}
