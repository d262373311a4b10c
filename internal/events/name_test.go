package events

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/wire"
)

// The expression that docs/reference/protocol.md gives.
var specName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*(:[A-Za-z0-9_.-]+)*$`)

func TestCheckName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"agent:end", ""}, {"pre_tool_use", ""}, {"a", ""}, {"Z9:1.2-3:_", ""}, {strings.Repeat("a", 128), ""},
		{"", "event name is empty"},
		{strings.Repeat("a", 129), "event name is 129 bytes long, at most 128 are allowed"},
		{"a b", `event name "a b" has a blank`},
		{"a\nb", `event name "a\nb" has a line break`},
		{"a/b", `event name "a/b" has '/'`},
		{"aé", `event name "aé" has 'é'`},
		{"a\xff", `event name "a\xff" has '�'`},
		{"agent:*", `event name "agent:*" has '*': patterns are for hooks and subscribers, an event has one name`},
		{"1a", `event name "1a" does not begin with a letter`},
		{":a", `event name ":a" does not begin with a letter`},
		{"a:", `event name "a:" has an empty part beside a colon`},
		{"a::b", `event name "a::b" has an empty part beside a colon`},
	}
	for _, tt := range tests {
		var got string
		if err := CheckName(tt.name); err != nil {
			got = err.Message
			if err.Code != wire.CodeBadEventName || err.Hint == "" {
				t.Errorf("CheckName(%q): code %s, hint %q", tt.name, err.Code, err.Hint)
			}
		}
		if got != tt.want {
			t.Errorf("CheckName(%q): got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCheckReserved(t *testing.T) {
	for name, reserved := range map[string]bool{
		"hookd:reload": true, "hookd:": true, "hookd": false, "hookd.x": false, "my:hookd:x": false, "Hookd:x": false,
	} {
		err := CheckReserved(name)
		if got := err != nil; got != reserved {
			t.Errorf("CheckReserved(%q): got %v, want reserved %v", name, err, reserved)
		}
		if err != nil && err.Code != wire.CodeReserved {
			t.Errorf("CheckReserved(%q): code %s", name, err.Code)
		}
	}
}

func FuzzCheckName(f *testing.F) {
	for _, seed := range []string{"agent:end", "a b", "a::b", ":", "a:", "é", "x\n", strings.Repeat("a", 129)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		// Go's $ without (?m) is the end of the text, as the spec means it.
		want := len(name) <= 128 && specName.MatchString(name)
		if got := CheckName(name) == nil; got != want {
			t.Errorf("CheckName(%q): got %v, want %v", name, got, want)
		}
	})
}
