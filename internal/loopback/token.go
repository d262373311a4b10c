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
)

// tokenBytes is the length of a token before it is written in hex.
const tokenBytes = 32

// Token returns the token in the file, which is made, 0600, on first use. A
// file that others can read, or that holds no token, is an error: who could
// read it may ask hookd to run hooks.
func Token(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("read the HTTP token: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the HTTP token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("the HTTP token %s can be read by others: type rm %[1]s and connect the agent again", path)
	}
	token := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != tokenBytes {
		return "", fmt.Errorf("%s holds no token: type rm %[1]s and connect the agent again", path)
	}
	return token, nil
}

// makeToken writes a new token. Of two who do so at once, both get the same.
func makeToken(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the HTTP token: %w", err)
	}
	raw := make([]byte, tokenBytes)
	rand.Read(raw)                                             // never fails
	temp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // 0600
	if err != nil {
		return "", fmt.Errorf("make the HTTP token: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(hex.EncodeToString(raw) + "\n")
	if err = errors.Join(err, temp.Close()); err != nil {
		return "", fmt.Errorf("make the HTTP token: %w", err)
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the HTTP token: %w", err)
	}
	return Token(path)
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
