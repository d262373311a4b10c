package ui

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// The files of the page. Those in vendor are other authors', byte for byte as they
// published them: VENDOR says which, from where, under which licence.
//
//go:embed assets
var embedded embed.FS

// vendored are the modules of other authors by the names under which they ask for
// each other. A browser knows such names from a map in the page, which the page's
// policy forbids, as that map is a script: so they are put in when a file is served.
var vendored = strings.NewReplacer(
	`from"preact"`, `from"./preact.js"`,
	`from"preact/hooks"`, `from"./hooks.js"`,
	`from"@preact/signals-core"`, `from"./signals-core.js"`,
)

// packed ends the names of files that are in the program, and are served, as gzip.
const packed = ".gz"

// assets returns the served files by path. Packed files are served packed. Only a page needs them: they are
// read when it first asks.
var assets = sync.OnceValue(func() map[string][]byte {
	files := map[string][]byte{}
	root, _ := fs.Sub(embedded, "assets") // a constant path
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || mediaTypes[path.Ext(strings.TrimSuffix(name, packed))] == "" {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if strings.HasPrefix(name, "vendor/") && !strings.HasSuffix(name, packed) {
			text = []byte(vendored.Replace(string(text)))
		}
		files[name] = text
		return err
	})
	if err != nil {
		panic(err) // of what is in the program: a fault
	}
	return files
})

var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// serveAsset serves a file. Its path is this process's own, so that a browser may
// keep it for as long as it likes; the page itself is asked for each time.
func serveAsset(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		file, ok := assets()[name]
		if zipped, is := assets()[name+packed]; is {
			w.Header().Set("Content-Encoding", "gzip") // each browser takes it
			file, ok = zipped, true
		}
		if !ok {
			refuse(w, http.StatusNotFound, "not_found", "no such file")
			return
		}
		w.Header().Set("Content-Type", mediaTypes[path.Ext(name)])
		if name != "index.html" {
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(file))
	}
}
