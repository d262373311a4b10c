// Package schema writes JSON Schemas (draft 2020-12) for the texts that people write by hand:
// HOOK.yaml, hookd.yaml, and an event on the socket. They are made from the tables that hookd
// itself reads, so editors complete and check the input that hookd takes.
//
// They promise: a text that hookd accepts without a warning is valid. The reverse does not
// hold: a schema cannot try a pattern, find a program or compare two hooks.
package schema

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// object is a JSON object; its members are written in the order of their names.
type object = map[string]any

// Names are the schemas, as Of takes them.
var Names = []string{"hook", "settings", "event"}

// Of returns a schema as indented JSON; ok is false for an unknown name.
func Of(name string) (text []byte, ok bool) {
	var s object
	switch name {
	case "hook":
		s = hookSchema()
	case "settings":
		s = settingsSchema()
	case "event":
		s = eventSchema()
	default:
		return nil, false
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "https://raw.githubusercontent.com/hookd/hookd/main/docs/reference/schema/" + name + ".json"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if enc.Encode(s) != nil { // maps, lists and texts always encode
		return nil, false
	}
	return b.Bytes(), true
}

// closed is an object with these members and no others.
func closed(members object, required ...string) object {
	o := object{"type": "object", "properties": members, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func listOf(item object) object { return object{"type": "array", "items": item} }

var (
	str = object{"type": "string"}
	// A value of YAML that is written without quotes may be a number or a bool.
	scalar    = object{"type": []string{"string", "number", "boolean"}}
	variables = object{"type": "object", "additionalProperties": scalar, "propertyNames": object{"pattern": "^[^=]+$"}}
	// Go's durations, or a number of seconds.
	duration = object{"anyOf": []object{
		{"type": "number", "minimum": 0},
		{"type": "string", "pattern": `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$|^\+?0$`},
	}}
)

// hookSchema is that of HOOK.yaml.
func hookSchema() object {
	top := object{}
	groups := map[string]object{}
	var required []string
	needs := map[hook.Type][]string{}
	for _, f := range hookdir.Fields() {
		member := fieldSchema(f)
		member["description"] = f.Doc
		group, key, nested := strings.Cut(f.Key, ".")
		switch {
		case nested:
			groups[group][key] = member
			continue
		case f.Type == "mapping" && f.Key != "env":
			groups[f.Key] = object{}
			member = closed(groups[f.Key])
			member["description"] = f.Doc
		}
		top[f.Key] = member
		switch {
		case f.Key == "events": // rules do without, see below
		case f.Required && len(f.For) == 0:
			required = append(required, f.Key)
		case f.Required:
			for _, t := range f.For {
				needs[t] = append(needs[t], f.Key)
			}
		}
	}
	s := closed(top, required...)
	s["title"] = "HOOK.yaml of hookd"
	s["allOf"] = append(neededBy(needs), object{
		"if": object{"not": object{"required": []string{"rules"}}}, "then": object{"required": []string{"events"}},
	})
	return s
}

// neededBy says which members hooks of each type need. A hook without a type is a
// command.
func neededBy(needs map[hook.Type][]string) (rules []object) {
	for _, t := range []hook.Type{hook.Command, hook.Script, hook.Builtin, hook.Model} {
		is := object{"properties": object{"type": object{"const": t}}}
		if t == hook.Command {
			is["not"] = object{"required": []string{"rules"}}
		} else {
			is["required"] = []string{"type"}
		}
		if len(needs[t]) > 0 {
			rules = append(rules, object{"if": is, "then": object{"required": needs[t]}})
		}
	}
	return rules
}

func fieldSchema(f hookdir.Field) object {
	switch {
	case f.Values != nil:
		return object{"enum": f.Values}
	case f.Key == "env":
		return clone(variables)
	}
	switch f.Type {
	case "list of condition":
		one := conditionSchema()
		return object{"anyOf": []object{one, {"type": "array", "items": one, "minItems": 1}}}
	case "list of rule":
		return listOf(ruleSchema())
	case "list of test":
		return listOf(testSchema())
	case "rate":
		return object{"type": "string", "pattern": `^\s*[0-9]+\s*/\s*\S+\s*$`}
	case "list of glob, or one string":
		return object{"anyOf": []object{str, listOf(str)}}
	case "list of string":
		return listOf(str)
	case "duration or seconds":
		return clone(duration)
	case "auto, never or duration":
		return hold()
	case "bool":
		return object{"type": "boolean"}
	case "int":
		return object{"type": "integer", "minimum": 0}
	}
	return clone(str)
}

// conditionSchema is that of an element of `when`.
func conditionSchema() object {
	texts := object{"anyOf": []object{scalar, {"type": "array", "items": scalar, "minItems": 1}}}
	c := closed(object{"tool": texts, "command": texts, "path": texts, "prompt": texts})
	c["patternProperties"] = object{`^data\..+`: texts}
	c["minProperties"] = 1
	return c
}

// testSchema is that of an element of `tests`.
func testSchema() object {
	var dialects []string
	for _, d := range events.Dialects() {
		dialects = append(dialects, string(d))
	}
	return closed(object{
		"name": str, "event": str, "tool": str, "cwd": str, "reason": str, "context": str,
		"data":    object{"type": "object"},
		"dialect": object{"enum": dialects},
		"expect":  object{"enum": hook.Expectations()},
		"given":   object{"type": "array", "items": object{"anyOf": []object{str, givenSchema()}}},
	}, "expect")
}

// givenSchema is that of an element of `given` in a test.
func givenSchema() object {
	yes := object{"type": "boolean"}
	return closed(object{
		"command": str, "tool": str, "data": object{"type": "object"}, "prompt": str, "start": yes,
		"ok": object{"enum": []any{true, false, "unknown"}}, "denied": yes, "running": yes,
		"times": object{"type": "integer", "minimum": 1, "maximum": 10_000}, "ago": clone(duration), "session": str,
	})
}

// hold is auto, never or a duration.
func hold() object {
	return object{"anyOf": []object{{"enum": []string{config.HoldAuto, config.HoldNever}}, clone(duration)}}
}

func clone(o object) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	return c
}

// settingsSchema is that of hookd.yaml.
func settingsSchema() object {
	top := object{}
	groups := map[string]object{}
	for _, k := range config.Keys() {
		member := formSchema(k.Form)
		member["description"] = k.Doc
		group, key, nested := strings.Cut(k.Name, ".")
		if !nested {
			top[k.Name] = member
			continue
		}
		if groups[group] == nil {
			groups[group] = object{}
			top[group] = closed(groups[group])
		}
		groups[group][key] = member
	}
	s := closed(top)
	s["title"] = "hookd.yaml, the settings of hookd"
	s["type"] = []string{"object", "null"} // an empty file is one
	return s
}

func formSchema(f config.Form) object {
	switch f.Type {
	case config.FormPath:
		return object{"type": "string", "minLength": 1}
	case config.FormCount:
		return object{"type": "integer", "minimum": f.Low, "maximum": f.High}
	case config.FormSize:
		return object{"anyOf": []object{
			{"type": "integer", "minimum": 1}, {"type": "string", "pattern": `^[0-9]+\s*(KiB|MiB|GiB)?$`},
		}}
	case config.FormDuration:
		return clone(duration)
	case config.FormHold:
		return hold()
	case config.FormAge:
		return object{"type": "string", "pattern": `^([0-9]+d|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`}
	case config.FormBool:
		return object{"type": "boolean"}
	case config.FormWord:
		return object{"enum": f.Values}
	case config.FormSources:
		return listOf(closed(object{"type": object{"enum": config.SourceTypes}, "path": str}, "type", "path"))
	case config.FormProviders:
		return object{"type": "object", "additionalProperties": object{"type": "object", "properties": object{
			"type": object{"enum": []string{"openai", "anthropic"}}, "api_key_env": str,
			"base_url": object{"type": "string", "pattern": "^https?://"},
		}}}
	case config.FormAgents:
		return object{"type": "object", "additionalProperties": object{"type": "object", "required": []string{"command"},
			"properties": object{
				"command": object{"type": "array", "items": scalar, "minItems": 1},
				"prompt":  object{"enum": []string{"stdin", "arg"}},
			}}}
	case config.FormForward:
		return listOf(closed(object{
			"type": object{"enum": config.ForwardTypes()}, "name": str, "url": str, "path": str, "sign": str, "ca": str,
			"headers": object{"type": "object", "additionalProperties": str},
		}, "type"))
	case config.FormVariables:
		return clone(variables)
	case config.FormServers:
		return listOf(object{"type": "string", "pattern": "^(nats|tls)://"})
	case config.FormGlobs:
		return listOf(str)
	case config.FormApprovers:
		return object{"type": "object", "additionalProperties": object{"type": "string", "pattern": "^ed25519:"}}
	}
	return clone(str)
}

// eventSchema is that of a line on the socket, and of the body of POST /v1/events.
func eventSchema() object {
	var dialects []string
	for _, d := range events.Dialects() {
		dialects = append(dialects, string(d))
	}
	text := func(doc string) object { return object{"type": "string", "description": doc} }
	names := object{"type": "string", "minLength": 1,
		"description": "its name: from the list of `hookd events`, or your own, such as my-app:deployed"}
	s := object{
		"title": "An event of hookd", "type": "object", "required": []string{"event"},
		"properties": object{
			"event":      names,
			"data":       object{"type": "object", "description": "the payload; none means {}"},
			"wait":       object{"type": "boolean", "description": "answer when the hooks have decided"},
			"id":         text("the sender's own; the same one is accepted once"),
			"session_id": text("of the agent; events of one session keep their order"),
			"agent_id":   text("of the agent"),
			"agent_name": text("of the agent, which `filter.agents` of a hook matches"),
			"cwd":        text("the folder that the agent works in"),
			"sender":     text("what sent it"),
			"dialect":    object{"enum": dialects, "description": "the agent whose names and payloads these are"},
			"lane": object{"enum": []string{"", events.LaneDefault, events.LanePreempt},
				"description": "of pre_tool_use"},
			"timeout_ms": object{"type": "integer", "minimum": 0, "maximum": events.MaxTimeout.Milliseconds(),
				"description": "what its hooks may take together; 0 is by the hooks"},
			"parent": text("event_id of the event whose hook sent this one"),
		},
	}
	defs := object{}
	var rules []object
	for _, c := range events.All() {
		name := string(c.Dialect) + "." + strings.ReplaceAll(c.Name, ":", ".")
		fields := object{}
		for _, f := range c.Fields {
			fields[f.Name] = dataSchema(f)
		}
		defs[name] = object{"type": "object", "description": c.When, "properties": fields}
		rules = append(rules, object{
			"if": object{"required": []string{"event", "dialect"}, "properties": object{
				"event": object{"const": c.Name}, "dialect": object{"const": c.Dialect}}},
			"then": object{"properties": object{"data": object{"$ref": "#/$defs/" + name}}},
		})
	}
	s["$defs"], s["allOf"] = defs, rules
	return s
}

// dataSchema is that of a documented field of a payload.
func dataSchema(f events.Field) object {
	o := object{}
	switch f.Type {
	case events.String, events.Integer, events.Number, events.Boolean, events.Object, events.Array:
		o["type"] = string(f.Type)
		if f.Nullable {
			o["type"] = []string{string(f.Type), "null"}
		}
	}
	if f.Doc != "" {
		o["description"] = f.Doc
	}
	return o
}

// ruleSchema is one rule, or the name of a file or folder of rules.
func ruleSchema() object {
	matcher := object{"anyOf": []object{str, listOf(str), {"type": "object"}}}
	example := object{"anyOf": []object{str, {"type": "object"}}}
	properties := object{
		"name": str, "why": str, "instead": str, "to": str, "profile": str,
		"off": object{"const": true}, "unless": matcher, "after": matcher,
		"catches": listOf(example), "passes": listOf(example),
	}
	for _, d := range rules.Actions {
		properties[string(d)] = matcher
	}
	return object{"anyOf": []object{str, {"type": "object", "properties": properties, "additionalProperties": false}}}
}
