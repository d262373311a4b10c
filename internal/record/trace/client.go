package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/https"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/record/otlp"
)

// client sends spans by OTLP.
type client struct {
	http    *http.Client
	url     string
	header  http.Header
	timeout time.Duration // for a batch, all its attempts together
	gzip    bool
	trouble func(error)

	ctx  context.Context // ends when no more is sent
	stop context.CancelFunc
	down bool // the last batch did not arrive; used by one goroutine only
}

// firstPause is before the second attempt; each is twice the one before.
const firstPause = time.Second

// newClient reads the variables of the OpenTelemetry protocol exporter
// specification. Those for traces win over the general ones.
func newClient(trouble func(error)) (*client, error) {
	if p := variable("PROTOCOL"); p != "" && p != "http/json" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, only http/json is spoken", p)
	}
	target, err := endpoint()
	if err != nil {
		return nil, err
	}
	header, err := headers(variable("HEADERS"))
	if err != nil {
		return nil, err
	}
	timeout, err := positive("OTEL_EXPORTER_OTLP_TIMEOUT", variable("TIMEOUT"), "milliseconds", 10_000)
	if err != nil {
		return nil, err
	}
	connect, err := httpClient()
	if err != nil {
		return nil, err
	}
	if trouble == nil {
		trouble = func(error) {}
	}
	c := &client{
		http: connect, url: target, header: header,
		timeout: time.Duration(timeout) * time.Millisecond,
		gzip:    variable("COMPRESSION") == "gzip", trouble: trouble,
	}
	if c.gzip {
		c.header.Set("Content-Encoding", "gzip")
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

func variable(name string) string {
	if v := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_" + name)
}

// endpoint is OTEL_EXPORTER_OTLP_TRACES_ENDPOINT as it is, or the general one
// with the path of traces.
func endpoint() (string, error) {
	target := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if target == "" {
		target = strings.TrimRight(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/") + "/v1/traces"
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is no http:// or https:// address, such as http://localhost:4318")
	}
	return target, nil
}

// headers reads "name=value,name=value", values in URL encoding.
func headers(text string) (http.Header, error) {
	h := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if strings.TrimSpace(pair) == "" {
			continue
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.ContainsAny(value, "\r\n") { // the value may be a secret: it is not shown
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS wants name=value,name=value")
		}
		h.Set(strings.TrimSpace(name), value)
	}
	return h, nil
}

// positive reads a number from 1 to a million; "" = the standard.
func positive(name, text, unit string, standard int) (int, error) {
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, fmt.Errorf("%s is %q, want %s, from 1 to 1000000", name, text, unit)
	}
	return n, nil
}

// httpClient trusts OTEL_EXPORTER_OTLP_CERTIFICATE and shows the client's own
// certificate, where they are set.
func httpClient() (*http.Client, error) {
	c, err := https.Client(variable("CERTIFICATE"))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
	}
	if file := variable("CLIENT_CERTIFICATE"); file != "" {
		pair, err := tls.LoadX509KeyPair(file, variable("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		transport := c.Transport.(*http.Transport)
		if transport.TLSClientConfig == nil {
			transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// close ends an attempt under way, and closes idle connections.
func (c *client) close() {
	c.stop()
	c.http.CloseIdleConnections()
}

// send tries to send a body. It reports the first failure, and then the first success;
// err is a failure that is known before.
func (c *client) send(body []byte, err error) {
	if failed := c.upload(body); failed != nil {
		err = failed
	}
	if down := err != nil; down != c.down && c.ctx.Err() == nil {
		c.down = down
		c.trouble(err)
	}
}

// upload retries until the body is accepted, finally refused, or out of time.
func (c *client) upload(body []byte) error {
	if c.gzip {
		body = compress(body)
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.timeout)
	defer cancel()
	for wait := firstPause; ; wait *= 2 {
		answer, err := otlp.Post(ctx, c.http, c.url, c.header, body)
		if n := otlp.Rejected(answer); n > 0 {
			return fmt.Errorf("the collector says that it has thrown %d spans away", n)
		}
		if err == nil || !passing(err) || !pause.For(wait, ctx.Done()) {
			return err
		}
	}
}

func compress(body []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(body) // a buffer takes everything
	w.Close()
	return buf.Bytes()
}

// passing reports whether another attempt may help.
func passing(err error) bool {
	var r *otlp.Refusal
	return !errors.As(err, &r) || slices.Contains([]int{429, 502, 503, 504}, r.Code)
}
