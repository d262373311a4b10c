package ui_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/people/ui"
	"github.com/hookd/hookd/wire"
)

// houseRules adds the guard of which month writes the past.
func houseRules(t *testing.T, home string) {
	t.Helper()
	hooktest.Write(t, filepath.Join(home, "hooks", "house-rules", "HOOK.yaml"), `name: house-rules
description: What this house does not want its agents to do.
rules:
  - deny: git push * main
    why: main is protected
    instead: open a pull request
  - ask: npm install *
    why: installs a package
  - ask: git push --force*
    why: rewrites a branch
  - deny: chmod -R *
    why: changes modes of many files
  - deny: shred *
    why: cannot be undone
tests:
  - {name: main, tool: Bash, data: {command: git push origin main}, expect: deny}
  - {name: a package, tool: Bash, data: {command: npm install left-pad}, expect: ask}
`, 0o644)
}

// month records what house-rules said in 30 days.
func (s *seeder) month(now time.Time) {
	in := []agentSession{
		{id: "11111111-2222-4333-8444-555555555555", cwd: person + "/src/web-shop", dialect: events.ClaudeCode},
		{id: "21111111-2222-4333-8444-555555555555", cwd: person + "/src/ledger", dialect: codex},
	}
	const hook = "house-rules"
	for d := 29; d >= 1; d-- {
		for i := range 5 + s.rnd.IntN(12) {
			at := now.Add(-time.Duration(d)*24*time.Hour + time.Duration(i)*17*time.Minute)
			a, ms := in[s.rnd.IntN(2)], 0.02+0.03*s.rnd.Float64()
			if d == 12 {
				ms *= 30
			}
			switch s.rnd.IntN(9) {
			case 0, 1, 2:
				what := []string{"npm install --save-dev vitest", "npm install left-pad"}[s.rnd.IntN(2)]
				s.call(at, a, "Bash", what, time.Second,
					said{hook: hook, outcome: wire.OutcomeAsk, rule: "ask npm install *", reason: "installs a package", ms: ms, held: 9 * time.Second})
			case 3:
				s.call(at, a, "Bash", "chmod -R u+w .", 0, said{hook: hook, outcome: wire.OutcomeDeny, rule: "deny chmod -R *", reason: "changes modes of many files", ms: ms})
			case 4:
				s.call(at, a, "Bash", "git push origin main", 0, said{hook: hook, outcome: wire.OutcomeDeny, rule: "deny git push * main", reason: "main is protected", ms: ms})
			case 5:
				if d%9 == 0 {
					s.call(at, a, "Bash", "terraform plan", 0, said{hook: hook, failed: "rules not readable", ms: ms})
					continue
				}
				s.call(at, a, "Bash", "git push --force-with-lease origin topic", time.Second,
					said{hook: hook, outcome: wire.OutcomeAsk, rule: "ask git push --force*", reason: "rewrites a branch", ms: ms})
			default:
				c := calls[s.rnd.IntN(len(calls))]
				s.call(at, a, c[0], c[1], time.Second, quiet(hook, ms))
			}
		}
	}
}

// Where there is little room, no table is wider than its place, and the call has the widest column.
func TestTablesFitTheirPlace(t *testing.T) {
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#stream")
	for _, width := range []int64{1440, 1280, 1181, 1024, 841} {
		s.look(width, 800, "light")
		for _, hash := range []string{"#stream", "#stream?kind=runs", "#stream?kind=events", "#hooks", "#hooks?hook=command-guard"} {
			s.goTo(hash)
			s.drawn()
			s.until("rows", `document.querySelector("main tr[data-id]")`)
			if wide := s.text(`[...document.querySelectorAll("main table")].filter((t) => t.scrollWidth > t.parentElement.clientWidth)
				.map((t) => t.scrollWidth + " of " + t.parentElement.clientWidth).join()`); wide != "" {
				t.Errorf("%s at %d points: a table is too wide for its place: %s", hash, width, wide)
			}
			if narrow := s.text(`[...document.querySelectorAll("table.stream tr[data-id]:first-of-type > td")]
				.filter((e, i, all) => e.clientWidth > all[2].clientWidth).map((e) => e.className).join()`); narrow != "" {
				t.Errorf("%s at %d points: the call has less room than %s", hash, width, narrow)
			}
		}
	}
}

// The lines of the inbox stand below each other, and a command in one can be copied.
func TestTheInboxIsStraight(t *testing.T) {
	home := newHome(t, nil)
	changedGuard(t, home)
	hooktest.Hook(t, home, "broken", "events: [\n", "")
	hooktest.Must(t, os.RemoveAll(filepath.Join(home, "hooks", "slack-notify"))) // it was allowed
	s := open(t, home, ui.Options{Act: true}, "#now")
	s.until("three lines", `document.querySelectorAll("#now .item").length >= 3 && document.querySelector("#now .item .command button")`)
	for _, width := range []int64{1440, 1280, 841, 380} {
		s.look(width, 800, "light")
		if got := s.text(`new Set([...document.querySelectorAll("#now .item .state svg")].map((e) => Math.round(e.getBoundingClientRect().left))).size`); got != "1" {
			t.Errorf("at %d points the states begin at %s places", width, got)
		}
		if got := s.text(`[...document.querySelectorAll("#now .item .command button")]
			.filter((b) => b.getBoundingClientRect().right > b.closest(".item").getBoundingClientRect().right).length`); got != "0" {
			t.Errorf("at %d points a command cannot be copied", width)
		}
	}
}

// The chart counts each call once; a denial that was not obeyed is a denial all the same.
func TestBarsCountEachCall(t *testing.T) {
	s := open(t, newHome(t, nil), ui.Options{}, "#stream")
	if got := s.text(`import("./chart.js").then(({add, partOf, sum}) => {
		const all = {deny: 2};
		add(all, {deny: 1, disobeyed: 1});
		for (const d of [{outcome: "not asked"}, {decision: "contain"}, {decision: "context"}]) add(all, {[partOf(d)]: 1});
		return [sum(all), partOf({decision: "deny", outcome: "disobeyed"}), all.deny, all.disobeyed, all.not_asked, all.allow, all.none];
	})`); got != "6,deny,3,1,1,1,1" {
		t.Errorf("six calls are counted as %s", got)
	}
}

// A guard's page counts a month, groups what it said by reason and by command, and is moved over by keys.
func TestGuardsPage(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, func(s *seeder) { s.month(time.Now()) })
	houseRules(t, home)
	s := open(t, home, ui.Options{Act: true}, "#guard?name=house-rules")
	s.until("five charts", `document.querySelectorAll("#guard figure canvas").length === 5`)
	s.until("the groups", `[...document.querySelectorAll("#guard .groups tbody tr")].some((r) => /installs a package/.test(r.textContent) && /× yes/.test(r.textContent))`)
	s.until("a rule that said nothing", `/HOOK.yaml:13/.test(document.querySelector("#guard .beside").textContent)`)
	s.press("g", `document.querySelector("#guard tr.sel")`)
	s.press(kb.Enter, `document.querySelectorAll("#guard .commands li").length >= 2`)
	s.until("the most frequent reason is open", `/installs a package/.test(document.querySelector("#guard tr.sel").textContent)`)
	all := s.text(`document.querySelector("#guard .num.f-time").textContent`)
	js[bool](s, `(() => { const p = document.querySelector("#guard .plot"), r = p.getBoundingClientRect();
		const at = (type, x) => p.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, pointerId: 1, clientX: r.left + x * r.width, clientY: r.top + 9}));
		p.setPointerCapture = () => {};
		at("pointerdown", 0.7); return new Promise((ok) => setTimeout(() => { at("pointermove", 0.9); setTimeout(() => { at("pointerup", 0.9); ok(true); }); })); })()`)
	s.until("the groups of some days", `/since=/.test(location.hash) && document.querySelector("#guard .num.f-time").textContent < `+all+` && +document.querySelector("#guard .num.f-time").textContent > 0`)
	js[bool](s, `(history.back(), true)`)
	s.until("Back returns to all days", `!/since=/.test(location.hash)`)
}

// A person edits a guard: a test fails while the rule is as it was, save is shut; mended, it is asked about the
// past, saved and in force.
func TestAGuardIsMended(t *testing.T) {
	home := newHome(t, func(s *seeder) { s.month(time.Now()) })
	houseRules(t, home)
	s := open(t, home, ui.Options{Act: true}, "#edit?hook=house-rules")
	const doc = `document.querySelector("#edit .code")?.shadowRoot?.querySelector(".cm-content")`
	s.until("the editor", doc)
	s.until("its tests pass", `/all 2 pass/.test(document.querySelector("#edit .checks").textContent)`)
	s.until("the past is asked", `/calls? asked again/.test(document.querySelector("#edit .checks").textContent)`)
	types := func(from, to string) {
		t.Helper()
		js[bool](s, fmt.Sprintf(`import(new URL("vendor/codemirror.js", document.baseURI)).then((cm) => {
			const view = cm.EditorView.findFromDOM(%s), text = view.state.doc.toString(), at = text.indexOf(%q);
			view.dispatch({changes: {from: at, to: at + %d, insert: %q}});
			return at >= 0;
		})`, doc, from, len(from), to))
	}
	// What is typed before the page has drawn what was typed before stays, too.
	js[bool](s, fmt.Sprintf(`import(new URL("vendor/codemirror.js", document.baseURI)).then(async (cm) => {
		const view = cm.EditorView.findFromDOM(%s);
		view.dispatch({changes: {from: 0, insert: "# one\n"}});
		for (let i = 0; i < 50; i++) await null;
		view.dispatch({changes: {from: 0, insert: "# two\n"}});
		return true;
	})`, doc))
	s.drawn()
	s.until("both lines are there", `/^# two\s*# one/.test(`+doc+`.textContent)`)
	types("expect: ask}", "expect: none}")
	s.until("a test fails", `/1 of 2 fails/.test(document.querySelector("#edit .checks").textContent)`)
	s.until("save is shut", `document.querySelector("#edit [data-act=save]").disabled && /fails/.test(document.querySelector("#edit .savebar").textContent)`)
	types("ask: npm install *\n", "ask: npm install *\n    unless: {command: npm install left-pad}\n")
	s.until("all pass", `/all 2 pass/.test(document.querySelector("#edit .checks").textContent)`)
	types("  - deny: shred *\n", "  - deny: {command: make lint, count: 2, since: prompt}\n    why: it was run before\n  - deny: shred *\n")
	types("expect: none}\n", "expect: none}\n  - {name: the second, given: [{command: make lint}], data: {command: make lint}, expect: deny}\n"+
		"  - {name: after a prompt, given: [{command: make lint}, {prompt: go on}], data: {command: make lint}, expect: none}\n")
	s.until("sequences are judged", `/all 4 pass/.test(document.querySelector("#edit .checks").textContent)`)
	types("since: prompt}", "since: start}")
	s.until("a sequence fails", `/1 of 4 fails/.test(document.querySelector("#edit .checks").textContent) && /after a prompt/.test(document.querySelector("#edit .checks").textContent)`)
	types("since: start}", "since: prompt}")
	s.until("all sequences pass again", `/all 4 pass/.test(document.querySelector("#edit .checks").textContent)`)
	s.until("save is open", `!document.querySelector("#edit [data-act=save]").disabled`)
	js[chromedp.Void](s, `void document.querySelector("#edit [data-act=save]").click()`)
	s.until("it is saved", `/Nothing is changed/.test(document.querySelector("#edit .savebar").textContent)`)
	text, err := os.ReadFile(filepath.Join(home, "hooks", "house-rules", "HOOK.yaml"))
	hooktest.Must(t, err)
	if !strings.Contains(string(text), "unless: {command: npm install left-pad}") {
		t.Errorf("the file is %s", text)
	}
	s.goTo("#edit?hook=house-rules&show=versions")
	s.until("the version is kept", `/on the page/.test(document.querySelector("#edit .checks").textContent)`)
}

// From a noisy guard to a mended one without leaving the page: it is found among others, its false alarms are looked at,
// one becomes a test, the rule is mended beside test and past, saved, in force, and the difference is there to be read.
// Each step is done by keys, only the rule's text by script.
func TestANoisyGuardIsMended(t *testing.T) {
	hooktest.Long(t) // TestAGuardIsMended takes the shorter way
	home := newHome(t, func(s *seeder) { s.month(time.Now()); s.day(time.Now()) })
	houseRules(t, home)
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "reload: {mode: ask}\n", 0o600)
	cfg, err := config.Load(home, nil, nil)
	hooktest.Must(t, err)
	for _, w := range catalog.Waiting(cfg) {
		hooktest.Must(t, catalog.Allow(cfg, w))
	}
	s := open(t, home, ui.Options{Act: true}, "#now")
	begin, pressed := time.Now(), 0
	keys := func(leadsTo string, keys ...string) {
		t.Helper()
		pressed += len(keys)
		s.keys(keys...)
		s.until(strings.Join(keys, " "), leadsTo)
	}
	tabTo := func(what string) {
		t.Helper()
		pressed += s.tabTo(what, fmt.Sprintf("document.activeElement.matches(%q)", what))
		s.until("the focus is seen", `getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	}
	const code, checks = `document.querySelector("#edit .code")?.shadowRoot?.activeElement`, `document.querySelector("#edit .checks").textContent`
	const chosen = `document.querySelector("#hooks tr.sel")?.dataset.id`
	keys(`document.querySelector("#hooks tr[data-id=house-rules]")`, "4")
	for js[bool](s, chosen+` !== "house-rules"`) {
		was := s.text(chosen)
		keys(chosen+` && `+chosen+` !== "`+was+`"`, "j")
	}
	keys(`document.querySelector("#guard .groups tr[data-id]")`, kb.Enter)
	const reason = `document.querySelector("#guard tr.sel")?.textContent`
	for js[bool](s, `!/changes modes/.test(`+reason+`)`) {
		was := s.text(reason)
		keys(reason+` && `+reason+` !== `+strconv.Quote(was), "j")
	}
	tabTo("#guard tr.sel [data-act=test]")
	s.typed(kb.Enter)
	pressed++
	s.until("the editor stands at the rule", code+`?.matches(".cm-content") && /HOOK.yaml/.test(location.hash) && /[0-9] pass|fails/.test(`+checks+`)`)
	js[bool](s, `import(new URL("vendor/codemirror.js", document.baseURI)).then((cm) => {
		const view = cm.EditorView.findFromDOM(document.querySelector("#edit .code").shadowRoot.querySelector(".cm-content"));
		const line = view.state.doc.lineAt(view.state.selection.main.head);
		view.dispatch({changes: {from: line.to, insert: "\n    unless: {command: chmod -R u+w .}"}});
		return true;
	})`)
	s.until("the rule is mended", `!document.querySelector("#edit [data-act=save]").disabled`)
	s.until("the past is asked", `/calls? asked again/.test(`+checks+`)`)
	keys(`!`+code, kb.Escape)
	keys(`document.activeElement.closest("#edit") && !`+code, kb.Tab)
	tabTo("#edit [data-act=save]")
	s.typed(kb.Enter)
	pressed++
	s.until("it is saved", `/Nothing is changed/.test(document.querySelector("#edit .savebar").textContent)`)
	text, err := os.ReadFile(filepath.Join(home, "hooks", "house-rules", "HOOK.yaml"))
	hooktest.Must(t, err)
	if !strings.Contains(string(text), "unless: {command: chmod -R u+w .}") {
		t.Errorf("the file is %s", text)
	}
	tabTo(`#edit .seg a[href*="show=versions"]`)
	s.typed(kb.Enter)
	s.until("its versions", `document.querySelector("#edit .shift button")`)
	tabTo("#edit .shift button")
	s.typed(kb.Enter)
	pressed += 2
	s.until("the difference", `/chmod -R u\+w/.test(document.querySelector("#edit .diff .a")?.parentElement.textContent)`)
	s.decide("chmod -R u+w .")
	s.goTo("#stream")
	s.until("the call passes now", `/chmod -R u\+w/.test(document.querySelector("#stream tr[data-id]").textContent) && document.querySelector("#stream tr[data-id] .f-state").textContent === "none"`)
	t.Logf("%d keys, and the rule; %s", pressed, time.Since(begin).Round(100*time.Millisecond))
}

// A search leaves out with a -, and finds by how long hookd took; what arrives live is filtered in the same way, and
// gets its result when the call has ended.
func TestSearchLeavesOut(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{}, "#stream?q=-tool:Bash%20-%22retry%22%20outcome:none")
	rows := `[...document.querySelectorAll("#stream tr[data-id]")]`
	s.until("rows without Bash", rows+`.length > 3 && `+rows+`.every((r) => !/Bash|retry/.test(r.textContent))`)
	s.goTo("#stream?q=took:%3E10s")
	s.until("the call that a person was asked about", rows+`.length >= 1 && `+rows+`.every((r) => /git push -u/.test(r.textContent))`)
	s.goTo("#stream?q=rewrote:yes")
	s.until("calls that were changed", rows+`.length >= 1 && `+rows+`.every((r) => /rewrite/.test(r.textContent))`)
	s.goTo("#stream?q=took:long")
	s.until("a word that is none", `/as >1s/.test(document.querySelector("#stream [role=alert]")?.textContent)`)
	s.goTo("#stream?q=-agent:codex")
	s.until("rows of others", rows+`.length > 3 && `+rows+`.every((r) => !/Codex/.test(r.textContent))`)
}

// The words of a search are completed; a search is kept under Views, opened again and forgotten; what fits it is
// written as CSV and as JSON.
func TestASearchIsCompletedKeptAndExported(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{}, "#stream")
	s.until("rows", `document.querySelectorAll("#stream tr[data-id]").length > 15`)
	s.until("counts", `document.querySelector(".facet")`)
	for _, c := range []struct{ typed, offers string }{
		{"ou", "outcome:"}, {"tcome:de", "outcome:deny"}, {"ny -to", "outcome:deny -tool:"}, {"ol:Ba", "outcome:deny -tool:Bash"},
	} {
		s.run(chromedp.Focus(chromedp.CSS("#stream .typed input")))
		s.typed(c.typed)
		s.until("it is completed to "+c.offers, fmt.Sprintf(`[...document.querySelectorAll("datalist#words option")].some((o) => o.value === %q)`, c.offers))
	}
	const rows, views, export = `[...document.querySelectorAll("#stream tr[data-id]")]`, `select[aria-label="Saved views"]`, `select[aria-label=Export]`
	choose := func(list, value string) {
		t.Helper()
		js[chromedp.Void](s, fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, list, value))
	}
	s.until("what was typed is searched for", `/tool%3ABa/.test(location.hash)`)
	s.keys(kb.Escape) // leaves the line
	const q = `outcome:deny tool:Bash`
	s.goTo("#stream?q=" + url.QueryEscape(q))
	s.until("denied commands", rows+`.length >= 1 && `+rows+`.every((r) => /Bash[^]*deny/.test(r.textContent))`)
	n := js[int](s, rows+`.length`)
	choose(views, "save")
	s.goTo("#stream")
	s.run(chromedp.Reload())
	s.until("it is kept over a reload", `[...document.querySelectorAll('`+views+` option')].some((o) => o.textContent.startsWith("`+q+`"))`)
	choose(views, "1")
	s.until("it is opened", fmt.Sprintf(`document.querySelector(".typed input").value === %q && %s.length === %d`, q, rows, n))
	js[chromedp.Void](s, `void (URL.createObjectURL = (b) => { b.text().then((t) => { window.written = t; }); return "data:,"; },
		HTMLAnchorElement.prototype.click = function () { window.file = this.download; })`)
	choose(export, "csv")
	s.until("a table", `window.file === "hookd-decisions.csv" && /^time,.*subject,.*\r\n"/.test(window.written) && window.written.split("\r\n").length === `+fmt.Sprint(n+1))
	choose(export, "json")
	s.until("JSON", `window.file === "hookd-decisions.json" && window.written[0] === "[" && `+
		`JSON.parse(window.written).every((d) => d.decision === "deny" && d.tool === "Bash") && `+
		`JSON.parse(window.written).length === `+fmt.Sprint(n))
	choose(views, "drop")
	s.until("it is forgotten", `document.querySelectorAll('`+views+` option').length === 2`)
	s.run(chromedp.NavigateBack())
	s.until("Back returns to all", `!/q=/.test(location.hash) && `+rows+`.length > 15`)
}

// Guards of a home with 1,000 hooks opens soon, is searched while one types, is moved over by keys, and is no wider
// than the window.
func TestAThousandHooks(t *testing.T) {
	hooktest.Long(t)
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	for i := range 1000 {
		hooktest.Write(t, filepath.Join(home, "hooks", fmt.Sprintf("house-%03d-of-the-team", i), "HOOK.yaml"),
			fmt.Sprintf("description: Rule %d of the house.\nrules:\n  - deny: tool-%d *\n    why: it is rule %d\n", i, i, i), 0o644)
	}
	s := open(t, home, ui.Options{Act: true}, "#now")
	const rows, settledIn = `document.querySelectorAll("#hooks tr[data-id]").length`, `new Promise((done) => {
		const begin = performance.now();
		const look = () => (%s) ? requestAnimationFrame(() => done(performance.now() - begin)) : requestAnimationFrame(look);
		%s;
		look();
	})`
	const opened = rows + ` >= 50 && document.querySelector("#hooks .rest")`
	t.Logf("the first rows are there after %.0f ms", js[float64](s, fmt.Sprintf(settledIn, opened, `location.hash = "#hooks"`)))
	s.until("the rest is drawn as one scrolls", `(document.getElementById("main").scrollTop = 1e9, `+rows+` > 1000 && !document.querySelector("#hooks .rest"))`)
	for _, width := range []int64{1440, 380} {
		s.look(width, 900, "light")
		s.noWider("#hooks")
	}
	s.look(1440, 900, "light")
	s.keys("/")
	s.until("the search has the focus", `document.activeElement.matches("#hooks .find input")`)
	s.typed("house-77")
	s.until("ten are left", rows+` === 10`)
	s.keys(kb.Escape)
	s.press("j", `/hook=house-770/.test(location.hash) && document.querySelector("#hooks .side h1").textContent.startsWith("house-770")`)
	s.keys(kb.Escape, kb.Escape)
	s.goTo("#now")
	t.Logf("the first rows are there again after %.0f ms", js[float64](s, fmt.Sprintf(settledIn, opened, `location.hash = "#hooks"`)))
	s.press("j", `document.querySelector("#hooks tr.sel")`)
	t.Logf("a key moves after %.0f ms", js[float64](s, fmt.Sprintf(settledIn, `document.querySelector("#hooks tr.sel").dataset.id !== was`,
		`const was = document.querySelector("#hooks tr.sel").dataset.id; dispatchEvent(new KeyboardEvent("keydown", {key: "j"}))`)))
	s.keys("G")
	s.until("a key goes to the last", `document.querySelector("#hooks tr.sel") === [...document.querySelectorAll("#hooks tr[data-id]")].at(-1) && `+rows+` > 1000`)
}
