package yamlnode

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func root(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func TestPairs(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"order", "b: 1\na: 2", "b=1 a=2"},
		{"twice", `{a: 1, "a": 2}`, "a=1 a=2"},
		{"alias", "a: &x 1\nb: *x\n&y c: 2\n*y : 3", "a=1 b=1 c=2 c=3"},
		{"merge", "base: &base {a: 1, b: 2}\n<<: *base\nb: 3", "base= b=3 a=1"},
		{"merges", "<<: [{a: 1}, {a: 2, b: 2}]", "a=1 b=2"},
		{"merge of a merge", "<<: {<<: {a: 1}, b: 2}", "b=2 a=1"},
		{"merge of no mapping", "<<: 7\na: 1", "a=1"},
		{"merge of nothing", "<<:\na: 1", "a=1"},
		{"no mapping", "[a, b]", ""},
	} {
		var got []string
		for _, p := range Pairs(root(t, tt.text)) {
			got = append(got, p.Name+"="+p.Value.Value)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, s, tt.want)
		}
	}
}

func TestItems(t *testing.T) {
	for text, want := range map[string]string{"[a, b]": "a b", "[&x a, *x]": "a a", "a": "a", "~": "", "[]": "", `""`: ""} {
		var got []string
		for _, n := range Items(root(t, text)) {
			got = append(got, n.Value)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", text, s, want)
		}
	}
}

// Merges of merges of merges double with each level: no more than three count.
func TestAliasesDoNotMultiply(t *testing.T) {
	var text strings.Builder
	text.WriteString("a0: &a0 {k: v}\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&text, "a%d: &a%[1]d {<<: [*a%d, *a%[2]d]}\n", i, i-1)
	}
	text.WriteString("<<: *a40\n")
	if got := len(Pairs(root(t, text.String()))); got != 41 {
		t.Errorf("%d pairs, want the 41 of the document itself", got)
	}
	loop := &yaml.Node{Kind: yaml.AliasNode}
	loop.Alias = loop
	if Resolve(loop) != loop {
		t.Error("an alias of itself leads elsewhere")
	}
}
