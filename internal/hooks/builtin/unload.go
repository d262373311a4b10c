package builtin

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/hooks/judge"
)

// unloadTimeout bounds each request of unload.
const unloadTimeout = 10 * time.Second

var unload = Builtin{
	Name: "unload", Events: []string{"on_agent_switch"},
	Doc: "asks each local model engine (provider dmr) of the agent that was left to free its memory; errors are logged",
	Run: unloadModels,
}

func unloadModels(ctx context.Context, c *Invocation) ([]byte, error) {
	var payload struct {
		From   string                `json:"from_agent"`
		To     string                `json:"to_agent"`
		Models []judge.ModelEndpoint `json:"from_agent_models"`
	}
	if err := c.read(&payload); err != nil {
		return nil, err
	}
	if payload.From == "" || payload.From == payload.To {
		return nil, nil
	}
	client := newHTTPClient(unloadTimeout, true) // engines are local
	for _, m := range payload.Models {
		target := unloadURL(m)
		if target == "" {
			continue
		}
		body, err := json.Marshal(map[string]string{"model": m.Model})
		if err != nil {
			return nil, err
		}
		if err := post(ctx, client, target, body); err != nil {
			c.log("unload "+m.Model, err)
		}
	}
	return nil, nil
}

// unloadURL returns where to ask, "" for a model that cannot be unloaded:
// unload_api if it is absolute, else it as a path on base_url's host, else
// base_url with its trailing /v1 replaced by /_unload.
func unloadURL(m judge.ModelEndpoint) string {
	if m.Provider != "dmr" || m.Model == "" {
		return ""
	}
	if strings.HasPrefix(m.UnloadAPI, "http://") || strings.HasPrefix(m.UnloadAPI, "https://") {
		return m.UnloadAPI
	}
	base, err := url.Parse(m.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return ""
	}
	base.RawQuery, base.Fragment = "", ""
	if m.UnloadAPI != "" {
		base.Path, base.RawPath = "/"+strings.TrimPrefix(m.UnloadAPI, "/"), ""
		return base.String()
	}
	path := strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1")
	base.Path, base.RawPath = path+"/_unload", ""
	return base.String()
}
