// Package proxy lets the programs of a box reach the hosts on a list. It speaks HTTP (CONNECT, and
// requests with a whole address) and SOCKS5 on one listener.
//
// Promises. Names are resolved here, outside of the box, and the address that is dialled is the
// address that was checked: a listed name that leads to a private address, to this machine or to a
// service of a cloud is refused, unless that address is listed as well. Ports other than 80 and 443
// are reached where the list names them. A refusal is told to the program, and noted.
//
// It looks at names alone: nothing is decrypted, so a listed host that serves others, or takes what
// it is sent, is a way out. There is no UDP, no listening, and no login.
package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxHead     = 64 << 10
	headTime    = 30 * time.Second // to say the destination
	dialTime    = 30 * time.Second
	maxConns    = 512
	maxRefusals = 20
)

// Proxy lets connections out. Hosts is required; the zero value of the rest is ready for use.
type Proxy struct {
	// Hosts are names, with * for any text, addresses and networks (10.0.0.0/8), each with :PORT where it
	// is neither 80 nor 443.
	Hosts []string
	// Lookup resolves a name; nil = as this machine does.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)

	mu      sync.Mutex
	refused []string
}

// Refused lists the destinations that were refused, as HOST:PORT, each once.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// ServeFile serves a listening socket that another has made.
func (p *Proxy) ServeFile(f *os.File) {
	l, err := net.FileListener(f)
	f.Close()
	if err == nil {
		p.Serve(l)
	} // else each connection waits for an answer that does not come: nothing gets out
}

// Serve takes connections until l is closed.
func (p *Proxy) Serve(l net.Listener) {
	room := make(chan struct{}, maxConns)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, for one
			time.Sleep(10 * time.Millisecond)
			continue
		}
		room <- struct{}{}
		go func() {
			defer func() { <-room }()
			defer c.Close()
			p.serve(c)
		}()
	}
}

func (p *Proxy) serve(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(headTime)) // a socket takes it
	r := bufio.NewReaderSize(c, maxHead)
	first, err := r.Peek(1)
	if err != nil {
		return
	}
	if first[0] == socksVersion {
		p.socks(c, r)
		return
	}
	p.http(c, r)
}

// refusal is why a destination is not reached.
type refusal struct{ to, why string }

func (r *refusal) Error() string {
	return "hookd keeps this box from " + r.to + ": " + r.why
}

// dial connects to a destination of the list.
func (p *Proxy) dial(host, port string) (net.Conn, error) {
	to, addrs, err := p.resolve(host, port)
	if no, is := errors.AsType[*refusal](err); is {
		p.note(no.to)
	}
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialTime}
	for _, a := range addrs {
		c, e := d.Dial("tcp", netip.AddrPortFrom(a, to).String())
		if e == nil {
			return c, nil
		}
		err = e
	}
	return nil, err
}

// note keeps a refused destination for people.
func (p *Proxy) note(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxRefusals && !slices.Contains(p.refused, to) {
		p.refused = append(p.refused, to)
	}
}

// resolve checks a destination and returns the addresses that may be dialled.
func (p *Proxy) resolve(host, port string) (uint16, []netip.Addr, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	name, ok := cleanName(host)
	if err != nil || n == 0 || !ok {
		return 0, nil, fmt.Errorf("%.80q is no destination", host+":"+port)
	}
	no := func(why string) (uint16, []netip.Addr, error) {
		return 0, nil, &refusal{net.JoinHostPort(name, port), why}
	}
	to := uint16(n)
	if a, err := netip.ParseAddr(name); err == nil {
		if !p.listsAddr(plainAddr(a), to) {
			return no("the address is not on its list")
		}
		return to, []netip.Addr{a}, nil
	}
	if !p.listsName(name, to) {
		return no("the host is not on its list")
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	addrs, err := p.lookup(ctx, name)
	if err != nil {
		return 0, nil, err
	}
	for _, a := range addrs { // all of them: which one answers is not ours to choose
		if plain := plainAddr(a); !public(plain) && !p.listsAddr(plain, to) {
			return no("it leads to " + plain.String() + ", which is no public address")
		}
	}
	return to, addrs, nil
}

func (p *Proxy) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if p.Lookup != nil {
		return p.Lookup(ctx, name)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// cleanName is a host as it is compared: in lower case and without a dot at its end.
func cleanName(host string) (string, bool) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	}
	if name == "" || len(name) > 253 {
		return "", false
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String(), a.Zone() == ""
	}
	return name, strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// listsName reports whether the list has a name at a port.
func (p *Proxy) listsName(name string, port uint16) bool {
	return slices.ContainsFunc(p.Hosts, func(entry string) bool {
		pattern, at := entryOf(entry)
		ok, err := path.Match(pattern, name)
		return takes(at, port) && ok && err == nil
	})
}

// listsAddr reports whether the list has an address, or its network, at a port.
func (p *Proxy) listsAddr(a netip.Addr, port uint16) bool {
	return slices.ContainsFunc(p.Hosts, func(entry string) bool {
		text, at := entryOf(entry)
		if !takes(at, port) {
			return false
		}
		if network, err := netip.ParsePrefix(text); err == nil {
			return network.Contains(a)
		}
		one, err := netip.ParseAddr(text)
		return err == nil && plainAddr(one) == a
	})
}

// entryOf splits an entry of a list; port is "" where it names none.
func entryOf(entry string) (host, port string) {
	host = strings.ToLower(entry)
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, p
	}
	return strings.Trim(host, "[]"), port
}

func takes(entry string, port uint16) bool {
	if entry == "" {
		return port == 443 || port == 80
	}
	return entry == strconv.Itoa(int(port))
}

// plainAddr is the address of IPv4 that an address of IPv6 stands for, else the address.
func plainAddr(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
	// special are networks that are not of the internet, beside those that package netip knows.
	special = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("::/96"),
		netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("fec0::/10"),
	}
)

// public reports whether an address is one of the internet and not of this machine.
func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() ||
		slices.ContainsFunc(special, func(n netip.Prefix) bool { return n.Contains(a) }) {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(own, func(o net.Addr) bool {
		network, err := netip.ParsePrefix(o.String())
		return err == nil && network.Addr().Unmap() == a
	})
}

// http serves a connection that speaks HTTP: a tunnel, or one request.
func (p *Proxy) http(c net.Conn, r *bufio.Reader) {
	head, err := readHead(r)
	if err != nil {
		answer(c, "400 Bad Request", err)
		return
	}
	first, fields, _ := bytes.Cut(head, []byte("\r\n"))
	words := strings.Split(string(first), " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/1.") {
		answer(c, "400 Bad Request", errors.New("it is no request of HTTP/1.1"))
		return
	}
	if words[0] == "CONNECT" {
		host, port, err := net.SplitHostPort(words[1])
		if err != nil {
			answer(c, "400 Bad Request", err)
			return
		}
		p.through(c, r, host, port, func() error {
			_, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
			return err
		}, nil)
		return
	}
	u, err := url.Parse(words[1])
	if err != nil || u.Scheme != "http" || u.Host == "" {
		answer(c, "400 Bad Request", errors.New("the request has no whole address of http"))
		return
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	// One request a connection: the next may be for another host.
	request := words[0] + " " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\nConnection: close\r\n" +
		keptFields(fields) + "\r\n"
	p.through(c, r, u.Hostname(), port, nil, []byte(request))
}

// readHead reads to the empty line, without it.
func readHead(r *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		line, err := r.ReadSlice('\n')
		if err != nil || len(head)+len(line) > maxHead {
			return nil, errors.New("the head of the request is too long, or ends early")
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return head, nil
		}
		head = append(append(head, line...), '\r', '\n')
	}
}

// keptFields are the fields of a request that go on to its server.
func keptFields(fields []byte) string {
	var kept strings.Builder
	for line := range bytes.Lines(fields) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch strings.ToLower(strings.TrimSpace(string(name))) {
		case "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "upgrade":
			continue
		}
		kept.Write(line)
	}
	return kept.String()
}

// through connects a program with its destination until both have said all.
func (p *Proxy) through(c net.Conn, r *bufio.Reader, host, port string, ready func() error, first []byte) {
	to, err := p.dial(host, port)
	if err != nil {
		answer(c, statusOf(err), err)
		return
	}
	defer to.Close()
	if ready != nil && ready() != nil {
		return
	}
	pump(c, r, to, first)
}

func statusOf(err error) string {
	if _, refused := errors.AsType[*refusal](err); refused {
		return "403 Forbidden"
	}
	return "502 Bad Gateway"
}

func answer(c net.Conn, status string, err error) {
	text := err.Error() + "\n"
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nX-Hookd: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, strings.Map(visible, err.Error()), len(text), text)
}

func visible(r rune) rune {
	if r < ' ' || r > '~' {
		return ' '
	}
	return r
}

// pump copies both ways.
func pump(c net.Conn, r io.Reader, to net.Conn, first []byte) {
	_ = c.SetDeadline(time.Time{}) // a socket takes it
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := to.Write(first)
		if err == nil {
			_, err = io.Copy(to, r)
		}
		shut(to, err)
	}()
	_, err := io.Copy(c, to)
	shut(c, err)
	if first != nil { // the server has answered the one request
		c.Close()
	}
	<-done
}

// shut says that no more comes; after a failure the other way ends, too.
func shut(c net.Conn, err error) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // the other side may have gone
		return
	}
	c.Close()
}
