package judge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/pause"
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

// Ways in which an answer is no answer.
var (
	errAddress = errors.New("the request could not be made: check base_url")
	errStatus  = errors.New("the provider's response is no success") // the watch knows more
	errRefused = errors.New("the model refused to answer")
	errFilter  = errors.New("the provider's content filter stopped the answer")
	errCut     = errors.New("the reply was cut off at the token limit")
	errNothing = errors.New("the provider's response holds no answer")
)

// watch is the outcome of the attempts of one request.
type watch struct {
	status int    // of the last response; 0 = the last attempt got none
	said   string // the provider's words about an error
	wait   string // the pause that it asks for, if that is too long
	before int    // the last status of an error, also if a later attempt got none
}

const (
	maxRetries = 2                      // after a dropped connection, 408, 409, 429 and 5xx
	firstPause = 500 * time.Millisecond // before the first retry; the second takes twice that
)

// post sends a JSON body and returns the body of the response. It retries after a pause: the
// provider's, or its own with up to a quarter less, so that many do not retry at once.
func (t *target) post(ctx context.Context, url string, header http.Header, body any, w *watch) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json")
	for n := 0; ; n++ {
		answer, rest, err := t.attempt(ctx, url, header, text, w)
		if err == nil || rest < 0 || n == maxRetries {
			return answer, err
		}
		if rest == 0 {
			rest = firstPause << n
			rest -= rand.N(rest / 4)
		}
		if !pause.For(rest, ctx.Done()) {
			return nil, ctx.Err()
		}
	}
}

// attempt sends the request once. pause is how long to wait before the next attempt: 0 = the
// provider does not say, negative = another attempt is no use.
func (t *target) attempt(
	ctx context.Context, url string, header http.Header, text []byte, w *watch,
) (answer []byte, pause time.Duration, err error) {
	w.status, w.said, w.wait = 0, "", ""
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return nil, -1, errAddress
	}
	req.Header = header
	res, err := t.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	w.status = res.StatusCode
	answer, err = io.ReadAll(http.MaxBytesReader(nil, res.Body, maxBody))
	switch {
	case res.StatusCode >= 400: // a part of the body is enough for a message
		w.before, w.said = res.StatusCode, problem(answer)
		if d, late := tooLong(ctx, res.Header); late {
			w.wait = d
			return nil, -1, errStatus
		}
		return nil, nextPause(res), errStatus
	case res.StatusCode >= 300:
		return nil, -1, errStatus
	case err != nil:
		return nil, -1, err
	}
	return answer, -1, nil
}

// nextPause returns the pause before the next attempt, as attempt does.
func nextPause(res *http.Response) time.Duration {
	switch {
	case res.Header.Get("X-Should-Retry") == "true":
	case res.Header.Get("X-Should-Retry") == "false":
		return -1
	case res.StatusCode == http.StatusRequestTimeout, res.StatusCode == http.StatusConflict,
		res.StatusCode == http.StatusTooManyRequests, res.StatusCode >= 500:
	default:
		return -1
	}
	seconds, ok := retryAfter(res.Header)
	if !ok || seconds < 0 {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
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

// problem finds the message of an error response, in the shapes of the two
// protocols and of their imitators.
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
// credentials in addresses.
func (w *watch) explain(ctx context.Context, err error, t *target, q question) error {
	switch {
	case ctx.Err() != nil:
		return w.explainEnd(ctx.Err())
	case w.status >= 400:
		return &statusError{w.status, w.describe(t, q)}
	case w.status >= 300:
		return &statusError{w.status, statusText(w.status) + ": redirects are not followed, correct base_url"}
	}
	for _, own := range []error{errAddress, errRefused, errFilter, errCut, errNothing} {
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

// quotes reports whether said has a piece of secret of at least n bytes, or a
// shorter secret whole. Providers put the tail of a wrong key, and parts of a
// prompt that they cannot read, into their errors.
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
