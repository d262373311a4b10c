package judge

import (
	"errors"
	"strings"
	"text/template"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/rawjson"
)

var errEmptyPrompt = errors.New("the prompt is empty")

// parse reads a prompt as a Go template with hookd's helpers.
func parse(prompt string) (*template.Template, error) {
	return template.New("prompt").Funcs(template.FuncMap{"toJSON": toJSON, "truncate": truncate}).Parse(prompt)
}

// render makes the text that the model gets. A field that does not exist is an
// error, a missing key of a map prints <no value>, as in docker-agent.
func render(prompt string, in *Input) (string, error) {
	t, err := parse(prompt)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, in); err != nil {
		return "", err
	}
	if strings.TrimSpace(b.String()) == "" {
		return "", errEmptyPrompt
	}
	return b.String(), nil
}

// toJSON writes v as compact JSON; <, > and & stay readable.
func toJSON(v any) (string, error) {
	text, err := rawjson.Encode(v)
	return string(text), err
}

// truncate cuts s after at most n bytes, not inside a character, and marks the
// place with an ellipsis. n <= 0 leaves s whole.
func truncate(n int, s string) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	return escape.Head(s, n) + "…"
}
