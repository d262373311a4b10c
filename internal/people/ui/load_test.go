package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// long reports whether the tests may take minutes: `make test-ui` says so.
func long() bool { return os.Getenv("HOOKD_UI_LOAD") != "" }

func needLong(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("SKIP-TOOL load: HOOKD_UI_LOAD is not set")
	}
}

// measured returns one of the browser's measures of the page: TaskDuration are the
// seconds of processor time of the page's thread, JSHeapUsedSize bytes, Nodes and
// JSEventListeners counts.
func (s *site) measured(name string) float64 {
	s.t.Helper()
	for _, m := range command(s, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	s.t.Fatalf("the browser does not measure %s", name)
	return 0
}

// 100,000 decisions scroll without a stall, down to the first of them, and up again.
func TestScrolling(t *testing.T) {
	needLong(t)
	home := newHome(t, func(s *seeder) { s.many(100_000, time.Now()) })
	s := open(t, home, ui.Options{}, "#now")
	s.drawn()
	t.Logf("the first rows of 100,000 calls are there %.0f ms after the click", js[float64](s, `new Promise((done) => {
		const begin = performance.now();
		const look = () => document.querySelector("#stream tr[data-id]") ? done(performance.now() - begin) : requestAnimationFrame(look);
		location.hash = "#stream?range=6h";
		look();
	})`))
	s.until("rows", `document.querySelectorAll("#stream tr[data-id]").length > 15`)
	s.until("the counts are whole", `document.querySelector(".search .end").textContent === "100,000 kept"`)
	command(s, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	before := s.measured("TaskDuration")
	frames := js[float64](s, `new Promise((done) => {
		const main = document.getElementById("main"), begin = performance.now();
		let n = 0, worst = 0, last = begin;
		const step = (now) => {
			n++; worst = Math.max(worst, now - last); last = now;
			main.scrollTop += 400;
			if (now - begin < 10000) requestAnimationFrame(step); else { window.worst = worst; done(n / ((now - begin) / 1000)); }
		};
		requestAnimationFrame(step);
	})`)
	t.Logf("%.1f frames a second while 400 points a frame are scrolled, the longest %s ms, %s points down", frames,
		s.text("Math.round(window.worst)"), s.text(`document.getElementById("main").scrollTop`))
	t.Logf("%.1f ms of the page's thread a frame, whatever else runs here; one of 60 a second may have 16.7",
		1000*(s.measured("TaskDuration")-before)/(10*frames))
	s.until("all rows are read", `(document.getElementById("main").scrollTop = 1e9, document.querySelector("p.rest")?.textContent.startsWith("That is all"))`)
	s.until("the first decision of all", `document.querySelector("main").textContent.includes("# 0")`)
	if n := js[int](s, `document.querySelectorAll("#stream tr[data-id]").length`); n > 100 {
		t.Errorf("%d rows are in the document", n)
	}
	s.keys("f")
	s.until("the newest", `document.querySelector("#stream tr[data-id]").textContent.includes("# 99999")`)
}

// used is the processor time of this process, which runs the daemon and the page's server.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	hooktest.Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A page that is open and idle costs the daemon next to nothing, whichever view it shows.
func TestIdle(t *testing.T) {
	needLong(t)
	home := newHome(t, func(s *seeder) { s.many(6000, time.Now()); s.hour(time.Now()) })
	s := open(t, home, ui.Options{}, "#now")
	for _, hash := range []string{"#now", "#stream", "#session?id=load", "#hooks"} {
		s.goTo(hash)
		s.drawn()
		before, begin := used(t), time.Now()
		js[bool](s, `new Promise((done) => setTimeout(() => done(true), 4000))`)
		t.Logf("%s: %.2f %% of one processor for daemon, page's server and test", hash,
			100*float64(used(t)-before)/float64(time.Since(begin)))
	}
}

// loadTime is how long records come: a minute, or as long as HOOKD_UI_LOAD says.
func loadTime() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("HOOKD_UI_LOAD")); err == nil && d > time.Minute {
		return d
	}
	return time.Minute
}

// 1,000 records a second are shown as they come, and the page does not grow.
func TestManyRecords(t *testing.T) {
	needLong(t)
	const rate = 340 // calls a second; each makes three records: the event, its run, the verdict
	home := hooktest.ShortDir(t)
	hooktest.Must(t, os.Chmod(home, 0o700))
	hooktest.Write(t, home+"/hooks/shell/HOOK.yaml", "name: shell\ntype: builtin\ncommand: safer_shell\nevents: PreToolUse\nmatcher: Bash\n", 0o644)
	s := open(t, home, ui.Options{}, "#stream")
	command(s, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	var sent atomic.Int64
	ctx, stop := context.WithTimeout(t.Context(), loadTime())
	defer stop()
	sending := make(chan error, 1)
	go func() { sending <- sendCalls(ctx, s.client, rate, &sent) }()
	var behind, heap, nodes []float64
	for part := range 6 {
		select {
		case <-time.After(loadTime() / 6): // a part, measured at its end
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
		shown := js[float64](s, `Math.max(0, ...[...document.querySelectorAll("#stream td.f-wide code")].map((c) => +c.textContent.split("#")[1]))`)
		behind = append(behind, float64(sent.Load())-shown)
		command(s, heapprofiler.CollectGarbage, cdp.Empty{})
		heap, nodes = append(heap, s.measured("JSHeapUsedSize")/(1<<20)), append(nodes, s.measured("Nodes"))
		t.Logf("%d s: %d calls sent, %.0f behind; %.1f MiB, %.0f nodes; the last line says %s", int(loadTime().Seconds())/6*(part+1), sent.Load(), behind[part], heap[part], nodes[part],
			s.text(`document.querySelector(".foot > :last-child").textContent`))
	}
	hooktest.Must(t, <-sending)
	t.Logf("%.0f records a second", 3*float64(sent.Load())/loadTime().Seconds())
	if slices.Min(behind[2:5]) > slices.Max(behind[:2])+5*rate {
		t.Errorf("the page falls behind: by %.0f calls", behind)
	}
	if slices.Min(heap[3:]) > slices.Max(heap[:3])+10 || slices.Min(nodes[3:]) > 2*slices.Max(nodes[:3]) {
		t.Errorf("the page grows: %.0f MiB, %.0f nodes", heap, nodes)
	}
	s.until("the last call is shown", fmt.Sprintf(`document.querySelector("#stream tr[data-id] code").textContent.endsWith("#%d")`, sent.Load()))
}

// sendCalls sends calls of a shell command over one connection, so many a second, until
// ctx ends; then it waits for their verdicts. The guard asks about every 50th call.
func sendCalls(ctx context.Context, c *client.Client, rate int, sent *atomic.Int64) error {
	whole := context.WithoutCancel(ctx)
	conn, err := c.Dial(whole)
	if err != nil {
		return err
	}
	defer conn.Close()
	answered := make(chan error, 1)
	pending := make(chan int, 1000)
	go func() {
		for n := range pending {
			for range n {
				if a, err := conn.Receive(whole); err != nil || a.Verdict == nil {
					answered <- fmt.Errorf("answer %v: %w", a, err)
					return
				}
			}
		}
		answered <- nil
	}()
	begin, tick := time.Now(), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case err := <-answered:
			return err
		case <-ctx.Done():
		case now := <-tick.C:
			var list []client.Event
			for due := int64(now.Sub(begin).Seconds() * float64(rate)); sent.Load() < due; {
				n, word := sent.Add(1), "echo"
				if n%50 == 0 {
					word = "rm -rf"
				}
				data, _ := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": fmt.Sprintf("%s load #%d", word, n)}})
				list = append(list, client.Event{Event: "PreToolUse", Dialect: "claude-code", SessionID: "load", Wait: true, Data: data})
			}
			pending <- len(list) // before: answers are read while a late, long list is sent
			if err := conn.Send(whole, list...); err != nil {
				return err
			}
		}
	}
	close(pending)
	return <-answered
}
