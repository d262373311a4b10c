package catalog

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/policy"
)

// A fleet has a bundle in force and the next one in the shadow, where its guards never count
// and its observers do not run. A hook that it switches off is off in every layer. Where the hook
// is a guard it is an error that names the person and the reason.
func TestWhatADirectiveMakesOfHooks(t *testing.T) {
	c := config.Default(t.TempDir())
	hooktest.Hook(t, c.Home, "own", "events: [pre_tool_use]", "exit 0")
	hooktest.Hook(t, c.Home, "watch", "events: ['agent:*']\nblocking: false", "exit 0")
	file := filepath.Join(t.TempDir(), "key")
	public, err := policy.Generate(file)
	hooktest.Must(t, err)
	key, err := policy.PrivateKey(file)
	hooktest.Must(t, err)
	bundles := map[string][]byte{}
	revision := func(sequence uint64) policy.Revision {
		content := pack.Content{
			{Path: "guard/HOOK.yaml", Data: []byte("name: guard\nevents: [pre_tool_use]\ncommand: ./run\n")},
			{Path: "guard/run", Exec: true, Data: []byte("#!/bin/sh\nexit 2\n")},
			{Path: "log/HOOK.yaml", Data: []byte("name: log\nevents: ['agent:*']\nblocking: false\ncommand: ./run\n")},
			{Path: "log/run", Exec: true, Data: []byte("#!/bin/sh\n")},
		}
		text, err := policy.Build(content, "acme", sequence, nil, key)
		hooktest.Must(t, err)
		b, err := policy.Peek(text)
		hooktest.Must(t, err)
		r := policy.Revision{Name: "acme", Sequence: sequence, Digest: b.Head.Digest()}
		bundles[r.Text()] = text
		return r
	}
	home := policy.NewHome(c.PolicyDir())
	_, err = home.SetFleet(public, "ann")
	hooktest.Must(t, err)
	d := policy.Directive{Tenant: "t"}
	take := func() map[string]hook.Entry {
		t.Helper()
		signed, err := d.Sign(key, time.Now(), "ann on ops")
		hooktest.Must(t, err)
		text, err := json.Marshal(signed)
		hooktest.Must(t, err)
		_, err = home.Take("t", text)
		hooktest.Must(t, err)
		_, err = home.Follow(t.Context(), policy.Member{
			Tenant: "t", Machine: "m", Check: CheckPolicy(c, nil),
			Fetch: func(_ context.Context, name string) ([]byte, error) { return bundles[name], nil },
		})
		hooktest.Must(t, err)
		now, _, err := home.Current()
		hooktest.Must(t, err)
		d = now.Directive
		list := map[string]hook.Entry{}
		for _, e := range Scan(c).Entries {
			list[e.Name] = e
		}
		return list
	}
	d, err = d.Roll(revision(1), policy.StageEnforce, 0)
	hooktest.Must(t, err)
	d, err = d.Roll(revision(2), policy.StageShadow, 0)
	hooktest.Must(t, err)
	list := take()
	for name, want := range map[string]hook.State{
		"policy:guard": hook.Active, "policy:log": hook.Active, "own": hook.Active, "watch": hook.Active,
		"policy-shadow:guard": hook.Active, "policy-shadow:log": hook.Disabled,
	} {
		if list[name].State != want {
			t.Errorf("%s is %q, want %s: %v", name, list[name].State, want, list[name].Problems)
		}
	}
	if h := list["policy-shadow:guard"].Hook; h == nil || !h.Shadow || h.IsGuard() || h.Layer != hook.LayerPolicy {
		t.Errorf("the guard in the shadow is %+v", h)
	}
	if h := list["policy:guard"].Hook; h == nil || h.Shadow || !h.IsGuard() {
		t.Errorf("the guard in force is %+v", h)
	}
	off := func(hook string, revision uint64) {
		d = d.SwitchOff(policy.Off{Hook: hook, Revision: revision, Reason: "it denies all", By: "ann on ops", Time: time.Now()})
	}
	off("policy:guard", 1)
	off("policy-shadow:guard", 1) // that is 2
	off("own", 0)
	off("watch", 0)
	list = take()
	for name, loud := range map[string]bool{"policy:guard": true, "own": true, "watch": false} {
		e := list[name]
		if e.State != hook.Disabled || !strings.HasPrefix(e.OffBy, "ann on ops at ") || len(e.Problems) == 0 {
			t.Errorf("%s is %s by %q", name, e.State, e.OffBy)
			continue
		}
		p := e.Problems[0]
		if p.Warning == loud || !strings.Contains(p.Message, "it denies all") || !strings.Contains(p.Message, "signed by key ") ||
			p.Hint != "hookd fleet enable "+name+" --key FILE" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if s := list["policy-shadow:guard"].State; s != hook.Active {
		t.Errorf("a hook of another bundle is %s", s)
	}
	d, err = d.Roll(revision(2), policy.StageEnforce, 0)
	hooktest.Must(t, err)
	if list = take(); list["policy:guard"].State != hook.Active || list["own"].State != hook.Disabled {
		t.Errorf("in the next bundle the guard is %s, and own %s", list["policy:guard"].State, list["own"].State)
	}
}
