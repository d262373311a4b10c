package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/https"
)

// Fleet says which other machines this one works with. The zero Fleet is none.
type Fleet struct {
	Servers   []string          // nats:// or tls:// addresses of one cluster
	Creds     string            // file of what the machine proves its name with; "" = nothing
	CA        string            // file of the certificates to trust; "" = those of the system
	Name      string            // of this machine; "" = its host name, see Machine
	Tenant    string            // machines of another one are in another fleet
	Embedded  bool              // hookd starts the server itself, at the first of Servers
	Approvers map[string]string // who may answer asks of this machine from another: name to public key
}

// EmbeddedServer is where the server of fleet.embedded listens where fleet.servers is empty.
const EmbeddedServer = "nats://127.0.0.1:4222"

// Enabled reports whether the machine is in a fleet.
func (f Fleet) Enabled() bool { return f.Embedded || len(f.Servers) > 0 }

// Addresses returns where the servers are; nil = the machine is in no fleet.
func (f Fleet) Addresses() []string {
	if f.Embedded && len(f.Servers) == 0 {
		return []string{EmbeddedServer}
	}
	return f.Servers
}

// Machine returns the name of this machine in the fleet: fleet.name, else the first part
// of its host name with - for each character that a name cannot have.
func (f Fleet) Machine() (string, error) {
	if f.Name != "" {
		return f.Name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the name of this machine: %w; set fleet.name", err)
	}
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := strings.Map(func(r rune) rune {
		if plainName(string(r)) {
			return r
		}
		return '-'
	}, host)
	if name = strings.Trim(name, "-"); !plainName(name) {
		return "", fmt.Errorf("the host name %q makes no name for this machine: set fleet.name", host)
	}
	return name, nil
}

// FleetDir is the folder of the embedded server, and of the key that it makes.
func (c Config) FleetDir() string { return filepath.Join(c.State, "hookd", "fleet") }

// plainName reports whether a name is one of a forward or a machine, which may be a part of a subject: it has no dot,
// blank or wildcard.
func plainName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

func fleetName(field func(*Config) *string) reader {
	return parsed(Form{Type: FormText}, field, func(_ *Config, v string) (string, error) {
		if !plainName(v) {
			return "", fmt.Errorf("%q, want up to 64 of a-z, 0-9, - and _", v)
		}
		return v, nil
	})
}

func fleetServers(c *Config, n *yaml.Node) error {
	list, err := texts(n, "[tls://nats.example.org:4222]", checkServer)
	if err == nil {
		c.Fleet.Servers = list
	}
	return err
}

// texts reads a list, also one in a variable: with commas. Each is checked.
func texts(n *yaml.Node, example string, check func(string) error) (list []string, err error) {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		list = strings.Split(n.Value, ",")
	} else if n.Kind != yaml.SequenceNode || n.Decode(&list) != nil {
		return nil, fmt.Errorf("want a list such as %s", example)
	}
	for i, text := range list {
		list[i] = strings.TrimSpace(text)
		if err := check(list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkServer refuses an address without TLS that is not of this machine: events travel
// whole, with the secrets that are in them.
func checkServer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Scheme != "nats" && u.Scheme != "tls" {
		return fmt.Errorf("%q, want nats://HOST:PORT or tls://HOST:PORT", text)
	}
	if u.User != nil {
		return fmt.Errorf("an address of %s has a password or a token: put a key into a file and name it as fleet.creds", u.Host)
	}
	if u.Scheme == "nats" && !https.Local(u.Hostname()) {
		return fmt.Errorf("%q has no TLS: write tls://%s", text, u.Host)
	}
	return nil
}

// keyPrefix begins the text of a public key, as `hookd bundle keygen` prints it.
const keyPrefix = "ed25519:"

func fleetApprovers(c *Config, n *yaml.Node) error {
	list := map[string]string{}
	if n.Kind != yaml.MappingNode || n.Decode(&list) != nil {
		return fmt.Errorf("want names with their public keys, such as {ann: ed25519:…}")
	}
	for name, key := range list {
		if !plainName(name) {
			return fmt.Errorf("approver %q: want up to 64 of a-z, 0-9, - and _", name)
		}
		text, ok := strings.CutPrefix(key, keyPrefix)
		raw, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
			return fmt.Errorf("approver %s: %q is no public key: want the line in FILE.pub of `hookd bundle keygen FILE`", name, key)
		}
	}
	c.Fleet.Approvers = list
	return nil
}
