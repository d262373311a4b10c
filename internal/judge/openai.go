package judge

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

// maxRetries are the SDKs' own, after a dropped connection, 408, 409, 429 and 5xx.
const maxRetries = 2

// Ways in which an answer is no answer.
var (
	errRefused = errors.New("the model refused to answer")
	errFilter  = errors.New("the provider's content filter stopped the answer")
	errCut     = errors.New("the reply was cut off at the token limit")
	errNothing = errors.New("the provider's response holds no answer")
)

// sendOpenAI speaks chat completions, which every compatible server has. The
// service is made without the SDK's client, which reads the environment.
func (t *target) sendOpenAI(ctx context.Context, q question, w *watch) (string, error) {
	opts := []option.RequestOption{
		option.WithBaseURL(t.BaseURL), option.WithHTTPClient(t.client),
		option.WithMaxRetries(maxRetries), option.WithMiddleware(w.observe),
	}
	if t.key != "" {
		opts = append(opts, option.WithAPIKey(t.key))
	}
	service := openai.NewChatCompletionService(opts...)
	res, err := service.New(ctx, t.openAIParams(q))
	if err != nil {
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

func (t *target) openAIParams(q question) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{
		Model:    t.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(q.system), openai.UserMessage(q.user)},
	}
	if q.strict {
		params.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{
			JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: q.schema.name, Schema: q.schema.json, Strict: param.NewOpt(true),
			},
		}
	}
	return params
}
