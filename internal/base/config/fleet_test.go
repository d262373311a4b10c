package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func loadText(t *testing.T, text string) (Config, error) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "hookd.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(home, nil, nil)
}

const someKey = "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func TestFleetSettings(t *testing.T) {
	c, err := loadText(t, `fleet:
  servers: [tls://a.example.org:4222, tls://b.example.org:4222]
  creds: fleet/machine.nk
  name: build-1
  tenant: acme
  approvers: {ann: `+someKey+`}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := c.Fleet
	if !f.Enabled() || len(f.Addresses()) != 2 || f.Tenant != "acme" || f.Approvers["ann"] != someKey {
		t.Errorf("read %+v", f)
	}
	if want := filepath.Join(c.Home, "fleet", "machine.nk"); f.Creds != want {
		t.Errorf("creds is %s, want %s", f.Creds, want)
	}
	if name, err := f.Machine(); name != "build-1" || err != nil {
		t.Errorf("the machine is %q, %v", name, err)
	}
}

func TestFleetIsOffByDefault(t *testing.T) {
	c, err := loadText(t, "")
	if err != nil || c.Fleet.Enabled() || c.Fleet.Addresses() != nil || c.Fleet.Tenant != "default" {
		t.Errorf("without settings: %+v, %v", c.Fleet, err)
	}
	c, err = loadText(t, "fleet: {embedded: true}\n")
	if err != nil || !c.Fleet.Enabled() || c.Fleet.Addresses()[0] != EmbeddedServer {
		t.Errorf("embedded: %+v, %v", c.Fleet, err)
	}
	if name, err := c.Fleet.Machine(); err != nil || !plainName(name) {
		t.Errorf("the host makes the name %q, %v", name, err)
	}
}

func TestFleetSettingsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"fleet: {servers: [nats://10.0.0.5:4222]}":     "has no TLS: write tls://10.0.0.5:4222",
		"fleet: {servers: [nats://nats.example.org]}":  "has no TLS",
		"fleet: {servers: [https://nats.example.org]}": "want nats://HOST:PORT or tls://HOST:PORT",
		"fleet: {servers: [tls://a:b@nats.example]}":   "has a password or a token",
		"fleet: {servers: {a: b}}":                     "want a list",
		"fleet: {name: Build.1}":                       "want up to 64 of a-z",
		"fleet: {tenant: 'a*'}":                        "want up to 64 of a-z",
		"fleet: {approvers: {ann: ed25519:AAAA}}":      "is no public key",
		"fleet: {approvers: [ann]}":                    "want names with their public keys",
		"fleet: {server: [tls://a]}":                   "did you mean `fleet.servers`",
	} {
		_, err := loadText(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestFleetNeedsRestart(t *testing.T) {
	now, next := Default("/home"), Default("/home")
	next.Fleet.Approvers = map[string]string{"ann": someKey}
	if names := now.NeedsRestart(next); len(names) > 0 {
		t.Errorf("new approvers need a restart: %v", names)
	}
	next.Fleet.Servers = []string{"tls://a"}
	waits := now.NeedsRestart(next)
	if value, is := waits["fleet.servers"]; len(waits) != 1 || !is || value != "" {
		t.Errorf("new servers: %v", waits)
	}
}
