package rawjson

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestWithout(t *testing.T) {
	for _, c := range []struct{ obj, want string }{
		{`{}`, ``},
		{`{"id":"x"}`, ``},
		{` { "id" : "x" , "a" : [1, {"id":2}] } `, `{"a":[1, {"id":2}]}`},
		{`{"a":1,"id":"x","b":2}`, `{"a":1,"b":2}`},
		{`{"id":1,"a":"}\",","id":2}`, `{"a":"}\","}`},
		{`{"\u0069d":1,"\u0061":null}`, `{"\u0061":null}`},
		{`[1]`, ``},
	} {
		if got := string(Without(json.RawMessage(c.obj), "id")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.obj, got, c.want)
		}
	}
}

// Without leaves the members that encoding/json leaves.
func FuzzWithout(f *testing.F) {
	f.Add([]byte(`{"id":1,"a":"b"}`))
	f.Add([]byte(`{"a":{"id":[]},"id":"\""}`))
	f.Fuzz(func(t *testing.T, obj []byte) {
		var all map[string]json.RawMessage
		if json.Unmarshal(obj, &all) != nil || all == nil {
			return
		}
		left := Without(obj, "id")
		delete(all, "id")
		var got map[string]json.RawMessage
		if left == nil {
			left = []byte("{}")
		}
		if err := json.Unmarshal(left, &got); err != nil {
			t.Fatalf("%s became %s: %v", obj, left, err)
		}
		if len(got) != len(all) {
			t.Fatalf("%s became %s", obj, left)
		}
		for key, value := range all {
			if !bytes.Equal(got[key], value) {
				t.Fatalf("%s became %s", obj, left)
			}
		}
	})
}
