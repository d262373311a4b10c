package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/machinekey"
)

// The nodes of the network: three servers, then five machines. Two machines are workers.
const (
	firstServer  = 1
	firstMachine = 4
	machines     = 5
)

// faulty is a fleet in network namespaces, with the accounts and keys of the documents.
type faulty struct {
	t       *testing.T
	net     *network
	servers []*fleettest.Process
	members []*member
	streams jetstream.JetStream // with the key of an operator
	ops     *member             // home of the operator; no daemon runs in it
	turn    int                 // of kills
	rolled  int                 // newest sequence of the bundle that was rolled out
}

// TestFleetThroughFaults has agents on five machines send events while servers and machines are
// killed, a part of the network is cut off, packets are late and lost, and streams are full.
// Each accepted event runs, in the order of its session. Through each fault a bundle is
// rolled out and a hook is switched off, and each machine follows. The servers log no violation.
//
// With -long the faults last minutes, the clocks of two machines are ten minutes off,
// and the folder FLEET_OLD, if it is set, has the programs hookd and hookd-fleet of an older version
// for one machine. It needs root and a kernel with TUN.
func TestFleetThroughFaults(t *testing.T) {
	hooktest.Long(t)
	hooktest.NeedRoot(t)
	f := newFaulty(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	sent := sendEvents(ctx, f.members, false)
	for _, fault := range f.faults() {
		f.suffer(fault)
	}
	end()
	accepted := sent()
	began := time.Now()
	drained(t, f.members, f.streams)
	t.Logf("%d events accepted, all taken %s after the last; %d packets passed, %d lost, %d cut off", len(accepted),
		time.Since(began).Round(time.Second), f.net.passed.Load(), f.net.lost.Load(), f.net.cut.Load())
	countNotes(t, f.members, accepted, f.turn+machines)
	for _, s := range f.servers {
		for line := range strings.Lines(s.Log()) {
			older := os.Getenv("FLEET_OLD") != "" && strings.Contains(line, "hookd m4") // it asks whether it is a worker
			if strings.Contains(line, "Violation") && !older {
				t.Errorf("a server says: %s", line)
			}
		}
	}
}

// fault is something that goes wrong for a while.
type fault struct {
	name  string
	lasts int    // seconds, with -long
	begin func() // nil = nothing
	each  func() // each second; nil = nothing
	end   func() // nil = nothing
}

func (f *faulty) faults() []fault {
	cutOff := []int{firstServer + 2, firstMachine + 1, firstMachine + 3}
	return []fault{
		{name: "a server is killed each second", lasts: 120, each: func() {
			f.turn++
			s := f.servers[f.turn%len(f.servers)]
			s.Kill()
			s.Run()
		}},
		{name: "a machine is killed each second", lasts: 60, each: func() {
			f.turn++
			m := f.members[f.turn%len(f.members)]
			m.kill()
			m.start()
		}},
		{name: "a server and two machines are cut off", lasts: 60,
			begin: func() { f.net.part(cutOff...) }, end: func() { f.net.part() }},
		{name: "200 ms and 5 % of all packets lost", lasts: 60,
			begin: func() { f.net.far(100*time.Millisecond, 0.05) }, end: func() { f.net.far(0, 0) }},
		{name: "streams of events are full", lasts: 30, begin: func() { f.limit(1 << 10) }, end: func() { f.limit(1 << 30) }},
	}
}

// suffer has the fleet go through a fault, and rolls out a bundle and switches a hook in the middle.
func (f *faulty) suffer(of fault) {
	f.t.Helper()
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Duration(amount(of.lasts, 4))*time.Second)
	defer cancel()
	if of.begin != nil {
		of.begin()
	}
	began := time.Now()
	var tries int
	var followed []time.Time
	go func() {
		defer close(done)
		tries = f.direct()
		followed = f.followed()
	}()
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if of.each != nil {
				of.each()
			}
		}
	}
	if of.end != nil {
		of.end()
	}
	ended := time.Now()
	<-done
	during := 0
	for _, when := range followed {
		if when.Before(ended) {
			during++
		}
	}
	f.t.Logf("%s for %s: 2 commands of an operator in %d tries; %d of %d machines followed before its end, all %s after it",
		of.name, ended.Sub(began).Round(time.Second), tries, during, machines, time.Since(ended).Round(time.Second/10))
	if f.t.Failed() {
		f.t.FailNow()
	}
}

// direct rolls out the next bundle and switches the hook spare off or on, and types each again until
// it succeeds. It returns how often it typed.
func (f *faulty) direct() (tries int) {
	f.rolled++
	bundle := filepath.Join(f.ops.home, fmt.Sprintf("acme-%d.bundle", f.rolled))
	f.ops.must("bundle", "build", filepath.Join(f.ops.home, "acme"), "--name", "acme", "--sequence", fmt.Sprint(f.rolled),
		"--sign", f.ops.file("acme.key"), "--out", bundle)
	keys := []string{"--key", f.ops.file("acme.key"), "--creds", f.ops.file("ops.nk")}
	change := []string{"fleet", "disable", "spare", "--reason", "a test"}
	if f.rolled%2 == 0 {
		change = []string{"fleet", "enable", "spare"}
	}
	for _, args := range [][]string{{"fleet", "rollout", bundle, "--enforce"}, change} {
		soon(f.t, "hookd "+strings.Join(args, " ")+" succeeds", func() bool {
			tries++
			return f.ops.command(append(args, keys...)...).Run() == nil
		})
	}
	return tries
}

// followed waits until each machine has the newest bundle, and the hook spare off or on. It returns
// when each had.
func (f *faulty) followed() []time.Time {
	when := make([]time.Time, len(f.members))
	var all sync.WaitGroup
	for i, m := range f.members {
		all.Go(func() {
			soon(f.t, m.name+" follows the operator", func() bool {
				of, err := m.client.Fleet(f.t.Context())
				if err != nil || of.Directive == nil {
					return false
				}
				hook, err := m.client.Hook(f.t.Context(), "spare")
				off := f.rolled%2 == 1
				return of.Directive.Enforced == fmt.Sprintf("acme@%d", f.rolled) && len(of.Directive.Off) == f.rolled%2 &&
					err == nil && (hook.State == "disabled") == off
			})
			when[i] = time.Now()
		})
	}
	all.Wait()
	return when
}

// limit sets the size of the streams of events.
func (f *faulty) limit(bytes int64) {
	for _, stream := range []string{"HOOKD_default_EVERY", "HOOKD_default_WORK"} {
		soon(f.t, "the size of "+stream+" is set", func() bool {
			s, err := f.streams.Stream(f.t.Context(), stream)
			if err != nil {
				return false
			}
			cfg := s.CachedInfo().Config
			cfg.MaxBytes = bytes
			_, err = f.streams.UpdateStream(f.t.Context(), cfg)
			return err == nil
		})
	}
}

// newFaulty makes the fleet, and returns when each machine sees the others.
func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{t: t, net: newNetwork(t)}
	dir := t.TempDir()
	key := func(name string, role fleet.Role) (entry string) {
		file := filepath.Join(dir, name+".nk")
		hooktest.Must(t, machinekey.New(file))
		public, err := machinekey.Public(file)
		hooktest.Must(t, err)
		caller := name
		if role == fleet.RoleOperator {
			caller = operatorName
		}
		return fleet.Names{Tenant: "default", Machine: name}.User(role, engine.Inbox(caller), public, "")
	}
	entries := []string{}
	for i := range machines {
		role := fleet.RoleMachine
		if i < 2 {
			role = fleet.RoleWorker
		}
		entries = append(entries, key(fmt.Sprintf("m%d", i), role))
	}
	hooktest.Write(t, filepath.Join(dir, "machines.conf"), "users: [\n"+strings.Join(entries, "\n")+"\n]\n", 0o600)
	hooktest.Write(t, filepath.Join(dir, "operators.conf"), "users: [\n"+key("ops", fleet.RoleOperator)+"\n]\n", 0o600)
	accounts := fleet.Names{Tenant: "default", Machine: "x"}.Accounts("operators.conf", "machines.conf")
	var routes, urls []string
	for i := range 3 {
		routes = append(routes, fmt.Sprintf("nats-route://%s:6222", address(firstServer+i)))
		urls = append(urls, fmt.Sprintf("tls://%s:4222", address(firstServer+i)))
	}
	certificate(t, dir)
	for i := range 3 {
		config, at := filepath.Join(dir, fmt.Sprintf("n%d.conf", i)), address(firstServer+i)
		hooktest.Write(t, config, fmt.Sprintf("server_name: n%d\nlisten: \"%s:4222\"\ntls: {cert_file: %q, key_file: %q}\njetstream: {store_dir: %q, max_file_store: 40GB}\n"+
			"cluster: {name: hookd, listen: \"%s:6222\", routes: [%s]}\naccounts: {\n%s}\n",
			i, at, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, fmt.Sprint("store", i)), at, strings.Join(routes, ", "), accounts), 0o600)
		s := fleettest.NewProcess(t, config, urls[i])
		s.Within = f.net.within(firstServer + i)
		f.servers = append(f.servers, s)
	}
	fleettest.Processes(t, f.servers...)
	f.operate(dir, urls)
	f.populate(dir, urls)
	return f
}

// certificate makes tls.crt, which vouches for itself and for all nodes, and tls.key.
func certificate(t *testing.T, dir string) {
	t.Helper()
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "servers"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	for i := range 3 {
		of.IPAddresses = append(of.IPAddresses, net.ParseIP(address(firstServer+i)))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	hooktest.Must(t, err)
	raw, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	hooktest.Must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	hooktest.Must(t, err)
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: raw}, "tls.key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		hooktest.Write(t, filepath.Join(dir, name), string(pem.EncodeToMemory(block)), 0o600)
	}
}

// within is the beginning of a command that runs on a node.
func (w *network) within(n int) []string { return []string{"ip", "netns", "exec", w.ends[n].space} }

// operate makes the operator's home, the streams and the queue.
func (f *faulty) operate(dir string, urls []string) {
	t := f.t
	f.ops = makeMember(t, "ops", fmt.Sprintf("servers: [%s], ca: %s", strings.Join(urls, ", "), filepath.Join(dir, "tls.crt")), inEnv)
	hooktest.Must(t, os.Rename(filepath.Join(dir, "ops.nk"), f.ops.file("ops.nk")))
	f.ops.must("bundle", "keygen", f.ops.file("acme.key"))
	hooktest.Hook(t, filepath.Join(f.ops.home, "acme"), "no-x", "events: [PreToolUse]\n", "exit 0\n")
	f.ops.must("fleet", "init", "--creds", f.ops.file("ops.nk"))
	f.ops.must("fleet", "queue", "fleet", "--creds", f.ops.file("ops.nk"))
	seed, err := nats.NkeyOptionFromSeed(f.ops.file("ops.nk"))
	hooktest.Must(t, err)
	nc, err := nats.Connect(strings.Join(urls, ","), seed, nats.MaxReconnects(-1),
		nats.RootCAs(filepath.Join(dir, "tls.crt")), nats.CustomInboxPrefix(engine.Inbox(operatorName)))
	hooktest.Must(t, err)
	t.Cleanup(nc.Close)
	f.streams, err = jetstream.New(nc)
	hooktest.Must(t, err)
}

// populate makes the machines, and waits until each sees all.
func (f *faulty) populate(dir string, urls []string) {
	t := f.t
	key, err := os.ReadFile(f.ops.file("acme.key.pub"))
	hooktest.Must(t, err)
	for i := range machines {
		name := fmt.Sprintf("m%d", i)
		m := makeMember(t, name, fmt.Sprintf("servers: [%s], creds: %s, ca: %s", strings.Join(urls, ", "),
			filepath.Join(dir, name+".nk"), filepath.Join(dir, "tls.crt")), inEnv)
		hooktest.Hook(t, m.home, "spare", "events: [agent:spare]\nblocking: false\n", "exit 0\n")
		hooktest.Write(t, m.file("acme.pub"), string(key), 0o600)
		m.within = f.net.within(firstMachine + i)
		f.members = append(f.members, m)
	}
	if *long {
		skewed := skewedPrograms(t)
		for i, skew := range map[int]string{1: "600", 2: "-600"} {
			f.members[i].bin, f.members[i].env = skewed, []string{"TEST_CLOCK_SKEW=" + skew}
		}
		f.members[4].bin = os.Getenv("FLEET_OLD")
	}
	for _, m := range f.members {
		m.must("policy", "set", "fleet", "--key", m.file("acme.pub"))
		m.join()
	}
	for _, m := range f.members {
		soon(t, m.name+" sees the others", func() bool {
			of, err := m.client.Fleet(t.Context())
			return err == nil && of.Unread == "" && len(of.Machines) == machines
		})
	}
	t.Logf("the fleet:\n%s", f.members[0].run("fleet", "status"))
}

func (m *member) file(name string) string { return filepath.Join(m.home, name) }

// skewedPrograms builds hookd with a wall clock that is ahead by TEST_CLOCK_SKEW seconds, and
// returns the folder. No namespace shifts the wall clock, so the standard library is changed.
func skewedPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	hooktest.Must(t, err)
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	hooktest.Must(t, err)
	head, tail, ok := strings.Cut(string(text), "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n")
	head, rest, there := strings.Cut(head, "import (\n")
	if !ok || !there {
		t.Skip("SKIP-TOOL go: the standard library reads the clock in another way")
	}
	changed := filepath.Join(dir, "time.go")
	hooktest.Write(t, changed, head+"import (\n\t\"syscall\"\n"+rest+
		"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += skew\n"+tail+skewSource, 0o600)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	hooktest.Must(t, err)
	hooktest.Write(t, filepath.Join(dir, "overlay.json"), string(overlay), 0o600)
	cmd := exec.Command("go", "build", "-trimpath", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir+"/", "../hookd", "../hookd-fleet")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}

const skewSource = `
// skew is by how many seconds the wall clock of the test is ahead.
var skew = func() (n int64) {
	text, _ := syscall.Getenv("TEST_CLOCK_SKEW")
	sign := int64(1)
	for i := range len(text) {
		if text[i] == '-' {
			sign = -1
		} else {
			n = n*10 + int64(text[i]-'0')
		}
	}
	return n * sign
}()
`
