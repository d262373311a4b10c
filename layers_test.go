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

var update = flag.Bool("update", false, "write the table of rooms into ARCHITECTURE.md")

const module = "github.com/hookd/hookd"

// room is one folder of the house: its purpose, and what it may import. Rooms of
// internal/ go without that prefix, others begin with a slash; NAME/* stands for
// every room below it.
type room struct{ purpose, rooms, thirdParty string }

// The table of the house. A package that is not in it fails, an import that its
// row does not allow fails, and so does an allowance that no import uses. Tests
// may import what they need. `go test . -update` writes it into ARCHITECTURE.md.
var rooms = map[string]room{
	"client": {
		"the public Go package, and the only code that sends to the socket",
		"api dialect events peer system verdict",
		"",
	},
	// pflag: the types of cobra's own flags
	"cmd/hookd": {
		"commands, one file each: flags, tables, exit codes; decides nothing",
		"/client /docs/gallery /sdk api attack audit bridge builtin/shadow card catalog config connect convert daemon " +
			"dialect doctor duration escape events facts fleet fleet/engine fleet/link hook hookfiles importer " +
			"logsink loopback match mcp oneshot pack policy proc project readfile rehearse replacefile rules schema service " +
			"shipped source/hookdir spawn/timerslack spell starter store system trust ui when wordwrap",
		"github.com/mattn/go-runewidth github.com/spf13/cobra github.com/spf13/pflag go.uber.org/zap golang.org/x/term gopkg.in/yaml.v3",
	},
	// no third party, so that it is small and starts fast
	"cmd/hookd-bridge": {
		"the small program that agents call; standard library only",
		"bridge",
		"",
	},
	// the client's library is as large as some of hookd's rooms together, and most machines are alone
	"cmd/hookd-fleet": {
		"speaks to the NATS servers of a fleet for hookd, which starts it",
		"fleet/engine fleet/jetstream fleet/link fleet/machinekey",
		"go.uber.org/zap",
	},
	// the server's library is larger than hookd's other parts together
	"cmd/hookd-fleet-server": {
		"the NATS server that hookd starts for a fleet on one site",
		"fleet/machinekey",
		"github.com/nats-io/nats-server/v2",
	},
	"docs": {
		"the documents, and tests that run what they show",
		"",
		"",
	},
	"docs/gallery": {
		"the hooks that hookd brings along, as they are in the binary",
		"",
		"",
	},
	"sdk": {
		"what hooks and senders in Python and TypeScript are written with: one file each, as they are in the binary",
		"",
		"",
	},
	"internal/api": {
		"wire types, routes, error codes: what both ends of the socket share",
		"duration events verdict",
		"",
	},
	// dialect: what a call is, and whether its agent can ask itself; facts: the line of a shell
	// is compared word by word
	"internal/ask": {
		"holds calls that hooks ask about until a person answers, and remembers answers as grants",
		"api card config dialect dialect/neutral dispatch duration escape events facts hook store verdict",
		"go.uber.org/zap",
	},
	// connect's places are the dialects'
	"internal/attack": {
		"tries what an agent could do to its guards, on copies, and says what worked",
		"/client dialect events peer/listener system",
		"",
	},
	"internal/audit": {
		"the chain of what must not be changed afterwards: its records, hashes, and what is wrong with it",
		"escape",
		"",
	},
	"internal/bridge": {
		"an agent's stdin to an event, the verdict to the agent's bytes and exit code",
		"/client convert dialect dialect/neutral duration events readfile system verdict wordwrap",
		"",
	},
	// text for connect, so that the small program does not carry it
	"internal/bridge/shims": {
		"plugins for agents without a command protocol",
		"",
		"",
	},
	// neutral: what a tool call is, as the dialect that sent it tells it; gallery: the rules
	// that safer_shell judges by
	"internal/builtin": {
		"hooks written in Go, one file each",
		"/docs/gallery builtin/* dialect/neutral events facts git readfile rules",
		"gopkg.in/yaml.v3",
	},
	"internal/builtin/secrets": {
		"finds and redacts secrets in JSON",
		"",
		"",
	},
	"internal/builtin/shadow": {
		"snapshots of a working tree, for `hookd snapshots`",
		"git readfile replacefile",
		"",
	},
	"internal/card": {
		"makes of an ask what people are shown, and draws it in plain text; pure",
		"escape events",
		"github.com/mattn/go-runewidth",
	},
	"internal/card/cardtest": {
		"tests only: asks that are hard to show truly",
		"",
		"",
	},
	"internal/catalog": {
		"hooks as the settings say: scan, validate, allow, last good, changes; with or without a daemon",
		"/docs/gallery api builtin config dialect discovery escape events hook judge match pack pattern policy project " +
			"readfile replacefile source/* spell store trust when",
		"go.uber.org/zap",
	},
	// trust: which settings are allowed is for the user alone to say
	"internal/config": {
		"settings: keys, defaults, validation",
		"duration escape https readfile replacefile spell system trust",
		"gopkg.in/yaml.v3",
	},
	// parsers that know where in a file things stand, and a diff to show
	"internal/connect": {
		"edits agents' own settings and leaves the rest byte for byte",
		"bridge/shims dialect dialect/neutral duration events readfile",
		"github.com/pelletier/go-toml/v2 github.com/rogpeppe/go-internal github.com/tailscale/hujson " +
			"gopkg.in/yaml.v3",
	},
	"internal/convert": {
		"between the types of client and those that rooms share",
		"/client api events verdict",
		"",
	},
	"internal/daemon": {
		"wires the rooms, starts and stops them in order, answers the socket",
		"api ask audit builtin/* card catalog config dialect dialect/neutral discovery dispatch escape events facts fleet " +
			"fleet/engine fleet/link forward hook loopback match metrics pattern peer policy proc project " +
			"readfile recorder rehearse runner server signals store stream trace trust verdict when",
		"go.uber.org/zap",
	},
	"internal/dialect": {
		"the index of dialects: one folder a system, one line each",
		"dialect/* escape events verdict",
		"",
	},
	// no dialect knows another, but the one that it began as
	"internal/dialect/kilo": {
		"Kilo: OpenCode's dialect, with settings of its own",
		"dialect/neutral dialect/opencode events",
		"",
	},
	"internal/dialect/tabnine": {
		"Tabnine's command line: Gemini CLI's dialect, with settings of its own",
		"dialect/gemini dialect/neutral events",
		"",
	},
	"internal/dialect/*": {
		"one system: its rows of the contract, payloads, answers, tool names, golden cases",
		"dialect/neutral events verdict",
		"",
	},
	"internal/dialect/neutral": {
		"what dialects share: payload access, tool calls, an agent's answer",
		"events verdict",
		"",
	},
	"internal/discovery": {
		"finds, reads and watches hooks; publishes an immutable snapshot, retains the last good one",
		"escape hook readfile replacefile source/* trust",
		"github.com/fsnotify/fsnotify go.uber.org/zap",
	},
	"internal/dispatch": {
		"an event and a snapshot to runs and a verdict: lanes, order, permits, budgets, retries, chain depth",
		"dialect dialect/neutral escape events hook match verdict when",
		"go.uber.org/zap",
	},
	"internal/doctor": {
		"examines everything from outside and names the command that mends it",
		"/client catalog config connect dialect dialect/neutral escape events hook loopback proc readfile system trust",
		"golang.org/x/sys",
	},
	"internal/escape": {
		"makes text harmless on a terminal, and one line of it, and quotes it for a shell",
		"",
		"",
	},
	"internal/duration": {
		"reads durations the one way in which hookd takes them",
		"",
		"",
	},
	"internal/events": {
		"event names, kinds, the row type of the contract, the envelope and its checks",
		"",
		"",
	},
	// neutral: what a tool call is; yaml: the tables of programs
	"internal/facts": {
		"the facts of a call: commands, what they do, what is in doubt; the only reader of shell lines",
		"builtin/secrets dialect/neutral pattern",
		"gopkg.in/yaml.v3 mvdan.cc/sh/v3",
	},
	"internal/facts/facttest": {
		"tests only: attacks by class, harmless calls, a jail that shows what an attack does, a judge of guards",
		"",
		"golang.org/x/sys gopkg.in/yaml.v3 mvdan.cc/sh/v3",
	},
	"internal/facts/shelltest": {
		"tests only: shell lines, and what real shells run of them",
		"",
		"",
	},
	"internal/fleet": {
		"sends events to hooks on other machines and takes theirs; publishes the state of this machine and reads that of all; brings directives",
		"api events fleet/engine fleet/link hook store",
		"go.uber.org/zap",
	},
	"internal/fleet/engine": {
		"what holds the messages of a fleet: its interfaces, values and errors",
		"",
		"",
	},
	"internal/fleet/link": {
		"hookd's calls to hookd-fleet, over one connection; starts it and finds it",
		"fleet/engine",
		"go.uber.org/zap",
	},
	// the only place that speaks to a NATS server
	"internal/fleet/jetstream": {
		"streams and consumers of a NATS server, beneath a fleet",
		"fleet/engine fleet/machinekey readfile",
		"github.com/nats-io/nats.go go.uber.org/zap",
	},
	"internal/fleet/machinekey": {
		"keys that machines of a fleet prove their names with",
		"readfile",
		"github.com/nats-io/nkeys",
	},
	"internal/fleet/fleettest": {
		"tests only: real NATS servers, in the process or as processes, one or a cluster",
		"hooktest",
		"github.com/nats-io/nats-server/v2",
	},
	// https: the answers of the servers; store: how far each target is
	"internal/forward": {
		"hands decisions on to other machines and files, at least once and in order",
		"audit config events https readfile store",
		"go.opentelemetry.io/proto/otlp google.golang.org/protobuf go.uber.org/zap",
	},
	"internal/https": {
		"which addresses of other machines are used, and the client that asks them",
		"readfile",
		"",
	},
	"internal/git": {
		"the only place that starts git: nothing that a repository configures is executed",
		"",
		"",
	},
	"internal/hangfs": {
		"tests only: a file system that hangs",
		"",
		"golang.org/x/sys",
	},
	// a hook carries the seal of its files
	"internal/hook": {
		"what a hook is: fields, compiled patterns, filters",
		"escape events facts pattern rules trust",
		"",
	},
	"internal/hooktest": {
		"tests only: scratch homes, hooks, terminals, waiting for a condition",
		"",
		"golang.org/x/sys",
	},
	// discovery: the marks of hooks that are switched off
	"internal/importer": {
		"turns hooks of an agent's own settings into folders",
		"connect dialect dialect/neutral discovery events",
		"",
	},
	"internal/journal": {
		"a log of records in preallocated files: one wait for the disk for many, and what a crash has left",
		"",
		"",
	},
	"internal/journal/journaltest": {
		"tests only: a disk that loses what a real one may lose",
		"journal",
		"",
	},
	"internal/judge": {
		"hooks that ask a model",
		"events",
		"",
	},
	"internal/logsink": {
		"a bounded queue before the log: logging never blocks, and no kind of line fills it",
		"",
		"go.uber.org/zap",
	},
	"internal/loopback": {
		"loopback HTTP for agents that call hooks that way",
		"api bridge dialect dialect/neutral readfile",
		"go.uber.org/zap",
	},
	"internal/match": {
		"which hooks an event matches, and why not: index, patterns, cases; pure",
		"dialect dialect/neutral events hook pattern verdict when",
		"",
	},
	"internal/match/matchtest": {
		"tests only: hooks and snapshots",
		"hook pattern",
		"",
	},
	"internal/mcp": {
		"the server of `hookd mcp`: MCP tools that agents call as hooks, and that models ask",
		"bridge dialect/neutral events",
		"github.com/modelcontextprotocol/go-sdk",
	},
	// knows no events: the daemon tells it what to count
	"internal/metrics": {
		"Prometheus registry and names",
		"",
		"github.com/prometheus/client_golang",
	},
	"internal/nowait": {
		"reads and writes of sockets and pipes that never block",
		"",
		"",
	},
	// reads HOOK.yaml's name, for what a hook folder is
	"internal/oneshot": {
		"runs one command under a daemon of its own, and takes everything back",
		"/client connect readfile replacefile",
		"",
	},
	"internal/pack": {
		"packs of shared hooks: fetch, check, hooks.lock, put in place; executes nothing",
		"/docs/gallery git readfile replacefile source/hookdir",
		"golang.org/x/text",
	},
	// the standard library alone, as the bridge asks too
	"internal/pattern": {
		"globs of events, paths, tools and hosts, matched in bounded time",
		"",
		"github.com/gobwas/glob",
	},
	"internal/peer": {
		"which process is at the other end of a socket, as the kernel says",
		"",
		"",
	},
	// a room of its own, as it imports net and the bridge imports peer
	"internal/peer/listener": {
		"which process listens on a socket; sends it nothing",
		"peer",
		"",
	},
	"internal/peer/peertest": {
		"tests only: a socket of another user",
		"",
		"",
	},
	"internal/proc": {
		"one process under a deadline: group or cgroup, stdin, bounded output, reaping",
		"escape nowait readfile spawn",
		"golang.org/x/sys",
	},
	// pack: what a bundle may hold, and how it is written
	"internal/policy": {
		"signed bundles of hooks, and a fleet's directives of which one runs: makes them, and keeps the last good one in force",
		"https pack readfile replacefile",
		"",
	},
	"internal/project": {
		"which repository a folder is in, and its working trees; answers from memory on an event's way",
		"git readfile",
		"",
	},
	"internal/rawjson": {
		"finds, replaces and appends members of JSON without building values",
		"",
		"",
	},
	"internal/readfile": {
		"the one way to read a file that a person, an agent or a repository wrote: bounded, never hangs",
		"",
		"",
	},
	"internal/replacefile": {
		"the one way to replace a file of hookd's own: whole or not at all, also after a power cut",
		"",
		"",
	},
	// match: the fields of an event that have a tool and its arguments
	"internal/rehearse": {
		"one run of a hook, its tests, and what it would have said of the past, with or without a daemon; decides nothing",
		"api catalog config dispatch events hook match proc readfile runner source/hookdir when",
		"go.uber.org/zap",
	},
	"internal/recorder": {
		"numbers what happened, publishes it, gives it to the store and reads it back; the last runs in memory",
		"api dispatch events store stream",
		"",
	},
	"internal/rules": {
		"guards without a program: rules over the facts of a call",
		"dialect/neutral duration facts pattern spell",
		"gopkg.in/yaml.v3",
	},
	"internal/runner": {
		"one run, to proc, worker, builtin or judge",
		"builtin config dialect dialect/neutral dispatch escape events facts hook judge proc rules signals trust worker",
		"go.uber.org/zap",
	},
	"internal/schema": {
		"JSON Schemas of HOOK.yaml, hookd.yaml and events, made from the tables",
		"config events hook rules source/hookdir",
		"",
	},
	"internal/server": {
		"the socket: lock, peer credentials, line and HTTP protocol, subscriptions",
		"api events nowait peer peer/listener spell",
		"github.com/fsnotify/fsnotify go.uber.org/zap golang.org/x/sys",
	},
	// trust: install refuses a program that others could replace
	"internal/service": {
		"what install decides: service manager, unit files, PATH, whether the service runs",
		"/packaging config escape readfile replacefile system trust",
		"",
	},
	"internal/starter": {
		"what `hookd init` puts into a new home, and takes out again",
		"/docs/gallery readfile replacefile trust",
		"",
	},
	"internal/shipped": {
		"compares an agent's rows with the names of events that the installed agent ships",
		"dialect dialect/neutral events readfile",
		"",
	},
	"internal/signals": {
		"operating-system signals, and what the service manager is told",
		"",
		"github.com/coreos/go-systemd",
	},
	"internal/source/dockeragent": {
		"reads hooks from docker-agent's YAML",
		"events hook pattern source/yamlnode spell",
		"gopkg.in/yaml.v3",
	},
	"internal/source/familiar": {
		"reads hooks from `AGENT.md`",
		"events hook pattern source/yamlnode spell",
		"gopkg.in/yaml.v3 mvdan.cc/sh",
	},
	"internal/source/hookdir": {
		"reads `HOOK.yaml`; its schema",
		"duration escape events facts hook pattern readfile rules spell",
		"gopkg.in/yaml.v3",
	},
	"internal/source/yamlnode": {
		"YAML nodes with aliases and merges, bounded",
		"",
		"gopkg.in/yaml.v3",
	},
	"internal/spawn": {
		"starts a process: by clone3 on Linux, where that is refused and on macOS by Go's fork",
		"spawn/filelimit spawn/timerslack",
		"golang.org/x/sys",
	},
	// nothing at all, so that Go initialises it before package syscall
	"internal/spawn/filelimit": {
		"the limit of open files that the program was started with",
		"",
		"",
	},
	"internal/spawn/timerslack": {
		"hookd's threads sleep a little longer than they ask for, and so wake less often",
		"",
		"golang.org/x/sys",
	},
	"internal/spell": {
		"\"did you mean\": the nearest word",
		"",
		"",
	},
	"internal/store": {
		"SQLite: accepted events, pending runs, history, dead letters, the audit chain; a journal in front of it",
		"audit events journal",
		"modernc.org/libc modernc.org/sqlite",
	},
	"internal/stream": {
		"sequence numbers, the ring that subscribers read, gaps",
		"events",
		"",
	},
	// knows no events: the daemon tells it what to trace
	"internal/trace": {
		"OpenTelemetry spans, off unless configured",
		"readfile",
		"go.opentelemetry.io/otel go.opentelemetry.io/proto/otlp google.golang.org/protobuf",
	},
	"internal/system": {
		"where the system daemon is, whether it must answer, and whether a listener is it",
		"peer readfile",
		"",
	},
	"internal/system/systemtest": {
		"tests only: a place for a system daemon",
		"hooktest system",
		"",
	},
	"internal/trust": {
		"which users can change the files of a hook, and whether they changed",
		"escape readfile",
		"golang.org/x/sys mvdan.cc/sh",
	},
	// dialect: its rows say what kind of event a record is of
	"internal/hookfiles": {
		"what a person does with the files of hooks, for the page and commands: allow, switch, ask a copy about the past",
		"/client api catalog config convert events hook match rehearse ui",
		"",
	},
	"internal/ui": {
		"the page of `hookd ui`: its server and its files; a client of the socket like any other",
		"/client events",
		"",
	},
	"internal/verdict": {
		"reads one answer, folds many into one; pure",
		"events",
		"",
	},
	// starts processes through proc, finds event ids with the scanner of events
	"internal/when": {
		"whether a hook's conditions fit an event; in doubt they do",
		"dialect dialect/neutral events facts hook pattern",
		"",
	},
	"internal/wordwrap": {
		"breaks lines of text between words",
		"",
		"",
	},
	"internal/worker": {
		"persistent hooks: processes that stay and are spoken to in lines",
		"proc",
		"go.uber.org/zap",
	},
	"packaging": {
		"unit files, plist and packages",
		"",
		"",
	},
	"packaging/gallery": {
		"writes the hooks that hookd brings along to a folder, each whole",
		"/docs/gallery",
		"",
	},
	"packaging/wheel": {
		"writes a Python wheel that carries the programs",
		"",
		"",
	},
	"packaging/notices": {
		"writes the licences of what the programs contain, and their SBOM",
		"",
		"",
	},
}

// leaves are rooms that know nothing of hookd: every room may import them.
var leaves = []string{"internal/rawjson"}

// noNetwork names rooms that must not dial or listen themselves: only client
// dials and only server listens, so the protocol is written down once.
var noNetwork = []string{"cmd/hookd"}

func TestLayers(t *testing.T) {
	used := map[string]bool{} // room and allowance
	for _, p := range packages(t) {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if path == "" || strings.HasPrefix(path, "bench") {
			continue
		}
		name, ok := roomOf(path)
		if !ok {
			t.Errorf("%s is not in the table of rooms: give it a row in layers_test.go, with a reason", path)
			continue
		}
		used[name] = true
		if p.Doc == "" {
			t.Errorf("%s has no package comment: say what it promises and what it does not do", path)
		}
		for _, imp := range p.Imports {
			if !allowed(name, imp, used) {
				t.Errorf("%s may not import %s", path, imp)
			}
			if slices.Contains(noNetwork, path) && (imp == "net" || imp == "net/http") {
				t.Errorf("%s may not import %s: package client is the only dialer", path, imp)
			}
		}
	}
	for name, r := range rooms {
		if !used[name] {
			t.Errorf("there is no package for the row of %s", name)
		}
		for _, a := range strings.Fields(r.rooms + " " + r.thirdParty) {
			if !used[name+" "+a] {
				t.Errorf("%s may import %s, and does not: take it out of the row", name, a)
			}
		}
	}
}

// roomOf returns the row that holds for a package.
func roomOf(path string) (name string, ok bool) {
	if _, ok := rooms[path]; ok {
		return path, true
	}
	for name := range rooms {
		if parent, ok := strings.CutSuffix(name, "/*"); ok && strings.HasPrefix(path, parent+"/") {
			return name, true
		}
	}
	return "", false
}

// allowed reports whether a room may import imp, and notes which allowances say so.
func allowed(name, imp string, used map[string]bool) (ok bool) {
	inner, ours := strings.CutPrefix(imp, module+"/")
	switch {
	case imp == "C":
		return false
	case ours && slices.Contains(leaves, inner):
		return true
	case ours:
		for _, a := range strings.Fields(rooms[name].rooms) {
			parent, below := strings.CutSuffix(full(a), "/*")
			if full(a) == inner || below && strings.HasPrefix(inner, parent+"/") {
				ok, used[name+" "+a] = true, true
			}
		}
		return ok
	case !strings.Contains(strings.Split(imp, "/")[0], "."):
		return true // the standard library
	}
	for _, a := range strings.Fields(rooms[name].thirdParty) {
		if imp == a || strings.HasPrefix(imp, a+"/") {
			ok, used[name+" "+a] = true, true
		}
	}
	return ok
}

// full is the folder of a name in the table.
func full(name string) string {
	if path, ok := strings.CutPrefix(name, "/"); ok {
		return path
	}
	return "internal/" + name
}

// ARCHITECTURE.md shows the table.
func TestArchitectureShowsTheRooms(t *testing.T) {
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- generated: rooms -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("ARCHITECTURE.md has no part between %q and %q", begin, end)
	}
	want := head + begin + roomTable() + end + tail
	if *update {
		if err := os.WriteFile("ARCHITECTURE.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(doc) {
		t.Error("the table of rooms in ARCHITECTURE.md is not that of layers_test.go: type go test . -update")
	}
}

func roomTable() string {
	var b strings.Builder
	b.WriteString("| room | what it is for | may import |\n| --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r := rooms[name]
		imports := strings.ReplaceAll(strings.ReplaceAll(" "+r.rooms, " /", " "), " ", ", ")
		for _, path := range strings.Fields(r.thirdParty) {
			if i := strings.Index(path, "/"); i > 0 {
				imports += ", " + path[i+1:]
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, r.purpose, strings.ReplaceAll(strings.Trim(imports, ", "), "*", `\*`))
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
