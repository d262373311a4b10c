package client

import (
	"bufio"
	"strings"
	"testing"
)

func TestHeadOfAnAnswer(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"HTTP/1.0 200 OK\r\nCONTENT-length: 3 \r\nX: y\r\n\r\n", ""},
		{"HTTP/1.0 200 OK\nContent-Length:3\n\n", ""},
		{"HTTP/1.0 2000 OK\r\n\r\n", "not an HTTP answer"},
		{"hello", "not an HTTP answer"},
		{"", "EOF"},
		{"HTTP/1.0 200 OK\r\n", "EOF"},
		{"HTTP/1.0 200 OK\r\nno header\r\n\r\n", "not an HTTP header"},
		{"HTTP/1.0 200 OK\r\nX: " + strings.Repeat("y", maxHead) + "\r\n\r\n", "too long"},
		{"HTTP/1.0 200 " + strings.Repeat("y", maxHead), "too long"},
	} {
		h, err := readHead(bufio.NewReader(strings.NewReader(tt.text)))
		switch {
		case tt.want == "" && (err != nil || h.status != 200 || h.contentLength != "3"):
			t.Errorf("%.40q: %+v, error %v", tt.text, h, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%.40q: error %v, want %q", tt.text, err, tt.want)
		}
	}
}
