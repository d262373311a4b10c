package events

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Example returns a payload that has every documented field, with values of
// the right type, for trying a hook out. An event without documented fields
// gets {}.
func (c *Contract) Example() json.RawMessage {
	var members []rawjson.Member
	for _, f := range c.Fields {
		members = append(members, rawjson.Member{Key: f.Name, Value: f.example()})
	}
	return rawjson.With(json.RawMessage("{}"), members...)
}

func (f Field) example() json.RawMessage {
	if (f.Name == "tool_input" || f.Name == "tool_args") && f.Type == Object {
		return json.RawMessage(`{"command":"echo hello","cmd":"echo hello"}`)
	}
	switch f.Name {
	case "tool_name":
		return json.RawMessage(`"shell"`)
	case "status":
		return json.RawMessage(`"ok"`)
	case "cwd", "workspace":
		return json.RawMessage(`"/tmp"`)
	}
	switch f.Type {
	case Integer, Number:
		return json.RawMessage("1")
	case Boolean:
		return json.RawMessage("false")
	case Object:
		return json.RawMessage("{}")
	case Array:
		return json.RawMessage("[]")
	default:
		return rawjson.Quote("example " + f.Name)
	}
}
