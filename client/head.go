package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// head is the first line of an HTTP answer, its status, and the fields of its header that
// are looked at.
type head struct {
	line          string
	status        int
	contentType   string
	contentLength string
}

// maxHead bounds the head of an answer, in bytes. hookd's have some hundred.
const maxHead = 64 << 10

// readHead reads the head of an answer. Package net/textproto would bring package net with
// it, see open.
func readHead(in *bufio.Reader) (h head, err error) {
	left := maxHead
	if h.line, err = readHeadLine(in, &left); err != nil {
		return h, err
	}
	version, rest, _ := strings.Cut(h.line, " ")
	code, _, _ := strings.Cut(rest, " ")
	h.status, err = strconv.Atoi(code)
	if !strings.HasPrefix(version, "HTTP/1.") || err != nil || h.status < 100 || h.status > 999 {
		return h, fmt.Errorf("not an HTTP answer: %q", h.line)
	}
	for {
		line, err := readHeadLine(in, &left)
		if err != nil || line == "" {
			return h, err
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return h, errors.New("not an HTTP header: " + line)
		}
		switch strings.ToLower(name) {
		case "content-type":
			h.contentType = strings.TrimSpace(value)
		case "content-length":
			h.contentLength = strings.TrimSpace(value)
		}
	}
}

// readHeadLine reads one line without its end, of at most left bytes. The last one needs
// no end.
func readHeadLine(in *bufio.Reader, left *int) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if *left -= len(part); *left < 0 {
			return "", errors.New("the head of the answer is too long")
		}
		line = append(line, part...)
		if err == nil || err == io.EOF && len(line) > 0 {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}
