package judge

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

const (
	maxTokens        = 4096         // of a reply, as the protocol demands
	anthropicVersion = "2023-06-01" // of the protocol: https://docs.anthropic.com/en/api/versioning
)

// block is a piece of text in a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// anthropicRequest is the body of POST /v1/messages.
type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	System    []block            `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Output    *anthropicOutput   `json:"output_config,omitempty"`
}

type anthropicMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type anthropicOutput struct {
	Format struct {
		Type   string         `json:"type"`
		Schema map[string]any `json:"schema"`
	} `json:"format"`
}

// sendAnthropic speaks the messages protocol.
func (t *target) sendAnthropic(ctx context.Context, q question, w *watch) (string, error) {
	// people write the address with and without the version
	url := strings.TrimSuffix(strings.TrimSuffix(t.BaseURL, "/"), "/v1") + "/v1/messages"
	header := http.Header{"Anthropic-Version": {anthropicVersion}}
	if t.key != "" {
		header.Set("X-Api-Key", t.key)
	}
	answer, err := t.post(ctx, url, header, t.anthropicRequest(q), w)
	if err != nil {
		return "", err
	}
	var res struct {
		Content    []block `json:"content"`
		StopReason string  `json:"stop_reason"`
	}
	if err := json.Unmarshal(answer, &res); err != nil {
		return "", err
	}
	switch {
	case res.StopReason == "" && len(res.Content) == 0:
		return "", errNothing
	case res.StopReason == "refusal":
		return "", errRefused
	case res.StopReason == "max_tokens" && q.schema.json != nil:
		return "", errCut
	}
	var reply strings.Builder
	for _, b := range res.Content {
		if b.Type == "text" {
			reply.WriteString(b.Text)
		}
	}
	return reply.String(), nil
}

func (t *target) anthropicRequest(q question) anthropicRequest {
	req := anthropicRequest{
		Model:     t.model,
		MaxTokens: maxTokens,
		System:    []block{{"text", q.system}},
		Messages:  []anthropicMessage{{"user", []block{{"text", q.user}}}},
	}
	if q.strict {
		req.Output = &anthropicOutput{}
		req.Output.Format.Type, req.Output.Format.Schema = "json_schema", q.schema.json
	}
	return req
}
