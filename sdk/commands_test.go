package sdk

import (
	"encoding/json"
	"strings"
	"testing"
)

// Both SDKs say the same of the facts in a payload.
func TestCommands(t *testing.T) {
	const payload = `{"hook_event_name":"PreToolUse","event_id":"e1","tool_name":"Bash","facts":{"tool":"Bash","text":"X=1 sudo /bin/Rm.EXE *.o > l",
"commands":[{"words":[{"text":"sudo","kind":"literal"},{"text":"rm","kind":"literal"}],"text":"sudo rm","span":{"from":4,"to":11}},
{"words":[{"text":"/bin/Rm.EXE","kind":"literal"},{"text":"*.o","kind":"pattern"}],"text":"rm","via":["sudo"],"guess":true,
"env":[{"name":"X","value":{"text":"1","kind":"literal"}}],"redirects":[{"op":">","target":{"text":"l","kind":"literal"},"span":{"from":1,"to":2}}],
"span":{"from":4,"to":11}}],
"effects":[{"kind":"delete","target":"/w/*.o","certain":true,"span":{"from":4,"to":11},"command":1,"why":"rm *.o"}],
"doubts":[{"kind":"option","text":"-9","span":{"from":0,"to":0},"command":1}]}}`
	want := `{"commands":[["sudo","rm"],["/bin/Rm.EXE","*.o"]],"computed":[[],[1]],"programs":["sudo","rm"],"via":[[],["sudo"]],` +
		`"guess":[false,true],"env":["X"],"to":["l"],"effects":[["delete","/w/*.o",true,"rm *.o",1,4]],"doubts":[["option","-9",1,0]]}`
	for _, r := range runtimes(t) {
		in := strings.ReplaceAll(payload, "\n", "") + "\n"
		var got struct {
			Context string `json:"reason"`
		}
		if out := output(t, r.command(t, "facts"), []byte(in)); json.Unmarshal(out, &got) != nil || got.Context != want {
			t.Errorf("%s: got  %s\nwant %s", r.name, out, want)
		}
	}
}
