package judge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The protocols that providers speak.
const (
	OpenAI    = "openai" // chat completions
	Anthropic = "anthropic"
)

// Provider is one entry of `providers:` in hookd.yaml. An entry with the name of a
// known provider inherits that one's values where it sets none.
type Provider struct {
	Type      string // OpenAI (also "") or Anthropic
	BaseURL   string // "" = the protocol's own service, with its key
	APIKeyEnv string // variable that holds the key; "" = no key is sent
}

// known are the providers that need no settings.
func known() map[string]Provider {
	return map[string]Provider{
		"openai":    {OpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY"},
		"anthropic": {Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
		"ollama":    {OpenAI, "http://127.0.0.1:11434/v1", ""},
		"dmr":       {OpenAI, "http://127.0.0.1:12434/engines/v1", ""}, // Docker Model Runner
	}
}

// KeyVariables are the variables that hold the keys of the known providers and
// of those given.
func KeyVariables(given map[string]Provider) (names []string) {
	for _, p := range withDefaults(given) {
		if p.APIKeyEnv != "" {
			names = append(names, p.APIKeyEnv)
		}
	}
	return names
}

func withDefaults(given map[string]Provider) map[string]Provider {
	all := known()
	for name, p := range given {
		base := all[name]
		if p.Type == "" {
			p.Type = base.Type
		}
		if p.Type == base.Type { // else its address and key belong to another service
			p.BaseURL = cmp.Or(p.BaseURL, base.BaseURL)
			p.APIKeyEnv = cmp.Or(p.APIKeyEnv, base.APIKeyEnv)
		}
		p.Type = cmp.Or(p.Type, OpenAI)
		if own := known()[p.Type]; p.BaseURL == "" {
			p.BaseURL, p.APIKeyEnv = own.BaseURL, cmp.Or(p.APIKeyEnv, own.APIKeyEnv)
		}
		all[name] = p
	}
	return all
}

// target is a model of a provider, for one call.
type target struct {
	Provider
	model  string
	key    string // "" = none
	client *http.Client
}

// target finds the provider of a model and reads its key.
func (j *Judge) target(model string) (*target, error) {
	name, model, ok := strings.Cut(model, "/")
	if !ok || name == "" || model == "" {
		return nil, errModelForm
	}
	p, ok := j.providers[name]
	if !ok {
		return nil, fmt.Errorf("provider %q is not known (%s are): name it under providers in hookd.yaml",
			name, strings.Join(slices.Sorted(maps.Keys(j.providers)), ", "))
	}
	t := &target{Provider: p, model: model, client: j.client()}
	if p.APIKeyEnv == "" {
		return t, nil
	}
	if t.key = strings.TrimSpace(j.getenv(p.APIKeyEnv)); t.key == "" {
		return nil, fmt.Errorf("no key: %s is not set in hookd's environment", p.APIKeyEnv)
	}
	return t, nil
}

func (t *target) id() string { return t.BaseURL + " " + t.model }

// question is one request to a model.
type question struct {
	system, user string
	schema       schema
	strict       bool // ask for the schema's JSON
}

// send asks once, and retries where that may help.
func (t *target) send(ctx context.Context, q question) (string, error) {
	w := &watch{}
	var reply string
	var err error
	switch t.Type {
	case OpenAI:
		reply, err = t.sendOpenAI(ctx, q, w)
	case Anthropic:
		reply, err = t.sendAnthropic(ctx, q, w)
	default:
		return "", fmt.Errorf("provider type %q is not known: use %s or %s", t.Type, OpenAI, Anthropic)
	}
	if err != nil {
		return "", w.explain(ctx, err, t, q)
	}
	return reply, nil
}
