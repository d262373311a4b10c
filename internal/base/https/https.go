// Package https has the rules for addresses of other machines that a person sets: https
// always, http to this machine alone, no password in the address; and the client that asks
// them. It promises that no redirect leaves the host, that an answer is not unpacked, and
// that its errors fit into one line without the address.
package https

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/hookd/hookd/internal/base/readfile"
)

// Check returns the address in text, or why hookd does not use it.
func Check(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%q is no https:// address", text)
	case u.User != nil:
		return nil, errors.New("a password in the URL would be on disk: leave it out")
	case u.Scheme == "http" && !Local(u.Hostname()):
		return nil, fmt.Errorf("%q: http:// is for this machine alone: write https://", text)
	}
	return u, nil
}

// Local reports whether a host is this machine: localhost, or a loopback address.
func Local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Client returns a client that trusts the certificates of the file ca, "" = the
// certificates that the system trusts. It fails where the file has none.
func Client(ca string) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	transport.MaxResponseHeaderBytes = 64 << 10
	if ca != "" {
		pem, err := readfile.Read(ca, readfile.Limit)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", ca)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, CheckRedirect: sameHost}, nil
}

// sameHost follows a redirect that stays at the host, and at https.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case req.URL.Host != first.Host || req.URL.Scheme != first.Scheme:
		return fmt.Errorf("the server sends to another host, %s: set that URL if it is meant", req.URL.Host)
	case len(via) >= 5:
		return errors.New("the server sends from one address to the next without end")
	}
	return nil
}

// Plain returns the cause of an error of net/http, in one line without the URL.
func Plain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the server does not answer in time")
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the server's answer is cut off")
	}
	return err
}
