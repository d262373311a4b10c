// Package judge runs model hooks: it renders a hook's prompt over an event,
// asks a language model, and turns the reply into the bytes that a docker-agent
// command hook would print, so that package verdict reads it by the same rules
// as those of a program.
//
// Everything but a clear answer is an error: an unreachable provider, a refusal, a
// reply that was cut off, a word that is no decision. The hook's run then fails,
// which denies where the event is fail-closed; no error ever reads as "allow".
// Errors name the model and the cause for people, and contain neither keys nor parts
// of the event.
//
// Only Ask sends, and only to the provider that the hook's model names. From the
// environment it uses the one variable of that provider (and the system's HTTP
// proxy), no other credentials, addresses or headers. It follows no redirects and
// logs nothing. A call ends soon after its context does; retries and waits for
// Retry-After stay within it. Calls may run at the same time.
//
// A judge needs one POST of each protocol. The providers' SDKs were a sixth of the program.
package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// defaultTimeout bounds a call whose context has no deadline. It is docker-agent's.
const defaultTimeout = 60 * time.Second

// Options of a Judge; the zero value works.
type Options struct {
	Providers map[string]Provider      // by name; besides the known ones, see Provider
	Getenv    func(name string) string // returns a key, at each call; nil = os.Getenv
}

// Judge asks language models. Make one with New.
type Judge struct {
	providers map[string]Provider
	getenv    func(string) string
	client    func() *http.Client // made at the first call

	mu    sync.Mutex
	plain map[string]bool // models that accept no JSON schema; guarded by mu
}

// New returns a Judge. It connects to nothing.
func New(o Options) *Judge {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	return &Judge{
		providers: withDefaults(o.Providers),
		getenv:    o.Getenv,
		client:    sync.OnceValue(newClient),
		plain:     map[string]bool{},
	}
}

// Close closes idle connections. Calls under way go on, and later ones connect again.
func (j *Judge) Close() { j.client().CloseIdleConnections() }

// Question is one question of a model hook about one event.
type Question struct {
	Event        string          // name under which the hook gets the event
	Payload      json.RawMessage // one JSON object, as a command hook reads it on stdin
	ToolName     string          // of the tool call that Payload has under other names; "" = as Payload has it
	ToolInput    json.RawMessage // its arguments, one JSON object; nil = as Payload has them
	Model        string          // provider/name
	Prompt       string          // Go text/template over Input
	SystemPrompt string          // sent unchanged; "" = hookd's own
	Schema       string          // "" = the reply is context; pre_tool_use_decision, guard_decision
}

// Ask asks the model and returns the output that a command hook would print; empty is no
// opinion. An error means that the hook failed; it wraps ctx's error if that is the
// cause.
func (j *Judge) Ask(ctx context.Context, c Question) ([]byte, error) {
	s, err := schemaNamed(c.Schema)
	if err != nil {
		return nil, err
	}
	in, err := c.input()
	if err != nil {
		return nil, err
	}
	prompt, err := render(c.Prompt, in)
	if err != nil {
		return nil, fmt.Errorf("render prompt: %w", err)
	}
	q := question{system: c.SystemPrompt, user: prompt, schema: s, strict: s.json != nil}
	if q.system == "" {
		q.system = s.system
	}
	stdout, err := j.answer(ctx, c.Model, q)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", c.Model, err)
	}
	return stdout, nil
}

func (j *Judge) answer(ctx context.Context, model string, q question) ([]byte, error) {
	t, err := j.target(model)
	if err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	reply, err := j.send(ctx, t, q)
	if err != nil {
		return nil, err
	}
	return q.schema.read(reply)
}

// send asks for the schema's JSON if the model accepts a schema. A provider without
// that rejects the request: then send asks once more without the schema.
func (j *Judge) send(ctx context.Context, t *target, q question) (string, error) {
	q.strict = q.strict && !j.isPlain(t)
	reply, err := t.send(ctx, q)
	if err == nil || !q.strict || !rejected(err) {
		return reply, err
	}
	q.strict = false
	if reply, err = t.send(ctx, q); err == nil {
		j.setPlain(t)
	}
	return reply, err
}

func (j *Judge) isPlain(t *target) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.plain[t.id()]
}

func (j *Judge) setPlain(t *target) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.plain[t.id()] = true
}
