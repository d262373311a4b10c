package forward

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/https"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/record/otlp"
)

// maxSecret is the largest file of a secret.
const maxSecret = 16 << 10

// secret returns a value that the settings name: itself, env:NAME or file:PATH. It is read
// for each attempt, so a new one needs no reload.
func secret(ref string) (value string, err error) {
	if name, ok := strings.CutPrefix(ref, "env:"); ok {
		if value = os.Getenv(name); value == "" {
			return "", fmt.Errorf("the variable %s is not set where hookd runs", name)
		}
		return value, nil
	}
	path, ok := strings.CutPrefix(ref, "file:")
	if !ok {
		return ref, nil
	}
	text, err := readfile.Read(path, maxSecret)
	if err != nil {
		return "", err
	}
	value = strings.TrimRight(string(text), "\r\n")
	if value == "" || strings.ContainsAny(value, "\r\n\x00") {
		return "", fmt.Errorf("%s: want one line", path)
	}
	return value, nil
}

// post sends a body of JSON to a target, and returns the beginning of the answer. A redirect
// is not followed: it would lose the body.
func post(
	ctx context.Context, t config.Forward, from sender, url string, body []byte, signature string,
) ([]byte, error) {
	client, err := https.Client(t.CA)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	header := http.Header{"User-Agent": {"hookd/" + from.version}}
	if signature != "" {
		header.Set("X-Hookd-Signature-256", signature)
	}
	for name, ref := range t.Headers {
		value, err := secret(ref)
		if err != nil {
			return nil, fmt.Errorf("headers: %s: %w", name, err)
		}
		header.Set(name, value)
	}
	return otlp.Post(ctx, client, url, header, body)
}
