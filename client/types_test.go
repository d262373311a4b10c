package client

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/contract/api"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/stream"
)

// wires names the wire type of each of this package's types that is not a
// member of another.
var wires = map[reflect.Type]reflect.Type{
	reflect.TypeFor[Event]():          reflect.TypeFor[events.Envelope](),
	reflect.TypeFor[Answer]():         reflect.TypeFor[api.Answer](),
	reflect.TypeFor[Verdict]():        reflect.TypeFor[verdict.Verdict](),
	reflect.TypeFor[Error]():          reflect.TypeFor[events.Error](),
	reflect.TypeFor[HookList]():       reflect.TypeFor[api.Hooks](),
	reflect.TypeFor[Hook]():           reflect.TypeFor[api.Hook](),
	reflect.TypeFor[Reloaded]():       reflect.TypeFor[api.Reload](),
	reflect.TypeFor[TestResult]():     reflect.TypeFor[api.Tested](),
	reflect.TypeFor[Tests]():          reflect.TypeFor[api.Tests](),
	reflect.TypeFor[Run]():            reflect.TypeFor[events.Run](),
	reflect.TypeFor[StoredEvent]():    reflect.TypeFor[api.Event](),
	reflect.TypeFor[Replayed]():       reflect.TypeFor[api.Replayed](),
	reflect.TypeFor[Decision]():       reflect.TypeFor[events.Decided](),
	reflect.TypeFor[Session]():        reflect.TypeFor[api.Session](),
	reflect.TypeFor[RunUnderWay]():    reflect.TypeFor[events.UnderWay](),
	reflect.TypeFor[GroupStats]():     reflect.TypeFor[api.GroupStats](),
	reflect.TypeFor[decisionsPage]():  reflect.TypeFor[api.Decisions](),
	reflect.TypeFor[sessionsPage]():   reflect.TypeFor[api.Sessions](),
	reflect.TypeFor[acceptedPage]():   reflect.TypeFor[api.Accepted](),
	reflect.TypeFor[pastPage]():       reflect.TypeFor[api.Past](),
	reflect.TypeFor[Counts]():         reflect.TypeFor[api.Counts](),
	reflect.TypeFor[runningPage]():    reflect.TypeFor[api.Running](),
	reflect.TypeFor[HookStats]():      reflect.TypeFor[api.HookStats](),
	reflect.TypeFor[AskList]():        reflect.TypeFor[api.Asks](),
	reflect.TypeFor[AskReply]():       reflect.TypeFor[api.Reply](),
	reflect.TypeFor[AskAnswered]():    reflect.TypeFor[api.Replied](),
	reflect.TypeFor[grantsPage]():     reflect.TypeFor[api.Grants](),
	reflect.TypeFor[DeadLetter]():     reflect.TypeFor[api.DeadLetter](),
	reflect.TypeFor[Recovered]():      reflect.TypeFor[api.Recovered](),
	reflect.TypeFor[RecoveredLoss]():  reflect.TypeFor[api.RecoveredLoss](),
	reflect.TypeFor[DaemonInfo]():     reflect.TypeFor[api.Status](),
	reflect.TypeFor[refusal]():        reflect.TypeFor[api.Refusal](),
	reflect.TypeFor[runsPage]():       reflect.TypeFor[api.Runs](),
	reflect.TypeFor[statsPage]():      reflect.TypeFor[api.Stats](),
	reflect.TypeFor[deadPage]():       reflect.TypeFor[api.DeadLetters](),
	reflect.TypeFor[FleetInfo]():      reflect.TypeFor[api.Fleet](),
	reflect.TypeFor[FleetDecisions](): reflect.TypeFor[api.FleetDecisions](),
	reflect.TypeFor[fleetSessions]():  reflect.TypeFor[api.FleetSessions](),
	reflect.TypeFor[fleetAsks]():      reflect.TypeFor[api.FleetAsks](),
	reflect.TypeFor[FleetAnswer]():    reflect.TypeFor[api.FleetAnswer](),
}

// fields returns the JSON members of a struct in their order: tag and Go type.
// A field that is no member is left out of a wire type, and is a fault here.
func fields(t *testing.T, typ reflect.Type, own bool) (list []reflect.StructField) {
	t.Helper()
	for _, f := range reflect.VisibleFields(typ) {
		tag, isMember := f.Tag.Lookup("json")
		switch {
		case f.Anonymous && !own:
		case isMember && tag != "-" && f.IsExported():
			list = append(list, f)
		case own && (isMember || f.IsExported()): // what has a method to read it is found anyway
			t.Errorf("%s.%s is no member of the JSON: it would silently not be sent or not be read", typ.Name(), f.Name)
		}
	}
	return list
}

// compare reports where two types differ as JSON, and notes own types in seen.
func compare(t *testing.T, at string, own, wire reflect.Type, seen map[string]bool) {
	t.Helper()
	if own.Kind() != wire.Kind() {
		t.Errorf("%s is a %s, on the wire a %s", at, own, wire)
		return
	}
	switch {
	case own == wire:
		if strings.Contains(own.PkgPath(), "/internal/") {
			t.Errorf("%s is the internal type %s", at, own)
		}
	case own.Kind() == reflect.Pointer || own.Kind() == reflect.Slice || own.Kind() == reflect.Map:
		compare(t, at, own.Elem(), wire.Elem(), seen)
	case own.Kind() == reflect.Struct:
		seen[own.Name()] = true
		mine, theirs := fields(t, own, true), fields(t, wire, false)
		for i := range max(len(mine), len(theirs)) {
			switch {
			case i >= len(mine):
				t.Errorf("%s lacks %q", at, theirs[i].Tag.Get("json"))
			case i >= len(theirs):
				t.Errorf("%s has %q, which the wire does not", at, mine[i].Tag.Get("json"))
			case mine[i].Tag.Get("json") != theirs[i].Tag.Get("json"):
				t.Fatalf("%s has %q where the wire has %q", at, mine[i].Tag.Get("json"), theirs[i].Tag.Get("json"))
			default:
				compare(t, at+"."+mine[i].Name, mine[i].Type, theirs[i].Type, seen)
			}
		}
	}
}

// Each type has the members of its wire type, in the same order, and no others;
// a type that has members and no wire type to be held to is a fault.
func TestTypesAreThoseOfTheWire(t *testing.T) {
	seen := map[string]bool{"EventRecord": true} // see TestStreamHasTheMembersOfItsRecords
	for own, wire := range wires {
		compare(t, own.Name(), own, wire, seen)
	}
	for name, spec := range declared(t) {
		typ, _ := spec.Type.(*ast.StructType)
		if typ == nil || seen[name] {
			continue
		}
		for _, f := range typ.Fields.List {
			if f.Tag != nil {
				t.Errorf("type %s has JSON members and is compared with no wire type", name)
				break
			}
		}
	}
}

// The daemon writes records of the stream without a type: what it writes is
// compared.
func TestStreamHasTheMembersOfItsRecords(t *testing.T) {
	e := &events.Event{Depth: 1, Contract: events.For("", "agent:end"), Seq: 1, Time: time.Unix(1, 0)}
	e.Envelope = events.Envelope{
		Event: "agent:end", Data: json.RawMessage(`{}`), SessionID: "s", AgentID: "a", AgentName: "n", Cwd: "/",
		Sender: "u", Dialect: events.LibreFang, Lane: events.LaneDefault, Parent: "p", Tried: true,
	}
	e.EventID, e.ReplayOf, e.Tool, e.Subject, e.CallID = "e", "r", "Bash", "ls", "c"
	written := members(t, stream.BriefEventRecord(e, 9, "{")(1, nil))
	known := map[string]bool{"type": true, "seq": true}
	for _, f := range fields(t, reflect.TypeFor[EventRecord](), true) {
		known[f.Tag.Get("json")] = true
	}
	if !maps.Equal(written, known) {
		t.Errorf("the daemon writes events with %v,\nan EventRecord has %v", written, known)
	}
	run := events.Run{ID: "r", Given: "g", Spawned: "s", Input: "i", Error: "e", Killed: "tree", Left: 1, Signal: "SIGKILL"}
	known = map[string]bool{"type": true}
	for _, f := range fields(t, reflect.TypeFor[Run](), true) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	for name := range members(t, stream.RunRecord(&run)(1, nil)) {
		if !known[name] {
			t.Errorf("the daemon writes runs with %q, which a Run lacks", name)
		}
	}
}

func members(t *testing.T, text []byte) map[string]bool {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	names := map[string]bool{}
	for name := range object {
		names[name] = true
	}
	return names
}

// Each field of an Event reaches the daemon as it was given.
func TestEachFieldOfAnEventIsSent(t *testing.T) {
	values := map[string]any{
		"Event": "x:y", "Data": json.RawMessage(`{"a":"<é>"}`), "Wait": true, "ID": "i", "SessionID": "s", "AgentID": "a",
		"AgentName": "n", "Cwd": "/c", "Sender": "me", "Dialect": Dialect("claude-code"), "Lane": "preempt", "TimeoutMS": int64(7),
		"Parent": events.NewID(time.Now()), "Unasked": true, "Tried": true, "Tells": true,
	}
	var all Event
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Event]()) {
		value, ok := values[f.Name]
		if !ok {
			t.Fatalf("no value for Event.%s: add one to this test", f.Name)
		}
		reflect.ValueOf(&all).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(value))
	}
	line, err := appendEvent(nil, &all)
	if err != nil {
		t.Fatal(err)
	}
	got, bad := events.Parse(line)
	if bad != nil {
		t.Fatalf("the daemon refuses %s: %v", line, bad)
	}
	for name, value := range values {
		if arrived := reflect.ValueOf(got).FieldByName(name); fmt.Sprint(arrived) != fmt.Sprint(reflect.ValueOf(value)) {
			t.Errorf("Event.%s is %v, the daemon read %v", name, value, arrived)
		}
	}
}

// Each field of a query reaches the daemon as it was given.
func TestEachFieldOfAQueryIsSent(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	runs := RunQuery{
		Hook: "h", Event: "x", Session: "s", Agent: "a", Result: string(ResultOK), EventID: "e",
		Tool: "Bash", Text: "rm -rf", Test: true, Since: at, Until: at.Add(time.Hour), Before: 3, Limit: 4,
	}
	decisions := DecisionQuery{
		Decision: "deny,ask", Tool: "Bash", Agent: "a", Session: "s", Hook: "h", Event: "x", EventID: "E", Cwd: "/c", Text: "a&b", Shadow: true,
		Since: at, Until: at.Add(time.Hour), Before: 3, Limit: 4,
	}
	sessions := SessionQuery{Agent: "a", Session: "s", Cwd: "/c", State: "idle", Since: at, Until: at.Add(time.Hour), Limit: 4}
	stats := StatsQuery{Hook: "h", By: "tool", Since: at, Until: at.Add(time.Hour)}
	counts := CountQuery{DecisionQuery: decisions, Every: time.Minute}
	counts.Limit = 0
	accepted := EventQuery{
		Session: "s", Event: "x", Tool: "Bash", Agent: "a", Cwd: "/c", Text: "a&b",
		Since: at, Until: at.Add(time.Hour), Before: 3, Limit: 4,
	}
	for _, q := range []any{runs, decisions, sessions, stats, accepted} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(q)) {
			if reflect.ValueOf(q).FieldByIndex(f.Index).IsZero() {
				t.Errorf("no value for %T.%s: add one to this test", q, f.Name)
			}
		}
	}
	if got, bad := api.ParseRunQuery(runs.values(), at); bad != nil || RunQuery(got) != runs {
		t.Errorf("the daemon read %+v, %v of %+v", got, bad, runs)
	}
	if got, bad := api.ParseDecisionQuery(decisions.values(), at); bad != nil || DecisionQuery(got) != decisions {
		t.Errorf("the daemon read %+v, %v of %+v", got, bad, decisions)
	}
	read, bad := api.ParseCountQuery(counts.values(), at)
	if (CountQuery{DecisionQuery(read.DecisionQuery), read.Every}) != counts || bad != nil {
		t.Errorf("the daemon read %+v, %v of %+v", read, bad, counts)
	}
	if got, bad := api.ParseEventQuery(accepted.values(), at); bad != nil || EventQuery(got) != accepted {
		t.Errorf("the daemon read %+v, %v of %+v", got, bad, accepted)
	}
	if got, bad := api.ParseSessionQuery(sessions.values(), at); bad != nil || SessionQuery(got) != sessions {
		t.Errorf("the daemon read %+v, %v of %+v", got, bad, sessions)
	}
	if got, bad := api.ParseStatsQuery(stats.values(), at); bad != nil || StatsQuery(got) != stats {
		t.Errorf("the daemon read %+v, %v of %+v", got, bad, stats)
	}
}

// The codes and results are those that the daemon knows.
func TestWordsAreThoseOfTheWire(t *testing.T) {
	own, wire := words(t, "."), words(t, "../internal/events")
	if !maps.Equal(own, wire) {
		t.Errorf("package client has %v,\nthe wire %v", own, wire)
	}
}

// words returns the constants of types Code and Result of a package.
func words(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, decl := range parsed(t, dir) {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec)
			if typ, ok := v.Type.(*ast.Ident); ok && (typ.Name == "Code" || typ.Name == "Result") {
				list[v.Names[0].Name] = v.Values[0].(*ast.BasicLit).Value
			}
		}
	}
	if len(list) < 20 {
		t.Fatalf("%s has only %d codes and results", dir, len(list))
	}
	return list
}

// A program outside of this module can name, make and read about everything
// that it is given: no exported declaration is an alias or uses an internal
// type, and each type and each field of Event has its comment.
func TestNothingExportedIsInternal(t *testing.T) {
	for name, spec := range declared(t) {
		if spec.Assign.IsValid() {
			t.Errorf("type %s is an alias: go doc shows no fields", name)
		}
	}
	event, _ := declared(t)["Event"].Type.(*ast.StructType)
	for _, f := range event.Fields.List {
		if f.Doc.Text()+f.Comment.Text() == "" {
			t.Errorf("Event.%s has no comment", f.Names[0].Name)
		}
	}
	for _, decl := range parsed(t, ".") {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				publicOnly(t, d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						publicOnly(t, s.Name.Name, s.Type)
						if s.Doc.Text()+d.Doc.Text() == "" {
							t.Errorf("type %s has no comment", s.Name.Name)
						}
					}
				case *ast.ValueSpec:
					if s.Names[0].IsExported() {
						publicOnly(t, s.Names[0].Name, s)
					}
				}
			}
		}
	}
}

// publicOnly fails where node uses a package of this module, fields that are
// not exported aside.
func publicOnly(t *testing.T, name string, node ast.Node) {
	t.Helper()
	if s, ok := node.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			if len(f.Names) == 0 || f.Names[0].IsExported() {
				publicOnly(t, name, f.Type)
			}
		}
		return
	}
	ast.Inspect(node, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains([]string{"api", "events", "peer", "verdict"}, pkg.Name) {
				t.Errorf("%s uses %s.%s, which go doc does not show to other modules", name, pkg.Name, s.Sel.Name)
			}
		}
		return true
	})
}

// declared returns the exported types of this package.
func declared(t *testing.T) map[string]*ast.TypeSpec {
	t.Helper()
	list := map[string]*ast.TypeSpec{}
	for _, decl := range parsed(t, ".") {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
			for _, spec := range gen.Specs {
				if s := spec.(*ast.TypeSpec); s.Name.IsExported() {
					list[s.Name.Name] = s
				}
			}
		}
	}
	return list
}

// parsed returns the declarations of a package without its tests.
func parsed(t *testing.T, dir string) (list []ast.Decl) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, file.Decls...)
	}
	return list
}
