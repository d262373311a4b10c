package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
)

// Words of SOCKS5, RFC 1928.
const (
	socksVersion = 5
	socksConnect = 1

	addrIPv4 = 1
	addrName = 3
	addrIPv6 = 4

	socksOK         = 0
	socksFailed     = 1
	socksRefused    = 2
	socksNoCommand  = 7
	socksNoAddress  = 8
	socksNoLogin    = 0xff
	socksLoginIsNot = 0
)

// socks serves a connection that speaks SOCKS5.
func (p *Proxy) socks(c net.Conn, r *bufio.Reader) {
	if !greeted(c, r) {
		return
	}
	host, port, code := destination(r)
	if code != socksOK {
		reply(c, code)
		return
	}
	to, err := p.dial(host, port)
	if err != nil {
		code = socksFailed
		if _, refused := errors.AsType[*refusal](err); refused {
			code = socksRefused
		}
		reply(c, code)
		return
	}
	defer to.Close()
	if reply(c, socksOK) == nil {
		pump(c, r, to, nil)
	}
}

// greeted agrees on no login.
func greeted(c net.Conn, r *bufio.Reader) bool {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return false
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(r, methods); err != nil {
		return false
	}
	method := byte(socksNoLogin)
	for _, m := range methods {
		if m == socksLoginIsNot {
			method = m
		}
	}
	_, err := c.Write([]byte{socksVersion, method})
	return err == nil && method == socksLoginIsNot
}

// destination reads a request to connect.
func destination(r *bufio.Reader) (host, port string, code byte) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != socksVersion {
		return "", "", socksFailed
	}
	size := 0
	switch head[3] {
	case addrIPv4:
		size = 4
	case addrIPv6:
		size = 16
	case addrName:
		n, err := r.ReadByte()
		if err != nil {
			return "", "", socksFailed
		}
		size = int(n)
	default:
		return "", "", socksNoAddress
	}
	text := make([]byte, size+2)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", "", socksFailed
	}
	if head[1] != socksConnect {
		return "", "", socksNoCommand
	}
	port = strconv.Itoa(int(text[size])<<8 | int(text[size+1]))
	if host = string(text[:size]); head[3] != addrName {
		a, _ := netip.AddrFromSlice(text[:size]) // it has the size of one
		host = a.String()
	}
	return host, port, socksOK
}

func reply(c net.Conn, code byte) error {
	_, err := c.Write([]byte{socksVersion, code, 0, addrIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
