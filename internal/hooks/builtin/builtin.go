package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/rules"
)

// Invocation is one invocation of a built-in. The zero values of Cwd, SessionID and
// DataDir mean unknown; built-ins that need them have no opinion then. An
// event's meaning and content come from Row, Canonical and Tool, which are the same
// whatever name the hook listed; Event and Payload are for built-ins that pass them on.
type Invocation struct {
	Event     string                      // name the hook was given
	Payload   json.RawMessage             // payload object as the hook was given it
	Row       *events.Contract            // the emitted event: what it is, and what can be answered
	Data      json.RawMessage             // payload as emitted, with earlier rewrites; Row.Target is a field of it
	Canonical json.RawMessage             // the same in docker-agent's words
	Tool      neutral.ToolCall            // the tool call that the event tells of
	Args      []string                    // the hook's args
	Subject   func() *rules.Subject       // the event as rules see it; nil = there are no rules about it
	Cwd       string                      // directory the hook works on, absolute
	SessionID string                      // the event's session
	Env       func(string) string         // the hook's environment; nil = empty
	Environ   []string                    // environment for child processes such as git; nil = the daemon's own
	DataDir   string                      // hookd's data directory
	Steps     Steps                       // of `hookd undo`; nil = there is no vault
	Log       func(msg string, err error) // takes what is documented as logged only; nil = dropped
}

// Steps records the changes in a repository between two moments, for `hookd undo`.
type Steps interface {
	Begin(c *Invocation, mark string) error // outside of a repository it does nothing
	End(session, mark string)
	Forget(session string)
}

// Func runs a built-in. stdout is the output that a docker-agent command hook would
// print, empty for no opinion; a rewrite within is in the words of Row. err means
// that the hook failed.
type Func func(ctx context.Context, c *Invocation) (stdout []byte, err error)

// Builtin describes one built-in.
type Builtin struct {
	Name   string                          // what a hook's command says
	Doc    string                          // one sentence for people
	Events []string                        // docker-agent's names of the events it is made for; nil = any
	Args   string                          // its arguments, for people; "" = none
	Needs  func(row *events.Contract) bool // a guard works on these events alone; nil = it is none
	Run    Func
}

// list is every built-in, in the order of docs/reference/builtins.md.
var list = []Builtin{
	addDate, addEnvironmentInfo, addPromptFiles, addGitStatus, addGitDiff,
	addDirectoryListing, addUserInfo, addRecentCommits, maxIterations, snapshot,
	redactSecrets, limitLargeToolResults, saferShell, unload,
	addContext, transformJSON, httpPost, notify,
}

// Lookup returns the built-in called name.
func Lookup(name string) (Builtin, bool) {
	i := slices.IndexFunc(list, func(b Builtin) bool { return b.Name == name })
	if i < 0 {
		return Builtin{}, false
	}
	b := list[i]
	b.Run = contained(b)
	return b, true
}

// Names returns the names of all built-ins in the order of the documentation.
func Names() []string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.Name
	}
	return names
}

// contained turns a panic into an error: a built-in runs inside the daemon,
// and must fail alone.
func contained(b Builtin) Func {
	return func(ctx context.Context, c *Invocation) (stdout []byte, err error) {
		defer func() {
			if p := recover(); p != nil {
				stdout, err = nil, fmt.Errorf("%s: panic: %v", b.Name, p)
			}
		}()
		return b.Run(ctx, c)
	}
}

func (c *Invocation) getenv(name string) string {
	if c.Env == nil {
		return ""
	}
	return c.Env(name)
}

func (c *Invocation) log(msg string, err error) {
	if c.Log != nil {
		c.Log(msg, err)
	}
}

// read decodes the canonical payload into target, a pointer to a struct whose
// fields are the ones a built-in uses.
func (c *Invocation) read(target any) error {
	if len(c.Canonical) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.Canonical, target); err != nil {
		return fmt.Errorf("read payload of %s: %w", c.Event, err)
	}
	return nil
}
