package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// httpPostTimeout bounds one http_post, redirects and all (docker-agent's).
const httpPostTimeout = 30 * time.Second

// allowPrivate is the third argument that lets http_post reach any address.
const allowPrivate = "allow_private"

var httpPost = Builtin{
	Name: "http_post",
	Args: "URL, the body (the event's payload if absent), and allow_private to reach addresses that are not public",
	Doc:  "posts JSON to a URL; what goes wrong on the way is logged and nothing more",
	Run:  postEvent,
}

func postEvent(ctx context.Context, c *Invocation) ([]byte, error) {
	if len(c.Args) == 0 || strings.TrimSpace(c.Args[0]) == "" {
		return nil, nil
	}
	target, err := url.Parse(strings.TrimSpace(c.Args[0]))
	if err != nil {
		return nil, fmt.Errorf("http_post: %w", err)
	}
	if (target.Scheme != "http" && target.Scheme != "https") || target.Host == "" {
		return nil, fmt.Errorf("http_post: %q is not an http or https URL", c.Args[0])
	}
	body := []byte(c.Payload)
	if len(c.Args) > 1 {
		body = []byte(c.Args[1])
	}
	anywhere := slices.Contains(c.Args[min(2, len(c.Args)):], allowPrivate)
	if err := post(ctx, newHTTPClient(httpPostTimeout, anywhere), target.String(), body); err != nil {
		c.log("http_post", err)
	}
	return nil, nil
}

// post sends body as JSON. A status of 300 or more is an error.
func post(ctx context.Context, client *http.Client, target string, body []byte) error {
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hookd")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // what it says does not matter
	if resp.StatusCode >= 300 {
		return fmt.Errorf("post %s: %s", req.URL.Redacted(), resp.Status)
	}
	return nil
}

// newHTTPClient makes a client that looks at the address of each connection
// after the name was resolved, so no name and no redirect leads inside. It
// takes no proxy from the environment: that would dial for it.
func newHTTPClient(timeout time.Duration, anywhere bool) *http.Client {
	dialer := &net.Dialer{Timeout: timeout}
	if !anywhere {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return checkPublic(address) }
	}
	return &http.Client{
		Timeout:   timeout,
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout},
	}
}

var errNotPublic = errors.New("the address is not public; give http_post the argument " + allowPrivate + " to allow it")

func checkPublic(address string) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := addr.Addr().Unmap().WithZone("")
	isReserved := slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || isReserved {
		return fmt.Errorf("dial %s: %w", address, errNotPublic)
	}
	return nil
}

// reserved are the networks of the IANA special-purpose registries that
// netip does not know to be out of the public internet.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // future use, and broadcast
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64, hides an IPv4 address
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),      // discard
	netip.MustParsePrefix("2001::/23"),     // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"), // documentation
	netip.MustParsePrefix("2002::/16"),     // 6to4, hides an IPv4 address
	netip.MustParsePrefix("fec0::/10"),     // site-local
}
