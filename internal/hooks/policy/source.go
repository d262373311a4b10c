package policy

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/https"
	"github.com/hookd/hookd/internal/base/readfile"
)

// fetchTime is how long a server may take for the whole of a bundle.
const fetchTime = 60 * time.Second

// CheckSource returns the source as it is kept: a URL, or an absolute path. http:// is for
// this machine alone.
func CheckSource(text string) (string, error) {
	if !strings.Contains(text, "://") {
		return filepath.Abs(text)
	}
	if _, err := https.Check(text); err != nil {
		return "", fmt.Errorf("%w; a bundle may also come from a file or a folder", err)
	}
	return text, nil
}

// fetched is the present content of a source.
type fetched struct {
	text      []byte
	etag      string // of an HTTP server; "" = it has none
	unchanged bool   // it is what etag stood for
}

// fetch reads a source. With an etag a server may say that nothing has changed.
func fetch(ctx context.Context, s State, etag string, key ed25519.PublicKey, wait time.Duration) (fetched, error) {
	source := s.Source
	if strings.Contains(source, "://") {
		return fetchURL(ctx, source, etag, wait)
	}
	info, err := os.Stat(source)
	if err != nil {
		return fetched{}, err
	}
	if info.IsDir() {
		return newest(source, s.Name, key)
	}
	text, err := readfile.Read(source, MaxBytes)
	return fetched{text: text}, err
}

// newest is the bundle with the greatest sequence of a folder that key signed: of those with
// the name, where it is not "" and there is one.
func newest(dir, name string, key ed25519.PublicKey) (found fetched, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+Ending))
	if err != nil {
		return found, err
	}
	var sequence uint64
	var bad error
	named := false // one with the name was found
	for _, file := range files {
		text, err := readfile.Read(file, MaxBytes)
		var b Bundle
		if err == nil {
			b, err = Read(text, key)
		}
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("%s: %w", filepath.Base(file), err))
			continue
		}
		m, own := b.Manifest, name != "" && b.Manifest.Name == name
		if own && !named || own == named && m.Sequence > sequence {
			sequence, found.text, named = m.Sequence, text, own
		}
	}
	switch {
	case found.text != nil:
		return found, nil
	case bad != nil:
		return found, bad
	}
	return found, fmt.Errorf("no file in it ends with %s", Ending)
}

// fetchURL asks a server. Its answer is read as it comes: a compressed one could be
// endless in a few bytes.
func fetchURL(ctx context.Context, source, etag string, wait time.Duration) (f fetched, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return f, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "hookd")
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	client, err := https.Client("")
	if err != nil {
		return f, err
	}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return f, https.Plain(ctx, err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && etag != "":
		return fetched{etag: etag, unchanged: true}, nil
	case res.StatusCode != http.StatusOK:
		return f, fmt.Errorf("the server answers %s", res.Status)
	case res.Header.Get("Content-Encoding") != "":
		return f, fmt.Errorf("the server sends it as %s, which was not asked for", res.Header.Get("Content-Encoding"))
	case res.ContentLength > MaxBytes:
		return f, errLarge
	}
	f.text, err = io.ReadAll(io.LimitReader(res.Body, MaxBytes+1))
	switch {
	case len(f.text) > MaxBytes:
		return fetched{}, errLarge
	case err != nil:
		return fetched{}, https.Plain(ctx, err)
	}
	f.etag = res.Header.Get("ETag")
	return f, nil
}

var errLarge = fmt.Errorf("it is larger than %d MiB", MaxBytes>>20)
