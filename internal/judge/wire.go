package judge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody    = 1 << 20 // of a response, in bytes; a judge's answer is a few hundred
	maxProblem = 200     // bytes of a provider's own words in an error
	maxWait    = time.Minute
)

func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{
		Transport: transport,
		// A key and an event go to the configured address and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// watch sees each attempt of one request, also those that the SDK retries.
type watch struct {
	status int    // of the last response; 0 = the last attempt got none
	said   string // the provider's words about an error
	wait   string // the pause that it asks for, if that is too long
	before int    // the last status of an error, also if a later attempt got none
}

// observe is a middleware for both SDKs.
func (w *watch) observe(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	w.status, w.said, w.wait = 0, "", ""
	if err != nil {
		return res, err
	}
	w.status = res.StatusCode
	res.Body = http.MaxBytesReader(nil, res.Body, maxBody)
	if res.StatusCode < 400 {
		return res, nil
	}
	w.before = res.StatusCode
	body, _ := io.ReadAll(res.Body) // a part of it is enough for a message
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	w.said = problem(body)
	if d, late := tooLong(req.Context(), res.Header); late {
		w.wait = d
		res.Header.Set("X-Should-Retry", "false") // both SDKs obey it
	}
	return res, nil
}

// tooLong reports whether the provider wants a longer pause before the next
// attempt than the deadline leaves, or than a hook should ever wait.
func tooLong(ctx context.Context, h http.Header) (string, bool) {
	seconds, ok := retryAfter(h)
	limit := maxWait
	if deadline, has := ctx.Deadline(); has {
		limit = min(limit, time.Until(deadline))
	}
	if !ok || seconds < limit.Seconds() {
		return "", false
	}
	return strconv.FormatFloat(seconds, 'f', 0, 64) + " s", true
}

func retryAfter(h http.Header) (seconds float64, ok bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return ms / 1000, true
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return s, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at).Seconds(), true
	}
	return 0, false
}

// problem finds what an error response says, in the shapes of the two
// protocols and of the servers that imitate them.
func problem(body []byte) string {
	var shape struct {
		Error   json.RawMessage
		Message string
		Detail  string
	}
	if json.Unmarshal(body, &shape) != nil {
		return ""
	}
	var inner struct{ Message string }
	var text string
	if json.Unmarshal(shape.Error, &inner) != nil {
		_ = json.Unmarshal(shape.Error, &text) // {"error": "..."}; else there are no words
	}
	text = cmp.Or(inner.Message, text, shape.Message, shape.Detail)
	return strings.Join(strings.Fields(text), " ")
}

// statusError is a response with an error status.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// rejected reports whether a provider found the request itself wrong.
func rejected(err error) bool {
	var s *statusError
	if !errors.As(err, &s) {
		return false
	}
	return s.code == http.StatusBadRequest || s.code == http.StatusUnprocessableEntity ||
		s.code == http.StatusNotImplemented
}

// explain returns why a request failed, without keys, parts of the event, or
// credentials in addresses. err is the SDK's.
func (w *watch) explain(ctx context.Context, err error, t *target, q question) error {
	switch {
	case ctx.Err() != nil:
		return w.explainEnd(ctx.Err())
	case w.status >= 400:
		return &statusError{w.status, w.describe(t, q)}
	case w.status >= 300:
		return &statusError{w.status, statusText(w.status) + ": redirects are not followed, correct base_url"}
	}
	for _, own := range []error{errRefused, errFilter, errCut, errNothing} {
		if errors.Is(err, own) {
			return own
		}
	}
	var tooLarge *http.MaxBytesError
	var netErr *url.Error
	switch {
	case errors.As(err, &tooLarge):
		return fmt.Errorf("the response is over %d bytes", maxBody)
	case errors.As(err, &netErr):
		return fmt.Errorf("connect to the provider: %w", netErr.Err) // without the address: it may hold a password
	case w.status == 0:
		return errors.New("the request could not be made: check base_url")
	}
	return errors.New("the response is not what the protocol has: check type and base_url")
}

func (w *watch) explainEnd(end error) error {
	why := "given up"
	if errors.Is(end, context.DeadlineExceeded) {
		why = "no answer in time"
	}
	if w.before != 0 {
		why += ", after " + statusText(w.before)
	}
	return fmt.Errorf("%s: %w", why, end)
}

func (w *watch) describe(t *target, q question) string {
	text := statusText(w.status)
	switch {
	case w.said == "":
	case quotes(w.said, t.key, 4) || quotes(w.said, q.user, 16) || quotes(w.said, q.system, 16):
		text += " (its words are withheld, they quote the request)"
	default:
		text += " (" + truncate(maxProblem, w.said) + ")"
	}
	if w.status == http.StatusUnauthorized || w.status == http.StatusForbidden {
		text += t.keyHint()
	}
	if w.wait != "" {
		text += ": asks to wait " + w.wait + ", which is too long"
	}
	return text
}

func (t *target) keyHint() string {
	if t.APIKeyEnv == "" {
		return ": no key was sent, set api_key_env of the provider"
	}
	return ": check the key in " + t.APIKeyEnv
}

func statusText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// quotes reports whether said has a piece of secret of at least n bytes, or
// all of it if that is shorter. Providers put the tail of a wrong key, and
// parts of a prompt that they cannot read, into their errors.
func quotes(said, secret string, n int) bool {
	if secret == "" {
		return false
	}
	if len(secret) <= n {
		return strings.Contains(said, secret)
	}
	for i := 0; i+n <= len(said); i++ {
		if strings.Contains(secret, said[i:i+n]) {
			return true
		}
	}
	return false
}
