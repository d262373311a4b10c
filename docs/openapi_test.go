package docs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/wire"
)

// spec is openapi.yaml.
type spec struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
}

func loadSpec(t *testing.T) *spec {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(read(t, "reference/openapi.yaml")), &tree); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return &spec{doc.(map[string]any), c}
}

func (s *spec) node(path ...string) map[string]any {
	node := s.doc
	for _, key := range path {
		node, _ = node[key].(map[string]any)
	}
	return node
}

// operations lists the methods and paths that the document describes.
func (s *spec) operations() (all []string) {
	for path := range s.node("paths") {
		for method := range s.node("paths", path) {
			if method != "parameters" {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// check validates a response's body against the document's schema for it.
func (s *spec) check(t *testing.T, method, path string, status int, media string, body []byte) {
	t.Helper()
	responses := s.node("paths", path, strings.ToLower(method), "responses")
	at := "#/paths/" + pointer(path) + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(status)
	if responses[strconv.Itoa(status)] == nil {
		if responses["default"] == nil || status < 400 {
			t.Errorf("openapi.yaml has no response %d of %s %s", status, method, path)
			return
		}
		at = "#/components/responses/Refused"
	}
	media, _, _ = strings.Cut(media, ";")
	schema, err := s.compiler.Compile("openapi.json" + at + "/content/" + pointer(media) + "/schema")
	if err != nil {
		t.Errorf("%s %s, %d, %s: %v", method, path, status, media, err)
		return
	}
	if media == "text/plain" {
		if err := schema.Validate(string(body)); err != nil {
			t.Errorf("%s %s, %d: %v", method, path, status, err)
		}
		return
	}
	documents := [][]byte{body}
	if media != wire.JSON {
		documents = bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	}
	for _, text := range documents {
		if media == wire.EventStream {
			var ok bool
			if text, ok = bytes.CutPrefix(text, []byte("data: ")); !ok {
				continue
			}
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%s %s, %d: %v in\n%s", method, path, status, err, text)
		}
	}
}

// pointer escapes a key for a JSON pointer in a URL.
func pointer(key string) string {
	key = strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
	return strings.ReplaceAll(url.PathEscape(key), "+", "%2B")
}

// door is the HTTP door of a real daemon.
func door(h *house) *http.Client {
	socket := h.client.Socket()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	h.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: hooktest.Patience}
}

func ask(t *testing.T, c *http.Client, method, path, media, body string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, "http://hookd"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if media == wire.EventStream {
		req.Header.Set("Accept", media)
	} else if media != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, text
}

// The document describes each route that the daemon serves, and of no other.
func TestOpenAPINamesEveryRoute(t *testing.T) {
	s, h := loadSpec(t), start(t, newHome(t))
	_, body := ask(t, door(h), "GET", "/nowhere", "", "")
	var refusal wire.Refusal
	if err := json.Unmarshal(body, &refusal); err != nil || refusal.Error == nil {
		t.Fatalf("%v in %s", err, body)
	}
	served := regexp.MustCompile(`[A-Z]+ /[^,\s]*`).FindAllString(refusal.Error.Hint, -1)
	slices.Sort(served)
	if len(served) < 10 {
		t.Fatalf("the daemon names only the routes %q", served)
	}
	for _, route := range served {
		if !slices.Contains(s.operations(), route) {
			t.Errorf("openapi.yaml says nothing of %s", route)
		}
	}
	for _, route := range s.operations() {
		if !slices.Contains(served, route) {
			t.Errorf("openapi.yaml tells of %s, which is not served", route)
		}
	}
	text := read(t, "reference/protocol.md")
	for _, route := range served {
		if _, path, _ := strings.Cut(route, " "); !strings.Contains(text, path) {
			t.Errorf("protocol.md says nothing of %s", route)
		}
	}
}

// wireTypes are the Go types of the schemas.
var wireTypes = map[string]any{
	"Event": events.Envelope{}, "Answer": wire.Answer{}, "Refusal": wire.Refusal{}, "Error": wire.Error{}, "Verdict": verdict.Verdict{},
	"RunResult": wire.RunResult{}, "Run": wire.Run{}, "Output": wire.Output{}, "Runs": wire.Runs{}, "Hooks": wire.Hooks{}, "Hook": wire.Hook{},
	"Problem": wire.Problem{}, "Reload": wire.Reload{}, "Tested": wire.Tested{}, "Ready": wire.Ready{}, "Status": wire.Status{}, "StoredEvent": wire.StoredEvent{}, "Replay": wire.Replay{}, "Replayed": wire.Replayed{},
	"Asks": wire.Asks{}, "Ask": wire.Ask{}, "Card": wire.Card{}, "CardRow": wire.CardRow{}, "CardPart": wire.CardPart{}, "CardSaid": wire.CardSaid{}, "CardSpan": wire.CardSpan{}, "CardSmall": wire.CardSmall{}, "Answered": wire.Answered{}, "Answerer": wire.Answerer{}, "AskReply": wire.Reply{}, "AskAnswered": wire.Replied{}, "Grant": wire.Grant{}, "Grants": wire.Grants{},
	"Kept": wire.Kept{}, "Lost": wire.Lost{}, "UndoList": wire.UndoList{}, "UndoCall": wire.UndoCall{}, "Undone": wire.Undone{}, "UndoRequest": wire.UndoRequest{}, "UndoAnswer": wire.UndoAnswer{}, "UndoItem": wire.UndoItem{}, "UndoPurged": wire.UndoPurged{},
	"BoxStart": wire.BoxStart{}, "BoxBegun": wire.BoxBegun{}, "BoxEnd": wire.BoxEnd{}, "BoxTold": wire.BoxTold{},
	"Stats": wire.Stats{}, "HookStats": wire.HookStats{}, "DeadLetters": wire.DeadLetters{}, "DeadLetter": wire.DeadLetter{}, "Storage": wire.Storage{}, "Fleet": wire.Fleet{}, "FleetMachine": wire.FleetMachine{}, "FleetDecisions": wire.FleetDecisions{}, "FleetAnswer": wire.FleetAnswer{}, "HTTP": wire.HTTP{}, "Change": wire.Change{},
}

// Each schema has the members of its Go type, and no other; the members that are
// always there are required.
func TestOpenAPISchemasAreTheWireTypes(t *testing.T) {
	s := loadSpec(t)
	for name, value := range wireTypes {
		schema := s.node("components", "schemas", name)
		properties, _ := schema["properties"].(map[string]any)
		required := strings.Split(strings.Trim(strings.ReplaceAll(toText(schema["required"]), " ", ","), "[]"), ",")
		known := map[string]bool{}
		typ := reflect.TypeOf(value)
		for _, field := range reflect.VisibleFields(typ) {
			key, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key == "-" || key == "" {
				continue
			}
			known[key] = true
			if properties[key] == nil {
				t.Errorf("openapi.yaml: schema %s has no %q", name, key)
			}
			if always := !strings.Contains(rest, "omit"); always != slices.Contains(required, key) {
				t.Errorf("openapi.yaml: schema %s: %q is always there: %v, required: %v", name, key, always, !always)
			}
		}
		for key := range properties {
			if !known[key] {
				t.Errorf("openapi.yaml: schema %s has %q, which %s has not", name, key, typ)
			}
		}
	}
}

// A record of the stream has the members that package client reads.
func TestOpenAPIEventRecordIsTheClients(t *testing.T) {
	properties := loadSpec(t).node("components", "schemas", "EventRecord", "properties")
	typ := reflect.TypeFor[client.EventRecord]()
	known := []string{"type", "seq"}
	for _, field := range reflect.VisibleFields(typ) {
		if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "" {
			known = append(known, key)
		}
	}
	for _, key := range known {
		if properties[key] == nil {
			t.Errorf("openapi.yaml: schema EventRecord has no %q", key)
		}
	}
	if len(properties) != len(known) {
		t.Errorf("openapi.yaml: schema EventRecord has %d members, package client %d", len(properties), len(known))
	}
}

func toText(v any) string {
	list, _ := v.([]any)
	words := make([]string, len(list))
	for i, w := range list {
		words[i], _ = w.(string)
	}
	return strings.Join(words, ",")
}

// ids stand in paths for the ids that are known only when the daemon runs.
type ids map[string]string

func (m ids) fill(path string) string {
	for word, id := range m {
		path = strings.Replace(path, "/"+word, "/"+id, 1)
	}
	return path
}

// fleetDead puts two dead letters, 1 and 2, to where a machine that takes work keeps them.
func fleetDead(t *testing.T, url string) {
	t.Helper()
	b, err := jetstream.Connect(engine.Options{Servers: []string{url}, Machine: "other"}, nil)
	hooktest.Must(t, err)
	defer b.Close()
	for range 2 {
		text := fmt.Sprintf(`{"machine":"other","hook":"work","event_id":%q,"tries":50,"event":{"event":"work:one","data":{}}}`,
			events.NewID(time.Now()))
		letter := []engine.Message{{Subject: "hookd.default.other.dead.work", Data: []byte(text)}}
		hooktest.Until(t, "it is there", func() bool { return b.Publish(t.Context(), letter)[0] == nil })
	}
}

// deadLetters makes two of them, an event that can be replayed, and a run that
// goes on.
func deadLetters(h *house) ids {
	h.t.Helper()
	known := ids{"EVENT": h.send(event{"", "my:event", map[string]any{"short": true}}).EventID}
	h.send(event{"", "dies:once", map[string]any{"n": 1}})
	h.send(event{"", "dies:twice", nil})
	if _, err := h.client.Emit(h.t.Context(), client.Event{Event: "long:one"}); err != nil {
		h.t.Fatal(err)
	}
	hooktest.Until(h.t, "a run is under way", func() bool {
		runs, err := h.client.Running(h.t.Context())
		if err != nil || len(runs) != 1 || runs[0].Hook != "long" {
			return false
		}
		known["UNDERWAY"] = runs[0].RunID
		return true
	})
	hooktest.Until(h.t, "two runs were given up", func() bool {
		dead, err := h.client.DeadLetters(h.t.Context(), "", 0)
		if err != nil || len(dead) != 2 {
			return false
		}
		known["DEAD"], known["OTHER"] = strconv.FormatInt(dead[0].ID, 10), strconv.FormatInt(dead[1].ID, 10)
		return true
	})
	return known
}

// heldAsk has an agent wait for an answer, while a client follows that can give it.
func heldAsk(h *house) (id string) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	h.t.Cleanup(cancel)
	records := make(chan client.AskRecord)
	go func() {
		for r, err := range h.client.FollowAsks(ctx, true) {
			if err != nil {
				return
			}
			select {
			case records <- r:
			case <-ctx.Done():
			}
		}
	}()
	if r := <-records; r.Type != client.AskOpen || r.Open != 0 {
		h.t.Fatalf("the first record of asks is %+v", r)
	}
	hooktest.Send(h.t, h.client.Socket(), `{"event":"PreToolUse","dialect":"codex","session_id":"s","cwd":"/p","wait":true,`+
		`"data":{"tool_name":"Bash","tool_input":{"command":"git push --force"}}}`)
	select {
	case r := <-records:
		if r.Type != client.AskHeld || r.Ask.Subject != "git push --force" {
			h.t.Fatalf("the record of the ask is %+v", r)
		}
		return r.Ask.ID
	case <-time.After(hooktest.Patience):
		h.t.Fatal("no ask was held")
		return ""
	}
}

// A real daemon answers as the document says.
func TestOpenAPIDescribesRealAnswers(t *testing.T) {
	home := newHome(t)
	hook := func(name, yaml string) {
		hooktest.Write(t, filepath.Join(home, "hooks", name, "HOOK.yaml"), "name: "+name+"\n"+yaml, 0o644)
	}
	hook("guard", "events: pre_tool_use\ntype: script\nscript: 'grep -q rm && { echo no >&2; exit 2; }; echo {}'\n"+
		"tests:\n- {data: {command: rm x}, expect: deny}\n- {data: {command: ls}, expect: ask}\n")
	hook("push", "events: PreToolUse\ntype: script\nscript: |\n  echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"a push\"}}'\n")
	hook("asks", "events: pre_tool_use\ntype: script\nscript: |\n  echo '{\"hook_specific_output\":{\"permission_decision\":\"ask\",\"updated_input\":{\"a\":1}}}'\n")
	hook("turn", "events: [user_prompt_submit, transform_tool_result]\ntype: script\nscript: 'echo some text'\n")
	hook("fails", "events: ['my:*']\ncommand: ./missing\n")
	hook("broken", "events: ['[']\ncommand: ./x\n")
	hook("long", "events: ['long:*']\ntype: script\nscript: 'exec sleep 600'\ntimeout: 10m\n")
	hook("dies", "events: ['dies:*']\ncommand: ./missing\nretry: {max: 1, backoff: 1ms}\n")
	hook("work", "events: ['work:*']\nscope: fleet\ntype: script\nscript: ':'\n")
	hooktest.ProgramsInPath(t)
	fleetServer := fleettest.Start(t, nil)
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"),
		"fleet: {name: m, servers: ["+fleetServer.URL()+"]}\n", 0o600)
	hooktest.Write(t, filepath.Join(home, "notes"), "old", 0o600)
	s, h := loadSpec(t), start(t, home)
	c := door(h)
	hooktest.Until(t, "the fleet has its streams and the machine", func() bool {
		f, err := h.client.Fleet(t.Context())
		return err == nil && len(f.Machines) == 1
	})
	fleetDead(t, fleetServer.URL())
	ids := deadLetters(h)
	ids["ASK"] = heldAsk(h)
	ids["DENIED"] = h.send(event{"", "pre_tool_use", map[string]any{
		"session_id": "d", "tool_name": "shell", "tool_input": map[string]any{"cmd": "rm x"},
	}}).EventID
	requests := []struct {
		method, path, route, media, body string
		status                           int
	}{
		{"POST", "/v1/events", "", wire.JSON, `{"event":"agent:end","data":{"status":5}}`, 202},
		{"GET", "/v1/undo", "", "", "", 200},
		{"POST", "/v1/events", "", wire.JSON, `{"event":"PreToolUse","dialect":"claude-code","wait":true,` +
			`"session_id":"u","data":{"session_id":"u","cwd":"` + home + `","tool_name":"Bash","tool_use_id":"t",` +
			`"tool_input":{"command":"echo > notes"}}}`, 200},
		{"GET", "/v1/undo?session=uuuuuu", "/v1/undo", "", "", 200},
		{"DELETE", "/v1/undo/none", "/v1/undo/{id}", "", "", 404},
		{"DELETE", "/v1/undo/all", "/v1/undo/{id}", "", "", 200},
		{"POST", "/v1/undo/toolu_docs/dumps", "/v1/undo/{id}/dumps", wire.JSON, `{"path":"/etc/passwd","restore":"true"}`, 200},
		{"POST", "/v1/undo", "", wire.JSON, `{"since":"2006-01-02T15:04:05Z","preview":true}`, 404},
		{"POST", "/v1/events", "", wire.JSON, `{"event":"my:event","wait":true,"id":"1"}`, 200},
		{"POST", "/v1/events?wait", "/v1/events", wire.JSON, `{"event":"my:event","id":"1"}`, 200},
		{"POST", "/v1/events?wait=1", "/v1/events", "", `{"event":"pre_tool_use","session_id":"s","data":{"tool_name":"shell","tool_input":{"cmd":"ls"},"cwd":"/tmp","agent_name":"root"}}`, 200},
		{"POST", "/v1/events?wait=1", "/v1/events", "", `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"rm"}}}`, 200},
		{"POST", "/v1/events?wait=1", "/v1/events", "", `{"event":"user_prompt_submit","data":{"prompt":"x"}}`, 200},
		{"POST", "/v1/events?wait=1", "/v1/events", "", `{"event":"transform_tool_result","data":{"tool_output":"x"}}`, 200},
		{"POST", "/v1/events?wait=maybe", "/v1/events", "", `{}`, 400},
		{"POST", "/v1/events", "", "", `{"event":"a b"}`, 400},
		{"POST", "/v1/events", "", "", `{"event":"hookd:x"}`, 400},
		{"POST", "/v1/events", "", "", `{`, 400},
		{"POST", "/v1/events", "", wire.NDJSON, "{\"event\":\"x\"}\n{\"event\":\"hookd:x\"}\n{\"event\":\"my:event\",\"wait\":true}\n", 202},
		{"POST", "/v1/events?wait=1", "/v1/events", wire.NDJSON, "{\"event\":\"pre_tool_use\"}\n", 200},
		{"GET", "/v1/events?since=0", "/v1/events", "", "", 200},
		{"GET", "/v1/events?since=0&epoch=other", "/v1/events", "", "", 200},
		{"GET", "/v1/events?since=0&follow=0", "/v1/events", wire.EventStream, "", 200},
		{"GET", "/v1/events?since=x", "/v1/events", "", "", 400},
		{"PUT", "/v1/events", "", "", "", 405},
		{"GET", "/v1/hooks", "", "", "", 200},
		{"GET", "/v1/hooks/guard", "/v1/hooks/{name}", "", "", 200},
		{"GET", "/v1/hooks/broken", "/v1/hooks/{name}", "", "", 200},
		{"GET", "/v1/hooks/none", "/v1/hooks/{name}", "", "", 404},
		{"POST", "/v1/hooks/guard/test", "/v1/hooks/{name}/test", "", "", 200},
		{"POST", "/v1/hooks/guard/test", "/v1/hooks/{name}/test", "", `{"event":"agent:end","data":{}}`, 200},
		{"POST", "/v1/hooks/fails/test", "/v1/hooks/{name}/test", "", `{"event":"my:event"}`, 200},
		{"POST", "/v1/hooks/guard/tests", "/v1/hooks/{name}/tests", "", "", 200},
		{"POST", "/v1/hooks/broken/tests", "/v1/hooks/{name}/tests", "", "", 422},
		{"POST", "/v1/hooks/broken/test", "/v1/hooks/{name}/test", "", "", 422},
		{"POST", "/v1/reload", "", "", "", 422},
		{"GET", "/v1/runs", "", "", "", 200},
		{"GET", "/v1/runs?hook=fails&limit=1&since=1h&result=spawn_error", "/v1/runs", "", "", 200},
		{"GET", "/v1/runs?limit=x", "/v1/runs", "", "", 400},
		{"GET", "/v1/runs?tool=shell&q=rm", "/v1/runs", "", "", 200},
		{"GET", "/v1/runs?hok=guard", "/v1/runs", "", "", 400},
		{"GET", "/v1/decisions", "", "", "", 200},
		{"GET", "/v1/decisions?decision=deny,ask&tool=shell,Bash&q=rm&since=1h&limit=1", "/v1/decisions", "", "", 200},
		{"GET", "/v1/decisions?decision=no", "/v1/decisions", "", "", 400},
		{"GET", "/v1/sessions?agent=docker-agent&state=working", "/v1/sessions", "", "", 200},
		{"GET", "/v1/sessions", "", "", "", 200},
		{"GET", "/v1/decisions/counts", "", "", "", 200},
		{"GET", "/v1/decisions/counts?tool=Bash&since=1h&every=1m", "/v1/decisions/counts", "", "", 200},
		{"GET", "/v1/decisions/counts?every=1m", "/v1/decisions/counts", "", "", 400},
		{"GET", "/v1/accepted", "", "", "", 200},
		{"GET", "/v1/past", "", "", "", 200},
		{"GET", "/v1/past?tool=Bash&limit=1", "/v1/past", "", "", 200},
		{"GET", "/v1/accepted?agent=docker-agent&q=ls&limit=1", "/v1/accepted", "", "", 200},
		{"GET", "/v1/runs/RUN", "/v1/runs/{id}", "", "", 200},
		{"GET", "/v1/events/EVENT", "/v1/events/{id}", "", "", 200},
		{"GET", "/v1/events/none", "/v1/events/{id}", "", "", 404},
		{"GET", "/v1/agents/docker-agent/last", "/v1/agents/{agent}/last", "", "", 200},
		{"GET", "/v1/agents/cursor/last?except=s", "/v1/agents/{agent}/last", "", "", 404},
		{"POST", "/v1/events/EVENT/replay", "/v1/events/{id}/replay", "", `{"dry_run":true}`, 200},
		{"POST", "/v1/events/EVENT/replay", "/v1/events/{id}/replay", "", "", 200},
		{"POST", "/v1/events/EVENT/replay", "/v1/events/{id}/replay", "", "[", 400},
		{"GET", "/v1/asks", "", "", "", 200},
		{"GET", "/v1/asks/ASK", "/v1/asks/{id}", "", "", 200},
		{"GET", "/v1/asks/none", "/v1/asks/{id}", "", "", 404},
		{"POST", "/v1/asks/ASK", "/v1/asks/{id}", "", `{"answer":"maybe"}`, 400},
		{"POST", "/v1/asks/ASK", "/v1/asks/{id}", "", `{"answer":"allow"}`, 400},
		{"POST", "/v1/asks/ASK", "/v1/asks/{id}", "", `{"answer":"allow","fro":"always"}`, 400},
		{"POST", "/v1/asks/ASK", "/v1/asks/{id}", "", `{"answer":"allow","digest":"DIGEST","for":"session","like":"git push *","door":"page"}`, 200},
		{"POST", "/v1/asks/ASK", "/v1/asks/{id}", "", `{"answer":"deny"}`, 409},
		{"GET", "/v1/asks/ASK", "/v1/asks/{id}", "", "", 200},
		{"POST", "/v1/decisions/DENIED/permit", "/v1/decisions/{id}/permit", "", `{"for":"15m"}`, 200},
		{"POST", "/v1/decisions/none/permit", "/v1/decisions/{id}/permit", "", "", 404},
		{"POST", "/v1/decisions/none/permit", "/v1/decisions/{id}/permit", "", `{"fro":"15m"}`, 400},
		{"GET", "/v1/grants", "", "", "", 200},
		{"DELETE", "/v1/grants/GRANT", "/v1/grants/{id}", "", "", 200},
		{"DELETE", "/v1/grants/none", "/v1/grants/{id}", "", "", 404},
		{"GET", "/v1/stats", "", "", "", 200},
		{"GET", "/v1/stats?hook=fails&since=1h&until=0s", "/v1/stats", "", "", 200},
		{"GET", "/v1/stats?by=tool", "/v1/stats", "", "", 200},
		{"GET", "/v1/stats?by=week", "/v1/stats", "", "", 400},
		{"GET", "/v1/stats?since=x", "/v1/stats", "", "", 400},
		{"GET", "/v1/dead", "", "", "", 200},
		{"GET", "/v1/dead/DEAD", "/v1/dead/{id}", "", "", 200},
		{"GET", "/v1/dead/x", "/v1/dead/{id}", "", "", 400},
		{"DELETE", "/v1/dead/DEAD", "/v1/dead/{id}", "", "", 200},
		{"DELETE", "/v1/dead/DEAD", "/v1/dead/{id}", "", "", 404},
		{"POST", "/v1/recover", "", "", "", 200},
		{"POST", "/v1/weaken?what=test", "/v1/weaken", "", "", 200},
		{"POST", "/v1/dead/OTHER/retry", "/v1/dead/{id}/retry", "", "", 200},
		{"GET", "/v1/running", "", "", "", 200},
		{"POST", "/v1/boxes/x", "/v1/boxes/{id}", "", `{"profile":"project","line":"ls","cwd":"/"}`, 200},
		{"POST", "/v1/boxes/x/end", "/v1/boxes/{id}/end", "", `{"level":"namespaces","exit":0}`, 200},
		{"POST", "/v1/runs/UNDERWAY/kill", "/v1/runs/{id}/kill", "", "", 200},
		{"POST", "/v1/runs/none/kill", "/v1/runs/{id}/kill", "", "", 404},
		{"GET", "/v1/runs?test=1", "/v1/runs", "", "", 200},
		{"GET", "/v1/runs/none", "/v1/runs/{id}", "", "", 404},
		{"GET", "/v1/fleet", "", "", "", 200},
		{"GET", "/v1/fleet/decisions?machine=m&since=1h", "/v1/fleet/decisions", "", "", 200},
		{"GET", "/v1/fleet/decisions?through=x", "/v1/fleet/decisions", "", "", 400},
		{"GET", "/v1/fleet/sessions", "", "", "", 200},
		{"GET", "/v1/fleet/asks", "", "", "", 200},
		{"POST", "/v1/fleet/answers", "", "", signedAnswer, 200},
		{"POST", "/v1/fleet/answers", "", "", `[`, 400},
		{"POST", "/v1/fleet/link", "", "", "", 403},
		{"GET", "/v1/fleet/dead", "", "", "", 200},
		{"GET", "/v1/fleet/dead/1", "/v1/fleet/dead/{id}", "", "", 200},
		{"GET", "/v1/fleet/dead/x", "/v1/fleet/dead/{id}", "", "", 400},
		{"POST", "/v1/fleet/dead/1/retry", "/v1/fleet/dead/{id}/retry", "", "", 200},
		{"DELETE", "/v1/fleet/dead/2", "/v1/fleet/dead/{id}", "", "", 200},
		{"DELETE", "/v1/fleet/dead/2", "/v1/fleet/dead/{id}", "", "", 404},
		{"GET", "/v1/status", "", "", "", 200},
		{"GET", "/healthz", "", "", "", 200},
		{"GET", "/readyz", "", "", "", 200},
		{"GET", "/metrics", "", "", "", 200},
	}
	seen := map[string]bool{}
	for _, r := range requests {
		route := r.route
		if route == "" {
			route = r.path
		}
		resp, body := ask(t, c, r.method, ids.fill(r.path), r.media, strings.Replace(r.body, "DIGEST", ids["DIGEST"], 1))
		if resp.StatusCode != r.status {
			t.Errorf("%s %s %s: %d %s, want %d", r.method, r.path, r.body, resp.StatusCode, body, r.status)
			continue
		}
		if r.status == 405 {
			var refusal wire.Refusal
			if err := json.Unmarshal(body, &refusal); err != nil || refusal.Error == nil {
				t.Errorf("%s %s: %s", r.method, r.path, body)
			}
			continue
		}
		if resp.StatusCode < 300 || route == "/v1/fleet/link" || // which no process but hookd-fleet has
			route == "/v1/undo" { // its calls did not run: what it says of one that did is tested where it is made
			seen[r.method+" "+route] = true
		}
		s.check(t, r.method, route, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		var list wire.Runs
		if json.Unmarshal(body, &list) == nil && len(list.Runs) > 0 {
			ids["RUN"] = list.Runs[0].ID
		}
		var shown wire.Ask
		if json.Unmarshal(body, &shown) == nil && shown.Card != nil {
			ids["DIGEST"] = shown.Card.Digest
		}
		var answered wire.Replied
		if json.Unmarshal(body, &answered) == nil && len(answered.Grants) > 0 {
			ids["GRANT"] = answered.Grants[0].ID
		}
	}
	hooktest.Write(t, filepath.Join(home, "hooks", "broken", "HOOK.yaml"), "name: broken\nevents: x\ntype: script\nscript: ':'\nunknown: 1\n", 0o644)
	resp, body := ask(t, c, "POST", "/v1/reload", "", "")
	s.check(t, "POST", "/v1/reload", resp.StatusCode, resp.Header.Get("Content-Type"), body)
	seen["POST /v1/reload"] = resp.StatusCode == 200
	for _, route := range s.operations() {
		if !seen[route] {
			t.Errorf("no answer of %s was checked", route)
		}
	}
}

// signedAnswer says of an ask of another machine that it is allowed; no approver has signed it.
const signedAnswer = `{"text":"eyJ0ZW5hbnQiOiJkZWZhdWx0IiwibWFjaGluZSI6Im90aGVyIiwiYXNrIjoieCJ9","signature":"AA=="}`

// The document allows each event of this project's examples. The daemon
// refuses every event that the document does not allow.
func TestOpenAPIEventIsWhatTheDaemonTakes(t *testing.T) {
	s := loadSpec(t)
	schema, err := s.compiler.Compile("openapi.json#/components/schemas/Event")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"event":"agent:end","data":{"agent_id":"a","status":"ok"},"wait":false,"id":"x","session_id":"s","agent_id":"a","agent_name":"n","cwd":"/p","sender":"librefang","dialect":"librefang","lane":"default","timeout_ms":4000,"parent":"e"}`,
		`{"event":"A"}`, `{"event":"my-app:deployed.v2:x_y","unknown":1}`, `{"event":"x","data":null,"wait":null,"id":null,"timeout_ms":null,"lane":""}`,
		`{}`, `{"event":1}`, `{"event":"a b"}`, `{"event":":a"}`, `{"event":"1a"}`, `{"event":"` + strings.Repeat("a", 129) + `"}`,
		`{"event":"x","data":[]}`, `{"event":"x","wait":"yes"}`, `{"event":"x","id":"` + strings.Repeat("a", 129) + `"}`, `{"event":"x","cwd":5}`,
		`{"event":"x","lane":"fast"}`, `{"event":"x","timeout_ms":-1}`, `{"event":"x","timeout_ms":600001}`, `{"event":"x","timeout_ms":1.5}`,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		_, bad := events.Parse([]byte(line))
		if err := schema.Validate(value); (err == nil) != (bad == nil) {
			t.Errorf("%s: the document says %v, the daemon %v", line, err, bad)
		}
	}
}

// On the line door answers have the members of the HTTP door's, and ok.
func TestOpenAPIDescribesLineAnswers(t *testing.T) {
	s, h := loadSpec(t), start(t, newHome(t))
	schema, err := s.compiler.Compile("openapi.json#/components/schemas/LineAnswer")
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("unix", h.client.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "{\"event\":\"x\"}\n{\"event\":\"a b\"}\n{\"event\":\"y\",\"wait\":true}\n")
	in := bufio.NewScanner(nc)
	for range 3 {
		if !in.Scan() {
			t.Fatal(in.Err())
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(in.Bytes()))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%v in %s", err, in.Bytes())
		}
	}
}
