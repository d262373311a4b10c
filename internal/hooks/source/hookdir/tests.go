package hookdir

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// testKeys are the members of a test.
var testKeys = []string{"name", "event", "tool", "data", "cwd", "dialect", "expect", "reason", "context", "given"}

// givenKeys are the members of an element of `given`.
var givenKeys = []string{
	"command", "tool", "data", "prompt", "start", "ok", "denied", "running", "times", "ago", "session",
}

// setTests reads the tests.
func (d *draft) setTests(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.wrongType(n, "a list of tests")
		return
	}
	for _, item := range n.Content {
		d.hook.Tests = append(d.hook.Tests, d.test(item))
	}
}

func (d *draft) test(n *yaml.Node) hook.Test {
	t := hook.Test{Line: n.Line}
	d.members(n, "tests", testKeys, func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			d.text(value, &t.Name)
		case "event":
			d.testEvent(value, &t.Event)
		case "tool":
			d.text(value, &t.Tool)
		case "cwd":
			d.text(value, &t.Cwd)
		case "dialect":
			word(&d.valueReader, value, dialects(), &t.Dialect)
		case "data":
			t.Data = d.json(value)
		case "expect":
			word(&d.valueReader, value, hook.Expectations(), &t.Expect)
		case "reason":
			d.text(value, &t.Reason)
		case "context":
			d.text(value, &t.Context)
		case "given":
			t.Given = d.givenList(value)
		}
	})
	if t.Expect == "" && yamlnode.Resolve(n).Kind == yaml.MappingNode {
		d.reject(n, "write one of "+strings.Join(hook.Expectations(), ", "), "a test must say what it expects")
	}
	return t
}

// givenList reads the events before a test.
func (d *draft) givenList(n *yaml.Node) (list []hook.Given) {
	if n.Kind != yaml.SequenceNode {
		d.wrongType(n, "a list of calls and prompts")
		return nil
	}
	for _, item := range n.Content {
		if item = yamlnode.Resolve(item); item.Kind == yaml.ScalarNode && item.ShortTag() == "!!str" {
			list = append(list, hook.Given{Data: lineData(item.Value), OK: "true"})
			continue
		}
		list = append(list, d.givenOne(item))
	}
	return list
}

// lineData is the arguments of a shell call.
func lineData(line string) json.RawMessage {
	return rawjson.With([]byte("{}"), rawjson.StringMember("command", line))
}

func (d *draft) givenOne(n *yaml.Node) hook.Given {
	g := hook.Given{OK: "true"}
	before := len(d.problems)
	d.members(n, "given", givenKeys, func(key, value *yaml.Node) {
		switch key.Value {
		case "command":
			line := ""
			d.text(value, &line)
			g.Data = lineData(line)
		case "tool":
			d.text(value, &g.Tool)
		case "data":
			g.Data = d.json(value)
		case "prompt":
			d.text(value, &g.Prompt)
		case "start":
			d.boolean(value, &g.Start)
		case "ok":
			if g.OK = value.Value; !slices.Contains([]string{"true", "false", "unknown"}, g.OK) {
				d.reject(value, "write true, false or unknown", "bad ok %q", value.Value)
			}
		case "denied":
			d.boolean(value, &g.Denied)
		case "running":
			d.boolean(value, &g.Running)
		case "times":
			times, err := strconv.Atoi(value.Value)
			if err != nil || times < 1 || times > 10_000 {
				d.reject(value, "write a number from 1 to 10000", "bad times %q", value.Value)
			}
			g.Times = times
		case "ago":
			if t, ok := d.duration(value); ok {
				g.Ago = t
			}
		case "session":
			d.text(value, &g.Session)
		}
	})
	if len(d.problems) == before && g.Data == nil && g.Prompt == "" && !g.Start {
		d.reject(n, "write `command: go test ./...`, or `tool` and `data`, or `prompt`", "given needs a call or a prompt")
	}
	return g
}

func (d *draft) testEvent(n *yaml.Node, to *string) {
	if !d.text(n, to) {
		return
	}
	if err := events.CheckName(*to); err != nil {
		d.reject(n, "", "bad event of a test: %s", err.Message)
		return
	}
	d.checkEvent(n)
}

func dialects() (names []string) {
	for _, d := range events.Dialects() {
		names = append(names, string(d))
	}
	return names
}

// json returns a mapping as a JSON object.
func (r *valueReader) json(n *yaml.Node) json.RawMessage {
	if n.Kind != yaml.MappingNode {
		r.reject(n, "", "the data of a test must be a mapping, is %s", kind(n))
		return nil
	}
	var v any
	if err := n.Decode(&v); err != nil { // too many aliases
		r.reject(n, "", "the data of a test: %v", err)
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		r.reject(n, "keys must be texts", "the data of a test is no JSON: %v", err)
	}
	return text
}

// maxDebounce bounds how long an event may wait for the next one.
const maxDebounce = time.Hour
