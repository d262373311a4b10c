package loopback

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/readfile"
)

// tokenBytes is the length of a token before it is written in hex.
const tokenBytes = 32

// maxTokenFile bounds what is read of a token's file, in bytes.
const maxTokenFile = 4096

// ErrExposed is a token in a file that others can read.
var ErrExposed = errors.New("can be read by others: type hookd token rotate")

// Token returns the token in the file, which is made, 0600, on first use. A
// file that others can read, or that holds no token, is an error: who could
// read it may ask hookd to run hooks.
func Token(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := writeToken(path, os.Link); err != nil && !errors.Is(err, fs.ErrExist) { // of two callers at once, both get the same
		return "", fmt.Errorf("make the HTTP token: %w", err)
	}
	return readToken(path)
}

// Rotate puts a new token into the file and returns it, with what the file
// held before, "" for nothing. The old one counts no more from then on.
func Rotate(path string) (token, old string, err error) {
	if text, err := readfile.Read(path, maxTokenFile); err == nil {
		if token, ok := parseToken(text); ok {
			old = token
		}
	}
	if err := writeToken(path, os.Rename); err != nil {
		return "", old, fmt.Errorf("change the HTTP token: %w", err)
	}
	token, err = readToken(path)
	return token, old, err
}

func readToken(path string) (string, error) {
	text, err := readfile.Read(path, maxTokenFile)
	if err != nil {
		return "", fmt.Errorf("read the HTTP token: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the HTTP token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("the HTTP token %s (mode %04o) %w", path, info.Mode().Perm(), ErrExposed)
	}
	token, ok := parseToken(text)
	if !ok {
		return "", fmt.Errorf("%s holds no token: type hookd token rotate", path)
	}
	return token, nil
}

func parseToken(text []byte) (token string, ok bool) {
	token = strings.TrimSpace(string(text))
	raw, err := hex.DecodeString(token)
	return token, err == nil && len(raw) == tokenBytes
}

// writeToken writes a new token beside the file and has place put it there.
func writeToken(path string, place func(temp, path string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	raw := make([]byte, tokenBytes)
	rand.Read(raw)                                             // never fails
	temp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(hex.EncodeToString(raw) + "\n")
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return place(temp.Name(), path)
}

// hasToken reports whether a request shows the token; how much of it is right
// cannot be told from the time it takes.
func hasToken(r *http.Request, token string) bool {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(shown)), []byte(token)) == 1
}

// local reports whether a Host header names this machine's loopback, with any
// port: the name that a rebound DNS entry has is another.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}
