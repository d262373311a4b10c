package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/machinekey"
)

// A machine that the servers do not let in, one without a key, and an operator with such a key are told so, and
// the next command: that no server answers would send them to the wrong place.
func TestKeysThatServersDoNotLetIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := map[string]string{}
	for _, name := range []string{"in", "out"} {
		file := filepath.Join(dir, name)
		hooktest.Must(t, machinekey.New(file))
		public, err := machinekey.Public(file)
		hooktest.Must(t, err)
		keys[name] = public
	}
	servers := "servers: [" + fleettest.Start(t, fleettest.LetIn(keys["in"])).URL() + "]"
	for name, want := range map[string][]string{
		"out":     {"THE SERVERS REFUSE THIS KEY", "hookd fleet user out KEY"},
		"missing": {"fleet.creds: ", "no such file", "hookd fleet keygen FILE"},
	} {
		m := makeMember(t, name, fmt.Sprintf("%s, creds: %q", servers, filepath.Join(dir, name)), inEnv)
		m.join()
		said := ""
		hooktest.Until(t, name+" says why it is not in the fleet", func() bool {
			said = m.run("fleet", "status")
			for _, text := range want {
				if !strings.Contains(said, text) {
					return false
				}
			}
			return true
		})
		if name == "missing" {
			continue
		}
		if said = m.run("doctor"); !strings.Contains(said, "the servers refuse this key") || strings.Contains(said, "no server answers") {
			t.Errorf("doctor says\n%s", said)
		}
		if said = m.run("status"); !strings.Contains(said, "THE SERVERS REFUSE THIS KEY") {
			t.Errorf("status says\n%s", said)
		}
		for creds, want := range map[string]string{
			"out": "out: the servers refuse this key", "missing": "make one with `hookd fleet keygen FILE`",
		} {
			said = m.run("fleet", "init", "--creds", filepath.Join(dir, creds))
			if !strings.Contains(said, want) || strings.Contains(said, "context canceled") {
				t.Errorf("init with the key %s says\n%s", creds, said)
			}
		}
	}
	m := makeMember(t, "alone", servers+fmt.Sprintf(", creds: %q", filepath.Join(dir, "in")), inEnv)
	if said := m.run("fleet", "init", "--creds", filepath.Join(dir, "in")); !strings.Contains(said, "has its streams") {
		t.Errorf("init with a key that is let in says\n%s", said)
	}
}

// An operator who mistypes the hook that is to be off is told that no bundle and no hook here has the name: all
// machines would be told, and none would switch anything off.
func TestAMistypedHookIsNotSwitchedOff(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t, nil)
	m := makeMember(t, "ops", "servers: ["+server.URL()+"]", inEnv)
	m.must("fleet", "init", "--creds", "")
	bundle, sign := m.makeBundle("acme")
	m.must(append([]string{"fleet", "rollout", bundle, "--enforce"}, sign...)...)
	for hook, warned := range map[string]bool{"policy:no-sudo": false, "local": false, "policy:no-sodu": true, "lokal": true} {
		said := m.run(append([]string{"fleet", "disable", hook, "--reason", "why"}, sign...)...)
		if !strings.Contains(said, "are told to switch "+hook+" off") || strings.Contains(said, "has a hook "+hook) != warned {
			t.Errorf("warned is not %t for %s:\n%s", warned, hook, said)
		}
	}
	if said := m.run(append([]string{"fleet", "disable", "no-sudo", "--reason", "why"}, sign...)...); !strings.Contains(said, "policy:no-sudo?") {
		t.Errorf("a name without policy: gets\n%s", said)
	}
}

// makeBundle makes a key and a bundle with a guard, and returns its file and how an operator signs with the key.
func (m *member) makeBundle(name string) (bundle string, sign []string) {
	m.t.Helper()
	key, folder, bundle := m.home+"/"+name+".key", m.home+"/"+name, m.home+"/"+name+".bundle"
	hooktest.Write(m.t, filepath.Join(folder, "hooks", "no-sudo", "HOOK.yaml"),
		"name: no-sudo\nevents: pre_tool_use\nrules: [{deny: sudo, why: no}]\n", 0o644)
	m.must("bundle", "keygen", key)
	m.must("bundle", "build", folder, "--sign", key, "--out", bundle)
	return bundle, []string{"--key", key, "--creds", ""}
}

// must returns the output of a command of hookd that must succeed.
func (m *member) must(args ...string) string {
	m.t.Helper()
	out, err := m.command(args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("hookd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Where a directive of another key is on the servers, machines refuse it. The operator is told, and signs the
// directive of the machines again, unchanged.
func TestADirectiveIsSignedAgain(t *testing.T) {
	t.Parallel()
	m := makeMember(t, "ops", "servers: ["+fleettest.Start(t, nil).URL()+"]", inEnv)
	m.must("fleet", "init", "--creds", "")
	bundle, sign := m.makeBundle("acme")
	other, signOther := m.makeBundle("other")
	m.must("policy", "set", "fleet", "--key", m.home+"/acme.key.pub")
	m.join()
	enforce := func(bundle string, sign []string, more ...string) []string {
		return slices.Concat([]string{"fleet", "rollout", bundle, "--enforce"}, sign, more)
	}
	has := func(trouble string) {
		t.Helper()
		hooktest.Until(t, "the machine has the bundle, and the trouble "+trouble, func() bool {
			f, err := m.client.Fleet(t.Context())
			return err == nil && f.Directive != nil && f.Directive.Enforced == "acme@1" && strings.HasPrefix(f.Error, trouble) &&
				(trouble == "") == (f.Error == "")
		})
	}
	m.must(enforce(bundle, sign)...)
	has("")
	if said := m.run(enforce("acme@1", sign)...); !strings.Contains(said, "in force on all machines already") {
		t.Errorf("what changes nothing gets\n%s", said)
	}
	said := m.must(enforce(other, signOther, "--replace")...)
	for _, want := range []string{"refuse this, as this machine does", "this key did not sign was on ops"} {
		if !strings.Contains(said, want) {
			t.Errorf("another key does not get %q:\n%s", want, said)
		}
	}
	has("the newest directive of the fleet is refused")
	if said := m.must(enforce("acme@1", sign)...); !strings.Contains(said, "acme@1 is in force on all machines") {
		t.Errorf("signed again it says\n%s", said)
	}
	has("")
}

// An approver reads which machine asks. A digest of another call is refused before anything is signed, and a machine
// that copies the id of another's ask does not keep approvers from it.
func TestApproversAnswerTheRightMachine(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t, nil)
	m := makeMember(t, "asks", "servers: ["+server.URL()+"]", inEnv)
	key := m.home + "/ann"
	m.must("bundle", "keygen", key)
	hooktest.Write(t, filepath.Join(m.home, "hookd.yaml"), fmt.Sprintf("asks: {hold: 10m}\nfleet: {name: asks, servers: [%s], approvers: {ann: %q}}\n",
		server.URL(), strings.TrimSpace(content(t, key+".pub"))), 0o644)
	hooktest.Write(t, filepath.Join(m.home, "hooks", "guard", "HOOK.yaml"),
		"name: guard\nevents: [PreToolUse]\nrules: [{ask: curl, why: may it}]\n", 0o644)
	m.join()
	hooktest.Until(t, "an approver counts as present, so that asks are held", func() bool {
		f, err := m.client.Fleet(t.Context())
		return err == nil && f.Connected && f.Unread == ""
	})
	answered := make(chan string, 1)
	go func() {
		data := []byte(`{"tool_name":"Bash","tool_input":{"command":"curl x.example"}}`)
		v, err := m.client.Decide(t.Context(), client.Event{Event: "PreToolUse", Dialect: "codex", SessionID: "s", Data: data})
		answered <- fmt.Sprint(v.Allowed, err)
	}()
	var ask client.FleetAsk
	hooktest.Until(t, "the ask is seen", func() bool {
		list, err := m.client.FleetAsks(t.Context())
		if len(list) == 1 {
			ask = list[0]
		}
		return err == nil && ask.About != ""
	})
	allow := func(id, digest string) string { return m.run("ask", "allow", id, "--key", key, "--digest", digest) }
	if said := allow(ask.Ask.ID, ""); !strings.Contains(said, "on the machine asks") {
		t.Errorf("the approver is not told the machine:\n%s", said)
	}
	if said := allow(ask.Ask.ID, "00000000"); !strings.Contains(said, "the digest 00000000 is not of this call") {
		t.Errorf("another digest gets\n%s", said)
	}
	ask.Ask.Tool = "another"
	copied, err := json.Marshal(map[string]any{"machine": "liar", "sent": time.Now(), "asks": []client.Ask{ask.Ask}})
	hooktest.Must(t, err)
	_, err = fleettest.Streams(t, []string{server.URL()}).Publish(t.Context(), "hookd.default.liar.now.asks", copied)
	hooktest.Must(t, err)
	if said := allow(ask.Ask.ID, ask.About); !strings.Contains(said, "type MACHINE/ID") {
		t.Errorf("an id that two machines have gets\n%s", said)
	}
	if said := allow("asks/"+ask.Ask.ID, ask.About); !strings.Contains(said, "asks took the answer") {
		t.Errorf("the answer to one of them gets\n%s", said)
	}
	if got := <-answered; got != "true <nil>" {
		t.Errorf("the call got %s", got)
	}
}

// The reason of a failure on a machine is shown whole, and no line is wider than the terminal.
func TestTroublesOfMachinesAreShownWhole(t *testing.T) {
	const full, twin = "policy from the fleet: write /home/somewhere/.librefang/hookd/policy/x: no space left on device", "two machines have the name b"
	f := client.FleetInfo{Connected: true, Machines: []client.FleetMachine{
		{Machine: "a", Policy: "acme@8", Rollout: &client.Rolled{Error: full}}, {Machine: "b", ClockMS: 600_000, Trouble: twin}, {Machine: "c"},
	}}
	for name, one := range map[string]struct {
		show func(*printer, client.FleetInfo)
		want []string
	}{
		"status":   {printFleet, []string{"b: " + twin, "clock 10m ahead"}},
		"rollouts": {printRollouts, []string{"a: " + full, "b: " + twin, "has taken no directive"}},
	} {
		var b strings.Builder
		one.show(&printer{w: &b, width: 80}, f)
		whole := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range one.want {
			if !strings.Contains(whole, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, &b)
			}
		}
		for line := range strings.Lines(b.String()) {
			if runewidth.StringWidth(strings.TrimSpace(line)) > 80 {
				t.Errorf("%s has a line that is too wide: %s", name, line)
			}
		}
	}
}
