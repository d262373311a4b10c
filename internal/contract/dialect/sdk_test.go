package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

const (
	pythonSDK     = "../../../sdk/python/hookd.py"
	pythonStub    = "../../../sdk/python/hookd.pyi"
	typeScriptSDK = "../../../sdk/typescript/hookd.ts"
	javaScriptSDK = "../../../sdk/typescript/hookd.mjs"
)

// sdkRow is the knowledge of the SDK files about events: how an answer to them is
// written, and where their payload has a tool call.
type sdkRow struct {
	kind    events.Kind
	can     string // b block, v verdict, p permission, c context, e explicit yes, r text replaces
	rewrite events.Rewrite
	tool, input,
	fixed string // paths separated by blanks; fixed is a tool's name
}

// add makes r the row of all dialects that have its name.
func (r *sdkRow) add(c *events.Contract) {
	r.kind = c.Kind
	for _, can := range []struct {
		letter string
		is     bool
	}{
		{"b", c.CanBlock}, {"v", c.Decision == events.DecisionVerdict}, {"p", c.Decision == events.DecisionPermission},
		{"c", c.Context}, {"e", c.Explicit}, {"r", c.PlainText == events.PlainReplaces},
	} {
		if can.is && !strings.Contains(r.can, can.letter) {
			r.can += can.letter
		}
	}
	if r.rewrite == events.RewriteNone {
		r.rewrite = c.Rewrite
	}
	for _, row := range table(c.Dialect).Rows {
		named := slices.Contains(strings.Fields(row.Events), c.Name)
		switch {
		case !named && (row.Events != "" || !c.ToolMatched):
		case row.Fact == neutral.Tool:
			addWord(&r.tool, row.Field)
		case row.Fact == neutral.Input:
			addWord(&r.input, row.Field)
		}
	}
	for _, x := range table(c.Dialect).Fixed {
		if x.Fact == neutral.Tool && slices.Contains(strings.Fields(x.Events), c.Name) {
			r.fixed = neutral.TextOf(json.RawMessage(x.Value))
		}
	}
}

func addWord(list *string, word string) {
	if !slices.Contains(strings.Fields(*list), word) {
		*list = strings.TrimSpace(*list + " " + word)
	}
}

// sdkRows returns the rows by name, and the names in the order of the table.
func sdkRows() (rows map[string]*sdkRow, names []string) {
	rows = map[string]*sdkRow{}
	for _, c := range events.All() {
		if rows[c.Name] == nil {
			rows[c.Name] = &sdkRow{}
			names = append(names, c.Name)
		}
		rows[c.Name].add(c)
	}
	return rows, names
}

// sdkTables is the JSON that both SDK files hold.
func sdkTables(t *testing.T) string {
	rows, names := sdkRows()
	var list [][]string
	at := map[sdkRow]int{}
	for _, name := range names {
		r := *rows[name]
		if i, ok := at[r]; ok {
			list[i][0] += " " + name
			continue
		}
		at[r] = len(list)
		list = append(list, []string{name, string(r.kind), r.can, string(r.rewrite), r.tool, r.input, r.fixed})
	}
	tables := map[string]any{"events": list}
	text, err := json.Marshal(tables)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pythonTypes are the payloads of events as type checkers see them.
func pythonTypes() string {
	types := map[events.Type]string{events.String: "str", events.Integer: "int", events.Number: "float",
		events.Boolean: "bool", events.Object: "Dict[str, Any]", events.Array: "List[Any]", events.Any: "Any"}
	var b strings.Builder
	eachPayload(func(name string, fields []events.Field) {
		var list []string
		for _, f := range fields {
			of := types[f.Type]
			if f.Nullable && f.Type != events.Any {
				of = "Optional[" + of + "]"
			}
			list = append(list, fmt.Sprintf("%q: %s", f.Name, of))
		}
		fmt.Fprintf(&b, "%[1]s = TypedDict(%[1]q, {%[2]s}, total=False)\n", identifier(name), strings.Join(list, ", "))
	})
	return b.String()
}

// typeScriptTypes is the interface of all payloads, by the names of events.
func typeScriptTypes() string {
	types := map[events.Type]string{events.String: "string", events.Integer: "number", events.Number: "number",
		events.Boolean: "boolean", events.Object: "Record<string, any>", events.Array: "any[]", events.Any: "any"}
	var b strings.Builder
	b.WriteString("export interface Payloads {\n")
	eachPayload(func(name string, fields []events.Field) {
		var list []string
		for _, f := range fields {
			of := types[f.Type]
			if f.Nullable && f.Type != events.Any {
				of += " | null"
			}
			list = append(list, f.Name+"?: "+of)
		}
		fmt.Fprintf(&b, "  %q: { %s };\n", name, strings.Join(list, "; "))
	})
	b.WriteString("}\n")
	return b.String()
}

// eachPayload calls visit with the fields of each event. Where dialects share a name,
// its fields are the fields of all. A field on which they differ is any.
func eachPayload(visit func(name string, fields []events.Field)) {
	_, names := sdkRows()
	for _, name := range names {
		var fields []events.Field
		for _, d := range events.Dialects() {
			row := events.LookupIn(d, name)
			if row == nil {
				continue
			}
			for _, f := range row.Fields {
				i := slices.IndexFunc(fields, func(g events.Field) bool { return g.Name == f.Name })
				switch {
				case i < 0:
					fields = append(fields, f)
				case fields[i].Type != f.Type:
					fields[i].Type = events.Any
				default:
					fields[i].Nullable = fields[i].Nullable || f.Nullable
				}
			}
		}
		visit(name, fields)
	}
}

// identifier is an event's name as that of a class.
func identifier(name string) string {
	return strings.NewReplacer(":", "__", "-", "_", ".", "_").Replace(name)
}

// withGenerated returns text with part between the lines begin and end.
func withGenerated(t *testing.T, text, begin, part, end string) string {
	head, rest, ok := strings.Cut(text, begin+"\n")
	_, tail, ok2 := strings.Cut(rest, end+"\n")
	if !ok || !ok2 {
		t.Fatalf("there is no part from %q to %q", begin, end)
	}
	return head + begin + "\n" + part + end + "\n" + tail
}

// withoutTypes returns TypeScript as JavaScript: the text in /*types*/ … /*end*/ goes.
// So no compiler is needed for it, and both have the same lines.
func withoutTypes(t *testing.T, text string) string {
	var b strings.Builder
	for {
		code, rest, ok := strings.Cut(text, "/*types*/")
		b.WriteString(code)
		if !ok {
			return strings.Replace(b.String(), "// @ts-nocheck: ", "// This is hookd.ts without its types. ", 1)
		}
		types, after, ok := strings.Cut(rest, "/*end*/")
		if !ok || strings.Contains(types, "/*types*/") {
			t.Fatalf("types have no end: %.80s", rest)
		}
		text = after
	}
}

// The SDK files know the same as the contract table says, and hookd.mjs is hookd.ts.
func TestSDK(t *testing.T) {
	tables := sdkTables(t)
	if strings.ContainsAny(tables, `\'`) {
		t.Fatal("the tables have a quote or a backslash, which a raw literal cannot hold")
	}
	python, stub, typeScript := readFile(t, pythonSDK), readFile(t, pythonStub), readFile(t, typeScriptSDK)
	python = withGenerated(t, python, "# generated: tables", "_TABLES = '"+tables+"'\n", "# end")
	stub = withGenerated(t, stub, "# generated: types", pythonTypes(), "# end")
	typeScript = withGenerated(t, typeScript, "// generated: tables", "const TABLES = '"+tables+"';\n", "// end")
	typeScript = withGenerated(t, typeScript, "// generated: types", typeScriptTypes(), "// end")
	for path, want := range map[string]string{
		pythonSDK: python, pythonStub: stub, typeScriptSDK: typeScript, javaScriptSDK: withoutTypes(t, typeScript),
	} {
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, []byte(want)):
		case *update:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not what the tables say: type go test ./internal/contract/dialect -run TestSDK -update", path)
		}
	}
}

func readFile(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
