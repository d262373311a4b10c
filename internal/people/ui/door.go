package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// openPath is before the key of a link.
const openPath = "/open/"

// policy lets the page load its own files and nothing else. Text of agents and hooks
// is put into it as text; if a fault ever made markup from such text, this still runs
// none of that markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// mostBrowsers is how many cookies count: each link that is opened makes one, and
// the oldest is void.
const mostBrowsers = 8

// door knows the link that was not used yet, and the browsers that used one.
type door struct {
	mu      sync.Mutex
	key     string   // of the link; "" = it was used
	cookies []string // oldest first
}

// secret returns 128 random bits as text.
func secret() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see its documentation
	return hex.EncodeToString(b[:])
}

func (d *door) newKey() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key = secret()
	return d.key
}

// open uses the key up; "" = it is not the key.
func (d *door) open(key string) (cookie string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key == "" || !same(key, d.key) {
		return ""
	}
	d.key, cookie = "", secret()
	if d.cookies = append(d.cookies, cookie); len(d.cookies) > mostBrowsers {
		d.cookies = d.cookies[1:]
	}
	return cookie
}

func (d *door) knows(cookie string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.cookies, func(c string) bool { return same(c, cookie) })
}

// same compares in constant time, so that the time tells nothing of the text.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// cookieName differs by port: browsers keep cookies by host alone, and another
// hookd ui may run.
func (s *Server) cookieName() string {
	_, port, _ := strings.Cut(s.hosts[1], ":")
	return "hookd_ui_" + port
}

// guarded refuses each request that is not from this page, in a browser that has opened a link.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
		if why := s.foreign(r); why != "" {
			refuse(w, http.StatusForbidden, "forbidden", why)
			return
		}
		if key, ok := strings.CutPrefix(r.URL.Path, openPath); ok {
			s.open(w, r, key)
			return
		}
		if cookie, err := r.Cookie(s.cookieName()); err != nil || !s.door.knows(cookie.Value) {
			s.stranger(w, r)
			return
		}
		s.used.Store(time.Now().UnixNano())
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// foreign says why neither the page nor the user would make a request; ""
// = one of them may.
func (s *Server) foreign(r *http.Request) string {
	if !slices.Contains(s.hosts, r.Host) {
		return fmt.Sprintf("requests for host %q are refused", r.Host)
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 && (len(origins) > 1 || origins[0] != "http://"+r.Host) {
		return "requests of other sites are refused"
	}
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !read && r.Header.Get("Origin") == "" {
		return "a request that changes something must have an Origin"
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return ""
	}
	// A link in another page may be followed, in a window of its own.
	if read && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return ""
	}
	return "requests of other sites are refused"
}

// open lets a browser that has the key see the page from then on. A browser that
// only prepares a page, or asks whether it is there, does not use the key up.
func (s *Server) open(w http.ResponseWriter, r *http.Request, key string) {
	if r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" {
		refuse(w, http.StatusMethodNotAllowed, "bad_method", "open the link in a browser")
		return
	}
	cookie := s.door.open(key)
	if cookie == "" {
		s.stranger(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: cookie, Path: s.base, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, s.base, http.StatusSeeOther)
}

// stranger answers a browser that has not opened a link. A browser that came from another
// site by a redirect has not sent its cookie, as that is strict: it asks once more,
// without a person.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Sec-Fetch-Dest") != "document" {
		refuse(w, http.StatusForbidden, "forbidden", "open the link that `hookd ui` has printed")
		return
	}
	again := ""
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.URL.Path == s.base {
		again = `<meta http-equiv="refresh" content="0;url=` + html.EscapeString(s.base) + `">`
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, strangerPage, again)
}

const strangerPage = `<!doctype html><html lang="en"><meta charset="utf-8">%s<title>hookd</title>
<h1>This page is another browser's</h1>
<p>A link of hookd ui works once. Press Enter where it runs for a new one, or type: <code>hookd ui --open</code></p>
`
