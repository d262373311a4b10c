package connect

import (
	"path/filepath"
	"strings"
	"time"
)

// call is a command line that calls the bridge, or the handler in its place.
type call struct {
	program  string   // path of hookd-bridge; or of hookd, when bridge is an argument
	agent    string   // the agent that it speaks for
	args     []string // what follows
	fallback string   // what follows these, for a shell: see agent.fallback
	post     *Post    // instead of a command line; nil = none

	deadline time.Duration // that the settings give it; 0 = the agent's own
}

// isCommand reports whether it is a command line.
func (c call) isCommand() bool { return c.post == nil }

// String writes the call for a POSIX shell and for programs that split a line
// as one does. It is the same for all versions of hookd.
func (c call) String() string {
	words := c.words()
	for i, word := range words {
		words[i] = quote(word)
	}
	return strings.Join(words, " ") + c.fallback
}

// words is the call as a program takes it.
func (c call) words() []string {
	words := []string{c.program}
	if filepath.Base(c.program) == "hookd" {
		words = append(words, "bridge")
	}
	return append(append(words, c.agent), c.args...)
}

// callOf reads a command line that calls hookd's bridge for agent, whatever
// its path and flags. A line that does more than that is the user's own.
func callOf(line, agent string) (call, bool) {
	line, fallback := cutFallback(line)
	words, ok := split(line)
	if !ok || len(words) < 2 {
		return call{}, false
	}
	program, rest := words[0], words[1:]
	switch filepath.Base(program) {
	case "hookd-bridge":
	case "hookd":
		if rest[0] != "bridge" || len(rest) < 2 {
			return call{}, false
		}
		rest = rest[1:]
	default:
		return call{}, false
	}
	return call{program: program, agent: rest[0], args: rest[1:], fallback: fallback}, rest[0] == agent
}

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%"

func quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// split takes a command line apart; false if a shell would do more with it
// than that.
func split(line string) (words []string, ok bool) {
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words, inWord = append(words, word.String()), false
				word.Reset()
			}
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 || c == '"' && strings.ContainsAny(line[i+1:i+1+end], "$`\\") {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			i, inWord = i+1+end, true
		case c == '\\' && i+1 < len(line) && line[i+1] != '\n':
			word.WriteByte(line[i+1])
			i, inWord = i+1, true
		case strings.IndexByte("|&;<>()$`\\*?[#{}!", c) >= 0:
			return nil, false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, true
}
