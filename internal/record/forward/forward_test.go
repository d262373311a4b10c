package forward

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/otlp"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// history is a store as the daemon has it, and the decisions of the test.
type history struct {
	*store.Store
	t    testing.TB
	path string
	seq  uint64
}

func newHistory(t testing.TB) *history {
	h := &history{t: t, path: filepath.Join(t.TempDir(), "hookd.db")}
	h.open()
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *history) open() {
	s, err := store.Open(store.Options{Path: h.path, Durable: store.DurableOS})
	hooktest.Must(h.t, err)
	h.Store, h.seq = s, max(h.seq, s.FirstSeq())
}

// Ahead is the recorder's: a decision that was handed over a moment ago is there.
func (h *history) Ahead(ctx context.Context, target string, limit int) (store.Ahead, error) {
	if err := h.Flush(ctx); err != nil {
		return store.Ahead{}, err
	}
	return h.Store.Ahead(ctx, target, math.MaxInt64, limit)
}

// decide records n decisions, of three sessions in turn.
func (h *history) decide(n int) { h.decideAt(n, time.Now()) }

func (h *history) decideAt(n int, at time.Time) {
	for range n {
		h.seq++
		h.Decided(&wire.Decision{
			EventID: fmt.Sprintf("E%06d", h.seq), Seq: h.seq, EventSeq: h.seq, Time: at, Event: "PreToolUse",
			SessionID: fmt.Sprint("s", h.seq%3), Tool: "shell", Subject: "rm -rf /", Decision: wire.OutcomeDeny,
			Reason: "not \"here\"\nnor there", DecidedBy: []string{"guard"},
		})
	}
	hooktest.Must(h.t, h.Flush(context.Background()))
}

// inbox has everything that a target has taken, by arrival.
type inbox struct {
	mu     sync.Mutex
	ids    []string
	missed int64
	heads  []string
}

func (in *inbox) take(ids []string, missed int64, head string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ids = append(in.ids, ids...)
	in.missed += missed
	if head != "" {
		in.heads = append(in.heads, head)
	}
}

func (in *inbox) has(n int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	seen := map[string]bool{}
	for _, id := range in.ids {
		seen[id] = true
	}
	return len(seen) == n
}

// inOrder fails unless each decision comes behind all that are before it.
func (in *inbox) inOrder(t testing.TB) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	newest := ""
	seen := map[string]bool{}
	for _, id := range in.ids {
		if !seen[id] && id < newest {
			t.Fatalf("%s came for the first time after %s", id, newest)
		}
		seen[id], newest = true, max(newest, id)
	}
}

// webhookServer takes batches; answer is the status for each request: 0 = the batch is taken,
// a negative status = it is taken, and the answer says that it was not.
func webhookServer(t testing.TB, in *inbox, answer func(n int, r *http.Request, decisions int) int) *httptest.Server {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Host      string
			Missed    int64
			AuditHead string `json:"audit_head"`
			Decisions []wire.Decision
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender has given up
		}
		if err = json.Unmarshal(text, &body); err != nil || body.Host == "" {
			t.Errorf("%v in %s", err, text)
		}
		n++
		code := answer(n, r, len(body.Decisions))
		if code > 0 {
			w.WriteHeader(code)
			return
		}
		var ids []string
		for _, d := range body.Decisions {
			ids = append(ids, d.EventID)
		}
		in.take(ids, body.Missed, body.AuditHead)
		if code < 0 {
			w.WriteHeader(-code)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func takeAll(int, *http.Request, int) int { return 0 }

// forwarder runs until stop is called, or the test ends.
func forwarder(t testing.TB, h *history, targets ...config.Forward) (f *Forwarder, stop func()) {
	f, run := stopped(t, h, targets...)
	return f, run()
}

// stopped is a forwarder with targets that does not run yet; run is as forwarder.
func stopped(t testing.TB, h *history, targets ...config.Forward) (f *Forwarder, run func() (stop func())) {
	f = New(Options{
		Log: h, Places: h, Version: "1.2.3",
		gather: time.Millisecond, backoff: time.Millisecond, attempt: 10 * time.Second,
	})
	f.Configure(targets)
	return f, func() func() {
		stop := hooktest.Run(t, f.Run)
		hooktest.Until(t, "each target has its worker", func() bool { return len(f.all()) == len(targets) })
		return stop
	}
}

func to(name, url string) config.Forward {
	return config.Forward{Name: name, Type: config.ForwardWebhook, URL: url}
}

// A webhook that fails half of the time, before or after it has taken a batch, gets every
// decision at least once and in order, across restarts of hookd.
func TestEachDecisionArrives(t *testing.T) {
	h, in := newHistory(t), &inbox{}
	s := webhookServer(t, in, func(n int, _ *http.Request, _ int) int { return []int{503, 0, -500, 0}[n%4] })
	total := 0
	for range 5 {
		f, stop := forwarder(t, h, to("siem", s.URL))
		hooktest.Must(t, h.Flush(t.Context()))
		for range 20 {
			h.decide(7)
			total += 7
			f.Nudge()
		}
		stop()
		hooktest.Must(t, h.Close())
		h.open()
	}
	_, stop := forwarder(t, h, to("siem", s.URL))
	defer stop()
	hooktest.Until(t, "all decisions have arrived", func() bool { return in.has(total) })
	in.inOrder(t)
	if len(in.heads) == 0 {
		t.Error("the target does not know the head of the audit chain")
	}
}

// A target that hangs holds up no other, and says so; the missing decisions come when it answers.
func TestATargetHangs(t *testing.T) {
	h, quick, slow := newHistory(t), &inbox{}, &inbox{}
	release := make(chan struct{})
	fine := webhookServer(t, quick, takeAll)
	hung := webhookServer(t, slow, func(_ int, r *http.Request, _ int) int {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return 0
	})
	f := New(Options{Log: h, Places: h, gather: time.Millisecond, backoff: time.Millisecond, attempt: 50 * time.Millisecond})
	f.Configure([]config.Forward{to("hung", hung.URL), to("fine", fine.URL)})
	defer hooktest.Run(t, f.Run)()
	h.decide(20)
	f.Nudge()
	hooktest.Until(t, "the other target has all", func() bool { return quick.has(20) })
	hooktest.Until(t, "the status says what is wrong", func() bool {
		s := f.Status(t.Context())
		return s[0].Error == "the server does not answer in time" && s[0].Waiting == 20 && s[0].Oldest != nil &&
			s[1].Error == "" && s[1].Sent == 20 && s[1].Waiting == 0
	})
	close(release)
	hooktest.Until(t, "the one that hung has all", func() bool { return slow.has(20) })
}

// A target keeps its place under its name: across a time without it, and another address.
// A new one begins with the next decision.
func TestTargetsChange(t *testing.T) {
	h, first, second, late := newHistory(t), &inbox{}, &inbox{}, &inbox{}
	a, b := webhookServer(t, first, takeAll), webhookServer(t, second, takeAll)
	c := webhookServer(t, late, takeAll)
	f, stop := forwarder(t, h, to("siem", a.URL))
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(5)
	f.Nudge()
	hooktest.Until(t, "the first address has five, and its answer is known", func() bool {
		return first.has(5) && f.Status(t.Context())[0].Sent == 5
	})
	f.Configure(nil)
	h.decide(4)
	f.Configure([]config.Forward{to("siem", b.URL), to("late", c.URL)})
	hooktest.Until(t, "the second address has four", func() bool { return second.has(4) })
	h.decide(3)
	f.Nudge()
	hooktest.Until(t, "both go on", func() bool { return second.has(7) && late.has(3) })
	if !first.has(5) {
		t.Error("the first address got more")
	}
}

// A decision that is pruned before it was handed on is counted, and the target is told. No attempt
// is under way meanwhile, which could bring the pruned decisions.
func TestPrunedBeforeItWasHandedOn(t *testing.T) {
	h, in := newHistory(t), &inbox{}
	s := webhookServer(t, in, takeAll)
	_, run := stopped(t, h, to("siem", s.URL))
	h.decideAt(30, time.Now().Add(-40*24*time.Hour))
	hooktest.Must(t, h.Prune(t.Context()))
	h.decide(2)
	place, err := h.Place(t.Context(), "siem")
	if err != nil || place.Missed != 30 || place.Waiting != 2 {
		t.Errorf("%d missed and %d waiting, %v, want 30 and 2", place.Missed, place.Waiting, err)
	}
	defer run()()
	hooktest.Until(t, "the rest has arrived", func() bool { return in.has(2) })
	hooktest.Until(t, "nothing is left to say", func() bool {
		a, err := h.Ahead(t.Context(), "siem", 1)
		return err == nil && a.Missed == 0 && len(a.Decisions) == 0
	})
	if in.missed != 30 {
		t.Errorf("the target was told of %d, want 30", in.missed)
	}
}

// A server that takes no large batches gets smaller ones.
func TestSmallerBatches(t *testing.T) {
	h, in := newHistory(t), &inbox{}
	s := webhookServer(t, in, func(_ int, _ *http.Request, decisions int) int {
		if decisions > 10 {
			return http.StatusRequestEntityTooLarge
		}
		return 0
	})
	f, stop := forwarder(t, h, to("siem", s.URL))
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(300)
	f.Nudge()
	hooktest.Until(t, "all decisions have arrived", func() bool { return in.has(300) })
	in.inOrder(t)
}

// Headers come from a file or a variable and are read for each attempt; the body is signed.
func TestHeadersAndSignature(t *testing.T) {
	h, in, dir := newHistory(t), &inbox{}, t.TempDir()
	token, key := filepath.Join(dir, "token"), filepath.Join(dir, "key")
	hooktest.Write(t, key, "s3cret\n", 0o600)
	t.Setenv("SIEM_TENANT", "red")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Splunk abc" || r.Header.Get("X-Tenant") != "red" ||
			r.Header.Get("X-Plain") != "yes" || r.Header.Get("X-Hookd-Signature-256") != sign("s3cret", body) {
			t.Errorf("headers are %v", r.Header)
		}
		in.take([]string{"one"}, 0, "")
	}))
	defer s.Close()
	target := to("siem", s.URL)
	target.Headers = map[string]string{"Authorization": "file:" + token, "X-Tenant": "env:SIEM_TENANT", "X-Plain": "yes"}
	target.Sign = "file:" + key
	f, stop := forwarder(t, h, target)
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(1)
	f.Nudge()
	hooktest.Until(t, "the missing file is named", func() bool {
		return strings.Contains(f.Status(t.Context())[0].Error, token)
	})
	hooktest.Write(t, token, "Splunk abc\n", 0o600)
	hooktest.Until(t, "the decision has arrived", func() bool { return in.has(1) })
}

// A redirect is not followed: a POST would arrive as a GET, without its body.
func TestNoRedirect(t *testing.T) {
	h := newHistory(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	defer s.Close()
	f, stop := forwarder(t, h, to("siem", s.URL))
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(1)
	f.Nudge()
	hooktest.Until(t, "the answer is an error", func() bool {
		return f.Status(t.Context())[0].Error == "the server answers 302 Found"
	})
}

// HTTPS with a certificate of one's own works where ca names it, and fails elsewhere.
func TestOwnCertificate(t *testing.T) {
	h, in := newHistory(t), &inbox{}
	s := httptest.NewUnstartedServer(webhookServer(t, in, takeAll).Config.Handler)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	target := to("siem", s.URL)
	f, stop := forwarder(t, h, target)
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(1)
	f.Nudge()
	hooktest.Until(t, "the certificate is refused", func() bool {
		return strings.Contains(f.Status(t.Context())[0].Error, "certificate")
	})
	target.CA = filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	hooktest.Write(t, target.CA, string(pem.EncodeToMemory(block)), 0o600)
	f.Configure([]config.Forward{target})
	hooktest.Until(t, "the decision has arrived", func() bool { return in.has(1) })
}

// A collector gets log records in the protocol's own encoding. Records that it says it has thrown
// away are counted and not sent again.
func TestCollector(t *testing.T) {
	h, in := newHistory(t), &inbox{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data otlp.Request
		if err := json.Unmarshal(body, &data); err != nil || r.URL.Path != "/v1/logs" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
			return
		}
		var ids []string
		for _, rec := range data.ResourceLogs[0].ScopeLogs[0].LogRecords {
			if rec.EventName != "hookd.decision" {
				continue
			}
			if rec.SeverityText != "WARN" || *rec.Body.String != `deny shell rm -rf /: not "here"` {
				t.Errorf("record is %v", rec)
			}
			for _, a := range rec.Attributes {
				if a.Key == "hookd.event_id" {
					ids = append(ids, *a.Value.String)
				}
			}
		}
		in.take(ids, 0, "")
		io.WriteString(w, `{"partialSuccess":{"rejectedLogRecords":"2"}}`)
	}))
	defer s.Close()
	f, stop := forwarder(t, h, config.Forward{Name: "otlp", Type: config.ForwardOTLP, URL: s.URL})
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(9)
	f.Nudge()
	hooktest.Until(t, "the collector's word is counted", func() bool {
		s := f.Status(t.Context())[0]
		return s.Sent == 9 && s.Refused > 0 && s.Waiting == 0
	})
	in.inOrder(t)
	if len(in.ids) != 9 {
		t.Errorf("%d records arrived, want 9", len(in.ids))
	}
}

// A file is made again after it was moved away, and a line that was cut off stays one line.
func TestFile(t *testing.T) {
	h, path := newHistory(t), filepath.Join(t.TempDir(), "decisions.ndjson")
	hooktest.Write(t, path, `{"type":"verdict","cut`, 0o600)
	f, stop := forwarder(t, h, config.Forward{Name: "file", Type: config.ForwardFile, Path: path})
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	written := func(path string) (ids int) {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			var r struct{ Type, Host, Decision string }
			if json.Unmarshal([]byte(line), &r) == nil && r.Type == "verdict" && r.Host != "" && r.Decision == "deny" {
				ids++
			}
		}
		return ids
	}
	h.decide(4)
	f.Nudge()
	hooktest.Until(t, "the lines are there", func() bool { return written(path) == 4 })
	hooktest.Must(t, os.Rename(path, path+".1"))
	h.decide(3)
	f.Nudge()
	hooktest.Until(t, "a new file is there", func() bool { return written(path) == 3 && written(path+".1") == 4 })
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), `"type":"audit_head"`) {
		t.Errorf("no head of the audit chain in %s", text)
	}
}

// Whatever stands where the file should, hookd does not wait for it.
func TestNoFile(t *testing.T) {
	h, dir := newHistory(t), t.TempDir()
	hooktest.Must(t, os.Symlink(filepath.Join(dir, "else"), filepath.Join(dir, "link")))
	hooktest.Must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	hooktest.Must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	var targets []config.Forward
	for _, name := range []string{"link", "folder", "fifo", "none/file"} {
		targets = append(targets, config.Forward{
			Name: strings.ReplaceAll(name, "/", "-"), Type: config.ForwardFile, Path: filepath.Join(dir, name),
		})
	}
	f, stop := forwarder(t, h, targets...)
	defer stop()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(1)
	f.Nudge()
	hooktest.Until(t, "each has its error", func() bool {
		for _, s := range f.Status(t.Context()) {
			if s.Error == "" {
				return false
			}
		}
		return true
	})
}

// Drain returns when all is handed on, and at once where that fails.
func TestDrain(t *testing.T) {
	h, in := newHistory(t), &inbox{}
	fine := webhookServer(t, in, takeAll)
	broken := webhookServer(t, &inbox{}, func(int, *http.Request, int) int { return 500 })
	f := New(Options{Log: h, Places: h, gather: time.Hour, backoff: time.Hour})
	f.Configure([]config.Forward{to("fine", fine.URL), to("broken", broken.URL)})
	defer hooktest.Run(t, f.Run)()
	hooktest.Must(t, h.Flush(t.Context()))
	h.decide(600)
	f.Drain(t.Context())
	if !in.has(600) {
		t.Error("not all decisions have arrived")
	}
}

func TestHeadIsToldOnce(t *testing.T) {
	head := audit.Head{N: 7}
	text := string(batch{from: sender{"box", "1"}, head: head, missed: 2}.lines())
	want := `{"type":"missed","host":"box","count":2}` + "\n" +
		`{"type":"audit_head","host":"box","head":"` + head.String() + `"}` + "\n"
	if text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}
