package docs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

// fence is a block of a document with its language; it may be indented.
var fence = regexp.MustCompile("(?ms)^ *```([a-z]+)\n(.*?)^ *```")

// fenced returns the only block of fleet.md that has a text in it, without its indentation.
func fenced(t *testing.T, has string) string {
	t.Helper()
	doc, err := os.ReadFile("reference/fleet.md")
	hooktest.Must(t, err)
	var found []string
	for _, m := range fence.FindAllStringSubmatch(string(doc), -1) {
		if strings.Contains(m[2], has) {
			indent := regexp.MustCompile(`^ *`).FindString(m[2])
			found = append(found, regexp.MustCompile(`(?m)^`+indent).ReplaceAllString(m[2], ""))
		}
	}
	if len(found) != 1 {
		t.Fatalf("fleet.md has %d blocks with %q", len(found), has)
	}
	return found[0]
}

// replaced replaces each of the texts, which must be there.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// authority makes an authority that has signed nothing: ca.crt in a folder.
func authority(t *testing.T, dir string) {
	t.Helper()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "another"}, IsCA: true,
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	hooktest.Must(t, err)
	raw, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	hooktest.Must(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	hooktest.Write(t, filepath.Join(dir, "ca.crt"), string(text), 0o600)
}

// The steps of fleet.md are typed as they stand there, except for addresses and keys: three
// servers of a certificate and an authority that they make, and a machine that is in their fleet
// by TLS. A machine that trusts another authority is not and says why.
func TestThreeServersOfTheFleetDocument(t *testing.T) {
	hooktest.Long(t)
	hooktest.NeedTool(t, "openssl")
	bin := hooktest.Programs(t)
	user := newHome(t)
	dir, home := filepath.Join(user, "nats"), filepath.Join(user, ".librefang")
	hooktest.Must(t, os.MkdirAll(home, 0o700))
	hooktest.Must(t, os.MkdirAll(dir, 0o700))
	types := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+user, "LIBREFANG_HOME=", "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	types(replaced(t, fenced(t, "openssl req -x509"), "DNS:n1.example.org,DNS:n2.example.org,DNS:n3.example.org", "IP:127.0.0.1"))
	laptop, operator := types(fenced(t, "fleet keygen ~/")), types("hookd fleet keygen ops.nk")
	entries := fenced(t, "> machines/laptop-7")
	example := regexp.MustCompile(`\bU[A-Z2-7]{55}\b`).FindAllString(entries, -1)
	if len(example) != 2 {
		t.Fatalf("the entries have the keys %q", example)
	}
	types(replaced(t, entries, example[0], laptop, example[1], operator))
	ports := make([]int, 6)
	for i := range ports {
		ports[i] = hooktest.FreePort(t)
	}
	servers := make([]*fleettest.Process, 3)
	settings := fenced(t, "servers: [tls://n1.example.org")
	for i := range servers {
		config := replaced(t, fenced(t, "server_name: n1"), "server_name: n1", fmt.Sprintf("server_name: n%d", i+1),
			"0.0.0.0:4222", fmt.Sprintf("127.0.0.1:%d", ports[i]), "0.0.0.0:6222", fmt.Sprintf("127.0.0.1:%d", ports[3+i]),
			"/etc/nats/tls.crt", strconv.Quote(filepath.Join(dir, "tls.crt")),
			"/etc/nats/tls.key", strconv.Quote(filepath.Join(dir, "tls.key")),
			"/etc/nats/ca.crt", strconv.Quote(filepath.Join(dir, "ca.crt")),
			"/var/lib/nats", strconv.Quote(filepath.Join(dir, fmt.Sprint("store", i))),
			"n1.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[3]),
			"n2.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[4]),
			"n3.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[5]))
		file := filepath.Join(dir, fmt.Sprintf("n%d.conf", i+1))
		hooktest.Write(t, file, config, 0o600)
		address := fmt.Sprintf("tls://127.0.0.1:%d", ports[i])
		servers[i] = fleettest.NewProcess(t, file, address)
		settings = replaced(t, settings, fmt.Sprintf("tls://n%d.example.org:4222", i+1), address)
	}
	fleettest.Processes(t, servers...)
	settings = replaced(t, settings, "/etc/ssl/hookd-ca.crt", strconv.Quote(filepath.Join(dir, "ca.crt"))) + "  name: laptop-7\n"
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), settings, 0o600)
	if said := types("hookd fleet init --creds ops.nk"); !strings.Contains(said, "tenant default has its streams") {
		t.Errorf("init said %q", said)
	}
	if said := types("hookd fleet queue index-what-agents-did --creds ops.nk"); said != "queues: index-what-agents-did" {
		t.Errorf("queue said %q", said)
	}
	h := start(t, home)
	hooktest.Until(t, "the machine is in the fleet", func() bool {
		f, err := h.client.Fleet(t.Context())
		return err == nil && f.Unread == "" && f.Error == "" && len(f.Machines) == 1 && f.Machines[0].Machine == "laptop-7"
	})
	authority(t, filepath.Join(dir, "other"))
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), replaced(t, settings, "/ca.crt", "/other/ca.crt"), 0o600)
	h.restart()
	hooktest.Until(t, "the machine trusts no server and says so", func() bool {
		st, err := h.client.Status(t.Context())
		return err == nil && st.Fleet != nil && !st.Fleet.Connected && strings.Contains(st.Fleet.Error, "unknown authority")
	})
}
