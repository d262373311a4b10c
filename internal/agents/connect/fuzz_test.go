package connect

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func FuzzJSON(f *testing.F) {
	fuzz(f, "claude-code", "{}", `{"hooks":{"Stop":[]}}`, "{\"a\":[1,{\"hooks\":null}],}//x", `{"hooks":{"Stop":[{"command":"hookd-bridge claude-code"}]}}`, `{"hooks":{"Stop":[/* a */]} /* b */ , }`)
}

func FuzzTOML(f *testing.F) {
	fuzz(f, "kimi", "", "a=1", "[[hooks]]\nevent='Stop'", "[[ hooks ]]\ncommand='hookd-bridge kimi'\n[x]\n", "hooks=[]", "[hooks]\na=1", "[[hooks]]\n[hooks.x]\ncommand='hookd-bridge kimi'")
}

func FuzzYAML(f *testing.F) {
	fuzz(f, "hermes", "", "a: 1", "hooks:\n", "hooks: {}", "hooks:\n  pre_verify: [ ]", "hooks: &a\n  pre_verify:\n  - command: |\n      x\n", "? hooks\n: {}", "\"hooks\":\n- a", "hooks:\n  pre_verify:\n  - command: hookd-bridge hermes # x\n", "%YAML 1.2\n---\na: 1\n...\n", "a: 'it''s'\rhooks: [")
}

// fuzz checks that whatever can be edited is edited so that only our hooks are
// new, and are gone again afterwards.
func fuzz(f *testing.F, agent string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	paths, err := filepath.Glob("testdata/" + agent + "/*/before")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	a := find(agent)
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.TrimPrefix(text, mark)
		was := bytes.Clone(text)
		tree, err := a.parse("f", text)
		if err != nil {
			return
		}
		had := len(a.hooksIn(tree))
		c := &target{Options: Options{Agent: agent, Bridge: bridge}, agent: a, path: "f"}
		edited, err := c.edited(text, false)
		if !bytes.Equal(text, was) {
			t.Fatalf("the text was written over: %q", text)
		}
		if err != nil {
			var where *FileError
			if !errors.As(err, &where) {
				t.Fatalf("got %v, want a FileError", err)
			}
			return
		}
		if had == 0 && !within(text, edited) {
			t.Fatalf("something of\n%q\nis gone in\n%q", text, edited)
		}
		if again, err := c.edited(edited, false); err != nil || !bytes.Equal(again, edited) {
			t.Fatalf("a second time: %v\n%q\nwant\n%q", err, again, edited)
		}
		c.file.text = edited
		back, err := c.cutOut(func(path []string) bool { return holds(tree, path) })
		if err != nil {
			return // refused
		}
		left, err := a.parse("f", back)
		if err != nil || !reflect.DeepEqual(a.without(tree), a.without(left)) {
			t.Fatalf("cut out of\n%q\nremains\n%q: %v", edited, back, err)
		}
		if had == 0 && !within(back, edited) {
			t.Fatalf("cutting out has added something:\n%q\nto\n%q", back, edited)
		}
	})
}

// within reports whether all bytes of part stand in whole, in their order.
func within(part, whole []byte) bool {
	for _, b := range part {
		i := bytes.IndexByte(whole, b)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}
