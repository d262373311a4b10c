package https

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/x":    "",
		"http://localhost:80/x":    "",
		"http://127.9.0.1/":        "",
		"http://[::1]:4318":        "",
		"http://example.com":       "this machine alone",
		"http://localhost.evil.io": "this machine alone",
		"http://127.0.0.1.evil.io": "this machine alone",
		"https://a:b@example.com":  "password",
		"ftp://example.com":        "no https:// address",
		"https://":                 "no https:// address",
		"example.com":              "no https:// address",
		"https://exa mple.com":     "no https:// address",
	} {
		if _, err := Check(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A redirect stays at the host, and does not go on without end.
func TestRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/here", http.StatusFound)
		case "/far":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		}
	}))
	defer s.Close()
	c, err := Client("")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/near": "", "/far": "to another host", "/round": "without end"} {
		res, err := c.Get(s.URL + path)
		if err == nil {
			res.Body.Close()
		} else {
			err = Plain(t.Context(), err)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestClientWithoutCertificates(t *testing.T) {
	if _, err := Client("https_test.go"); err == nil || !strings.Contains(err.Error(), "holds no certificate") {
		t.Error(err)
	}
}
