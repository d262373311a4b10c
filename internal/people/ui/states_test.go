package ui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/people/ui"
)

// Numbers that neither the stream nor the history has are a row of their own, at their place,
// and the last line and the banner say how many.
func TestAGapIsARow(t *testing.T) {
	hooktest.Long(t) // a state of a view that others show, too
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{}, "#stream")
	s.until("rows", `document.querySelectorAll("#stream tr[data-id]").length > 15`)
	s.decide("echo before the gap")
	s.until("no gaps yet", `document.querySelector(".foot").textContent.includes("no gaps")`)
	s.stop()
	s.until("it is said", `document.querySelector(".conn").textContent.includes("not connected")`)
	history := openHistory(t, home)
	history.seq += 212 // numbers that were given and whose records were lost
	in := agentSession{id: "later", cwd: person + "/src/ledger", dialect: codex}
	history.decide(history.event(time.Now(), in, events.KindToolBefore, "Bash", "echo after the gap"), nil, quiet("secret-guard", 4))
	history.close()
	s.client, s.stop = runDaemon(t, home)
	s.until("the banner says it", `/Connected again, .* missed/.test(document.querySelector(".banner").textContent)`)
	s.until("the last line says it", `/1 gap, [0-9]+ records missing/.test(document.querySelector(".foot").textContent)`)
	const order = `/echo after the gap[^]*2[0-9][0-9] records missed, .* the history has none of them[^]*echo before the gap/`
	for _, kind := range []string{"", "?kind=events", "?kind=runs", "?q=decision:deny"} {
		s.goTo("#stream" + kind)
		s.until("a row of its own in "+kind, `document.querySelector("#stream td.gap")`)
		if kind == "" {
			s.until("it stands at its place", order+`.test(document.querySelector("#stream tbody").textContent)`)
		}
	}
	s.goTo("#stream")
	s.until("rows", `document.querySelector("#stream td.gap")`)
	s.keys("j", "j", "j", kb.Enter, "k")
	s.until("keys go over it", `document.querySelector("#stream tr.sel")`)
}

// While the page is paused it says how much it missed, and reads that when it goes on.
func TestMoreThanIsHeldIsRead(t *testing.T) {
	hooktest.Long(t) // so many events are sent
	home := quickHome(t)
	s := open(t, home, ui.Options{}, "#stream")
	s.decide("echo first")
	s.until("the first", `document.querySelector("#stream tr[data-id]")?.textContent.includes("echo first")`)
	s.keys(" ")
	s.until("paused", `document.querySelector(".pause").ariaPressed === "true"`)
	const calls = 2100 // more than the page holds
	js[chromedp.Void](s, `void document.querySelector("#stream tr[data-id]").focus()`)
	focused := s.text(`document.activeElement.dataset.id`)
	s.callMany("many", calls)
	s.until("all are counted, or it says how many it missed", `/[0-9] new, (more in the history|[0-9]+ records? missed)/.test(document.querySelector(".new")?.textContent)`)
	if first := s.text(`document.querySelector("#stream tr[data-id]").textContent`); !strings.Contains(first, "echo first") {
		t.Errorf("the rows moved while the page was paused: the first is %s", first)
	}
	if now := s.text(`document.activeElement.dataset.id`); now != focused {
		t.Errorf("the focus was on row %s and is on %q", focused, now)
	}
	s.keys(" ")
	s.until("the newest is the last call", fmt.Sprintf(`document.querySelector("#stream tr[data-id] code")?.textContent.includes("call %d")`, calls))
	s.until("and none is between it and the one before", fmt.Sprintf(`document.querySelectorAll("#stream tr[data-id] code")[1]?.textContent.includes("call %d")`, calls-1))
}

// quickHome makes a home whose only hook is built in, so that many calls take no time.
func quickHome(t *testing.T) string {
	t.Helper()
	home := hooktest.ShortDir(t)
	hooktest.Must(t, os.Chmod(home, 0o700))
	const yaml = "name: shell\ntype: builtin\ncommand: safer_shell\nevents: PreToolUse\nmatcher: Bash\n"
	hooktest.Write(t, home+"/hooks/shell/HOOK.yaml", yaml, 0o644)
	return home
}

// callMany sends so many shell commands in a session, "echo call 1" and so on, and waits until
// all are decided.
func (s *site) callMany(session string, calls int) {
	s.t.Helper()
	conn, err := s.client.Dial(s.t.Context())
	hooktest.Must(s.t, err)
	defer conn.Close()
	var list []client.Event
	for i := range calls {
		data, _ := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": fmt.Sprintf("echo call %d", i+1)}})
		list = append(list, client.Event{Event: "PreToolUse", Dialect: "claude-code", SessionID: session, Wait: true, Data: data})
	}
	sent := make(chan error, 1)
	go func() { sent <- conn.Send(s.t.Context(), list...) }()
	for range calls {
		_, err := conn.Receive(s.t.Context())
		hooktest.Must(s.t, err)
	}
	hooktest.Must(s.t, <-sent)
}

// A daemon that is slow to answer: the heads of the columns are there at once, and
// "reading…" after a while, until the rows come.
func TestAViewThatWaitsSaysSo(t *testing.T) {
	hooktest.Long(t) // a state of a view that others show, too
	browser(t)
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	daemon := &process{t: t, home: home}
	s := openWith(t, home, daemon.start(), ui.Options{}, "#now")
	s.until("the sessions", `document.querySelector("table.sessions")`)
	hooktest.Must(t, daemon.cmd.Process.Signal(syscall.SIGSTOP))
	js[chromedp.Void](s, `void (location.hash = "#stream")`)
	s.until("the heads", `/Time.*Who.*What.*Outcome.*Result.*Why.*Waited/.test(document.querySelector("#stream thead")?.textContent)`)
	s.until("it is being read", `document.querySelector("#stream .late")?.textContent === "reading…"`)
	for _, hash := range []string{"#session", "#run"} {
		js[chromedp.Void](s, fmt.Sprintf("void (location.hash = %q)", hash))
		s.until("it is being read in "+hash, `document.querySelector(".late")?.textContent === "reading…"`)
	}
	js[chromedp.Void](s, `void (location.hash = "#stream")`)
	s.until("it is being read again", `document.querySelector("#stream .late")`)
	hooktest.Must(t, daemon.cmd.Process.Signal(syscall.SIGCONT))
	s.until("the rows", `document.querySelectorAll("#stream tr[data-id]").length > 15 && !document.querySelector(".late")`)
}

// A second browser that has no link sees nothing, also by the address of the page and by a
// link that was used.
func TestASecondBrowserSeesNothing(t *testing.T) {
	hooktest.Long(t) // TestALinkWorksOnce asks without a browser
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#now")
	s.until("the sessions", `document.querySelector("table.sessions")`)
	address := s.text("location.href.split('#')[0]")
	ctx, cancel := chromedp.NewContext(browser(t), chromedp.WithNewBrowserContext())
	defer cancel()
	other := &site{t: t, ctx: ctx}
	hooktest.Must(t, chromedp.Do(ctx))
	for _, url := range []string{address, address + "#stream", s.link, address + "v1/decisions", address + "page.js", address + "live"} {
		other.run(chromedp.Navigate(url))
		seen := other.text("document.documentElement.textContent")
		if strings.Contains(seen, "Claude Code") || strings.Contains(seen, "export") || !strings.Contains(seen, "hookd ui") {
			t.Errorf("%s shows a browser without the link %.200q", url, seen)
		}
	}
	other.run(chromedp.Navigate(address))
	asked := `Promise.all(["v1/decisions", "about", "v1/asks", "page.css", "live"].map((p) => fetch(p).then((r) => r.status)))`
	if got := other.text(asked + ".then(String)"); got != "403,403,403,403,403" {
		t.Errorf("its requests are answered with %s", got)
	}
	if got := other.text(`fetch("v1/hooks/command-guard/test", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then((r) => r.status)`); got != "403" {
		t.Errorf("an act is answered with %s", got)
	}
	s.run(chromedp.Reload())
	s.until("the first browser still sees it", `document.querySelector("table.sessions")`)
	other.run(chromedp.Navigate(s.ui.Link()))
	other.until("with a link of its own it is there", `document.querySelector("main section.view")`)
}

// Of several questions each is answered once: a key that is repeated meets neither the same
// question nor the question that has just moved to its place.
func TestSeveralQuestionsAtOnce(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#now")
	const open = `document.querySelector(".askbox .cmd")?.textContent`
	told := map[string]<-chan string{}
	for i, name := range []string{"one", "two", "three", "four"} {
		told[name] = s.asks("git push origin " + name)
		s.until("question "+name, fmt.Sprintf(`document.querySelectorAll(".askbox, .inbox .item .state.ask").length === %d`, i+1))
	}
	s.until("the title counts them", `document.title === "(6) hookd"`)
	s.until("the oldest is open", open+` === "git push origin one"`)
	s.until("the page says them aloud", `document.querySelector("[aria-live]").textContent.includes("git push origin four")`)
	for _, width := range []int64{380, 1024, 1440} {
		s.look(width, 900, "light")
		s.noWider("four questions")
	}
	s.until("a key counts, 500 ms after the box has moved", `(() => {
		const first = () => document.querySelector(".askbox .cmd")?.textContent === "git push origin one";
		const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "d", bubbles: true, cancelable: true }));
		if (first()) [1, 2, 3].forEach(press);
		return !first();
	})()`)
	if got := <-told["one"]; !strings.Contains(got, "allowed=false") {
		t.Errorf("the first agent was told %s", got)
	}
	s.until("the next is open, and no other was answered", open+` === "git push origin two" && document.querySelectorAll(".inbox .item .state.ask").length === 2`)
	s.until("the outcome is a line, and not that of another answer", `/denied by you/.test(document.querySelector(".inbox").textContent) && !document.querySelector(".askbox [role=alert]")`)
	s.press("a", open+` === "git push origin three"`)
	s.press("s", open+` === "git push origin four"`)
	hooktest.Must(t, s.answerElsewhere("git push origin four"))
	s.until("it was answered elsewhere", `!document.querySelector(".askbox") && /allowed by/.test(document.querySelector(".inbox").textContent)`)
	for _, name := range []string{"two", "three", "four"} {
		if got := <-told[name]; !strings.Contains(got, "allowed=true") {
			t.Errorf("agent %s was told %s", name, got)
		}
	}
}

// answerElsewhere allows a call that is held, by way of the socket.
func (s *site) answerElsewhere(subject string) error {
	s.t.Helper()
	asks, err := s.client.Asks(s.t.Context())
	if err != nil {
		return err
	}
	for _, a := range asks.Asks {
		if a.Subject == subject {
			_, err := s.client.AnswerAsk(s.t.Context(), a.ID, client.AskReply{Answer: "allow", Digest: a.Card.Digest})
			return err
		}
	}
	return fmt.Errorf("%s is not held", subject)
}

// The button runs the tests in a hook's file; results that are not as expected come first.
func TestTheTestsOfAHookAreRun(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, nil)
	s := open(t, home, ui.Options{Act: true}, "#hooks?hook=command-guard")
	s.until("it has tests", `/2 tests in its file/.test(document.querySelector(".side")?.textContent)`)
	js[chromedp.Void](s, `void document.querySelector("[data-act=tests]").click()`)
	s.until("one is not as expected", `/1 of 2 tests not as expected/.test(document.querySelector(".side").textContent)`)
	s.until("it comes first, with what was expected", `/^deny the build may go.*expected none.*ask a push is asked about/.test(document.querySelector("dl.tests").innerText.replace(/\s+/g, " "))`)
	s.until("it can be run again", `document.querySelector("[data-act=tests]").textContent.startsWith("Run them again")`)
}

// A hook says on which conditions it runs, and which runs it leaves out.
func TestAHookSaysWhenItRuns(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, nil)
	hooktest.Hook(t, home, "push-guard", "events: PreToolUse\nwhen:\n  - {tool: Bash, command: git push}\n  - {tool: Write, path: '*.pem'}\n", "cat > /dev/null\n")
	hooktest.Hook(t, home, "digest", "events: agent:end\ndebounce: 90s\nthrottle: 2/1h\n", "cat > /dev/null\n")
	s := open(t, home, ui.Options{}, "#hooks?hook=push-guard")
	facts := `[...document.querySelectorAll(".side dl.fact dt")].map((d) => d.textContent + ": " + d.nextSibling.textContent).join("; ")`
	s.until("its conditions", `/Only when: .*git push.* or .*\.pem/.test(`+facts+`)`)
	js[chromedp.Void](s, `void (location.hash = "#hooks?hook=digest")`)
	s.until("what it leaves out", `/Debounce: 90 s; Throttle: 2\/1h/.test(`+facts+`)`)
}

// The page holds a bounded part of a session that never ends, and says so.
// A long hour is counted in parts, and Now shows the sum.
func TestNowCountsTheWholeHour(t *testing.T) {
	s := open(t, newHome(t, func(s *seeder) { s.hour(time.Now()) }), ui.Options{}, "#hooks")
	js[chromedp.Void](s, `(() => { const real = fetch; window.fetch = (url, o) => !String(url).includes("v1/decisions/counts") ? real(url, o)
		: Promise.resolve(new Response(JSON.stringify({total: 4, rewrote: 0, sessions: 1, tools: [], agents: [], hooks: [],
			decisions: [{name: "deny", count: 4}], next: String(url).includes("before=9") ? 0 : 9}))); })()`)
	s.goTo("#now")
	s.until("both parts are counted", `/In the last hour 8 decisions: 8 denied/.test(document.querySelector("#now .lead").textContent.replace(/\s+/g, " "))`)
}

func TestAllOpenSessionsAreCounted(t *testing.T) {
	s := open(t, quickHome(t), ui.Options{}, "#now")
	for i := range 25 {
		_, err := s.client.Decide(t.Context(), client.Event{
			Event: "PreToolUse", Dialect: "codex", SessionID: fmt.Sprint("session ", i), Data: []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`),
		})
		hooktest.Must(t, err)
	}
	s.until("25 sessions", `/25 open/.test(document.querySelector("#now").textContent) && document.querySelectorAll("#now .sessions tr[data-id]").length === 25`)
}

func TestALongSessionIsBounded(t *testing.T) {
	hooktest.Long(t)
	home := quickHome(t)
	history := openHistory(t, home)
	history.many(6000, time.Now())
	history.close()
	s := open(t, home, ui.Options{}, "#session?id=load")
	s.until("the newest is there", `document.querySelector("#session tbody")?.textContent.includes("# 5999")`)
	s.until("it says that it is not all", `document.querySelector("#session .head p:last-child").textContent.startsWith("Of the newest part: 0 prompts, 5,000 calls")`)
	s.callMany("load", 900)
	s.until("what is new comes, once", `document.querySelector("#session tbody").textContent.includes("echo call 900")`)
	s.callMany("load", 200)
	s.until("the oldest were dropped", `document.querySelector("#session .head p:last-child").textContent.includes(" 5,000 calls")`)
	rows := `[...document.querySelectorAll("#session tr[data-id]")].filter((r) => r.textContent.includes("echo call 200")).length`
	s.until("the newest call is there", rows+" > 0")
	if n := js[int](s, rows); n != 1 {
		t.Errorf("one call is %d rows", n)
	}
}

// rollOut brings a bundle to all machines of a fleet and switches its guard off.
func rollOut(t *testing.T, url, file string, names fleet.Names) {
	t.Helper()
	key, err := policy.PrivateKey(file)
	hooktest.Must(t, err)
	text, err := policy.Build(pack.Content{
		{Path: "hooks/guard/HOOK.yaml", Data: []byte("name: guard\nevents: [pre_tool_use]\ntype: script\nscript: exit 2\n")},
	}, "acme", 1, nil, key)
	hooktest.Must(t, err)
	read, err := policy.Peek(text)
	hooktest.Must(t, err)
	b, err := jetstream.Connect(engine.Options{Servers: []string{url}, Machine: names.Machine}, nil)
	hooktest.Must(t, err)
	defer b.Close()
	hooktest.Until(t, "the operator is connected", func() bool { return b.State().Connected })
	hooktest.Must(t, fleet.PutBundle(t.Context(), b, names, "acme@1", text))
	d, err := policy.Directive{Tenant: names.Tenant}.Roll(
		policy.Revision{Name: "acme", Sequence: 1, Digest: read.Head.Digest()}, policy.StageEnforce, 0)
	hooktest.Must(t, err)
	d = d.SwitchOff(policy.Off{Hook: "policy:guard", Reason: "denies too much", By: "ann", Time: time.Now().UTC()})
	signed, err := d.Sign(key, time.Now(), "ann")
	hooktest.Must(t, err)
	directive, err := json.Marshal(signed)
	hooktest.Must(t, err)
	hooktest.Must(t, fleet.ReplaceDirective(t.Context(), b, names, directive, 0))
}

// The page of one machine of a fleet shows the sessions and decisions of the others, finds them
// by its search, and says which machine is which.
func TestThePageShowsTheFleet(t *testing.T) {
	hooktest.Long(t)
	browser(t)
	hooktest.ProgramsInPath(t)
	server := fleettest.Start(t, nil)
	names := fleet.Names{Tenant: "default", Machine: "ops"}
	file := filepath.Join(t.TempDir(), "key")
	public, err := policy.Generate(file)
	hooktest.Must(t, err)
	machine := func(name string) (home string, c *client.Client) {
		home = newHome(t, nil)
		_, err := policy.NewHome(filepath.Join(home, "hookd", "policy")).SetFleet(public, "ann")
		hooktest.Must(t, err)
		hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "fleet: {name: "+name+", servers: ["+server.URL()+"]}\n", 0o600)
		c, _ = runDaemon(t, home)
		return home, c
	}
	home, here := machine("alpha")
	_, there := machine("beta")
	hooktest.Until(t, "both are members", func() bool {
		f, err := here.Fleet(t.Context())
		return err == nil && len(f.Machines) == 2
	})
	s := openWith(t, home, here, ui.Options{}, "#now")
	data := json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"rm -rf elsewhere"}}`)
	_, err = there.Decide(t.Context(), client.Event{
		Event: "PreToolUse", Dialect: "codex", SessionID: "far", Cwd: "/src/far", Data: data,
	})
	hooktest.Must(t, err)
	s.decide("echo at home")
	s.reads("#now", "On other machines.*1 machine in touch.*Codex.*beta.*rm -rf elsewhere")
	s.goTo("#stream?kind=fleet")
	s.until("the decisions of both", `document.querySelector("tr[data-machine=alpha]") && /deny/.test(document.querySelector("tr[data-machine=beta]")?.textContent)`)
	s.reads("#stream", "2 machines.*alpha is this one")
	if js[bool](s, `!!document.querySelector("tr[data-rolled]")`) {
		t.Error("the page shows a roll-out before there was one")
	}
	rollOut(t, server.URL(), file, names)
	for _, m := range []string{"alpha", "beta"} {
		s.reads("tr[data-rolled="+m+"]", "here.*acme@1.*enforce.*policy:guard is off")
	}
	s.reads("#stream", "Rolled out.*signed by ann.*In force on all machines: acme@1.*"+
		"policy:guard is off on all machines: denies too much.*ann")
	s.keys("j", "j")
	s.until("keys move over its rows", `document.activeElement.matches("tr.sel[data-machine]") && document.activeElement.previousElementSibling`)
	s.keys(kb.Escape)
	s.until("Esc lets the row go", `!document.querySelector("tr.sel")`)
	s.goTo("#stream?kind=fleet&q=machine%3Abeta")
	s.until("of one machine alone", `document.querySelector("tr[data-machine=beta]") && !document.querySelector("tr[data-machine=alpha]")`)
	s.goTo("#stream?kind=fleet&q=tol%3ABash")
	s.until("a wrong word is said", `document.querySelector("#stream [role=alert]")?.textContent.includes("did you mean tool:?")`)
	s.goTo("#stream?kind=fleet")
	s.run(chromedp.Reload())
	s.until("the address brings it back", `document.querySelector("tr[data-machine=beta]")`)
	for _, width := range []int64{380, 1024, 1440} {
		s.look(width, 800, "light")
		s.noWider("the fleet")
	}
	server.Stop()
	s.until("no server answers, and it is said", `/no server answers|cannot be read/.test(document.querySelector("#stream").textContent)`)
}

// reads waits until the text of an element, in one line, fits a regular expression.
func (s *site) reads(element, pattern string) {
	s.t.Helper()
	s.until(element+" reads "+pattern,
		fmt.Sprintf(`/%s/.test(document.querySelector(%q)?.textContent.replace(/\s+/g, " "))`, pattern, element))
}

// The browser tells of an ask while the page is not seen: after a press, and once. It takes that back when the ask ends.
func TestTheBrowserTellsOfAsks(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	s := open(t, newHome(t, nil), ui.Options{Act: true}, "#now")
	added := command(s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.told = []; window.wanted = 0;
		window.Notification = class {
			static permission = sessionStorage.may || "default";
			static requestPermission() { window.wanted++; sessionStorage.may = "granted"; return Promise.resolve("granted"); }
			constructor(title, options) { window.told.push(this); Object.assign(this, {title}, options); }
			close() { this.closed = true; }
		};
		Object.defineProperty(Document.prototype, "visibilityState", {get: () => window.unseen ? "hidden" : "visible"});`})
	t.Cleanup(func() { // the tab is used again
		command(s, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams(added))
	})
	s.run(chromedp.Reload())
	const button = `[...document.querySelectorAll(".conn button")].find((b) => b.textContent === "Tell me about asks")`
	s.until("it is offered", button)
	js[chromedp.Void](s, `void `+button+`.click()`)
	s.until("it was asked for once", `window.wanted === 1 && !`+button)
	s.run(chromedp.Reload())
	s.until("and not again", `document.querySelector(".conn") && !`+button)
	js[chromedp.Void](s, `void (window.unseen = true)`)
	told := s.asks("git push --force origin topic")
	s.until("the browser tells", `window.told.length === 1 && /asks$/.test(window.told[0].title) && /git push --force origin topic/.test(window.told[0].body)`)
	hooktest.Must(t, s.answerElsewhere("git push --force origin topic"))
	s.until("it is taken back", `window.told[0].closed`)
	<-told
}
