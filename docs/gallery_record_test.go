package docs

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestAuditLog(t *testing.T) {
	home := newHome(t)
	log := filepath.Join(home, "my log.jsonl")
	install(t, home, "audit-log", map[string]string{"AUDIT_LOG": log, "AUDIT_MAX_BYTES": "100000"})
	h := start(t, home)
	sent := []event{
		runs(claude, h.hostile()),
		runs(docker, h.hostile()),
		ended(libreFang, "s", h.project(), h.hostile()),
		{"", "my-app:deployed", map[string]any{"note": h.hostile(), "deep": map[string]any{"n": 1}}},
	}
	for _, e := range sent {
		h.ok(e)
	}
	all := lines(t, read(t, log))
	// The socket is there before the daemon announces itself, so that line may stand anywhere.
	all = slices.DeleteFunc(all, func(l map[string]any) bool { return l["hook_event_name"] == "gateway:startup" })
	if len(all) != len(sent) {
		t.Fatalf("%d lines for %d events", len(all), len(sent))
	}
	for i, e := range sent {
		if all[i]["hook_event_name"] != e.name || all[i]["event_id"] == "" || all[i]["timestamp"] == "" {
			t.Errorf("line %d is of %v, want %s", i, all[i]["hook_event_name"], e.name)
		}
	}
	if got := all[0]["tool_input"].(map[string]any)["command"]; got != h.hostile() {
		t.Errorf("got %q, want %q", got, h.hostile())
	}
	secret(t, log)
	h.ok(event{"", "my-app:large", map[string]any{"text": strings.Repeat("x", 200_000)}})
	h.ok(event{"", "my-app:small", nil})
	if got := lines(t, read(t, log)); len(got) != 1 || got[0]["hook_event_name"] != "my-app:small" {
		t.Errorf("after the file had grown: %d lines", len(got))
	}
	if got := lines(t, read(t, log+".1")); len(got) < len(sent)+1 {
		t.Errorf("the old file has %d lines", len(got))
	}
	h.unharmed()
}

func TestCostLedger(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := newHome(t)
	dir := install(t, home, "cost-ledger", nil)
	h := start(t, home)
	transcript := filepath.Join(h.project(), "c $(touch ran).jsonl")
	message := func(id, model string, in, out int) string {
		return `{"type":"assistant","message":{"id":"` + id + `","model":"` + model + `","usage":{"input_tokens":` + strconv.Itoa(in) + `,"output_tokens":` + strconv.Itoa(out) + `,"cache_read_input_tokens":1000000}}}` + "\n"
	}
	hooktest.Write(t, transcript, `{"type":"user","message":{"role":"user","content":"hi"}}`+"\nno json\n[1]\n"+message("m1", "claude-sonnet-4-5", 1, 1)+message("m1", "claude-sonnet-4-5", 1_000_000, 2), 0o600)
	stop := ended(claude, "c", "/p", "done")
	stop.data["transcript_path"] = transcript
	h.ok(stop)
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, message("m2", "unheard-of", 5, 6)+`{"being written`)
	f.Close()
	h.ok(stop)
	h.ok(stop) // nothing new
	h.ok(event{docker, "after_llm_call", map[string]any{"session_id": "=cmd|'/c calc'!A0", "agent_name": h.hostile(), "model_id": "anthropic/claude-opus-4", "cost": 0.25,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 20, "cached_input_tokens": 30, "cached_write_tokens": 40}}})
	h.ok(event{docker, "after_llm_call", map[string]any{"session_id": "d", "model_id": "x/y"}})
	h.ok(ended(docker, "d", "/p", "done"))
	h.ok(ended(libreFang, "l", "/p", "done"))

	ledger := filepath.Join(dir, "ledger.csv")
	rows, err := csv.NewReader(strings.NewReader(read(t, ledger))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"session", "model", "input", "output", "cache_read", "cache_write", "total", "usd"},
		{"c", "claude-sonnet-4-5", "1000000", "2", "1000000", "0", "2000002", "3.300030"},
		{"c", "unheard-of", "5", "6", "1000000", "0", "1000011", ""},
		{"'=cmd|'/c calc'!A0", "claude-opus-4", "10", "20", "30", "40", "100", "0.25"},
		{"l", "", "", "", "", "", "42", ""},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d lines, want %d: %q", len(rows), len(want), rows)
	}
	for i := range rows {
		if got := strings.Join(rows[i][2:], " "); got != strings.Join(want[i], " ") {
			t.Errorf("line %d: %q, want %q", i, rows[i][2:], want[i])
		}
	}
	secret(t, ledger)
	report := shell(t, dir, "python3", "ledger.py")
	if !strings.Contains(report, "claude-sonnet-4-5") || !strings.Contains(report, "2,000,002 tokens        3.30 USD") {
		t.Errorf("report:\n%s", report)
	}
	h.unharmed()
}

func TestTranscriptArchive(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := newHome(t)
	archive := filepath.Join(home, "my archive")
	install(t, home, "transcript-archive", map[string]string{"ARCHIVE": archive})
	h := start(t, home)
	transcript := filepath.Join(h.project(), "t.jsonl")
	hooktest.Write(t, transcript, `{"said":"one"}`+"\n", 0o600)
	with := func(e event) event { e.data["transcript_path"] = transcript; return e }
	h.ok(with(event{claude, "UserPromptSubmit", map[string]any{"session_id": "c-1", "prompt": "x"}}))
	h.ok(with(ended(claude, "c-1", "/p", "done")))
	hooktest.Write(t, transcript, `{"said":"one"}`+"\n"+`{"said":"two"}`+"\n", 0o600)
	h.ok(with(event{claude, "SessionEnd", map[string]any{"session_id": "c-1", "reason": "other"}}))
	files, _ := filepath.Glob(filepath.Join(archive, "????-??-??", "*"))
	if len(files) != 1 || filepath.Base(files[0]) != "c-1.jsonl.gz" {
		t.Fatalf("files %v", files)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != read(t, transcript) {
		t.Errorf("archived %q, %v", text, err)
	}
	secret(t, files[0])

	session := "../../" + h.hostile()
	for _, d := range []client.Dialect{docker, libreFang} {
		prompt := event{d, "user_prompt_submit", map[string]any{"session_id": session + string(d), "prompt": h.hostile()}}
		if d == libreFang {
			prompt = event{d, "agent:start", map[string]any{"session_id": session + string(d), "agent_id": "a1", "message_preview": h.hostile()}}
		}
		h.ok(prompt)
		h.ok(ended(d, session+string(d), "/p", "done: "+h.hostile()))
	}
	files, _ = filepath.Glob(filepath.Join(archive, "????-??-??", "*.jsonl"))
	if len(files) != 2 {
		t.Fatalf("files %q, want one for each session", files)
	}
	for _, file := range files {
		said := lines(t, read(t, file))
		if len(said) != 2 || said[0]["role"] != "user" || said[0]["text"] != h.hostile() || said[1]["role"] != "agent" || !strings.HasPrefix(said[1]["text"].(string), "done: ") {
			t.Errorf("%s: %v", file, said)
		}
		secret(t, file)
	}
	h.unharmed()
}
