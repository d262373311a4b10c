package judge

import (
	"context"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// maxTokens bounds the reply, as the protocol demands.
const maxTokens = 4096

// sendAnthropic speaks the messages protocol. The service is made without the
// SDK's client, which reads the environment and configuration files.
func (t *target) sendAnthropic(ctx context.Context, q question, w *watch) (string, error) {
	opts := []option.RequestOption{
		// the SDK's paths begin with v1; people write the address with and without
		option.WithBaseURL(strings.TrimSuffix(strings.TrimSuffix(t.BaseURL, "/"), "/v1")),
		option.WithHTTPClient(t.client), option.WithMaxRetries(maxRetries), option.WithMiddleware(w.observe),
	}
	if t.key != "" {
		opts = append(opts, option.WithAPIKey(t.key))
	}
	service := anthropic.NewMessageService(opts...)
	res, err := service.New(ctx, t.anthropicParams(q))
	if err != nil {
		return "", err
	}
	switch {
	case res.StopReason == "" && len(res.Content) == 0:
		return "", errNothing
	case res.StopReason == anthropic.StopReasonRefusal:
		return "", errRefused
	case res.StopReason == anthropic.StopReasonMaxTokens && q.schema.json != nil:
		return "", errCut
	}
	var reply strings.Builder
	for _, block := range res.Content {
		if block.Type == "text" {
			reply.WriteString(block.Text)
		}
	}
	return reply.String(), nil
}

func (t *target) anthropicParams(q question) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		Model:     anthropic.Model(t.model),
		MaxTokens: maxTokens,
		System:    []anthropic.TextBlockParam{{Text: q.system}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.user))},
	}
	if q.strict {
		params.OutputConfig.Format.Schema = q.schema.json
	}
	return params
}
