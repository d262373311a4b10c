package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hookd/hookd/internal/base/readfile"
)

// client sends spans by OTLP over HTTP, protobuf. It fits otlptrace.Client.
// OpenTelemetry's own client links gRPC, 5 MB that hookd would not use.
type client struct {
	http    *http.Client
	url     string
	headers http.Header
	timeout time.Duration // for a batch, all its attempts together
	gzip    bool
	trouble func(error)

	ctx  context.Context // ends when no more is sent
	stop context.CancelFunc
	down bool // the last batch did not arrive; used by the exporter's goroutine only
}

const (
	defaultTimeout = 10 * time.Second
	firstPause     = time.Second // before the second attempt; each is twice the one before
)

// newClient reads the variables of the OpenTelemetry protocol exporter
// specification. Those for traces win over the general ones.
func newClient(trouble func(error)) (*client, error) {
	if p := variable("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, only http/protobuf is spoken", p)
	}
	target, err := endpoint()
	if err != nil {
		return nil, err
	}
	headers, err := headers(variable("HEADERS"))
	if err != nil {
		return nil, err
	}
	timeout, err := timeout(variable("TIMEOUT"))
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = tlsConfig(); err != nil {
		return nil, err
	}
	if trouble == nil {
		trouble = func(error) {}
	}
	c := &client{
		http: &http.Client{Transport: transport}, url: target, headers: headers, timeout: timeout,
		gzip: variable("COMPRESSION") == "gzip", trouble: trouble,
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

// timeout reads milliseconds.
func timeout(text string) (time.Duration, error) {
	if text == "" {
		return defaultTimeout, nil
	}
	ms, err := strconv.Atoi(text)
	if err != nil || ms <= 0 {
		return 0, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, want milliseconds", text)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// tlsConfig trusts OTEL_EXPORTER_OTLP_CERTIFICATE and shows the client's own
// certificate, where they are set.
func tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := variable("CERTIFICATE"); file != "" {
		pem, err := readfile.Read(file, readfile.Limit)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: no certificate in %s", file)
		}
	}
	if file := variable("CLIENT_CERTIFICATE"); file != "" {
		pair, err := tls.LoadX509KeyPair(file, variable("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Start does nothing: a connection is made when there is something to send.
func (c *client) Start(context.Context) error { return nil }

// Stop closes idle connections.
func (c *client) Stop(context.Context) error {
	c.stop()
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces sends one batch. It never returns an error: the SDK would print each. It
// reports the first failure, and then the first success.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	err := c.upload(ctx, spans)
	if down := err != nil; down != c.down && c.ctx.Err() == nil {
		c.down = down
		c.trouble(err)
	}
	return nil
}

// upload retries until the batch is accepted, finally refused, or out of time.
func (c *client) upload(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := c.encode(spans)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	for pause := firstPause; ; pause *= 2 {
		again, err := c.post(ctx, body)
		if err == nil || !again {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// encode returns the body of a request. TracesData has the same encoding as the
// protocol's ExportTraceServiceRequest, whose Go type links gRPC.
func (c *client) encode(spans []*tracepb.ResourceSpans) ([]byte, error) {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil || !c.gzip {
		return body, err
	}
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err = w.Write(body)
	err = errors.Join(err, w.Close())
	return buf.Bytes(), err
}

// post makes one attempt; again reports whether another may help.
func (c *client) post(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header = c.headers.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, fmt.Errorf("the collector answers %s", res.Status)
	}
	if res.StatusCode/100 != 2 {
		return false, fmt.Errorf("the collector answers %s", res.Status)
	}
	return false, nil
}
