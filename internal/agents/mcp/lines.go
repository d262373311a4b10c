package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// lines reads messages, one a line, and hands on each message that is not too long. In the place
// of a call that is, it hands on a call of hook without a payload, and that call is answered
// with a denial. The end of the connection, or no answer, would let everything pass from then
// on. Other messages that are too long are left out.
type lines struct {
	in      io.ReadCloser
	most    int          // bytes of a line
	tooLong func(string) // gets why a line that was longer is refused

	from *bufio.Reader
	left []byte // of the line that is being read
}

// Close ends a Read that waits.
func (l *lines) Close() error { return l.in.Close() }

// Read fits io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	if l.from == nil {
		l.from = bufio.NewReaderSize(l.in, 64<<10)
	}
	for len(l.left) == 0 {
		line, err := l.next()
		if err != nil && len(line) == 0 {
			return 0, err
		}
		l.left = line
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// next returns the next line, with its end; nothing for a line that is left out.
func (l *lines) next() (line []byte, err error) {
	var long *outline
	for {
		part, err := l.from.ReadSlice('\n')
		switch {
		case long != nil:
			long.read(part)
		case len(line)+len(part) > l.most:
			long = &outline{}
			long.read(line)
			long.read(part)
			line = nil
		default:
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if long != nil {
			l.tooLong(fmt.Sprintf("a message is larger than %d bytes: what it asks about is denied", l.most))
			line = long.call()
		}
		return line, err
	}
}

// mostOfMember is how many bytes are kept of a member of a message that is too long.
const mostOfMember = 256

// outline reads a JSON object in pieces of any size, and keeps those of its own members
// that are short texts or numbers.
type outline struct {
	depth           int
	inText, escaped bool
	after           bool   // a colon was read: what follows is the value of key
	skip            bool   // the value is too long, an object or a list
	key, value      []byte // as they are written, so far
	members         []rawjson.Member
}

func (o *outline) read(part []byte) {
	for _, c := range part {
		if o.inText {
			o.text(c)
		} else {
			o.between(c)
		}
	}
}

// text takes a byte of a text.
func (o *outline) text(c byte) {
	o.keep(c)
	switch {
	case o.escaped:
		o.escaped = false
	case c == '\\':
		o.escaped = true
	case c == '"':
		o.inText = false
	}
}

// between takes a byte that is in no text.
func (o *outline) between(c byte) {
	own := o.depth == 1
	switch {
	case c == '"':
		o.inText = true
		o.keep(c)
	case c == '{' || c == '[':
		o.depth++
		o.skip = true
	case c == '}' || c == ']':
		o.depth--
		if own {
			o.end()
		}
	case own && c == ':':
		o.after, o.skip, o.value = true, false, o.value[:0]
	case own && c == ',':
		o.end()
	default:
		o.keep(c)
	}
}

// keep takes a byte of a key, or of a value, of the object itself.
func (o *outline) keep(c byte) {
	switch {
	case o.depth != 1:
	case !o.after && len(o.key) < mostOfMember:
		o.key = append(o.key, c)
	case o.after && len(o.value) < mostOfMember:
		o.value = append(o.value, c)
	case o.after:
		o.skip = true
	}
}

// end ends a member.
func (o *outline) end() {
	var key string
	if o.after && !o.skip && json.Unmarshal(o.key, &key) == nil && json.Valid(o.value) {
		o.members = append(o.members, rawjson.Member{Key: key, Value: bytes.Clone(bytes.TrimSpace(o.value))})
	}
	o.after, o.key = false, o.key[:0]
}

// call returns the call of hook that stands for the message; nil where it is none that
// waits for an answer.
func (o *outline) call() []byte {
	object := rawjson.With(json.RawMessage("{}"), o.members...)
	id := rawjson.Get(object, "id")
	if method, _ := rawjson.GetString(object, "method"); id == nil || method != "tools/call" {
		return nil
	}
	return append(rawjson.With(json.RawMessage("{}"),
		rawjson.StringMember("jsonrpc", "2.0"),
		rawjson.Member{Key: "id", Value: id},
		rawjson.StringMember("method", "tools/call"),
		rawjson.Member{Key: "params", Value: json.RawMessage(`{"name":"` + HookTool + `","arguments":{}}`)},
	), '\n')
}
