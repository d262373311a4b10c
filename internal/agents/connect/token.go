package connect

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// bearer is a token of hookd's as a header has it.
var bearer = regexp.MustCompile(`Bearer [0-9a-f]{64}`)

// showsToken reports whether a text of the settings file holds a token: then
// the file is the user's alone to read.
func (t *target) showsToken(text []byte) bool { return len(t.tokens(text, "")) > 0 }

// tokens are the tokens that our calls over HTTP show at an address, "" at any, each
// once.
func (t *target) tokens(text []byte, address string) (tokens []string) {
	if t.agent == nil || t.agent.Posts == nil { // without an agent: a file beside its settings
		return nil
	}
	had, err := t.agent.registered(t.path, text)
	if err != nil {
		return nil // such a text is never written
	}
	for _, h := range had {
		post := h.call.post
		if post == nil || post.Token == "" || address != "" && post.URL != address {
			continue
		}
		if !slices.Contains(tokens, post.Token) {
			tokens = append(tokens, post.Token)
		}
	}
	return tokens
}

// TokenCopy is a file that holds a token of hookd's.
type TokenCopy struct {
	Path    string
	Mode    fs.FileMode
	Current bool // it holds no token but the one asked about
}

// Exposed reports whether others can read the file.
func (c TokenCopy) Exposed() bool { return c.Mode&0o077 != 0 }

// TokenCopies finds the files that hold the token, or a token that the agent's
// settings show where o.Post is. The files are the settings, their backup, and the files that
// editors and a write that was cut off have left beside them.
func TokenCopies(o Options, token string) ([]TokenCopy, error) {
	t, err := open(o)
	if err != nil || t.agent.Posts == nil {
		return nil, err
	}
	var copies []TokenCopy
	for _, f := range t.copies(token) {
		copies = append(copies, TokenCopy{f.real, f.mode, !f.old})
	}
	return copies, nil
}

// Retoken plans to have every copy of old, or of a token that the agent's
// settings show where o.Post is, be the token of o.Post: nothing else in the files changes, and each is the user's
// alone to read from then on. Settings that post elsewhere stay as they are.
func Retoken(o Options, old string) (Plan, error) {
	t, err := open(o)
	if err != nil || t.agent.Posts == nil {
		return Plan{}, err
	}
	p := Plan{Agent: o.Agent, File: t.path}
	for _, f := range t.copies(old) {
		text := f.text
		for _, token := range f.tokens {
			text = bytes.ReplaceAll(text, []byte(token), []byte(o.Post.Token))
		}
		if private := f.mode &^ 0o077; !bytes.Equal(text, f.text) || private != f.mode {
			p.Changes = append(p.Changes, Change{
				Path: f.real, Before: f.with(f.text), After: f.with(text), Mode: private, Dir: 0o700,
			})
		}
	}
	return p, nil
}

// copied is a file with tokens in it.
type copied struct {
	file
	tokens []string
	old    bool // one of them is not the token asked about
}

// copies reads the files beside the settings that may be copies of them. It
// returns the files that hold token or a token that the settings show at hookd's door.
func (t *target) copies(token string) (found []copied) {
	shown := t.tokens(t.file.text, t.Post.URL)
	if token != "" && !slices.Contains(shown, token) {
		shown = append(shown, token)
	}
	dir, base := filepath.Split(t.file.real)
	stem, _, _ := strings.Cut(base, ".")
	entries, _ := os.ReadDir(filepath.Clean(dir)) // a folder that is not there holds none
	for _, e := range entries {
		if !strings.Contains(e.Name(), stem) && !strings.HasPrefix(e.Name(), tempPrefix) || !e.Type().IsRegular() {
			continue
		}
		f, err := readFile(filepath.Join(dir, e.Name()))
		if err != nil || !f.exists {
			continue // the agent's own reading reports it
		}
		c := copied{file: f}
		for _, s := range shown {
			if bytes.Contains(f.text, []byte(s)) {
				c.tokens = append(c.tokens, s)
				c.old = c.old || s != token
			}
		}
		if len(c.tokens) > 0 {
			found = append(found, c)
		}
	}
	return found
}
