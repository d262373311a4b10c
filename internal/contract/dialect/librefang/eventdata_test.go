package librefang

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// sized returns an object of two members with exactly n bytes.
func sized(n int) json.RawMessage {
	const frame = `{"a":"","n":1}`
	return json.RawMessage(`{"a":"` + strings.Repeat("x", n-len(frame)) + `","n":1}`)
}

// read checks the promises of EventData for every result and decodes the result.
func read(t *testing.T, value string, limit int) (data map[string]any, paths []string) {
	t.Helper()
	if len(value) > limit {
		t.Fatalf("got %d bytes, limit %d", len(value), limit)
	}
	if strings.ContainsRune(value, 0) {
		t.Fatal("the value has a NUL byte")
	}
	if err := json.Unmarshal([]byte(value), &data); err != nil {
		t.Fatalf("%v in %.80s", err, value)
	}
	list, _ := data[truncatedKey].([]any)
	for _, p := range list {
		paths = append(paths, p.(string))
	}
	delete(data, truncatedKey)
	return data, paths
}

func TestEventDataUpToTheLimitIsThePayload(t *testing.T) {
	for _, payload := range []json.RawMessage{
		sized(EventDataLimit), sized(EventDataLimit - 1), json.RawMessage(`{}`), json.RawMessage(`{ "a" : "\u0000<" }`),
	} {
		got, truncated := EventData(payload, EventDataLimit)
		if got != string(payload) || truncated {
			t.Errorf("%d bytes: got %d, truncated %v", len(payload), len(got), truncated)
		}
	}
}

func TestEventDataOneByteOver(t *testing.T) {
	got, truncated := EventData(sized(98305), EventDataLimit)
	data, paths := read(t, got, 98304)
	if !truncated || !slices.Equal(paths, []string{"a"}) {
		t.Errorf("truncated %v, paths %q", truncated, paths)
	}
	if len(got) != 98304 {
		t.Errorf("got %d bytes, want all of the 98304", len(got))
	}
	if data["n"] != 1.0 || !strings.HasPrefix(data["a"].(string), "xxx") {
		t.Errorf("got %.60v", data)
	}
}

func TestEventDataFiveMegabytes(t *testing.T) {
	payload := json.RawMessage(`{"tool_name":"sh","tool_input":{"content":"` + strings.Repeat("y", 5<<20) + `","mode":420},"ok":true,"items":[1,null]}`)
	got, truncated := EventData(payload, EventDataLimit)
	data, paths := read(t, got, EventDataLimit)
	if !truncated || !slices.Equal(paths, []string{"tool_input.content"}) {
		t.Errorf("truncated %v, paths %q", truncated, paths)
	}
	input := data["tool_input"].(map[string]any)
	if n := len(input["content"].(string)); n < 98000 {
		t.Errorf("kept %d bytes of the string", n)
	}
	delete(input, "content")
	want := map[string]any{"tool_name": "sh", "tool_input": map[string]any{"mode": 420.0}, "ok": true, "items": []any{1.0, nil}}
	if !reflect.DeepEqual(data, want) {
		t.Errorf("got %v, want %v", data, want)
	}
}

func TestEventDataShortensTheLongestToOneLevel(t *testing.T) {
	payload, _ := json.Marshal(map[string]any{
		"a": strings.Repeat("a", 300), "b": strings.Repeat("b", 200), "c": strings.Repeat("c", 30),
		"deep": []any{0, map[string]any{"text": strings.Repeat("d", 250)}},
	})
	got, _ := EventData(payload, 500)
	data, paths := read(t, got, 500)
	if want := []string{"a", "b", "deep[1].text"}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
	a, b := len(data["a"].(string)), len(data["b"].(string))
	d := len(data["deep"].([]any)[1].(map[string]any)["text"].(string))
	if a != b || b != d || a < 100 {
		t.Errorf("got lengths %d, %d, %d, want one of over 100", a, b, d)
	}
	if len(data["c"].(string)) != 30 {
		t.Error("the short string was cut")
	}
}

func TestEventDataPaths(t *testing.T) {
	long := strings.Repeat("x", 200)
	for key, want := range map[string]string{
		"plain_key-1": "plain_key-1", "größe": "größe", "odd key": `["odd key"]`, "": `[""]`, "a.b": `["a.b"]`,
		"q\"": `["q\""]`, "nul\x00": `["nul\u0000"]`, "[0]": `["[0]"]`,
	} {
		payload, _ := json.Marshal(map[string]any{key: long})
		_, paths := read(t, first(EventData(payload, 100)), 100)
		if !slices.Equal(paths, []string{want}) {
			t.Errorf("key %q: got %q, want %s", key, paths, want)
		}
		payload, _ = json.Marshal(map[string]any{"o": map[string]any{key: []any{1, long}}})
		want := "o." + want
		want = strings.Replace(want, "o.[", "o[", 1) + "[1]"
		_, paths = read(t, first(EventData(payload, 100)), 100)
		if !slices.Equal(paths, []string{want}) {
			t.Errorf("nested key %q: got %q, want %s", key, paths, want)
		}
	}
}

func first(value string, _ bool) string { return value }

func TestEventDataCutsBetweenCharacters(t *testing.T) {
	for name, unit := range map[string]string{
		"runes": "€", "emoji": "😀", "escaped": `\"`, "unicode-escape": `\u00e9`, "pair": `\ud83d\ude00`, "PAIR": `\uD83D\uDE00`,
	} {
		payload := json.RawMessage(`{"a":"` + strings.Repeat(unit, 100) + `"}`)
		var whole struct{ A string }
		if err := json.Unmarshal(payload, &whole); err != nil {
			t.Fatal(err)
		}
		for limit := 40; limit < 80; limit++ {
			value, _ := EventData(payload, limit)
			data, paths := read(t, value, limit)
			got, ok := data["a"].(string)
			if !ok || len(paths) != 1 {
				t.Fatalf("%s, limit %d: got %s", name, limit, value)
			}
			if !strings.HasPrefix(whole.A, got) || !utf8.ValidString(got) {
				t.Errorf("%s, limit %d: %q is no beginning of the string", name, limit, got)
			}
		}
	}
}

func TestEventDataWhereStringsAreNotEnough(t *testing.T) {
	keys := func() json.RawMessage {
		var b strings.Builder
		for i := range 80_000 {
			fmt.Fprintf(&b, `,"key-%06d":%d`, i, i%10)
		}
		return json.RawMessage("{" + b.String()[1:] + "}")
	}
	for name, payload := range map[string]json.RawMessage{
		"a-megabyte-of-keys": keys(),
		"numbers":            json.RawMessage(`{"a":[` + strings.Repeat("1,", 60_000) + `1]}`),
		"blanks":             json.RawMessage(`{` + strings.Repeat(" ", 100_000) + `}`),
		"short-strings":      json.RawMessage(`{"a":[` + strings.Repeat(`"abc",`, 30_000) + `"abc"]}`),
		"one-long-key":       json.RawMessage(`{"` + strings.Repeat("k", 100_000) + `":"v"}`),
		"no-json":            json.RawMessage(`{"a":` + strings.Repeat("x", 100_000)),
		"no-object":          json.RawMessage(`["` + strings.Repeat("x", 100_000) + `"]`),
		"a-path-too-long":    json.RawMessage(`{"a":` + strings.Repeat(`{"ten-chars-":`, 5_000) + `"` + strings.Repeat("x", 80_000) + `"` + strings.Repeat("}", 5_000) + `}`),
	} {
		got, truncated := EventData(payload, EventDataLimit)
		if got != nothingLeft || !truncated {
			t.Errorf("%s: got %.80s, truncated %v", name, got, truncated)
		}
	}
}

func TestEventDataOfManyStrings(t *testing.T) {
	payload := json.RawMessage(`{"list":[` + strings.Repeat(`"`+strings.Repeat("z", 150)+`",`, 100_000) + `"end"],"id":7}`)
	if got, truncated := EventData(payload, EventDataLimit); got != nothingLeft || !truncated {
		t.Errorf("got %.80s", got)
	}
	// A thousand fit.
	payload = json.RawMessage(`{"list":[` + strings.Repeat(`"`+strings.Repeat("z", 1500)+`",`, 1000) + `"end"],"id":7}`)
	data, paths := read(t, first(EventData(payload, EventDataLimit)), EventDataLimit)
	list := data["list"].([]any)
	if len(paths) != 1000 || paths[999] != "list[999]" || len(list) != 1001 || list[1000] != "end" || data["id"] != 7.0 {
		t.Errorf("got %d paths, %d elements", len(paths), len(list))
	}
	if n := len(list[0].(string)); n < 50 || n != len(list[999].(string)) {
		t.Errorf("kept %d and %d bytes", n, len(list[999].(string)))
	}
}

func TestEventDataDeep(t *testing.T) {
	text := `"` + strings.Repeat("x", 200_000) + `"`
	for name, tt := range map[string]struct {
		open, shut, path string
		depth            int
	}{
		"objects": {`{"b":`, "}", ".b", 1000},
		"arrays":  {"[", "]", "[0]", 9990},
	} {
		payload := json.RawMessage(`{"top":1,"a":` + strings.Repeat(tt.open, tt.depth) + text + strings.Repeat(tt.shut, tt.depth) + `}`)
		data, paths := read(t, first(EventData(payload, EventDataLimit)), EventDataLimit)
		if want := "a" + strings.Repeat(tt.path, tt.depth); len(paths) != 1 || paths[0] != want || data["top"] != 1.0 {
			t.Errorf("%s: got %.60q", name, paths)
		}
	}
}

func TestEventDataKeepsEveryTopLevelKey(t *testing.T) {
	members := map[string]any{}
	for i := range 500 {
		members[fmt.Sprintf("field %d", i)] = strings.Repeat("v", i)
	}
	payload, _ := json.Marshal(members)
	data, paths := read(t, first(EventData(payload, 60_000)), 60_000)
	if len(data) != 500 || len(paths) == 0 || len(paths) == 500 {
		t.Errorf("got %d keys and %d paths", len(data), len(paths))
	}
}

func TestEventDataReplacesAListOfThePayload(t *testing.T) {
	payload := json.RawMessage(`{"_truncated":["` + strings.Repeat("o", 200) + `"],"a":"` + strings.Repeat("x", 1000) + `","in":{"_truncated":"` + strings.Repeat("y", 900) + `"}}`)
	got, _ := EventData(payload, 1200)
	data, paths := read(t, got, 1200)
	if want := []string{"a", "in._truncated"}; !slices.Equal(paths, want) || len(data) != 2 {
		t.Errorf("got %q of %.80s", paths, got)
	}
}

func TestEventDataIsDeterministic(t *testing.T) {
	payload, _ := json.Marshal(map[string]any{"a": strings.Repeat("1", 400), "b": strings.Repeat("2", 400), "c": []string{strings.Repeat("3", 400)}})
	want, _ := EventData(payload, 700)
	for range 10 {
		if got, _ := EventData(payload, 700); got != want {
			t.Fatalf("got %s, then %s", want, got)
		}
	}
}

func FuzzEventData(f *testing.F) {
	for _, seed := range []string{
		`{"a":"` + strings.Repeat("x", 100) + `"}`, `{"a":["\ud83d\ude00\ud83d",{"b c":"\"\\"}],"_truncated":"x"}`, `{"":"","":{"":[[]]}}`,
		`{"\u005ftruncated":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","a":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}`, "{\n}", `[1]`, `{"a":`,
	} {
		f.Add([]byte(seed), 40)
	}
	f.Fuzz(func(t *testing.T, payload []byte, limit int) {
		limit = 20 + abs(limit)%200
		value, truncated := EventData(payload, limit)
		if len(value) > limit {
			t.Fatalf("got %d bytes, limit %d: %s", len(value), limit, value)
		}
		if !truncated {
			if value != string(payload) {
				t.Fatalf("got %s, want the payload", value)
			}
			return
		}
		data, paths := read(t, value, limit)
		if len(paths) == 0 {
			t.Fatalf("nothing is listed in %s", value)
		}
		if value == nothingLeft {
			return
		}
		var whole map[string]any
		if err := json.Unmarshal(payload, &whole); err != nil {
			t.Fatalf("the payload is no object, but %s", value)
		}
		delete(whole, truncatedKey)
		shortened(t, whole, data)
	})
}

// shortened checks that got is want with shortened strings.
func shortened(t *testing.T, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case string:
		if s, ok := got.(string); !ok || !strings.HasPrefix(want, s) {
			t.Fatalf("%q is no beginning of %q", got, want)
		}
	case map[string]any:
		m, ok := got.(map[string]any)
		if !ok || len(m) != len(want) {
			t.Fatalf("got %v, want the keys of %v", got, want)
		}
		for key, value := range want {
			shortened(t, value, m[key])
		}
	case []any:
		l, ok := got.([]any)
		if !ok || len(l) != len(want) {
			t.Fatalf("got %v, want the elements of %v", got, want)
		}
		for i := range want {
			shortened(t, want[i], l[i])
		}
	default:
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func BenchmarkEventData(b *testing.B) {
	for name, payload := range map[string]json.RawMessage{
		"fits":         sized(1000),
		"one-5MB":      sized(5 << 20),
		"100k-strings": json.RawMessage(`{"list":[` + strings.Repeat(`"`+strings.Repeat("z", 150)+`",`, 100_000) + `"end"]}`),
		"16MiB-short":  json.RawMessage(`{"list":[` + strings.Repeat(`"abcdefghijklmnopqrstuvwxyz",`, 16<<20/29) + `"end"]}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				EventData(payload, EventDataLimit)
			}
		})
	}
}
