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

	"github.com/hookd/hookd/internal/base/readfile"
)

// tokenBytes is the length of a token before it is written in hex.
const tokenBytes = 32

// maxTokenFile bounds how many bytes are read from a token's file.
const maxTokenFile = 4096

// ErrExposed is the error for a token in a file that other users can read.
var ErrExposed = errors.New("can be read by others: type hookd token rotate")

// Token returns the token in the file, which is made, 0600, on first use. A file that
// other users can read, or without a token, is an error: with the token they could
// have hookd run hooks.
func Token(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	err = writeToken(path, os.Link)
	if err != nil && !errors.Is(err, fs.ErrExist) { // two callers at once both get the same token
		return "", fmt.Errorf("make the HTTP token: %w", err)
	}
	return readToken(path)
}

// Rotate writes a new token into the file and returns it with the old one, "" for
// none. The old one is refused from then on.
func Rotate(path string) (token, old string, err error) {
	text, err := readfile.Read(path, maxTokenFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("read the HTTP token: %w", err)
	}
	if token, ok := parseToken(text); ok {
		old = token
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

// writeToken writes a new token beside the file and calls place to put it there.
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

// hasToken reports whether a request shows the token, in constant time.
func hasToken(r *http.Request, token string) bool {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	same := subtle.ConstantTimeCompare([]byte(strings.TrimSpace(shown)), []byte(token)) == 1
	return strings.EqualFold(scheme, "Bearer") && same
}

// local reports whether a Host header names this machine's loopback, with any port. A
// rebound DNS entry has another name.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}
