package policy

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

const authorityEnv = "HOOKD_POLICY_AUTHORITY_TEST"

// The certificates that SSL_CERT_FILE names count, and without them a server that the system
// does not know is refused. They are read once in a process, so another process asks.
func TestServerOfAnOwnAuthority(t *testing.T) {
	if source := os.Getenv(authorityEnv); source != "" {
		r, err := NewHome(t.TempDir()).Set(t.Context(), source, os.Getenv(authorityEnv+"_KEY"), "", "", anything)
		if err != nil || r.Current.Manifest.Sequence != 7 {
			t.Fatalf("got %+v, %v", r.Current.Manifest, err)
		}
		return
	}
	s := newSigner(t)
	bundle := s.bundle(t, 7, nil)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(bundle) }))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hooktest.Must(t, os.WriteFile(ca, text, 0o600))
	ask := func(env ...string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestServerOfAnOwnAuthority$")
		cmd.Env = append(os.Environ(), authorityEnv+"="+server.URL+"/a", authorityEnv+"_KEY="+s.public)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := ask("SSL_CERT_FILE=" + ca); err != nil {
		t.Errorf("with its authority: %v: %s", err, out)
	}
	if out, err := ask("SSL_CERT_FILE="); err == nil || !strings.Contains(out, "unknown authority") {
		t.Errorf("without it: %v: %s", err, out)
	}
}
