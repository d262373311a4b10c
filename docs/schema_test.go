package docs

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/schema"
)

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, filepath.Join("reference", "schema", name+".json"))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ofYAML is a YAML text as the values that a schema looks at.
func ofYAML(t *testing.T, text string) any {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// The schemas equal the output of `hookd schema`.
func TestSchemasAreCurrent(t *testing.T) {
	for _, name := range schema.Names {
		want, _ := schema.Of(name)
		if got := read(t, filepath.Join("reference", "schema", name+".json")); got != string(want) {
			t.Errorf("reference/schema/%s.json is not what the code says: type go test ./cmd/hookd -run TestDocs -update", name)
		}
	}
}

// Every example of a hook is valid: the gallery, the examples of the tests, and the hooks in
// the documents.
func TestHookSchema(t *testing.T) {
	s := compiled(t, "hook")
	checked := 0
	valid := func(where, text string) {
		t.Helper()
		checked++
		if err := s.Validate(ofYAML(t, text)); err != nil {
			t.Errorf("%s: %v\n%s", where, err, text)
		}
	}
	for _, pattern := range []string{"gallery/*/HOOK.yaml", "../testdata/hooks/*/HOOK.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			valid(file, read(t, file))
		}
	}
	for _, doc := range documents(t) {
		for _, text := range between(read(t, doc), "HOOK.yaml <<'END'\n", "END\n") {
			if strings.Contains("\n"+text, "\nevents:") { // else it is appended to one
				valid(doc, text)
			}
		}
		for _, text := range between(read(t, doc), "```yaml\n", "```\n") {
			if strings.HasPrefix(text, "name:") && strings.Contains(text, "\nevents:") {
				valid(doc, text)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d examples were found, the search is broken", checked)
	}
	const begin = "name: x\nevents: '*'\n"
	for _, bad := range []string{
		"name: x\ncommand: ./x\n", begin, begin + "type: script\n", begin + "type: script\ncommand: ./x\n", begin + "type: nothing\ncommand: ./x\n",
		begin + "command: ./x\ntimeout: soon\n", begin + "command: ./x\ntimeout: -1\n", begin + "command: ./x\nblocking: maybe\n",
		begin + "command: ./x\nfilter: {tool: [a]}\n", begin + "command: ./x\ncomand: y\n", begin + "command: [a]\n", begin + "command: ./x\nretry: 3\n",
	} {
		if s.Validate(ofYAML(t, bad)) == nil {
			t.Errorf("valid, and is not:\n%s", bad)
		}
	}
}

// Every example of settings is valid.
func TestSettingsSchema(t *testing.T) {
	s := compiled(t, "settings")
	checked := 0
	for _, doc := range documents(t) {
		for _, text := range append(between(read(t, doc), "hookd.yaml <<'END'\n", "END\n"), between(read(t, doc), "```yaml\n", "```\n")...) {
			first, _, _ := strings.Cut(strings.TrimLeft(text, "# \n"), ":")
			if !strings.Contains(" sources providers env history timeouts snapshot http reload log path agents socket slots queue ", " "+first+" ") {
				continue
			}
			checked++
			if err := s.Validate(ofYAML(t, text)); err != nil {
				t.Errorf("%s: %v\n%s", doc, err, text)
			}
		}
	}
	for _, good := range []string{
		"", "log: {level: debug, format: json}\n", "queue: {max_bytes: 64MiB, max_events: 5}\nhistory: {max_age: 30d}\n", "timeouts: {command: 5, script: 500ms}\n",
		"env: {A: 1, B: true, C: x}\nfire_startup: false\n",
	} {
		if err := s.Validate(ofYAML(t, good)); err != nil {
			t.Errorf("%v\n%s", err, good)
		}
	}
	for _, bad := range []string{
		"log: {level: loud}\n", "log: debug\n", "slots: {observers: 0}\n", "history: {max_age: long}\n", "sources: [{type: zip, path: x}]\n", "sokcet: x\n",
		"http: {listen: 7780}\n", "queue: {max_bytes: 1TB}\n", "agents: {default: {prompt: stdin}}\n",
	} {
		if s.Validate(ofYAML(t, bad)) == nil {
			t.Errorf("valid, and is not:\n%s", bad)
		}
	}
	if checked < 3 {
		t.Errorf("only %d examples were found, the search is broken", checked)
	}
}

// The documented example of each event is valid, and an event that the socket refuses is not.
func TestEventSchema(t *testing.T) {
	s := compiled(t, "event")
	for _, c := range events.All() {
		text, err := json.Marshal(map[string]any{"event": c.Name, "dialect": c.Dialect, "data": c.Example(), "wait": true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(ofYAML(t, string(text))); err != nil {
			t.Errorf("%s of %s: %v\n%s", c.Name, c.Dialect, err, text)
		}
	}
	for _, bad := range []string{
		`{}`, `[]`, `{"event":""}`, `{"event":"a","data":[]}`, `{"event":"a","wait":"yes"}`, `{"event":"a","dialect":"unknown"}`,
		`{"event":"PreToolUse","dialect":"claude-code","data":{"tool_name":7}}`,
	} {
		if s.Validate(ofYAML(t, bad)) == nil {
			t.Errorf("valid, and is not: %s", bad)
		}
	}
}

// between returns the texts between a beginning and the next end.
func between(text, begin, end string) (all []string) {
	for {
		_, rest, ok := strings.Cut(text, begin)
		if !ok {
			return all
		}
		part, rest, _ := strings.Cut(rest, end)
		all, text = append(all, part), rest
	}
}

// documents are all texts for people.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	return append(files, "../README.md")
}
