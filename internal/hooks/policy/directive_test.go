package policy

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// fleetOf has the bundles that the machines of a test fetch, by name.
type fleetOf map[string][]byte

func (f fleetOf) fetch(_ context.Context, name string) ([]byte, error) {
	if text, there := f[name]; there {
		return text, nil
	}
	return nil, errors.New("the servers are away")
}

// put builds a bundle, stores it, and returns which one it is.
func (f fleetOf) put(t testing.TB, s signer, sequence uint64) Revision {
	t.Helper()
	text := s.bundle(t, sequence, nil)
	b, err := Read(text, s.key.Public().(ed25519.PublicKey))
	hooktest.Must(t, err)
	r := Revision{b.Manifest.Name, sequence, b.Head.Digest()}
	f[r.Text()] = text
	return r
}

// follower is a home that follows a fleet.
func follower(t testing.TB, s signer) Home {
	t.Helper()
	h := NewHome(t.TempDir())
	_, err := h.SetFleet(s.public, "ann")
	hooktest.Must(t, err)
	return h
}

// directed signs d, as the one after it.
func directed(t testing.TB, s signer, d Directive) (text []byte, next Directive) {
	t.Helper()
	d.Tenant = "t"
	signed, err := d.Sign(s.key, time.Now(), "ann on ops")
	hooktest.Must(t, err)
	text, err = json.Marshal(signed)
	hooktest.Must(t, err)
	next, err = signed.Verify(s.key.Public().(ed25519.PublicKey), "t")
	hooktest.Must(t, err)
	return text, next
}

// has names the bundles of a machine in force and in the shadow, after it was given a directive.
func has(t testing.TB, h Home, f fleetOf, machine string, text []byte) string {
	t.Helper()
	if _, err := h.Take("t", text); err != nil {
		t.Fatal(err)
	}
	r, err := h.Follow(t.Context(), Member{"t", machine, f.fetch, anything})
	hooktest.Must(t, err)
	if r, err := h.Follow(t.Context(), Member{"t", machine, nil, anything}); err != nil || r.Changed {
		t.Errorf("to follow the same directive again changes something: %v", err)
	}
	for _, p := range []Placed{r.Current.Placed, r.Current.Shadow} {
		if p.Dir != "" && p.Differs(p.Manifest.Files) != "" {
			t.Errorf("%s is not as it was signed", p.Differs(p.Manifest.Files))
		}
	}
	return r.Current.Head().Text() + "+" + r.Current.ShadowHead().Text()
}

func roll(t testing.TB, d Directive, r Revision, stage Stage, percent int) Directive {
	t.Helper()
	d, err := d.Roll(r, stage, percent)
	hooktest.Must(t, err)
	return d
}

// A bundle goes through the stages and back: each machine has the bundle that the newest directive
// wants there, whichever of the directives before it has seen.
func TestRolloutInStages(t *testing.T) {
	s, f := newSigner(t), fleetOf{}
	one, two := f.put(t, s, 1), f.put(t, s, 2)
	inside, outside := "", ""
	for i := 0; inside == "" || outside == ""; i++ {
		if name := fmt.Sprint("m", i); two.Picks(name, 30) {
			inside = name
		} else {
			outside = name
		}
	}
	steps := []struct {
		name            string
		do              func(Directive) Directive
		inside, outside string
	}{
		{"enforce", func(d Directive) Directive { return roll(t, d, one, StageEnforce, 0) }, "acme@1+", "acme@1+"},
		{"shadow", func(d Directive) Directive { return roll(t, d, two, StageShadow, 0) }, "acme@1+acme@2", "acme@1+acme@2"},
		{"canary", func(d Directive) Directive { return roll(t, d, two, StageCanary, 30) }, "acme@2+", "acme@1+"},
		{"revert the canary", func(d Directive) Directive { d, _ = d.Revert(); return d }, "acme@1+", "acme@1+"},
		{"enforce the second", func(d Directive) Directive { return roll(t, d, two, StageEnforce, 0) }, "acme@2+", "acme@2+"},
		{"revert", func(d Directive) Directive { d, _ = d.Revert(); return d }, "acme@1+", "acme@1+"},
	}
	var d Directive
	in, out := follower(t, s), follower(t, s)
	for _, step := range steps {
		var text []byte
		text, d = directed(t, s, step.do(d))
		if got := has(t, in, f, inside, text); got != step.inside {
			t.Errorf("%s: a machine of the canary has %s, want %s", step.name, got, step.inside)
		}
		if got := has(t, out, f, outside, text); got != step.outside {
			t.Errorf("%s: another machine has %s, want %s", step.name, got, step.outside)
		}
		if got := has(t, follower(t, s), f, outside, text); got != step.outside {
			t.Errorf("%s: a machine that was away before has %s, want %s", step.name, got, step.outside)
		}
	}
	if _, err := d.Revert(); err == nil {
		t.Error("there is something before the first bundle")
	}
}

// A greater part of the machines has the machines of a smaller one, and about as many as it
// says.
func TestCanaryGrows(t *testing.T) {
	r := Revision{Name: "acme", Sequence: 1, Digest: strings.Repeat("a", 64)}
	count := map[int]int{}
	for i := range 5000 {
		name, before := fmt.Sprint("laptop-", i), false
		for _, percent := range []int{0, 1, 10, 50, 99, 100} {
			picked := r.Picks(name, percent)
			if before && !picked {
				t.Fatalf("%s is in a smaller part and not in %d%%", name, percent)
			}
			if before = picked; picked {
				count[percent]++
			}
		}
	}
	if count[0] != 0 || count[100] != 5000 || count[10] < 400 || count[10] > 600 || count[50] < 2300 || count[50] > 2700 {
		t.Errorf("of 5000 machines there are %v", count)
	}
}

// A directive that does not count leaves everything as it is, and is told: another key, another tenant,
// a changed byte, an older directive, another one with the same sequence, no JSON.
func TestDirectivesThatDoNotCount(t *testing.T) {
	s, thief, f := newSigner(t), newSigner(t), fleetOf{}
	h, one := follower(t, s), f.put(t, s, 1)
	old, d := directed(t, s, Directive{})
	now, d := directed(t, s, roll(t, d, one, StageEnforce, 0))
	if got := has(t, h, f, "m", now); got != "acme@1+" {
		t.Fatalf("the machine has %s", got)
	}
	foreign, _ := directed(t, thief, roll(t, d, f.put(t, thief, 9), StageEnforce, 0))
	var signed SignedDirective
	hooktest.Must(t, json.Unmarshal(now, &signed))
	twin := signed
	twin.Text = []byte(strings.Replace(string(signed.Text), "ann", "bob", 1))
	changed, err := json.Marshal(twin)
	hooktest.Must(t, err)
	same := d
	same.By = "bob"
	text, err := json.Marshal(same)
	hooktest.Must(t, err)
	again, err := json.Marshal(SignedDirective{text, ed25519.Sign(s.key, append([]byte(directiveMagic), text...))})
	hooktest.Must(t, err)
	for _, bad := range []struct {
		why    string
		text   []byte
		tenant string
	}{
		{"its signature is not of the key", foreign, "t"},
		{"its signature is not of the key", changed, "t"},
		{"it is older than what there was", old, "t"},
		{"it is another one with the sequence", again, "t"},
		{`it is for tenant "t"`, now, "other"},
		{"invalid character", []byte("no JSON"), "t"},
	} {
		_, err := h.Take(bad.tenant, bad.text)
		if bad.tenant != "t" {
			// the same bytes as those in force are nothing new for this home; another home says it
			_, err = follower(t, s).Take(bad.tenant, bad.text)
		}
		if err == nil || !strings.Contains(err.Error(), bad.why) {
			t.Errorf("%s: %v", bad.why, err)
		}
		c, _, err := h.Current()
		hooktest.Must(t, err)
		if bad.tenant == "t" && !strings.Contains(c.State.Refused, bad.why) {
			t.Errorf("the home says %q, want %q", c.State.Refused, bad.why)
		}
		if c.Head().Text() != "acme@1" || c.Directive.Sequence != d.Sequence {
			t.Errorf("after it %s is in force, directive %d", c.Head().Text(), c.Directive.Sequence)
		}
	}
	if _, err := h.Take("t"); !errors.Is(err, errLost) {
		t.Errorf("servers without a directive: %v", err)
	}
	newest, next := directed(t, s, d)
	if changed, err := h.Take("t", []byte("no JSON"), foreign, newest, now); err == nil || !changed {
		t.Errorf("a newest one that cannot be read: changed %t, %v", changed, err)
	}
	c, _, err := h.Current()
	hooktest.Must(t, err)
	if c.Directive.Sequence != next.Sequence || !strings.Contains(c.State.Refused, "cannot be read") {
		t.Errorf("the newest valid one is %d, the home has %d and says %q", next.Sequence, c.Directive.Sequence, c.State.Refused)
	}
	if changed, _ := h.Take("t", []byte("no JSON"), foreign, newest, now); changed {
		t.Error("the same ones are something new")
	}
	if has(t, h, f, "m", newest); inForce(t, h) != 1 {
		t.Error("after them a good one does not count")
	}
	if c, _, _ := h.Current(); c.State.Refused != "" {
		t.Errorf("it still says %q", c.State.Refused)
	}
	hooktest.Must(t, h.Unset())
	if _, err := h.Take("t", newest); !errors.Is(err, ErrUnset) {
		t.Errorf("without a policy: %v", err)
	}
	_, err = h.SetFleet(s.public, "ann")
	hooktest.Must(t, err)
	if _, err := h.Take("t", now); err == nil || !strings.Contains(err.Error(), "older") {
		t.Errorf("an old one after unset and set: %v", err)
	}
}

// A bundle may be impossible to fetch, changed on the way or no bundle of the key. Then the
// last good one stays in force. Hooks that the same directive switches off are off all the
// same. The bundle comes when it can be had.
func TestLastGoodStaysWhereABundleCannotBeHad(t *testing.T) {
	s, f := newSigner(t), fleetOf{}
	h, one, two := follower(t, s), f.put(t, s, 1), f.put(t, s, 2)
	text, d := directed(t, s, roll(t, Directive{}, one, StageEnforce, 0))
	has(t, h, f, "m", text)
	good := f[two.Text()]
	text, _ = directed(t, s, roll(t, d, two, StageEnforce, 0).SwitchOff(Off{Hook: "policy:guard", Reason: "it denies all", By: "ann"}))
	_, err := h.Take("t", text)
	hooktest.Must(t, err)
	for name, bytes := range map[string][]byte{
		"the servers are away":                   nil,
		"it is no bundle of hookd":               []byte("hookd"),
		"it is not the bundle":                   f[one.Text()],
		"its signature is not of the key":        newSigner(t).bundle(t, 2, nil),
		"is not what was signed":                 append(append([]byte{}, good[:len(good)-1]...), 'x'),
		"there are 1 bytes behind its last file": append(append([]byte{}, good...), 'x'),
	} {
		if f[two.Text()] = bytes; bytes == nil {
			delete(f, two.Text())
		}
		_, err := h.Follow(t.Context(), Member{"t", "m", f.fetch, anything})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "acme@1 stays in force") {
			t.Errorf("%s: %v", name, err)
		}
		c, _, err := h.Current()
		hooktest.Must(t, err)
		if inForce(t, h) != 1 || !strings.Contains(c.State.Error, name) || c.Directive.IsOff("policy:guard", 1) == nil {
			t.Errorf("%s: %d is in force, %q", name, inForce(t, h), c.State.Error)
		}
	}
	f[two.Text()] = good
	if _, err := h.Follow(t.Context(), Member{"t", "m", f.fetch, anything}); err != nil || inForce(t, h) != 2 {
		t.Errorf("%d is in force, %v", inForce(t, h), err)
	}
	refuse := func(string, Bundle) error { return errors.New("a hook cannot be read") }
	three := f.put(t, s, 3)
	text, _ = directed(t, s, roll(t, d, three, StageShadow, 0))
	_, err = h.Take("t", text)
	hooktest.Must(t, err)
	if _, err := h.Follow(t.Context(), Member{"t", "m", f.fetch, refuse}); err == nil || inForce(t, h) != 2 {
		t.Errorf("a bundle with a broken hook: %v", err)
	}
}

// The switch holds for one hook, or for it in one bundle; it outlasts a source of another
// kind with the same key, and another key ends it.
func TestSwitchedOffHooksStayOff(t *testing.T) {
	s, f := newSigner(t), fleetOf{}
	h, one := follower(t, s), f.put(t, s, 1)
	d := roll(t, Directive{}, one, StageEnforce, 0)
	d = d.SwitchOff(Off{Hook: "policy:guard", Revision: 1, Reason: "r", By: "ann"}).SwitchOff(Off{Hook: "notify", Reason: "r", By: "ann"})
	text, d := directed(t, s, d)
	has(t, h, f, "m", text)
	off := func(hook string, sequence uint64) bool {
		c, _, err := h.Current()
		hooktest.Must(t, err)
		return c.Directive.IsOff(hook, sequence) != nil
	}
	if !off("policy:guard", 1) || off("policy:guard", 2) || !off("notify", 0) || off("other", 0) {
		t.Error("other hooks are off than was said")
	}
	file := filepath.Join(t.TempDir(), "acme.bundle")
	hooktest.Must(t, os.WriteFile(file, s.bundle(t, 2, nil), 0o600))
	_, err := h.Set(t.Context(), file, s.public, "ann", "", anything)
	hooktest.Must(t, err)
	if !off("notify", 0) || inForce(t, h) != 2 {
		t.Error("another source with the same key ends the switch")
	}
	d, was := d.SwitchOn("notify")
	if text, _ = directed(t, s, d); !was {
		t.Error("the hook was not off")
	}
	if _, err := h.Take("t", text); err != nil || off("notify", 0) || inForce(t, h) != 2 {
		t.Errorf("the hook cannot be switched on: %v", err)
	}
	_, err = h.SetFleet(newSigner(t).public, "ann")
	hooktest.Must(t, err)
	if c, set, err := h.Current(); err != nil || !set || !c.State.Directive.Empty() || c.Head() != nil {
		t.Errorf("under another key there is %+v, %v", c.Directive, err)
	}
}

// A directive with impossible values is never signed, and a signed one is not read.
func TestDirectivesThatCannotBe(t *testing.T) {
	s := newSigner(t)
	good := Revision{"acme", 1, strings.Repeat("a", 64)}
	for name, d := range map[string]Directive{
		"a bundle without a digest":  {Enforced: &Revision{"acme", 1, ""}},
		"a name that leaves a place": {Enforced: &Revision{"../acme", 1, good.Digest}},
		"a stage of nothing":         {Stage: StageShadow},
		"a canary of 0%":             {Next: &good, Stage: StageCanary},
		"a canary of 100%":           {Next: &good, Stage: StageCanary, Percent: 100},
		"no reason":                  {Off: []Off{{Hook: "x"}}},
		"too many hooks":             {Off: make([]Off, maxOff+1)},
	} {
		if _, err := d.Sign(s.key, time.Now(), "ann"); err == nil {
			t.Errorf("%s was signed", name)
		}
		d.Sequence = 1
		text, err := json.Marshal(d)
		hooktest.Must(t, err)
		signed := SignedDirective{text, ed25519.Sign(s.key, append([]byte(directiveMagic), text...))}
		if _, err := signed.Verify(s.key.Public().(ed25519.PublicKey), ""); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func FuzzDirective(f *testing.F) {
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"tenant":"t","sequence":1,"time":"2026-11-22T10:00:00Z","by":"ann"}`))
	f.Add([]byte(`{"tenant":"t","sequence":1,"time":"2026-11-22T10:00:00Z","by":"ann","off":[{"hook":"x","reason":"r"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		signed := SignedDirective{text, ed25519.Sign(key, append([]byte(directiveMagic), text...))}
		d, err := signed.Verify(pub, "t")
		if err != nil {
			return
		}
		force, shadow, stage := d.For("m")
		if stage == "" || shadow != nil && force.is(shadow) && d.Enforced == nil {
			t.Errorf("%s has machines without a stage", text)
		}
		if again, err := d.Sign(key, time.Now(), "ann"); err != nil {
			t.Errorf("what was read cannot be signed again: %v", err)
		} else if next, err := again.Verify(pub, "t"); err != nil || next.Sequence <= d.Sequence {
			t.Errorf("the next one is %d after %d, %v", next.Sequence, d.Sequence, err)
		}
	})
}
