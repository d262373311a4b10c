package loopback

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func dial(t *testing.T, d *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// Of connections that say nothing, or never end their header, no more are
// open than maxStrangers, and one with the token is served all the same.
func TestStrangersAreFew(t *testing.T) {
	d := open(t, nil, Options{})
	var silent []net.Conn
	for i := range 4 * maxStrangers {
		conn := dial(t, d)
		if i%2 == 1 {
			io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nX-A: ")
		}
		silent = append(silent, conn)
	}
	for i, conn := range silent[:3*maxStrangers] { // ends when the connection does
		if _, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	if status, text := post(t, d, path, call); status != 200 {
		t.Errorf("with the token: got %d %s", status, text)
	}
}

// A client that has shown the token stays, whatever comes after it.
func TestGuestsStay(t *testing.T) {
	d := open(t, nil, Options{})
	guest := dial(t, d)
	in := bufio.NewReader(guest)
	ask := func() {
		t.Helper()
		fmt.Fprintf(guest, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", path, secret, len(call), call)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("got %s", resp.Status)
		}
	}
	ask()
	first := dial(t, d)
	for range maxStrangers {
		dial(t, d)
	}
	io.ReadAll(first) // until it is closed
	ask()
}

// A stranger has one request, with a small header, and not for long.
func TestStrangersAreShort(t *testing.T) {
	d := open(t, nil, Options{HeaderTime: 50 * time.Millisecond})
	if got, err := io.ReadAll(dial(t, d)); err != nil || len(got) > 0 {
		t.Errorf("a silent one got %q, %v", got, err)
	}
	refused := dial(t, d)
	fmt.Fprintf(refused, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n", path)
	if got, _ := io.ReadAll(refused); !strings.HasPrefix(string(got), "HTTP/1.1 401") { // and then the end
		t.Errorf("without the token: got %q", got)
	}
	large := dial(t, d)
	go fmt.Fprintf(large, "POST %s HTTP/1.1\r\nHost: localhost\r\nX-A: %s\r\n\r\n", path, strings.Repeat("a", 16<<10))
	if got, _ := io.ReadAll(large); !strings.HasPrefix(string(got), "HTTP/1.1 431") {
		t.Errorf("a large header: got %q", got)
	}
}
