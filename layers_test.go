// Package hookd has no code of its own: it holds the rules of the house.
package hookd

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of wings into ARCHITECTURE.md")

const module = "github.com/hookd/hookd"

// wing is one door of the house: a folder with everything below it. A room may import all rooms
// of its own wing, and the rooms of the wings that its row names. Wings of internal/ go without
// that prefix, others begin with a slash; every room may import base, events and wire.
type wing struct{ name, purpose, may string }

// The table of the house, from the ground up: a wing imports no wing that stands below it in
// this table. A folder without a row fails, and so does an allowance that no import uses.
// Tests may import any room that they need. `go test . -update` writes it into ARCHITECTURE.md.
var wings = []wing{
	{"/docs/gallery", "the hooks that hookd brings along, as they are in the binary", ""},
	{"/packaging", "unit files, plist, packages, licences", "/docs/gallery"},
	{"/sdk", "the libraries of hooks and senders in Python and TypeScript, as they are in the binary", ""},
	{"base", "tools that decide nothing about hooks: files and their seal, processes, text, settings; each has one job", ""},
	{"/wire", "the words on the wire: records, requests and answers, routes, error codes; every field documented", ""},
	{"events", "event names, kinds, the row type of the contract, the envelope and its checks", ""},
	{"signals", "operating-system signals, and messages to the service manager", ""},
	{"proc", "one process under a deadline: group or cgroup, stdin, bounded output, reaping", ""},
	{"contract", "one folder for each agent's dialect, and the fold of answers into a verdict", ""},
	{"facts", "the facts of a call: commands, effects, doubt", "contract"},
	{"hooks", "hooks: their files, conditions, rules, built-ins, packs and policies", "contract facts /docs/gallery"},
	{"dispatch", "an event and a snapshot to runs and a verdict: lanes, order, slots, budgets, retries", "contract hooks"},
	{"record", "what happened: store, journal, stream, audit chain, copies elsewhere; undo keeps what calls destroy",
		"facts dispatch"},
	{"discovery", "finds, reads and watches hooks; publishes an immutable snapshot, retains the last good one",
		"contract hooks record /docs/gallery"},
	{"run", "one run: to a process, a worker, a built-in, a rule or a model; and its rehearsal",
		"contract facts hooks dispatch proc signals discovery"},
	{"fleet", "events, state and directives of many machines, and the calls to hookd-fleet", "hooks record"},
	{"/client", "the public Go package; hookd's commands and the bridge send to the socket by it alone", "contract"},
	{"agents", "the agents' side: bridge, settings, plugins, transcripts", "contract discovery run /client"},
	{"door", "what listens: the socket, and loopback HTTP", "contract agents"},
	{"people", "what a person decides and sees: asks, cards, the page, doctor, the service",
		"contract facts hooks dispatch record discovery run proc agents door /client /packaging"},
	{"daemon", "wires the rooms, starts and stops them in order, answers the socket",
		"contract facts hooks dispatch record discovery run fleet agents door people proc signals"},
	{"/cmd/hookd", "commands: flags, tables, exit codes; of decisions only which commands weaken a guard (impact.go)",
		"contract facts hooks record discovery run fleet agents door people daemon proc /client /docs/gallery /sdk"},
	{"/cmd/hookd-bridge", "the small program that agents call; standard library only", "agents"},
	{"/cmd/hookd-fleet", "speaks to the NATS servers of a fleet for hookd, which starts it", "fleet"},
	{"/cmd/hookd-fleet-server", "the NATS server that hookd starts for a fleet on one site", "fleet"},
	{"/docs", "the documents, and tests that run what they show", ""},
}

// everywhere names wings that every room may import.
var everywhere = []string{"base", "events", "/wire"}

// modules names, for each library of others, the rooms and wings that may import it.
var modules = map[string]string{
	"github.com/coreos/go-systemd":      "signals",
	"github.com/fsnotify/fsnotify":      "discovery door/server",
	"github.com/gobwas/glob":            "base/pattern",
	"github.com/mattn/go-runewidth":     "people/card /cmd/hookd",
	"github.com/nats-io/nats-server/v2": "fleet/fleettest /cmd/hookd-fleet-server",
	"github.com/nats-io/nats.go":        "fleet/jetstream fleet/fleettest", // the only room that speaks to a NATS server
	"github.com/nats-io/nkeys":          "fleet/machinekey",
	"github.com/pelletier/go-toml/v2":   "agents/connect", // parsers that know the places of a file's parts
	"github.com/rogpeppe/go-internal":   "agents/connect",
	"github.com/spf13/cobra":            "/cmd/hookd",
	"github.com/spf13/pflag":            "/cmd/hookd", // the types of cobra's own flags
	"github.com/tailscale/hujson":       "agents/connect",
	"go.uber.org/zap":                   "base/logsink discovery dispatch run record/forward record/lookback record/undo fleet door people/ask daemon /cmd/hookd /cmd/hookd-fleet",
	"golang.org/x/sys":                  "base proc facts/facttest record/undo door/server people/doctor",
	"golang.org/x/term":                 "/cmd/hookd",
	"golang.org/x/net":                  "facts",
	"golang.org/x/text":                 "base/pattern facts hooks/pack",
	"gopkg.in/yaml.v3":                  "base/config facts hooks run/contain agents/connect people/learn /cmd/hookd",
	"modernc.org/libc":                  "record/store",
	"modernc.org/sqlite":                "record/store agents/transcripts", // databases of agents are read from copies
	"mvdan.cc/sh":                       "base/trust hooks/source/familiar facts",
}

// noNetwork names rooms that must not dial or listen themselves: they send by client.
var noNetwork = []string{"cmd/hookd"}

// maxDoors is how many folders a newcomer reads in internal/.
const maxDoors = 16

func TestLayers(t *testing.T) {
	used := map[string]bool{} // wing and allowance
	doors := map[string]bool{}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if path == "" {
			continue
		}
		if inner, ok := strings.CutPrefix(path, "internal/"); ok {
			door, _, _ := strings.Cut(inner, "/")
			doors[door] = true
		}
		home := wingOf(path)
		if home < 0 {
			t.Errorf("%s is in no wing: put it into one, or give it a row in layers_test.go, with a reason", path)
			continue
		}
		used[wings[home].name] = true
		if p.Doc == "" {
			t.Errorf("%s has no package comment: say what it promises and what it does not do", path)
		}
		for _, imp := range p.Imports {
			if !allowed(path, home, imp, used) {
				t.Errorf("%s may not import %s", path, imp)
			}
			if slices.Contains(noNetwork, path) && (imp == "net" || imp == "net/http") {
				t.Errorf("%s may not import %s: it sends by package client", path, imp)
			}
		}
	}
	if len(doors) > maxDoors {
		t.Errorf("internal/ has %d doors, more than %d: %v", len(doors), maxDoors, slices.Sorted(maps.Keys(doors)))
	}
	for i, w := range wings {
		if !used[w.name] {
			t.Errorf("there is no package for the row of %s", w.name)
		}
		for _, a := range strings.Fields(w.may) {
			if !slices.ContainsFunc(wings[:i], func(w wing) bool { return w.name == a }) {
				t.Errorf("%s may import %s, which does not stand before it", w.name, a)
			}
			if !used[w.name+" "+a] {
				t.Errorf("%s may import %s, and does not: take it out of the row", w.name, a)
			}
		}
	}
	for name, places := range modules {
		for _, place := range strings.Fields(places) {
			if !used[name+" "+place] {
				t.Errorf("%s may import %s, and does not: take it out of the row", place, name)
			}
		}
	}
}

// wingOf returns the row that holds for a package: that with the longest folder; -1 for none.
func wingOf(path string) int {
	best := -1
	for i, w := range wings {
		if within(path, full(w.name)) && (best < 0 || len(full(w.name)) > len(full(wings[best].name))) {
			best = i
		}
	}
	return best
}

// within reports whether a package is a folder or below it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// allowed reports whether a package of a wing may import imp, and notes which allowance says so.
func allowed(path string, home int, imp string, used map[string]bool) bool {
	inner, ours := strings.CutPrefix(imp, module+"/")
	switch {
	case imp == "C":
		return false
	case ours:
		there := wingOf(inner)
		if there < 0 {
			return false
		}
		name := wings[there].name
		used[wings[home].name+" "+name] = true
		return there == home || there < home && slices.Contains(everywhere, name) ||
			slices.Contains(strings.Fields(wings[home].may), name)
	case !strings.Contains(strings.Split(imp, "/")[0], "."):
		return true // the standard library
	}
	for name, places := range modules {
		if !within(imp, name) {
			continue
		}
		for _, place := range strings.Fields(places) {
			if within(path, full(place)) {
				used[name+" "+place] = true
				return true
			}
		}
	}
	return false
}

// full is the folder of a name in the table.
func full(name string) string {
	if path, ok := strings.CutPrefix(name, "/"); ok {
		return path
	}
	return "internal/" + name
}

// ARCHITECTURE.md shows the table.
func TestArchitectureShowsTheWings(t *testing.T) {
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: wings -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("ARCHITECTURE.md has no part between %q and %q", begin, end)
	}
	want := head + begin + wingTable() + end + tail
	if *update {
		if err := os.WriteFile("ARCHITECTURE.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(doc) {
		t.Error("the table of wings in ARCHITECTURE.md is not that of layers_test.go: type go test . -update")
	}
}

func wingTable() string {
	var b strings.Builder
	b.WriteString("| wing | purpose | may import |\n| --- | --- | --- |\n")
	for _, w := range wings {
		may := strings.ReplaceAll(strings.ReplaceAll(" "+w.may, " /", " "), " ", ", ")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", full(w.name), w.purpose, strings.Trim(may, ", "))
	}
	return b.String()
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

// hookd links no library of NATS: hookd-fleet does.
func TestHookdLinksNoNATS(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/hookd", "./cmd/hookd-bridge").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if strings.Contains(path, "nats") {
			t.Errorf("hookd links %s", path)
		}
	}
}
