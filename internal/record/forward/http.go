package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/https"
	"github.com/hookd/hookd/internal/base/readfile"
)

// Of a server's answer so much is read.
const maxAnswer = 64 << 10

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

// post sends a body to a target, and returns the beginning of the answer. Any answer but
// one of success is a *refusal. A redirect is not followed: it would lose the body.
func post(
	ctx context.Context, t config.Forward, from sender, url string, body []byte, kind, signature string,
) ([]byte, error) {
	client, err := https.Client(t.CA)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the url cannot be used")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "hookd/"+from.version)
	if signature != "" {
		req.Header.Set("X-Hookd-Signature-256", signature)
	}
	for name, ref := range t.Headers {
		value, err := secret(ref)
		if err != nil {
			return nil, fmt.Errorf("headers: %s: %w", name, err)
		}
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, https.Plain(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode/100 != 2 {
		return nil, &refusal{status: res.Status, code: res.StatusCode, after: retryAfter(res.Header.Get("Retry-After"))}
	}
	if err != nil {
		return nil, https.Plain(ctx, err)
	}
	return answer, nil
}

// retryAfter reads seconds or a date; a text that cannot be read is none.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<20 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
