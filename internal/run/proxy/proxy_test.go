package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// names are the answers of the machine's resolver in tests.
var names = map[string][]string{
	"good.test": {"127.0.0.1"}, "rebinds.test": {"127.0.0.1"}, "cloud.test": {"169.254.169.254"},
	"half.test": {"93.184.216.34", "10.0.0.1"}, "public.test": {"93.184.216.34"},
	"mapped.test": {"::ffff:127.0.0.1"}, "nat.test": {"64:ff9b::7f00:1"}, "six.test": {"2002:7f00:1::"},
	"local6.test": {"::1"}, "zero.test": {"0.0.0.0"}, "link.test": {"fe80::1"}, "lan6.test": {"fd00::1"},
	"shared.test": {"100.64.0.1"}, "many.test": {"224.0.0.1"}, "compat.test": {"::127.0.0.1"},
}

func lookup(_ context.Context, name string) (list []netip.Addr, err error) {
	for _, a := range names[name] {
		list = append(list, netip.MustParseAddr(a))
	}
	if list == nil {
		err = &net.DNSError{Err: "no such host", Name: name}
	}
	return list, err
}

func TestWhereAProxyLeads(t *testing.T) {
	for _, c := range []struct {
		hosts, host, port string
		ok                bool
	}{
		{"public.test", "public.test", "443", true},
		{"public.test", "PUBLIC.test.", "80", true},
		{"*.test", "public.test", "443", true},
		{"public.test", "public.test", "22", false},
		{"public.test", "public.test", "25", false},
		{"public.test:22", "public.test", "22", true},
		{"public.test:22", "public.test", "443", false},
		{"public.test", "notpublic.test", "443", false},
		{"*.public.test", "public.test", "443", false},
		{"public.test", "public.test.evil.test", "443", false},
		{"", "public.test", "443", false},
		{"*", "93.184.216.34", "443", false},
		{"93.184.216.34", "93.184.216.34", "443", true},
		{"93.184.216.0/24", "93.184.216.34", "443", true},
		{"127.0.0.1:8080", "127.0.0.1", "8080", true},
		{"127.0.0.1", "127.0.0.1", "8080", false},
		{"127.0.0.1:8080", "::ffff:127.0.0.1", "8080", true},
		{"good.test 10.0.0.0/8", "good.test", "443", false},
		{"good.test 127.0.0.0/8", "good.test", "443", true},
		{"good.test 127.0.0.1:8080", "good.test", "443", false},
		{"*", "rebinds.test", "443", false},
		{"*", "cloud.test", "80", false},
		{"*", "half.test", "443", false},
		{"*", "mapped.test", "443", false},
		{"*", "nat.test", "443", false},
		{"*", "six.test", "443", false},
		{"*", "local6.test", "443", false},
		{"*", "zero.test", "443", false},
		{"*", "link.test", "443", false},
		{"*", "lan6.test", "443", false},
		{"*", "shared.test", "443", false},
		{"*", "many.test", "443", false},
		{"*", "compat.test", "443", false},
		{"*", "fe80::1%eth0", "443", false},
		{"*", "2130706433", "80", false},
		{"*", "public.test\x00.evil", "443", false},
		{"*", "public test", "443", false},
		{"*", "", "443", false},
		{"*", "public.test", "0", false},
		{"*", "public.test", "443x", false},
		{"*", "public.test", "65979", false},
	} {
		p := &Proxy{Hosts: strings.Fields(c.hosts), Lookup: lookup}
		_, addrs, err := p.resolve(c.host, c.port)
		if (err == nil) != c.ok {
			t.Errorf("%q with %q: %v at port %s: %v", c.hosts, c.host, addrs, c.port, err)
		}
	}
}

// own addresses of the machine are no public ones, whatever their networks are.
func TestTheMachinesOwnAddressesAreNotPublic(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range own {
		if network, err := netip.ParsePrefix(o.String()); err == nil && public(network.Addr()) {
			t.Errorf("%s is public", network)
		}
	}
}

// started is a proxy that listens, and the port of a server that the list has.
func started(t *testing.T, handle http.HandlerFunc) (p *Proxy, at, port string) {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	_, port, _ = net.SplitHostPort(server.Listener.Addr().String())
	p = &Proxy{Hosts: []string{"good.test:" + port, "127.0.0.1:" + port}, Lookup: lookup}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go p.Serve(l)
	return p, l.Addr().String(), port
}

// Go's own client speaks each of the ways.
func TestWaysThroughAProxy(t *testing.T) {
	var got string
	p, at, port := started(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.RequestURI + " " + r.Host + " " + string(text) + r.Header.Get("Proxy-Authorization")
		fmt.Fprint(w, "here")
	})
	for _, scheme := range []string{"http", "socks5", "socks5h"} {
		c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: scheme, Host: at})}}
		for range 2 {
			resp, err := c.Post("http://good.test:"+port+"/a?b=c", "", strings.NewReader(strings.Repeat("x", 100_000)))
			if err != nil {
				t.Fatalf("%s: %v", scheme, err)
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if want := "POST /a?b=c good.test:" + port + " "; string(text) != "here" || len(got) != len(want)+100_000 ||
				!strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, %d bytes: %.80s", scheme, text, len(got), got)
			}
		}
		if resp, err := c.Get("http://other.test:" + port); err == nil {
			if resp.Body.Close(); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s reached another host: %s", scheme, resp.Status)
			}
		}
	}
	if list := p.Refused(); len(list) != 1 || list[0] != "other.test:"+port {
		t.Errorf("it refused %v", list)
	}
}

// A second request on a connection does not reach another host, and no request smuggles one.
func TestOneRequestAConnection(t *testing.T) {
	requests := make(chan string, 10)
	_, at, port := started(t, func(w http.ResponseWriter, r *http.Request) { requests <- r.Host + r.Header.Get("Connection") })
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET http://good.test:%s/ HTTP/1.1\r\nHost: evil.test\r\nConnection: keep-alive\r\n\r\n"+
		"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", port)
	text, _ := io.ReadAll(bufio.NewReader(c))
	if n := strings.Count(string(text), "HTTP/1.1"); n != 1 || !strings.Contains(string(text), "200 OK") {
		t.Errorf("%d answers: %s", n, text)
	}
	if got := <-requests; got != "good.test:"+port+"close" || len(requests) > 0 {
		t.Errorf("the server got %s and %d more", got, len(requests))
	}
}

// Broken requests get an answer or an end, and no connection.
func TestBrokenRequests(t *testing.T) {
	_, at, port := started(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was reached") })
	for _, text := range []string{
		"\r\n\r\n", "CONNECT\r\n\r\n", "CONNECT good.test HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
		"GET file:///etc/passwd HTTP/1.1\r\n\r\n", "CONNECT other.test:" + port + " HTTP/1.1\r\n\r\n",
		"CONNECT good.test:25 HTTP/1.1\r\n\r\n", strings.Repeat("x", 100_000),
		"\x05\x00", "\x05\x01\x02", "\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", // bind
		"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50", // UDP
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", // an address off the list
		"\x05\x01\x00\x05\x01\x00\x09", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
	} {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text) // it may be refused before the end
		_ = c.(*net.TCPConn).CloseWrite()
		said, _ := io.ReadAll(c)
		c.Close()
		if strings.Contains(string(said), " 200 ") || len(said) > 3 && said[0] == socksVersion && said[3] == socksOK {
			t.Errorf("%q: %q", text, said)
		}
	}
}
