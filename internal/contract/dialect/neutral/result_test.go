package neutral

import "testing"

func TestResultText(t *testing.T) {
	for _, tt := range []struct{ name, result, text, replaced string }{
		{"string", `"total 8\n"`, "total 8\n", `"NEW"`},
		{"empty", `""`, "", `"NEW"`},
		{"bash", `{"stdout":"a","stderr":"b","interrupted":false}`, "a\nb", `{"stdout":"NEW","stderr":"","interrupted":false}`},
		{"bash_quiet", `{"stdout":"","stderr":""}`, "", `{"stdout":"NEW","stderr":""}`},
		{"read", `{"type":"text","file":{"filePath":"/a","content":"x","numLines":1}}`, "x", `{"type":"text","file":{"filePath":"/a","content":"NEW","numLines":1}}`},
		{"blocks", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "a\nb", `[{"type":"text","text":"NEW"},{"type":"text","text":""}]`},
		{"mcp", `{"content":[{"type":"text","text":"a"}]}`, "a", `{"content":[{"type":"text","text":"NEW"}]}`},
		{"gemini", `{"llmContent":"a","returnDisplay":"b"}`, "a", `{"llmContent":"NEW","returnDisplay":"b"}`},
		{"gemini_parts", `{"llmContent":[{"text":"a"}],"returnDisplay":"b"}`, "a", `{"llmContent":[{"text":"NEW"}],"returnDisplay":"b"}`},
		{"copilot", `{"resultType":"success","textResultForLlm":"a"}`, "a", `{"resultType":"success","textResultForLlm":"NEW"}`},
		{"unknown", `{"filePath":"/a","success":true}`, `{"filePath":"/a","success":true}`, `"NEW"`},
		{"said_twice", `{"content":[{"text":"a"}],"structuredContent":{"b":1}}`, `{"content":[{"text":"a"}],"structuredContent":{"b":1}}`, `"NEW"`},
		{"mixed_list", `[{"text":"a"},{"data":"AAAA"}]`, `[{"text":"a"},{"data":"AAAA"}]`, `"NEW"`},
		{"number", `7`, "7", `"NEW"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ResultText([]byte(tt.result)); got != tt.text {
				t.Errorf("text: got %q, want %q", got, tt.text)
			}
			if got := string(WithResultText([]byte(tt.result), "NEW")); got != tt.replaced {
				t.Errorf("replaced: got %s, want %s", got, tt.replaced)
			}
		})
	}
	// A filter that went over the JSON of a shape without slots keeps the shape.
	if got := string(WithResultText([]byte(`{"a":"s3cret","n":1}`), ` {"a":"***","n":1} `)); got != `{"a":"***","n":1}` {
		t.Errorf("filtered JSON: got %s", got)
	}
}

// Replaced text is gone: no slot keeps a part of the old text.
func FuzzWithResultText(f *testing.F) {
	for _, seed := range []string{`"secret"`, `{"stdout":"secret","stderr":"secret"}`, `[{"text":"secret"},{"text":"secret"}]`, `{"content":{"content":["secret"]}}`, `{"file":7}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		p := newPayload(nil, append(append([]byte(`{"r":`), result...), '}'))
		if p.member("r") == nil || !valid(result) {
			return
		}
		texts, ok := slotTexts(result)
		if !ok {
			return
		}
		got := WithResultText(result, "NEW")
		if !valid(got) {
			t.Fatalf("%s became %s", result, got)
		}
		if now := ResultText(got); now != "NEW" {
			t.Fatalf("%s with %q: the text is now %q", result, texts, now)
		}
	})
}
