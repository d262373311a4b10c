package ui_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"go.uber.org/zap"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/people/story"
	"github.com/hookd/hookd/internal/people/ui"
)

// chromium is the browser of all tests of this package: one process, started by the
// first that needs it.
var chromium struct {
	sync.Once
	ctx  context.Context
	stop context.CancelFunc
	err  error

	mu   sync.Mutex
	idle []tab
}

// tab is a tab of the browser.
type tab struct {
	ctx   context.Context
	close context.CancelFunc
}

// newTab returns a tab until the test ends. The next test gets it then: a new one would cost a process, which takes
// a second of a processor's time for its first page.
func newTab(t *testing.T) context.Context {
	t.Helper()
	ctx := browser(t)
	var used tab
	chromium.mu.Lock()
	if last := len(chromium.idle) - 1; last >= 0 {
		used, chromium.idle = chromium.idle[last], chromium.idle[:last]
	}
	chromium.mu.Unlock()
	if used.ctx == nil {
		used.ctx, used.close = chromedp.NewContext(ctx)
	}
	t.Cleanup(func() {
		if t.Failed() || used.blank() != nil {
			used.close()
			return
		}
		chromium.mu.Lock()
		chromium.idle = append(chromium.idle, used)
		chromium.mu.Unlock()
	})
	hooktest.Must(t, chromedp.Do(used.ctx))
	return used.ctx
}

// blank takes away the page of a tab.
func (b tab) blank() error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

func TestMain(m *testing.M) {
	if socket := os.Getenv(callFor); socket != "" {
		call(socket)
		return
	}
	if home := os.Getenv(daemonFor); home != "" {
		serveHome(home)
		return
	}
	code := m.Run()
	hooktest.RemovePrograms()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

// callFor makes the test's own program an agent: it sends one call to the socket that
// this variable names, waits for the verdict and prints it.
const callFor = "HOOKD_UI_TEST_CALL"

func call(socket string) {
	data, _ := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": ledgerSession, "cwd": person + "/src/ledger", "tool_name": "Bash",
		"tool_input": map[string]string{"command": os.Getenv("HOOKD_UI_TEST_COMMAND")},
	})
	verdict, err := client.New(client.Options{Socket: socket}).Decide(context.Background(), client.Event{
		Event: "PreToolUse", Dialect: "codex", Data: data, SessionID: ledgerSession, Cwd: person + "/src/ledger",
	})
	fmt.Printf("allowed=%v %s %v\n", verdict.Allowed, verdict.Message, err)
}

// asks runs an agent in a terminal of its own, so that it and the page are not of one
// tree of processes, and returns the answer that the agent was told in the end.
func (s *site) asks(command string) (told <-chan string) {
	s.t.Helper()
	hooktest.NeedTool(s.t, "script")
	self, err := os.Executable()
	hooktest.Must(s.t, err)
	c := exec.CommandContext(s.t.Context(), "script", "-qec", self, "/dev/null")
	c.Env = append(os.Environ(), callFor+"="+s.client.Socket(), "HOOKD_UI_TEST_COMMAND="+command)
	out := make(chan string, 1)
	go func() {
		text, err := c.CombinedOutput()
		out <- fmt.Sprintf("%s (%v)", text, err)
	}()
	return out
}

// browserNames are programs that speak the DevTools protocol.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// browser returns the browser, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("HOOKD_CHROMIUM")
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("SKIP-TOOL chromium: not installed")
	}
	if testing.Short() {
		t.Skip("SKIP-TOOL chromium: not with -short")
	}
	chromium.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1440, 900), chromedp.WSURLReadTimeout(hooktest.Patience),
			chromedp.Flag("force-prefers-reduced-motion", false), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("lang", "en-US"))
		alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stop := chromedp.NewContext(alloc)
		chromium.ctx, chromium.stop = ctx, func() { stop(); stopAlloc() }
		chromium.err = chromedp.Do(ctx)
	})
	if chromium.err != nil {
		t.Skipf("SKIP-TOOL chromium: %s does not start here: %v", path, chromium.err)
	}
	return chromium.ctx
}

// site is a daemon, its page, and a browser that looks at the page.
type site struct {
	t      *testing.T
	home   string
	client *client.Client
	ui     *ui.Server
	ctx    context.Context // of the browser's tab
	stop   func()          // of the daemon

	mu   sync.Mutex
	bad  []string // that the browser complained of
	link string
}

// newHome makes a home with hooks. fill, unless nil, writes its history.
func newHome(t *testing.T, fill func(*seeder)) string {
	t.Helper()
	home := hooktest.ShortDir(t)
	hooktest.Must(t, os.Chmod(home, 0o700))
	for name, yaml := range map[string]string{
		"command-guard": "description: Denies shell commands that destroy, and asks before those that are hard to take back.\nevents: PreToolUse\nmatcher: Bash\ntimeout: 10s\n" +
			"tests:\n  - {name: a push is asked about, data: {command: git push -f}, expect: ask}\n  - {name: the build may go, data: {command: rm -rf dist}, expect: none}\n",
		"egress-guard":    "shadow: true\nevents: PreToolUse\nmatcher: WebFetch|Bash\n",
		"secret-guard":    "events: [PreToolUse, PostToolUse]\ntimeout: 5s\n",
		"tf-plan":         "events: PreToolUse\nmatcher: Write|Edit\ntimeout: 30s\n",
		"test-at-stop":    "events: Stop\ntimeout: 60s\n",
		"audit-log":       "events: '*'\nblocking: false\n",
		"slack-notify":    "events: agent:end\n",
		"git-checkpoint":  "events: agent:end\n",
		"transcript-keep": "events: SessionEnd\nenabled: false\n",
	} {
		script := "cat > /dev/null\n"
		if name == "command-guard" {
			script = `case "$(cat)" in
*'rm -rf'*) echo 'rm -rf on a folder that git does not track' >&2; exit 2;;
*'git push'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"rewrites a branch that others have"}}';;
esac
`
		}
		hooktest.Hook(t, home, name, yaml, script)
	}
	if fill != nil {
		s := openHistory(t, home)
		fill(s)
		s.close()
	}
	return home
}

// settings are the settings of a home, with a history of all that was given.
func settings(t *testing.T, home string) config.Config {
	t.Helper()
	cfg, err := config.Load(home, nil, nil)
	hooktest.Must(t, err)
	cfg.HistoryPayload, cfg.StoreDurable = "full", "os"
	return cfg
}

// serveHome is a daemon on a home, until it is killed.
func serveHome(home string) {
	cfg, err := config.Load(home, nil, nil)
	if err == nil {
		cfg.HistoryPayload, cfg.StoreDurable = "full", "os"
		var d *daemon.Daemon
		if d, err = daemon.New(daemon.Options{Config: cfg, Version: "test", Log: zap.NewNop()}); err == nil {
			err = d.Run(context.Background())
		}
	}
	fmt.Fprintln(os.Stderr, "the test's daemon:", err)
	os.Exit(1)
}

// runDaemon runs a daemon on a home until the test ends or stop is called.
func runDaemon(t *testing.T, home string) (c *client.Client, stop func()) {
	t.Helper()
	cfg := settings(t, home)
	d, err := daemon.New(daemon.Options{Config: cfg, Version: "test", Log: zap.NewNop()})
	hooktest.Must(t, err)
	stop = hooktest.Run(t, d.Run)
	c = client.New(client.Options{Socket: cfg.Socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return c.Ready(t.Context()) == nil })
	return c, stop
}

// open makes a site on a home and opens its link at an address such as #stream.
func open(t *testing.T, home string, opt ui.Options, hash string) *site {
	t.Helper()
	browser(t) // or skip before a daemon runs
	c, stop := runDaemon(t, home)
	s := openWith(t, home, c, opt, hash)
	s.stop = stop
	return s
}

// openWith is open where a daemon runs already.
func openWith(t *testing.T, home string, c *client.Client, opt ui.Options, hash string) *site {
	t.Helper()
	opt.Client, opt.Home, opt.User, opt.Version = c, person, "mira", "test"
	cfg, err := config.Load(home, nil, nil)
	hooktest.Must(t, err)
	opt.Hooks, opt.Calls = pageHooks(cfg, c), stories{story.Teller{Client: c, Home: cmp.Or(os.Getenv(householdIn), home)}}
	server, err := ui.Open(opt)
	hooktest.Must(t, err)
	hooktest.Run(t, server.Run)
	s := &site{t: t, home: home, client: c, ui: server}
	var stopLimit context.CancelFunc
	s.ctx, stopLimit = context.WithTimeout(newTab(t), 2*hooktest.Patience+loadTime())
	t.Cleanup(func() {
		stopLimit()
		for _, b := range s.complaints() {
			t.Error("the browser complains: " + b)
		}
	})
	hooktest.Must(t, chromedp.Listen(s.ctx, s.listen))
	s.link = server.Link()
	command(s, log.Enable, cdp.Empty{})
	command(s, network.Enable, network.EnableParams{})
	s.look(1440, 900, "light") // a tab keeps the size and the scheme that the test before gave it
	s.run(chromedp.Navigate(s.link))
	s.until("the page is there", `document.querySelector("main section.view") !== null`)
	s.goTo(hash)
	return s
}

// stories tells calls without the files of hooks.
type stories struct{ story.Teller }

func (s stories) Story(ctx context.Context, id string) (any, error) { return s.Call(ctx, id) }

func (s stories) Session(ctx context.Context, id, agent string) (any, error) {
	got, err := s.Teller.Session(ctx, id, agent)
	if got == nil {
		return nil, err
	}
	return got, err
}

func (stories) FalseAlarm(_ context.Context, id, expect string) (any, error) {
	return map[string]string{"hook": "command-guard", "call": id, "expect": expect}, nil
}

// listen notes events that a page without faults does not cause: exceptions, errors in the
// console, violations of its policy, requests that leave it.
func (s *site) listen(ev any) {
	var bad string
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		bad = fmt.Sprintf("%s %s:%d", e.ExceptionDetails.Text, e.ExceptionDetails.URL, e.ExceptionDetails.LineNumber+1)
		if e.ExceptionDetails.Exception != nil {
			bad += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			text, _ := json.Marshal(e.Args)
			bad = string(text)
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security") ||
			strings.HasSuffix(e.Entry.URL, "/v1/fleet") { // which finds nothing where there is no fleet
			bad = e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "http://127.0.0.1:") && !strings.HasPrefix(e.Request.URL, "data:") {
			bad = "a request to " + e.Request.URL
		}
	}
	if bad != "" {
		s.mu.Lock()
		s.bad = append(s.bad, bad)
		s.mu.Unlock()
	}
}

func (s *site) complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

// command sends a command of the protocol.
func command[P, R any](s *site, c cdp.Command[P, R], params P) (answer R) {
	s.t.Helper()
	answer, err := chromedp.Run(s.ctx, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, c, params)
	})
	hooktest.Must(s.t, err)
	return answer
}

func (s *site) run(actions ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	if err := chromedp.Do(s.ctx, actions...); err != nil {
		s.t.Fatalf("%v; complaints: %q", err, s.complaints())
	}
}

// js evaluates an expression, which may be a promise.
func js[T any](s *site, expression string) T {
	s.t.Helper()
	value, err := chromedp.Run(s.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		s.t.Fatalf("%s: %v; complaints: %q", expression, err, s.complaints())
	}
	return value
}

func (s *site) text(expression string) string {
	s.t.Helper()
	return js[string](s, "Promise.resolve("+expression+").then(String)")
}

// patience is how long the page may take for anything.
const patience = hooktest.Patience - 5*time.Second

// until waits for an expression to hold.
func (s *site) until(what, expression string) {
	s.t.Helper()
	end := time.Now().Add(patience)
	hooktest.Until(s.t, what+", which is "+expression, func() bool {
		if bad := s.complaints(); len(bad) > 0 {
			s.t.Fatalf("until %s: the browser complains: %.900q", what, bad)
		}
		if time.Now().After(end) {
			s.t.Fatalf("waited %s in vain until %s, which is %s; at %s it shows %.1500s; complaints: %q", patience, what, expression,
				s.text("location.hash"), s.text(`document.querySelector("main").innerText`), s.complaints())
		}
		is, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err != nil && s.ctx.Err() != nil {
			s.t.Fatalf("%v; complaints: %q", err, s.complaints())
		}
		return err == nil && is
	})
}

// goTo opens an address of the page.
func (s *site) goTo(hash string) {
	s.t.Helper()
	js[chromedp.Void](s, fmt.Sprintf("void (location.hash = %q)", hash))
	view := strings.TrimPrefix(strings.Split(hash, "?")[0], "#")
	if view == "" {
		view = "now"
	}
	s.until("the view "+view, fmt.Sprintf(`document.querySelector("section#%s")`, view))
}

// keys presses keys, which the page takes or leaves. The letters of a key are left out:
// over this protocol they would come even where the page has taken the key.
func (s *site) keys(keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		for _, r := range key {
			for _, p := range kb.Encode(r) {
				if p.Type != input.DispatchKeyEventTypeChar {
					p.Text, p.UnmodifiedText = "", ""
					command(s, input.DispatchKeyEvent, *p)
				}
			}
		}
	}
}

// typed types a text into the element that has the focus.
func (s *site) typed(text string) {
	s.t.Helper()
	s.run(chromedp.KeyEvent(text))
}

// look makes the window so wide and high, in light or dark.
func (s *site) look(width, height int64, scheme string) {
	s.t.Helper()
	s.run(chromedp.EmulateViewport(width, height))
	command(s, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// drawn waits until the page has drawn the data that it asked for.
func (s *site) drawn() {
	s.t.Helper()
	s.until("nothing is being read", `!document.querySelector(".late, .plot.empty") && [...document.querySelectorAll(".plot")].every((p) => p.querySelector("canvas"))`)
	js[bool](s, `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
}

// picture writes a picture of the window.
func (s *site) picture(path string) {
	s.t.Helper()
	shot, err := chromedp.Run(s.ctx, chromedp.CaptureScreenshot())
	hooktest.Must(s.t, err)
	full, err := png.Decode(bytes.NewReader(shot))
	hooktest.Must(s.t, err)
	var small bytes.Buffer
	hooktest.Must(s.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, fewColors(full)))
	hooktest.Must(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	hooktest.Must(s.t, os.WriteFile(path, small.Bytes(), 0o644))
}

// fewColors keeps the colours that are most frequent, 255 of them, and takes the nearest
// for the others: a third of the bytes, and no difference to be seen.
func fewColors(full image.Image) image.Image {
	count := map[color.RGBA]int{}
	b := full.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	palette := color.Palette{}
	for _, c := range all[:min(len(all), 255)] {
		palette = append(palette, c)
	}
	small, index := image.NewPaletted(b, palette), map[color.RGBA]uint8{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			small.SetColorIndex(x, y, i)
		}
	}
	return small
}
