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
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/internal/fleet/machinekey"
	"github.com/hookd/hookd/internal/hooktest"
)

// fence is a block of a document with its language; it may be indented.
var fence = regexp.MustCompile("(?ms)^ *```([a-z]+)\n(.*?)^ *```")

// fenced returns the only block of fleet.md that has a text in it, without its indentation.
func fenced(t *testing.T, has string) string {
	t.Helper()
	doc, err := os.ReadFile("fleet.md")
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

// authority makes an authority, and a certificate of it for this machine, in a folder: ca.crt,
// tls.crt and tls.key.
func authority(t *testing.T, dir string) {
	t.Helper()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the test"}, IsCA: true,
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	hooktest.Must(t, err)
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	hooktest.Must(t, err)
	write := func(name, kind string, raw []byte, err error) {
		hooktest.Must(t, err)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
		hooktest.Write(t, filepath.Join(dir, name), string(text), 0o600)
	}
	raw, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	write("ca.crt", "CERTIFICATE", raw, err)
	raw, err = x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	write("tls.crt", "CERTIFICATE", raw, err)
	raw, err = x509.MarshalECPrivateKey(leafKey)
	write("tls.key", "EC PRIVATE KEY", raw, err)
}

// The servers of fleet.md run with their configuration as it stands there, except for addresses
// and paths; a machine with the settings of fleet.md is in their fleet by TLS, and one that
// trusts another authority is not and says why.
func TestThreeServersOfTheFleetDocument(t *testing.T) {
	dir, home := t.TempDir(), newHome(t)
	authority(t, dir)
	entry := func(machine string, role fleet.Role) (key, text string) {
		key = filepath.Join(dir, machine+".nk")
		hooktest.Must(t, machinekey.New(key))
		public, err := machinekey.Public(key)
		hooktest.Must(t, err)
		return key, fleet.Names{Tenant: "default", Machine: machine}.User(role, jetstream.Inbox(machine), public) + "\n"
	}
	operator, first := entry("operator", fleet.RoleOperator)
	laptop, second := entry("laptop-7", fleet.RoleMachine)
	hooktest.Write(t, filepath.Join(dir, "machines.conf"), "users: [\n"+first+second+"]\n", 0o600)
	ports := make([]int, 6)
	for i := range ports {
		ports[i] = fleettest.FreePort(t)
	}
	servers, addresses := make([]*fleettest.Process, 3), make([]string, 3)
	settings := fenced(t, "tls://n1.example.org")
	for i := range servers {
		config := replaced(t, fenced(t, "server_name: n1"), "server_name: n1", fmt.Sprintf("server_name: n%d", i+1),
			"0.0.0.0:4222", fmt.Sprintf("127.0.0.1:%d", ports[i]), "0.0.0.0:6222", fmt.Sprintf("127.0.0.1:%d", ports[3+i]),
			"/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, fmt.Sprint("store", i)),
			"n1.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[3]),
			"n2.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[4]),
			"n3.example.org:6222", fmt.Sprintf("127.0.0.1:%d", ports[5]))
		file := filepath.Join(dir, fmt.Sprintf("n%d.conf", i+1))
		hooktest.Write(t, file, config, 0o600)
		addresses[i] = fmt.Sprintf("tls://127.0.0.1:%d", ports[i])
		servers[i] = fleettest.NewProcess(t, file, addresses[i])
		settings = replaced(t, settings, fmt.Sprintf("tls://n%d.example.org:4222", i+1), addresses[i])
	}
	fleettest.Processes(t, servers...)
	b, err := jetstream.Connect(jetstream.Options{
		Servers: addresses, Creds: operator, CA: filepath.Join(dir, "ca.crt"), Machine: "operator",
	})
	hooktest.Must(t, err)
	defer b.Close()
	layout := fleet.Names{Tenant: "default", Machine: "operator"}.Layout()
	hooktest.Until(t, "the operator has made the streams", func() bool { return b.Prepare(t.Context(), layout) == nil })
	settings = replaced(t, settings, "fleet.nk", laptop, "/etc/ssl/hookd-ca.crt", filepath.Join(dir, "ca.crt")) + "  name: laptop-7\n"
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), settings, 0o600)
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
