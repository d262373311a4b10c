// Package hookd has no code of its own: it holds the rules of the house.
package hookd

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hookd/hookd"

// room is one folder of the house: what it may import. An internal entry that
// ends in /* stands for every room below it.
type room struct {
	internal   []string
	thirdParty []string
}

// The table of the house. A package that is not in it fails, and so does an
// import that its row does not allow. Tests may import what they need.
var rooms = map[string]room{
	"cmd/hookd": {
		[]string{"client", "internal/api", "internal/bridge", "internal/config", "internal/connect", "internal/daemon", "internal/dialect", "internal/discovery", "internal/doctor", "internal/events", "internal/trust", "internal/loopback", "packaging"}, // trust: install refuses a program that others could replace
		[]string{"github.com/spf13/cobra", "github.com/spf13/pflag", "go.uber.org/zap"}, // pflag: the types of cobra's own flags
	},
	// daemon wires rooms together: it may see all of them but those of the other end.
	"internal/daemon": {
		[]string{"internal/api", "internal/builtin", "internal/builtin/*", "internal/config", "internal/dialect", "internal/dialect/*", "internal/discovery", "internal/dispatch", "internal/events", "internal/hook", "internal/judge", "internal/loopback", "internal/metrics", "internal/proc", "internal/server", "internal/signals", "internal/source/*", "internal/spell", "internal/store", "internal/stream", "internal/trace", "internal/trust", "internal/verdict", "internal/worker"},
		[]string{"go.uber.org/zap"},
	},
	"internal/config":  {[]string{"internal/spell"}, []string{"gopkg.in/yaml.v3"}},
	"internal/signals": {nil, []string{"github.com/coreos/go-systemd"}},
	"internal/api":     {[]string{"internal/events", "internal/verdict"}, nil},
	// how sockets and pipes are read and written: one place that knows Go's scheduler
	"internal/nowait": {nil, nil},
	"internal/server": {[]string{"internal/api", "internal/events", "internal/nowait", "internal/verdict"}, []string{"go.uber.org/zap", "golang.org/x/sys"}},
	"client":          {[]string{"internal/api", "internal/events", "internal/verdict"}, nil},
	"internal/events": {nil, nil},
	// a hook carries the seal of its files
	"internal/hook": {[]string{"internal/events", "internal/trust"}, []string{"github.com/gobwas/glob"}},
	// one word list, one distance: settings, hook files and commands all say "did you mean"
	"internal/spell":     {nil, nil},
	"internal/trust":     {nil, []string{"golang.org/x/sys"}},
	"internal/discovery": {[]string{"internal/hook", "internal/source/*", "internal/trust"}, []string{"github.com/fsnotify/fsnotify", "go.uber.org/zap"}},
	// edits agents' own settings: parsers that know where in a file things stand, and a diff to show
	"internal/connect": {[]string{"internal/bridge/shims", "internal/dialect", "internal/events"}, []string{"github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2", "gopkg.in/yaml.v3", "github.com/rogpeppe/go-internal"}},
	// looks at everything from outside, as a person would: settings, files, the daemon through client, hooks as daemon reads them, an agent's settings
	"internal/doctor":  {[]string{"client", "internal/api", "internal/config", "internal/connect", "internal/daemon", "internal/dialect", "internal/events", "internal/hook", "internal/proc", "internal/trust"}, []string{"golang.org/x/sys"}},
	"internal/dialect": {[]string{"internal/dialect/*", "internal/events", "internal/verdict"}, nil},
	// neutral is what dialects have in common; no dialect knows another
	"internal/dialect/neutral": {[]string{"internal/events", "internal/verdict"}, nil},
	"internal/dialect/*":       {[]string{"internal/dialect/neutral", "internal/events", "internal/verdict"}, nil},
	// the bridge's program: no third party, so that it is small and starts fast
	"cmd/hookd-bridge": {[]string{"client", "internal/api", "internal/bridge", "internal/dialect", "internal/events", "internal/verdict"}, nil},
	"internal/bridge":  {[]string{"client", "internal/api", "internal/dialect", "internal/dialect/neutral", "internal/events", "internal/verdict"}, nil},
	// HTTP for agents that call hooks so: each request is a call of the bridge
	"internal/loopback": {[]string{"internal/bridge"}, []string{"go.uber.org/zap"}},
	// plugins for agents without hook commands: text for connect, so that the small binary does not carry it
	"internal/bridge/shims":       {nil, nil},
	"internal/source/hookdir":     {[]string{"internal/events", "internal/hook", "internal/spell"}, []string{"gopkg.in/yaml.v3"}},
	"internal/source/dockeragent": {[]string{"internal/events", "internal/hook", "internal/source/yamlnode", "internal/spell"}, []string{"gopkg.in/yaml.v3"}},
	"internal/source/familiar":    {[]string{"internal/events", "internal/hook", "internal/source/yamlnode", "internal/spell"}, []string{"gopkg.in/yaml.v3", "mvdan.cc/sh"}},
	// how files of many hooks are read node by node: one way to follow aliases and merges, bounded in one place
	"internal/source/yamlnode": {nil, []string{"gopkg.in/yaml.v3"}},
	"internal/dispatch":        {[]string{"internal/dialect", "internal/dialect/*", "internal/events", "internal/hook", "internal/verdict"}, []string{"go.uber.org/zap"}},
	"internal/judge":           {[]string{"internal/events"}, []string{"github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go"}},
	"internal/proc":            {[]string{"internal/nowait"}, []string{"golang.org/x/sys"}},
	// persistent hooks: it starts processes through proc and finds event ids with events' scanner
	"internal/worker":  {[]string{"internal/events", "internal/proc"}, []string{"go.uber.org/zap"}},
	"internal/verdict": {[]string{"internal/events"}, nil},
	"internal/builtin": {[]string{"internal/builtin/*", "internal/events", "internal/hook", "internal/verdict"}, nil},
	// what takes more than one file has a room below it, which knows nothing of hooks
	"internal/builtin/secrets":   {nil, nil},
	"internal/builtin/shellsafe": {nil, []string{"mvdan.cc/sh/v3"}},
	"internal/builtin/shadow":    {nil, nil},
	"internal/store":             {[]string{"internal/events", "internal/verdict"}, []string{"modernc.org/libc", "modernc.org/sqlite"}},
	"internal/stream":            {[]string{"internal/events"}, nil},
	// both know no events: the daemon tells them what to count and to trace
	"internal/metrics": {nil, []string{"github.com/prometheus/client_golang"}},
	"internal/trace":   {nil, []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}},
	"packaging":        {nil, nil},
	// documents, and the tests that run what they show
	"docs": {nil, nil},
}

// noNetwork names rooms that must not dial or listen themselves: only client
// dials and only server listens, so the protocol is written down once.
var noNetwork = []string{"cmd/hookd"}

func TestLayers(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if path == "" || strings.HasPrefix(path, "bench") {
			continue
		}
		row, ok := rowFor(path)
		if !ok {
			t.Errorf("%s is not in the table of rooms: give it a row in layers_test.go, with a reason", path)
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment: say what it promises and what it does not do", path)
		}
		for _, imp := range p.Imports {
			if !allowed(row, imp) {
				t.Errorf("%s may not import %s", path, imp)
			}
			if slices.Contains(noNetwork, path) && (imp == "net" || imp == "net/http") {
				t.Errorf("%s may not import %s: package client is the only dialer", path, imp)
			}
		}
	}
}

func rowFor(path string) (room, bool) {
	if r, ok := rooms[path]; ok {
		return r, true
	}
	for name, r := range rooms {
		if parent, ok := strings.CutSuffix(name, "/*"); ok && strings.HasPrefix(path, parent+"/") {
			return r, true
		}
	}
	return room{}, false
}

func allowed(r room, imp string) bool {
	if imp == "C" {
		return false
	}
	if inner, ok := strings.CutPrefix(imp, module+"/"); ok {
		for _, a := range r.internal {
			if parent, ok := strings.CutSuffix(a, "/*"); a == inner || ok && strings.HasPrefix(inner, parent+"/") {
				return true
			}
		}
		return false
	}
	if !strings.Contains(strings.Split(imp, "/")[0], ".") {
		return true // the standard library
	}
	for _, a := range r.thirdParty {
		if imp == a || strings.HasPrefix(imp, a+"/") {
			return true
		}
	}
	return false
}

type pkg struct {
	ImportPath, Doc string
	Imports         []string
}

// packages lists the module's packages for every system it is built for.
func packages(t *testing.T) []pkg {
	t.Helper()
	var all []pkg
	for _, goos := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...")
		cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", goos, err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
			var p pkg
			if err := dec.Decode(&p); err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
	}
	return all
}
