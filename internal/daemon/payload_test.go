package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/rawjson"
)

// sizes is a hook that prints how long its payload is in each place, and
// whether the file is there and private.
const sizes = `in=$(wc -c | tr -d ' ')
printf 'env=%s stdin=%s' "$(printf %s "$HOOK_EVENT_DATA" | wc -c | tr -d ' ')" "$in"
if [ -n "${HOOK_EVENT_DATA_FILE+x}" ]; then
  printf ' file=%s mode=%s' "$(wc -c < "$HOOK_EVENT_DATA_FILE" | tr -d ' ')" "$(ls -l "$HOOK_EVENT_DATA_FILE" | cut -c1-10)"
fi
`

func TestPayloadsOfEverySizeArriveWhole(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "sizes", "events: [big]\ntimeout: 2m\n", sizes)
	writeHook(t, home, "truncated", "events: [big]\ntimeout: 2m\n", `printf %s "$HOOK_EVENT_DATA"`)
	h := start(t, home, nil)
	for _, tt := range []struct {
		name      string
		data      string
		truncated string // of HOOK_EVENT_DATA's `_truncated`; "" = it is whole
	}{
		{"small", `{"a":1}`, ""},
		{"98304", object(98304), ""},
		{"98305", object(98305), `["a"]`},
		{"5MB", object(5 << 20), `["a"]`},
		{"keys", manyKeys(1 << 20), `["."]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := h.emit(`{"event":"big","wait":true,"data":` + tt.data + `}`)
			for _, r := range a.Runs {
				if r.Result != client.ResultOK {
					t.Fatalf("%s: %s %s", r.Hook, r.Result, r.Error)
				}
			}
			var env, stdin, file int
			var mode string
			n, _ := fmt.Sscanf(
				h.fullRun("sizes").Stdout.Head,
				"env=%d stdin=%d file=%d mode=%s",
				&env,
				&stdin,
				&file,
				&mode,
			)
			if stdin <= len(tt.data) {
				t.Errorf("stdin had %d bytes, want all %d and more", stdin, len(tt.data))
			}
			if tt.truncated == "" {
				if n != 2 || env != len(tt.data) {
					t.Errorf("HOOK_EVENT_DATA has %d bytes, a file: %t; want %d and none", env, n > 2, len(tt.data))
				}
				return
			}
			if file != len(tt.data) || mode != "-rw-------" || env > 98304 {
				t.Errorf(
					"env %d, file %d bytes mode %q; want at most 98304, %d, private",
					env,
					file,
					mode,
					len(tt.data),
				)
			}
			run := h.fullRun("truncated")
			if env > 64<<10 {
				return // the record keeps head and tail only
			}
			if got := rawjson.Get(json.RawMessage(run.Stdout.Head+run.Stdout.Tail), "_truncated"); string(
				got,
			) != tt.truncated {
				t.Errorf("_truncated = %s, want %s", got, tt.truncated)
			}
		})
	}
	if left, err := os.ReadDir(h.runner.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in the folder of payload files: %v %v", left, err)
	}
}

// object returns an object of exactly size bytes.
func object(size int) string {
	frame := `{"a":""}`
	return `{"a":"` + strings.Repeat("x", size-len(frame)) + `"}`
}

func manyKeys(size int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `"key%d":%d,`, i, i)
	}
	b.WriteString(`"z":0}`)
	return b.String()
}

func TestOddBytesInPayloads(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "echo", "events: [odd]\n", `printf '%s\n' "$HOOK_EVENT_DATA"; cat`)
	h := start(t, home, nil)
	for _, tt := range []struct{ name, data, want string }{
		{"nul", `{"s":"a\u0000b"}`, `{"s":"a\u0000b"}`},
		{"invalid-utf8", "{\"s\":\"a\xffb\"}", "{\"s\":\"a\uFFFDb\"}"},
		{"lines", "{\"s\":\n 1}", `{"s":1}`},
		{"quotes", `{"s":"$(rm x) ` + "`id`" + ` '\"' \\ \n"}`, `{"s":"$(rm x) ` + "`id`" + ` '\"' \\ \n"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.emit(`{"event":"odd","wait":true,"data":` + tt.data + `}`)
			out := h.fullRun("echo").Stdout.Head
			first, second, _ := strings.Cut(out, "\n")
			if first != tt.want {
				t.Errorf("HOOK_EVENT_DATA = %q, want %q", first, tt.want)
			}
			if !json.Valid([]byte(second)) || strings.Count(second, "\n") != 1 {
				t.Errorf("stdin = %q, want one line of JSON", second)
			}
		})
	}
}

// A guard that was given other data for a moment does not decide: another process put a file in the
// place of hookd's own, and took it away again.
func TestAnswersAboutASwappedPayload(t *testing.T) {
	home := newHome(t)
	const harmless = `if grep -q rm "$HOOK_EVENT_DATA_FILE"; then echo '{"decision":"deny"}'; fi`
	const swap = `f=$HOOK_EVENT_DATA_FILE
mv "$f" "$f.was" && echo '{"cmd":"ls"}' >"$f"
` + harmless + `
mv "$f.was" "$f"
`
	writeHook(t, home, "guard", "events: [pre_tool_use]\ntimeout: 1m\n", harmless)
	h := start(t, home, nil)
	call := func(words string) bool {
		data := `{"tool_name":"shell","tool_input":{"cmd":"` + words + strings.Repeat(" x", 100_000) + `"}}`
		return h.emit(`{"event":"pre_tool_use","wait":true,"data":` + data + `}`).Verdict.Allowed
	}
	if !call("ls") || call("rm") {
		t.Fatal("the guard does not judge the data in the file")
	}
	writeHook(t, home, "guard", "events: [pre_tool_use]\ntimeout: 1m\n", swap)
	if _, err := h.client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if call("rm") {
		t.Error("allowed, on the word of a guard that was given other data")
	}
}
