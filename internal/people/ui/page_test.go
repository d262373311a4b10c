package ui_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// A person opens the page, looks, searches, opens, answers and comes back, with keys
// alone; and the daemon is restarted meanwhile.
func TestAPersonUsesThePage(t *testing.T) {
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#now")
	step := func(name string, do func(*testing.T)) {
		if !t.Failed() {
			t.Run(name, do)
		}
	}
	step("what waits is said first", s.sub(func(s *site) {
		s.until("the sentence", `/^2 things wait for you/.test(document.querySelector("#now h1").textContent)`)
		s.until("the title", `document.title === "(2) hookd"`)
		s.until("failing comes before what was given up", `/^failing.*terraform: command not found[^]*gave up/.test(document.querySelector(".inbox").textContent)`)
	}))
	step("a denied command is found, its run and the way back", s.sub(func(s *site) {
		s.keys("2")
		s.until("the stream", `document.querySelectorAll("#stream tr[data-id]").length > 15`)
		s.keys("/")
		s.until("the search has the focus", `document.activeElement.matches(".search input")`)
		s.typed(`decision:deny "rm -rf"`)
		s.keys(kb.Enter)
		s.until("one row is left", `document.querySelectorAll("#stream tr[data-id]").length === 1 && document.querySelector("#stream tr[data-id]").textContent.includes("rm -rf ./var/queue")`)
		s.until("the counts are of it", `/deny1ask0rewrite0allow0none0/.test(document.querySelector(".facets section").textContent.replace(/Outcome/, ""))`)
		s.keys("j", kb.Enter)
		s.until("the row is open", `document.querySelector("tr.open .kv")?.textContent.includes("command-guard")`)
		s.until("its story", `/toldto [^]*thenit did not run/.test(document.querySelector("tr.open .told").textContent)`)
		s.until("the row says that it did not run", `document.querySelector("tr.opened .f-result").textContent === "did not run"`)
		js[chromedp.Void](s, `void document.querySelector("tr.open [data-act=test]").click()`)
		s.until("a false alarm is a test, and the editor is open", `location.hash.startsWith("#edit?hook=command-guard")`)
		s.run(chromedp.NavigateBack())
		s.until("Back opens the row again", `document.querySelector("tr.open .kv")?.textContent.includes("command-guard")`)
		before := s.text(`location.hash`)
		s.run(chromedp.Reload())
		s.until("after a reload the same row is open", `document.querySelector("tr.open .kv")?.textContent.includes("command-guard")`)
		if after := s.text(`location.hash`); after != before || !strings.Contains(before, "open=") {
			s.t.Errorf("the address was %s and is %s", before, after)
		}
		if at := s.text(`document.querySelector(".typed input").value`); at != `decision:deny "rm -rf"` {
			s.t.Errorf("the search is %s", at)
		}
		run := s.text(`document.querySelector("tr.open .acts a[href^='#run']").getAttribute("href")`)
		s.goTo(run)
		s.until("why it was denied", `/exit 2deny[^]*reason“rm -rf[^]*merged withsecret-guard none[^]*verdictdeny/.test(document.querySelector("#run .steps").textContent)`)
		s.run(chromedp.NavigateBack())
		s.until("Back leads to the stream", `document.querySelector("#stream tr.open")`)
		s.keys(kb.Escape)
		s.until("Esc closes", `!document.querySelector("tr.open")`)
		s.keys(kb.Escape, kb.Escape)
		s.until("Esc clears", `document.querySelectorAll("#stream tr[data-id]").length > 15 && !location.hash.includes("q=")`)
	}))
	step("facets and wrong words", s.sub(func(s *site) {
		s.goTo("#stream")
		s.until("facets", `document.querySelector(".facet")`)
		js[chromedp.Void](s, `void [...document.querySelectorAll(".facet")].find((f) => f.textContent.startsWith("Codex")).click()`)
		s.until("only its rows", `location.hash.includes("codex") && document.querySelectorAll("#stream tr[data-id]").length > 3 && [...document.querySelectorAll("#stream td.f-who")].every((c) => c.textContent.startsWith("Codex"))`)
		s.goTo("#stream?q=" + url.QueryEscape("outcome:deny guard:command-guard"))
		s.until("other words for the same", `document.querySelector("#stream tr[data-id]") && [...document.querySelectorAll("#stream td.f-state")].every((c) => c.textContent === "deny") && document.querySelector(".facet.deny").getAttribute("aria-pressed") === "true"`)
		s.goTo("#stream?q=" + "tol%3ABash")
		s.until("a wrong word is said", `document.querySelector("#stream [role=alert]")?.textContent.includes("did you mean tool:?")`)
		s.goTo("#stream?q=" + "nothing-has-this")
		s.until("nothing matches", `document.querySelector("#stream .nothing")?.textContent.includes("Nothing matches nothing-has-this")`)
	}))
	step("what is new arrives and moves nothing", s.sub(func(s *site) {
		s.goTo("#stream")
		s.until("rows", `document.querySelectorAll("#stream tr[data-id]").length > 15`)
		s.decide("echo one")
		s.until("it arrives by itself", `document.querySelector("#stream tr[data-id]").textContent.includes("echo one")`)
		s.keys("j", "j")
		s.decide("echo two")
		s.until("it waits while a row is chosen", `document.querySelector(".new")?.textContent.includes("1 new")`)
		if first := s.text(`document.querySelector("#stream tr[data-id]").textContent`); !strings.Contains(first, "echo one") {
			s.t.Errorf("the rows moved: the first is %s", first)
		}
		s.keys("f")
		s.until("f follows", `document.querySelector("#stream tr[data-id]").textContent.includes("echo two") && !document.querySelector(".new")`)
		s.keys(" ")
		s.decide("echo three")
		s.until("paused", `document.querySelector(".new")?.textContent.includes("1 new")`)
		s.keys(" ")
		s.until("and on", `document.querySelector("#stream tr[data-id]").textContent.includes("echo three")`)
	}))
	step("an ask is answered with a key", s.sub(func(s *site) {
		s.keys("1")
		told := s.asks("git push --force-with-lease origin release/2.4")
		s.until("the ask is open", `document.querySelector(".askbox")?.textContent.includes("git push --force-with-lease origin release/2.4")`)
		s.until("it says what happens then", `/codex is told: denied/.test(document.querySelector(".askbox").textContent) && /left of/.test(document.querySelector(".askbox").textContent)`)
		s.until("its key counts", `document.querySelector(".askbox [data-act=allow]") && !document.querySelector(".askbox [data-act=allow]").disabled`)
		s.press("a", `!document.querySelector(".askbox")`)
		if got := <-told; !strings.Contains(got, "allowed=true") {
			s.t.Errorf("the agent was told %s", got)
		}
		s.until("the outcome of it", `document.querySelector(".inbox").textContent.includes("allowed by you")`)
		told = s.asks("git push --mirror")
		s.until("the next ask", `document.querySelector(".askbox")?.textContent.includes("git push --mirror")`)
		s.press("m", `document.querySelector(".askbox input")`)
		s.typed("not to this remote")
		s.press(kb.Enter, `!document.querySelector(".askbox input")`) // once what is on the screen has rested
		if got := <-told; !strings.Contains(got, "allowed=false") || !strings.Contains(got, "not to this remote") {
			s.t.Errorf("the agent was told %s", got)
		}
	}))
	step("a hook is tried, switched off and on", s.sub(func(s *site) {
		s.goTo("#hooks?hook=command-guard")
		s.until("the hook", `document.querySelector(".side .try input")`)
		s.run(chromedp.Focus(chromedp.CSS(".side .try input")))
		s.typed("rm -rf /")
		s.keys(kb.Enter)
		s.until("what it would say", `document.querySelector(".side").textContent.includes("would deny")`)
	}))
	step("a run is replayed", s.sub(func(s *site) {
		e, err := s.client.Emit(t.Context(), client.Event{Event: "PreToolUse", Dialect: "claude-code", Wait: true, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"echo again"}}`)})
		hooktest.Must(s.t, err)
		var runs []client.Run
		hooktest.Until(s.t, "the run is on record", func() bool {
			runs, err = s.client.Runs(t.Context(), client.RunQuery{EventID: e.EventID, Hook: "command-guard"})
			return err == nil && len(runs) == 1
		})
		s.goTo("#run?id=" + runs[0].ID)
		s.until("the run", `document.querySelector("[data-act=replay]") && document.querySelector("#run").textContent.includes("echo again")`)
		js[chromedp.Void](s, `void document.querySelector("[data-act=replay]").click()`)
		s.until("its new run", `[...document.querySelectorAll("#run a")].some((a) => a.textContent === "Its run")`)
	}))
	step("the daemon is away and there again", s.sub(func(s *site) {
		s.goTo("#stream")
		s.until("rows", `document.querySelectorAll("#stream tr[data-id]").length > 15`)
		s.stop()
		s.until("it is said", `document.querySelector(".banner b")?.textContent.includes("hookd has not answered since") && document.querySelectorAll("#stream tr[data-id]").length > 15`)
		s.client, s.stop = runDaemon(t, home)
		s.until("it is healed", `document.querySelector(".conn").textContent.includes("not connected") === false`)
		s.decide("echo after")
		s.until("and goes on", `document.querySelector("#stream tr[data-id]")?.textContent.includes("echo after")`)
	}))
	step("the sheet", s.sub(func(s *site) {
		s.keys("?")
		s.until("it opens", `document.querySelector("dialog[open]")?.textContent.includes("decision:deny")`)
		s.keys(kb.Escape)
		s.until("it closes", `!document.querySelector("dialog[open]")`)
	}))
}

// Of several questions the oldest is open and any other can be opened; one is allowed for
// its session with a key. And runs that were given up are tried again, after a second question.
func TestWhatWaitsIsDone(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#now")
	first := s.asks("git push origin one")
	s.until("the first question is open", `document.querySelector(".askbox .cmd")?.textContent === "git push origin one"`)
	second := s.asks("git push origin two")
	s.until("the second is a line below it", `document.querySelector(".askbox .cmd").textContent === "git push origin one" && document.querySelector(".askbox + .item")?.textContent.includes("git push origin two")`)
	js[chromedp.Void](s, `void document.querySelector(".askbox + .item button").click()`)
	s.until("the second is open", `document.querySelector(".askbox .cmd")?.textContent === "git push origin two" && document.querySelector(".inbox .item")?.textContent.includes("git push origin one")`)
	s.press("s", `document.querySelector(".askbox .cmd")?.textContent === "git push origin one"`)
	if got := <-second; !strings.Contains(got, "allowed=true") {
		t.Errorf("the agent was told %s", got)
	}
	grants, err := s.client.Grants(t.Context())
	hooktest.Must(t, err)
	if len(grants) != 1 || grants[0].Scope != "session" {
		t.Errorf("the grants are %+v", grants)
	}
	s.press("d", `!document.querySelector(".askbox")`)
	if got := <-first; !strings.Contains(got, "allowed=false") {
		t.Errorf("the agent was told %s", got)
	}
	try := func(label string) {
		button := fmt.Sprintf(`[...document.querySelectorAll(".inbox .item button")].find((b) => b.textContent.startsWith(%q))`, label)
		s.until(label, button)
		js[chromedp.Void](s, "void "+button+".click()")
	}
	try("Try again 3")
	try("Yes, all 3")
	hooktest.Until(t, "nothing is given up any more", func() bool {
		left, err := s.client.DeadLetters(t.Context(), "", 10)
		return err == nil && len(left) == 0
	})
	s.until("the line is gone", `!document.querySelector(".inbox").textContent.includes("gave up")`)
}

// sub makes a part of a test of the same tab.
func (s *site) sub(do func(*site)) func(*testing.T) {
	return func(t *testing.T) {
		was := s.t
		s.t = t
		defer func() { s.t = was }()
		do(s)
	}
}

// press types a key until it has led to something: for a moment after rows have moved it
// does nothing, on purpose.
func (s *site) press(key, leadsTo string) {
	s.t.Helper()
	hooktest.Until(s.t, key+" leads to "+leadsTo, func() bool {
		if js[bool](s, "!!("+leadsTo+")") {
			return true
		}
		s.keys(key)
		return js[bool](s, "!!("+leadsTo+")")
	})
}

// decide sends a call of a shell command and waits until it is decided.
func (s *site) decide(command string) {
	s.t.Helper()
	data, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}, "session_id": "live", "cwd": person})
	hooktest.Must(s.t, err)
	_, err = s.client.Decide(s.t.Context(), client.Event{Event: "PreToolUse", Dialect: "claude-code", Data: data})
	hooktest.Must(s.t, err)
}

// Each view has no serious fault for people who do not see it as others do, in light and
// dark, and is not wider than a narrow screen.
func TestEachViewIsAccessible(t *testing.T) {
	hooktest.Long(t)
	axe, err := os.ReadFile("testdata/axe.min.js")
	hooktest.Must(t, err)
	newHousehold(t).month(time.Now())
	home := newHome(t, func(s *seeder) { s.month(time.Now()); s.hour(time.Now()) })
	houseRules(t, home)
	s := open(t, home, ui.Options{Act: true}, "#now")
	js[chromedp.Void](s, string(axe)+";void 0")
	const pay = "7f3c01d2-5b0e-4a7e-9d55-2c1f0a9be811"
	told := s.asks("git push origin release/2.4")
	s.until("a question is open", `document.querySelector(".askbox")`)
	hashes := []string{
		"#now", "#stream", "#stream?kind=runs", "#stream?kind=events", "#stream?q=nothing-has-this", "#session?id=" + pay, "#session?show=all&id=" + pay,
		"#hooks", "#hooks?hook=tf-plan", "#hooks?hook=command-guard", "#guard?name=command-guard",
		"#guard?name=house-rules&open=deny%20changes%20modes%20of%20many%20files",
		"#edit?hook=command-guard", "#undo", "#grants", "#call?id=" + s.lastCall(), "#learn", "#learn?show=scan", "#learn?show=blind", s.denied("command-guard"), "#whatif", s.rehearsed(),
	}
	faults := func(what string) {
		t.Helper()
		for _, fault := range js[[]string](s, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.target.join(" ") + " " + n.failureSummary.slice(0, 200)).join("; ")))`) {
			t.Errorf("%s: %s", what, fault)
		}
	}
	for n, scheme := range []string{"light", "dark"} {
		s.look(1440, 900, scheme)
		for i, hash := range hashes {
			if i%2 != n && !long() && !hooktest.All() { // each view in one of the schemes
				continue
			}
			s.goTo(hash)
			s.drawn()
			if js[bool](s, `!!document.querySelector("#stream tr[data-id], #session tr[data-id]")`) {
				js[chromedp.Void](s, `void document.querySelector("main tr[data-id]").click()`)
				s.until("a row is open", `document.querySelector("tr.open")`)
			}
			faults(hash + ", " + scheme)
			s.named(hash)
			s.apart(hash)
		}
		s.keys("?")
		s.until("the sheet", `document.querySelector("dialog[open]")`)
		faults("the sheet of keys, " + scheme)
		s.keys(kb.Escape)
	}
	for _, width := range []int64{380, 1024, 1440, 841, 1181} {
		if (width == 841 || width == 1181) && !long() {
			continue
		}
		s.look(width, 800, "light")
		for _, hash := range hashes {
			s.goTo(hash)
			s.drawn()
			s.noWider(hash)
			s.underHeads(hash)
		}
	}
	for n, scheme := range []string{"light", "dark"} {
		s.look(380, 800, scheme)
		for i, hash := range hashes {
			if i+n > 0 && !long() && !hooktest.All() {
				continue
			}
			s.goTo(hash)
			s.drawn()
			faults(hash + " at 380 points, " + scheme)
		}
	}
	s.goTo("#now")
	s.press("d", `!document.querySelector(".askbox")`)
	t.Log(<-told)
	s.stop()
	s.until("it is said that hookd is away", `document.querySelector(".banner b")`)
	for _, width := range []int64{380, 1440} {
		s.look(width, 900, "light")
		s.noWider("without the daemon")
		faults("without the daemon")
	}
}

// lastCall is the id of the newest decision.
func (s *site) lastCall() string {
	s.t.Helper()
	list, err := s.client.Decisions(s.t.Context(), client.DecisionQuery{Limit: 1})
	hooktest.Must(s.t, err)
	return list[0].EventID
}

// spoken are the roles that a screen reader announces by name.
var spoken = []string{"button", "link", "textbox", "searchbox", "combobox", "checkbox", "img", "image", "heading", "dialog", "table", "main", "navigation", "complementary"}

// named fails on an element without a name in the screen reader's tree. HOOKD_AXTREE prints the tree.
func (s *site) named(what string) {
	s.t.Helper()
	text := func(v *accessibility.Value) (t string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &t) // a number is no name
		}
		return t
	}
	for _, n := range command(s, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		role, name := text(n.Role), strings.TrimSpace(text(n.Name))
		if n.Ignored {
			continue
		}
		if slices.Contains(spoken, role) && name == "" {
			s.t.Errorf("%s: a %s has no name (node %d)", what, role, n.BackendDOMNodeID)
		}
		if os.Getenv("HOOKD_AXTREE") != "" && name != "" && role != "StaticText" && role != "InlineTextBox" {
			fmt.Printf("%s\t%s: %.160s\n", what, role, name)
		}
	}
}

// together are words of one line that only a style sets apart: read aloud and copied, they are one word.
const together = `(() => {
	const block = (n) => { let e = n.parentElement; while (getComputedStyle(e).display === "inline") e = e.parentElement; return e; };
	const box = (n, at) => { const r = document.createRange(); r.setStart(n, at); r.setEnd(n, at + 1); return r.getBoundingClientRect(); };
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
	for (let last = null, n = texts.nextNode(); n; n = texts.nextNode()) {
		if (!n.data || n.parentElement.closest(".sr, svg, option, [aria-hidden=true]") || !n.parentElement.checkVisibility()) continue;
		if (last?.data.trim() && n.data.trim() && last.parentElement !== n.parentElement && /\S$/.test(last.data) && /^\S/.test(n.data) && block(last) === block(n)) {
			const a = box(last, last.data.length - 1), b = box(n, 0);
			if (b.left > a.right + 1.5 || b.top > a.bottom - 2) found.push(last.data.slice(-30) + "|" + n.data.slice(0, 30));
		}
		last = n;
	}
	return found;
})()`

// apart fails on words that have no blank between them.
func (s *site) apart(what string) {
	s.t.Helper()
	for _, words := range js[[]string](s, together) {
		s.t.Errorf("%s: no blank stands between %q", what, words)
	}
}

// noWider fails where the page scrolls sideways.
func (s *site) noWider(what string) {
	s.t.Helper()
	if wide := s.text(`[document.documentElement, document.querySelector("main")].map((e) => e.scrollWidth - e.clientWidth).join()`); wide != "0,0" {
		who := s.text(`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("pre, .sr, code, td, .item > *")).slice(0, 3).map((e) => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 40)).join(" ")`)
		s.t.Errorf("%s at %s points is wider by %s: %s", what, s.text("innerWidth"), wide, who)
	}
}

// underHeads holds each cell of a table to the place of its head: a cell that is left out alone moves those after it.
func (s *site) underHeads(what string) {
	s.t.Helper()
	if moved := s.text(`[...document.querySelectorAll("main table")].flatMap((table) => {
		const seen = (e) => e.getClientRects().length > 0, at = (e) => Math.round(e.getBoundingClientRect().left);
		const heads = [...table.querySelectorAll("thead tr:not(.new) > *")];
		if (!heads.some(seen)) return [];
		const rows = [...table.querySelectorAll("tbody tr[data-id]")].filter((r) => r.children.length === heads.length);
		return rows.slice(0, 3).flatMap((r) => heads.filter((h, i) => seen(h) !== seen(r.children[i])
			|| seen(h) && Math.abs(at(h) - at(r.children[i])) > 1).map((h) => h.textContent + ": " + r.textContent.slice(0, 40)));
	}).slice(0, 3).join("; ")`); moved != "" {
		s.t.Errorf("%s at %s points: cells do not stand under their heads: %s", what, s.text("innerWidth"), moved)
	}
}

// Whatever agents and hooks write is text: none of that text runs, nothing leaves the page,
// and the rows stay where they belong.
func TestHostileTextStaysText(t *testing.T) {
	home := newHome(t, func(s *seeder) { s.hostileHour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#now")
	decisions, err := s.client.Decisions(t.Context(), client.DecisionQuery{Limit: 100})
	hooktest.Must(t, err)
	if len(decisions) < 40 {
		t.Fatalf("%d decisions are in the history", len(decisions))
	}
	past := s.rehearsed()
	for _, width := range []int64{1440, 380} {
		if width == 1440 && !long() && !hooktest.All() {
			continue // the narrow page has the least room
		}
		s.look(width, 900, "light")
		for _, hash := range []string{"#now", "#stream", "#stream?kind=runs", "#stream?kind=events", "#hooks", past} {
			s.goTo(hash)
			s.drawn()
			s.noWider(hash)
			s.untouched(hash)
		}
	}
	s.look(1440, 900, "light")
	for i, d := range decisions {
		if i%8 > 0 && !long() && !hooktest.All() {
			continue
		}
		hashes := []string{fmt.Sprintf("#stream?open=%s&at=%d", d.EventID, d.Seq), "#session?id=" + url.QueryEscape(d.SessionID)}
		if len(d.Runs) > 0 {
			hashes = append(hashes, "#run?id="+d.Runs[0])
		}
		if !long() { // each text in one of the views
			hashes = hashes[i%len(hashes) : i%len(hashes)+1]
		}
		for _, hash := range hashes {
			s.goTo(hash)
			s.drawn()
			s.noWider(hash)
			s.untouched(hash)
		}
	}
	for i, text := range hostile() {
		if n := hooktest.Amount(4, 24); i%n > 0 && !long() {
			continue
		}
		js[chromedp.Void](s, fmt.Sprintf("void (location.hash = 'stream?q=' + encodeURIComponent(%q))", text))
		s.until("the stream", `document.querySelector("section#stream")`)
		s.drawn()
		s.untouched(text)
	}
	for _, hash := range []string{"#__proto__", "#constructor?__proto__=1", "#stream?kind=__proto__&range=constructor&q=constructor:x", "#session?show=toString", "#%00", "#now?sel=%3Cscript%3E"} {
		js[chromedp.Void](s, fmt.Sprintf("void (location.hash = %q)", hash))
		s.until("a view", `document.querySelector("main section.view")`)
		s.drawn()
		s.untouched(hash)
	}
}

// untouched fails when something that was written has become a part of the page.
func (s *site) untouched(what string) {
	s.t.Helper()
	if js[bool](s, `window.ran !== undefined || !!document.querySelector("main script, main iframe, main style, main link, main base, main meta, main form, main img, main object, main details, main math, main [onload], main [onerror], main [onclick]") || [...document.querySelectorAll("a")].some((a) => !a.getAttribute("href")?.startsWith("#"))`) {
		s.t.Errorf("%.80q: something of it runs, or is markup", what)
	}
}
