package judge

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// openAIRequest is the body of POST /chat/completions.
type openAIRequest struct {
	Model    string          `json:"model"`
	Messages []openAIMessage `json:"messages"`
	Format   *openAIFormat   `json:"response_format,omitempty"`
}

type openAIMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type openAIFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string         `json:"name"`
		Schema map[string]any `json:"schema"`
		Strict bool           `json:"strict"`
	} `json:"json_schema"`
}

// sendOpenAI speaks chat completions, which every compatible server has.
func (t *target) sendOpenAI(ctx context.Context, q question, w *watch) (string, error) {
	header := http.Header{}
	if t.key != "" {
		header.Set("Authorization", "Bearer "+t.key)
	}
	answer, err := t.post(ctx, strings.TrimSuffix(t.BaseURL, "/")+"/chat/completions", header, t.openAIRequest(q), w)
	if err != nil {
		return "", err
	}
	var res struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer, &res); err != nil {
		return "", err
	}
	if len(res.Choices) == 0 {
		return "", errNothing
	}
	c := res.Choices[0]
	switch {
	case c.Message.Refusal != "":
		return "", errRefused
	case c.FinishReason == "content_filter":
		return "", errFilter
	case c.FinishReason == "length" && q.schema.json != nil:
		return "", errCut
	}
	return c.Message.Content, nil
}

func (t *target) openAIRequest(q question) openAIRequest {
	req := openAIRequest{Model: t.model, Messages: []openAIMessage{{"system", q.system}, {"user", q.user}}}
	if q.strict {
		req.Format = &openAIFormat{Type: "json_schema"}
		req.Format.JSONSchema.Name, req.Format.JSONSchema.Schema = q.schema.name, q.schema.json
		req.Format.JSONSchema.Strict = true
	}
	return req
}
