package client

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"
)

// FuzzResponse: whatever comes back, bytes that are taken for an answer are an answer
// to net/http as well, with the same status and body.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 404 Not Found\r\nContent-Type: a\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", "HTTP/1.1 x OK\r\n", "{\"ok\":false}\n", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "",
		"HTTP/1.0 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}", "HTTP/1.1 -7 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		status, body, err := readResponse(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			return
		}
		if status < 100 || status > 999 {
			t.Fatalf("%q has status %d", text, status)
		}
		want, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
		if err != nil || want.TransferEncoding != nil || want.StatusCode < 200 || want.StatusCode == 204 || want.StatusCode == 304 {
			return // stricter, or without a body whatever its length
		}
		wanted, err := io.ReadAll(want.Body)
		if err != nil || status != want.StatusCode || !bytes.Equal(body, wanted) {
			t.Fatalf("%q: got %d %q, want %d %q, %v", text, status, body, want.StatusCode, wanted, err)
		}
	})
}
