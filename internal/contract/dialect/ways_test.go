package dialect

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// The payloads that real agents sent on each of their ways tell the way, unless the table says that they do not.
func TestWaysOfCapturedCalls(t *testing.T) {
	kinds := []neutral.CallKind{neutral.InsideCall, neutral.MCPCall, neutral.BackCall, neutral.LineCall, neutral.SlashCall}
	untold := map[events.Dialect][]neutral.CallKind{
		events.GeminiCLI: {neutral.InsideCall, neutral.SlashCall}, events.Kimi: {neutral.InsideCall},
		events.Codex: {neutral.BackCall}, events.OpenCode: {neutral.MCPCall, neutral.SlashCall},
	}
	files, err := filepath.Glob("testdata/ways/*.jsonl")
	hooktest.Must(t, err)
	if len(files) < 10 {
		t.Fatalf("%d agents", len(files))
	}
	for _, file := range files {
		d := events.Dialect(strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		for _, kind := range kinds {
			if is := Tells(d, kind) == neutral.Untold; is != slices.Contains(untold[d], kind) {
				t.Errorf("%s, %s: untold %v", d, kind, is)
			}
		}
		text, err := os.ReadFile(file)
		hooktest.Must(t, err)
		for line := range bytes.Lines(text) {
			var c struct {
				Kind  neutral.CallKind
				Event string
				Data  json.RawMessage
			}
			hooktest.Must(t, json.Unmarshal(line, &c))
			e := &events.Event{
				Envelope: events.Envelope{Event: c.Event, Dialect: d, Data: c.Data}, Contract: events.For(d, c.Event),
			}
			for _, kind := range kinds {
				if got, want := IsOf(e, kind), kind == c.Kind && Tells(d, kind) == ""; got != want {
					t.Errorf("%s, %s, is it %s: %v\n%s", d, c.Kind, kind, got, c.Data)
				}
			}
		}
	}
}
