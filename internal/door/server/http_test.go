package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

func TestHTTPStatuses(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxEventBytes = 100 })
	const event = `{"event":"agent:end"}`
	const waits = `{"event":"agent:end","wait":true}`
	tests := []struct {
		name, method, target, body string
		header                     []string
		status                     int
		want                       string // in the body
	}{
		{"accepted", "POST", "/v1/events", event, nil, 202, `"seq":`},
		{"pretty_printed", "POST", "/v1/events", "{\n  \"event\": \"agent:end\"\n}\n", nil, 202, `"seq":`},
		{"any_content_type", "POST", "/v1/events", event, []string{"Content-Type", "application/x-www-form-urlencoded"}, 202, `"seq":`},
		{"wait_in_body", "POST", "/v1/events", waits, nil, 200, `"verdict":`},
		{"wait_in_query", "POST", "/v1/events?wait=1", event, nil, 200, `"verdict":`},
		{"wait_bare", "POST", "/v1/events?wait", event, nil, 200, `"verdict":`},
		{"query_wins", "POST", "/v1/events?wait=0", waits, nil, 202, `"seq":`},
		{"wait_odd", "POST", "/v1/events?wait=soon", event, nil, 400, "bad_request"},
		{"bad_json", "POST", "/v1/events", "{nope", nil, 400, "bad_json"},
		{"two_objects", "POST", "/v1/events", event + event, nil, 400, "bad_json"},
		{"empty", "POST", "/v1/events", "", nil, 400, "bad_json"},
		{"bad_name", "POST", "/v1/events", `{"event":"a b"}`, nil, 400, "bad_event_name"},
		{"bad_data", "POST", "/v1/events", `{"event":"a","data":1}`, nil, 400, "bad_data"},
		{"too_large", "POST", "/v1/events", `{"event":"a","data":{"x":"` + strings.Repeat("x", 100) + `"}}`, nil, 413, "too_large"},
		{"queue_full", "POST", "/v1/events", `{"event":"test:full"}`, nil, 429, "queue_full"},
		{"draining", "POST", "/v1/events", `{"event":"test:draining"}`, nil, 503, "draining"},
		{"origin", "POST", "/v1/events", event, []string{"Origin", "http://localhost"}, 403, "forbidden"},
		{"origin_empty", "GET", "/v1/status", "", []string{"Origin", ""}, 403, "forbidden"},
		{"foreign_host", "GET", "/v1/status", "", []string{"Host", "evil.example"}, 403, "forbidden"},
		{"host_localhost", "GET", "/v1/status", "", []string{"Host", "localhost"}, 200, `"version":"test"`},
		{"host_port", "GET", "/v1/status", "", []string{"Host", "LocalHost:80"}, 200, `"version":"test"`},
		{"unknown_path", "GET", "/v2/events", "", nil, 404, "POST /v1/hooks/{name}/test"},
		{"not_yet", "GET", "/metrics", "", nil, 404, "not_found"},
		{"wrong_method", "DELETE", "/v1/events", "", nil, 405, "GET, POST"},
		{"wrong_method_hook", "POST", "/v1/hooks/x", "", nil, 405, "use GET"},
		{"hooks", "GET", "/v1/hooks", "", nil, 200, `"generation":7`},
		{"hook", "GET", "/v1/hooks/my%20hook%2F1", "", nil, 200, `"name":"my hook/1"`},
		{"no_hook", "GET", "/v1/hooks/x", "", nil, 404, "hookd list"},
		{"test", "POST", "/v1/hooks/x/test", event, nil, 200, `"given":"x agent:end"`},
		{"test_default", "POST", "/v1/hooks/x/test", "", nil, 200, `"given":"x"`},
		{"test_data_only", "POST", "/v1/hooks/x/test", `{"data":{"a":1}}`, nil, 200, `"given":"x"`},
		{"test_arguments", "POST", "/v1/hooks/x/test", `{"event":"agent:end","tool":"Write","data":{"file_path":"/a"}}`, nil, 200, `"given":"x agent:end Write"`},
		{"test_bad_name", "POST", "/v1/hooks/x/test", `{"event":"a b"}`, nil, 400, "bad_event_name"},
		{"test_bad_json", "POST", "/v1/hooks/x/test", `{`, nil, 400, "bad_json"},
		{"misspelled_dry_run", "POST", "/v1/events/e1/replay", `{"dryrun":true}`, nil, 400, `unknown field`},
		{"more_than_a_replay", "POST", "/v1/events/e1/replay", `{"dry_run":true}}`, nil, 400, "there is more after the object"},
		{"misspelled_undo", "POST", "/v1/undo", `{"calls":["c1"],"previw":true}`, nil, 400, `unknown field`},
		{"reload", "POST", "/v1/reload", "", nil, 200, `"problems":`},
		{"runs", "GET", "/v1/runs", "", nil, 200, `"run_id":"r1"`},
		{"runs_bad_limit", "GET", "/v1/runs?limit=many", "", nil, 400, "1000"},
		{"runs_bad_since", "GET", "/v1/runs?since=soon", "", nil, 400, "yesterday"},
		{"runs_bad_result", "GET", "/v1/runs?result=fine", "", nil, 400, "spawn_error"},
		{"run", "GET", "/v1/runs/r9", "", nil, 200, `"run_id":"r9"`},
		{"bad_since", "GET", "/v1/events?since=x", "", nil, 400, "bad_request"},
		{"bad_glob", "GET", "/v1/events?match=[", "", nil, 400, "bad glob"},
		{"healthz", "GET", "/healthz", "", nil, 200, `{"ok":true}`},
		{"readyz", "GET", "/readyz", "", nil, 200, `{"ready":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := f.do(tt.method, tt.target, tt.body, tt.header...)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s, want %d with %s", resp.StatusCode, body, tt.status, tt.want)
			}
			if got := resp.Header.Get("Content-Type"); got != wire.JSON {
				t.Errorf("content type %q", got)
			}
			if tt.status >= 400 {
				if e := parseReply(t, body).Error; e == nil || e.Message == "" || wire.HTTPStatus(e.Code) != tt.status {
					t.Errorf("refusal %s", body)
				}
			}
		})
	}
}

func TestRefusalHeaders(t *testing.T) {
	f := start(t, nil)
	resp, _ := f.do("POST", "/v1/events", `{"event":"test:full"}`)
	if got := resp.Header.Get("Retry-After"); got != "3" {
		t.Errorf("Retry-After %q, want 3", got)
	}
	resp, _ = f.do("DELETE", "/v1/events", "")
	if got := resp.Header.Get("Allow"); got != "GET, POST" {
		t.Errorf("Allow %q", got)
	}
}

func TestReloadWithRejectedHooksIs422(t *testing.T) {
	f := start(t, nil)
	f.problems = []wire.Problem{{Message: "odd", Warning: true}}
	if resp, body := f.do("POST", "/v1/reload", ""); resp.StatusCode != 200 {
		t.Errorf("a warning: %d %s", resp.StatusCode, body)
	}
	f.problems = append(f.problems, wire.Problem{Message: "broken", File: "x/HOOK.yaml", Line: 3})
	if resp, body := f.do("POST", "/v1/reload", ""); resp.StatusCode != 422 || !strings.Contains(body, "x/HOOK.yaml") {
		t.Errorf("a rejection: %d %s", resp.StatusCode, body)
	}
}

func TestNotReadyIs503(t *testing.T) {
	f := start(t, nil)
	f.unready = "reading hooks"
	if resp, body := f.do("GET", "/readyz", ""); resp.StatusCode != 503 || !strings.Contains(body, f.unready) {
		t.Errorf("got %d %s", resp.StatusCode, body)
	}
}

func TestRunQueryArrives(t *testing.T) {
	f := start(t, nil)
	want := wire.RunQuery{Hook: "a&b", Event: "agent:*", Session: "s", Agent: "x", Result: "failed", Since: time.Unix(1e9, 5).UTC(), Limit: 7}
	f.do("GET", "/v1/runs?"+want.Values().Encode(), "")
	if got := *f.query.Load(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	f.do("GET", "/v1/runs?since=1h", "")
	if ago := time.Since(f.query.Load().Since); ago < time.Hour || ago > 2*time.Hour {
		t.Errorf("since=1h is %s ago", ago)
	}
}

// A test of a hook takes the whole envelope.
func TestHookTestTakesTheEvent(t *testing.T) {
	f := start(t, nil)
	f.do("POST", "/v1/hooks/x/test", `{"event":"agent:end","data":{"a":1},"session_id":"s"}`)
	if got := f.tested.Load(); got.Event != "agent:end" || string(got.Data) != `{"a":1}` || got.SessionID != "s" {
		t.Errorf("got %+v", got)
	}
}

// The answers of an ndjson body come while the body is being sent.
func TestNDJSONFullDuplex(t *testing.T) {
	f := start(t, nil)
	out, in := io.Pipe()
	req, err := http.NewRequest("POST", "http://hookd/v1/events", out)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson; charset=utf-8")
	type result struct {
		resp *http.Response
		err  error
	}
	began := make(chan result, 1)
	client := f.web()
	go func() {
		resp, err := client.Do(req)
		began <- result{resp, err}
	}()
	fmt.Fprintf(in, `{"event":"agent:end","id":"0"}`+"\n")
	r := <-began
	if r.err != nil {
		t.Fatal(r.err)
	}
	defer r.resp.Body.Close()
	if got := r.resp.Header.Get("Content-Type"); r.resp.StatusCode != 202 || got != wire.NDJSON {
		t.Errorf("got %d %s", r.resp.StatusCode, got)
	}
	answers := bufio.NewReader(r.resp.Body)
	for i := range 100 {
		text, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if got, want := parseReply(t, text).EventID, fmt.Sprintf("id-%d", i); got != want {
			t.Fatalf("answer %s, want %s", got, want)
		}
		fmt.Fprintf(in, `{"event":"agent:end","id":"%d"}`+"\n", i+1)
	}
	answers.ReadString('\n')
	fmt.Fprintf(in, "nope\n"+`{"subscribe":["*"]}`+"\n"+`{"event":"agent:end"}`) // no last newline
	in.Close()
	rest, err := io.ReadAll(answers)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for text := range strings.Lines(string(rest)) {
		got = append(got, code(t, text))
	}
	if want := "[bad_json bad_request ok]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestNDJSONWaitWins(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxEventBytes = 100 })
	body := `{"event":"agent:end"}` + "\n" + `{"event":"agent:end","wait":false}` + "\n" + strings.Repeat("x", 200) + "\n" + `{"event":"agent:end"}` + "\n"
	resp, text := f.do("POST", "/v1/events?wait=1", body, "Content-Type", wire.NDJSON)
	var got []string
	for line := range strings.Lines(text) {
		got = append(got, code(t, line))
	}
	if want := "[ok waited ok waited too_large]"; resp.StatusCode != 200 || fmt.Sprint(got) != want {
		t.Errorf("got %d %v, want %s", resp.StatusCode, got, want)
	}
}

// A slow verdict must not be cut off by the limits of reading a request, nor
// the connection be lost for the next one.
func TestKeepAliveAfterWait(t *testing.T) {
	f := start(t, nil)
	client := f.web()
	go func() {
		hooktest.Until(t, "event waits", func() bool { return f.waiting.Load() == 1 })
		close(f.release)
	}()
	for _, event := range []string{"test:wait", "agent:end", "agent:end"} {
		resp, err := client.Post("http://hookd/v1/events?wait=1", wire.JSON, strings.NewReader(`{"event":"`+event+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		var answer wire.Answer
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Verdict == nil {
			t.Errorf("%s: %+v, %v", event, answer, err)
		}
		resp.Body.Close()
	}
}

func TestClientThatLeavesEndsTheWait(t *testing.T) {
	f := start(t, nil)
	conn := f.dial()
	conn.send("POST /v1/events?wait=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 21\r\n\r\n" + `{"event":"test:wait"}`)
	hooktest.Until(t, "event waits", func() bool { return f.waiting.Load() == 1 })
	conn.Close()
	hooktest.Until(t, "no sender waits", func() bool { return f.server.verdicts.waiting.Load() == 0 })
}
