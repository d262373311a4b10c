package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// A bridge may hand its whole call over to hookd, which answers it in the bridge's place. The bridge sends one line,
// HandedPrefix first. HandedReply.Append makes the reply: a line, and the bytes of stdout and stderr behind it. After
// another line, such as LeftLine, hookd has done nothing, and the bridge sends the event itself. Once the agent
// has the answer, the bridge sends WrittenLine. Senders of events do not need this.
const (
	HandedPrefix = `{"bridge":{"payload":`
	HandedArgs   = `,"args":[`
	HandedEnv    = `],"env":[`
	HandedEnd    = "]}}\n"
	WrittenLine  = `{"written":true}`
	LeftLine     = "left to the bridge\n"
	HandedWord   = "hookd "   // begins a reply
	PlannedWord  = "planned " // begins the plan of a box
)

// PlannedBytes bounds the reply with the plan of a box.
const PlannedBytes = 256 << 10

// Handed is a call of hookd-bridge that was handed over.
type Handed struct {
	Payload json.RawMessage // the agent's bytes on stdin
	Args    []string        // of the command line, without the program
	Env     []string        // NAME=VALUE of early.Variables
}

// ReadHanded reads the line of a bridge; false = it is not as a bridge writes it. Its three members come in their
// order and each once, so that nothing in a broken payload stands for arguments. The payload is a part of line.
func ReadHanded(line []byte) (h Handed, ok bool) {
	w := rawjson.Walk(line)
	ok = true
	member := func(name string) bool { return w.Member() && string(w.Name()) == name }
	texts := func() (list []string) {
		for w.EnterList(); w.Element(); {
			text, isText := rawjson.Text(w.Value())
			ok = ok && isText
			list = append(list, text)
		}
		return list
	}
	w.Enter()
	if !member("bridge") {
		return h, false
	}
	w.Enter()
	if !member("payload") {
		return h, false
	}
	h.Payload = w.Value()
	if !member("args") {
		return h, false
	}
	h.Args = texts()
	if !member("env") {
		return h, false
	}
	h.Env = texts()
	return h, ok && !w.Member() && !w.Member() && w.End()
}

// HandedReply is hookd's answer to such a call.
type HandedReply struct {
	Exit           int // the bridge's exit code
	Stdout, Stderr string
}

// Append appends the reply as it is sent.
func (r HandedReply) Append(dst []byte) []byte {
	dst = fmt.Appendf(dst, HandedWord+"%d %d %d\n", r.Exit, len(r.Stdout), len(r.Stderr))
	return append(append(dst, r.Stdout...), r.Stderr...)
}

// AppendPlanned appends the plan of a box, for a call without a payload whose first argument is box, as it is sent: a
// line, texts that a zero ends, a filter of system calls, and the rest for the bridge. Two descriptors come with it.
func AppendPlanned(dst []byte, texts []string, filter, rest []byte) []byte {
	size := 0
	for _, text := range texts {
		size += len(text) + 1
	}
	dst = fmt.Appendf(dst, PlannedWord+"%d %d %d\n", size, len(filter), len(rest))
	for _, text := range texts {
		dst = append(append(dst, text...), 0)
	}
	return append(append(dst, filter...), rest...)
}

// HandedHead reads the first line of a reply: the exit code, and how many bytes of stdout and of stderr come behind
// it; false = it is another line.
func HandedHead(line string) (exit, stdout, stderr int, ok bool) {
	numbers, ok := strings.CutPrefix(line, HandedWord)
	words := strings.Split(numbers, " ")
	if !ok || len(words) != 3 {
		return 0, 0, 0, false
	}
	var n [3]uint64
	for i, word := range words {
		var err error
		if n[i], err = strconv.ParseUint(word, 10, 31); err != nil {
			return 0, 0, 0, false
		}
	}
	return int(n[0]), int(n[1]), int(n[2]), true
}
