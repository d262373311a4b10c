package ui_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/hookfiles"
	"github.com/hookd/hookd/internal/people/ui"
)

// pageHooks are the hooks of a home, as the command gives them to the page.
func pageHooks(cfg config.Config, c *client.Client) ui.Hooks {
	return hookfiles.Files{Load: func() (config.Config, error) { return cfg, nil }, Client: c}
}

// asked waits for the answer that the view shows.
func (s *site) asked(sentence string) {
	s.t.Helper()
	s.until("the answer "+sentence, fmt.Sprintf(`document.querySelector("#whatif [data-act=ask]") && /%s/.test(document.querySelector("#whatif h1")?.textContent)`, sentence))
}

// edits types a text into the box, in place of the text there.
func (s *site) edits(file, text string) {
	s.t.Helper()
	tab := fmt.Sprintf(`[...document.querySelectorAll("#whatif .edit a")].find((a) => a.textContent.startsWith(%q))`, file)
	s.until("the files", tab)
	js[chromedp.Void](s, "void "+tab+".click()")
	s.until("the file "+file, fmt.Sprintf(`document.querySelector("#whatif textarea")?.ariaLabel === %q`, file))
	s.run(chromedp.Focus(chromedp.CSS("#whatif textarea")))
	js[chromedp.Void](s, `void document.querySelector("#whatif textarea").select()`)
	s.typed(text)
	s.until("it is another text", `document.querySelector("#whatif .edit a[aria-current]").textContent.endsWith("·")`)
}

// rehearsed asks a version of the guard that denies tests and lets all else pass about the
// past, and returns where the answer is shown.
func (s *site) rehearsed() string {
	s.t.Helper()
	const script = "#!/bin/sh\ncase \"$(cat)\" in *'go test'*) echo 'tests run in CI alone' >&2; exit 2;; esac\n"
	body, err := json.Marshal(ui.Question{Hook: "command-guard", Limit: 1000, Texts: map[string]string{"run.sh": script}})
	hooktest.Must(s.t, err)
	hash := "#whatif?hook=command-guard&job=" + s.text(fmt.Sprintf(`fetch("whatif", {method: "POST", headers: {"Content-Type": "application/json"}, body: %q}).then((r) => r.json()).then((a) => a.id)`, body))
	s.goTo(hash)
	s.asked("would change")
	return hash
}

// A hook is asked about the past, as it is and as it is edited, stopped, and found again
// after a reload; loosened decisions come first.
func TestWhatIf(t *testing.T) {
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	s := open(t, home, ui.Options{Act: true}, "#now")
	s.goTo("#whatif")
	s.until("the view", `document.querySelector("#whatif h1")?.textContent.includes("another version")`)
	s.keys("/")
	s.typed("command-guard")
	s.keys(kb.Enter)
	s.asked(`of [0-9]+ decisions would change`)
	js[chromedp.Void](s, `void document.querySelector("#whatif [aria-expanded]").click()`)
	s.edits("run.sh", "#!/bin/sh\n"+`case "$(cat)" in *"go test"*) echo no tests now >&2; exit 2;; esac`)
	js[chromedp.Void](s, `void document.querySelector("#whatif [data-act=ask]").click()`)
	s.until("what it would deny", `[...document.querySelectorAll("#whatif tr.grp")].some((g) => /^Would be denied/.test(g.textContent))`)
	s.until("what it would let pass comes first", `/^Would pass/.test(document.querySelector("#whatif tr.grp")?.textContent) && document.querySelector("#whatif table.fold tbody").textContent.includes("rm -rf")`)
	s.until("each pair is counted", `document.querySelector(".matrix .up a") && document.querySelector(".matrix .down a")`)
	s.asked(`of [0-9]+ decisions would change`) // to the end
	now := s.text(`document.querySelector("#whatif h1").textContent`)
	s.run(chromedp.Reload())
	s.asked(now)
	s.until("the edited text is there, too", `document.querySelector("#whatif textarea")?.value.includes("no tests now")`)
	js[chromedp.Void](s, `void document.activeElement.blur()`)
	s.keys("j", "j", kb.Enter)
	s.until("a row is open", `document.querySelector("#whatif tr.open .peek :is(pre, .cmd)")?.textContent.trim()`)
	s.keys(kb.Escape)
	s.until("Esc closes", `!document.querySelector("#whatif tr.open")`)
	js[chromedp.Void](s, `void document.querySelector(".matrix .up a").click()`)
	s.until("a pair alone", `location.hash.includes("pair=") && document.querySelectorAll("#whatif tr.grp").length === 1`)
	if text, err := os.ReadFile(filepath.Join(home, "hooks/command-guard/run.sh")); err != nil || strings.Contains(string(text), "no tests now") {
		t.Errorf("the hook itself was edited (%v): %s", err, text)
	}
}

// A rehearsal can be stopped, and a rehearsal that cannot be made says why.
func TestWhatIfStops(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, func(s *seeder) { s.hour(time.Now()) })
	hooktest.Hook(t, home, "slow", "events: PreToolUse\nmatcher: Bash\ntimeout: 3s\n", "exec sleep 2\n")
	s := open(t, home, ui.Options{Act: true}, "#now")
	s.goTo("#whatif?hook=slow")
	js[chromedp.Void](s, `void document.querySelector("#whatif [data-act=ask]").click()`)
	s.until("it is asked", `document.querySelector("#whatif [data-act=stop]")`)
	js[chromedp.Void](s, `void document.querySelector("#whatif [data-act=stop]").click()`)
	s.until("it was stopped", `document.querySelector("#whatif [data-act=ask]") && /Stopped|Nothing was asked/.test(document.querySelector("#whatif").textContent)`)
	s.goTo("#whatif?hook=none-such")
	js[chromedp.Void](s, `void document.querySelector("#whatif [data-act=ask]").click()`)
	s.until("it is not there", `document.querySelector("#whatif [role=alert]")?.textContent.includes("none-such")`)
	s.goTo("#whatif?hook=x&job=0011223344556677")
	s.until("the answer is gone", `document.querySelector("#whatif [role=alert]")?.textContent.includes("ask again")`)
}

// Without --act no hook is run for a rehearsal, and none of its files is shown.
func TestWhatIfIsAnAct(t *testing.T) {
	home := newHome(t, nil)
	c, _ := runDaemon(t, home)
	for _, act := range []bool{false, true} {
		_, link := serve(t, ui.Options{Client: c, Act: act, Hooks: pageHooks(config.Default(home), c)})
		v := enter(t, link)
		own := map[string]string{"Origin": v.origin, "Content-Type": "application/json"}
		texts := v.do("GET", v.base+"texts?hook=command-guard", nil)
		if body := text(texts); act != (texts.StatusCode == 200) || act != strings.Contains(body, "git push") {
			t.Errorf("act %v: the texts are %s %s", act, texts.Status, body)
		}
		for body, want := range map[string]int{`{"hook":"command-guard"}`: 200, `{"hook":"command-guard","limit":0}`: 400, `{"hook":"command-guard","limit":1000000}`: 400, `{}`: 400, `nope`: 400} {
			if !act {
				want = 403
			}
			if r := v.send("POST", v.base+"whatif", body, own); r.StatusCode != want {
				t.Errorf("act %v: %s answers %s %s", act, body, r.Status, text(r))
			}
		}
	}
}

// The difference of a hook that waits is shown, and allowed with a key. The allowed version is
// exactly the version that was shown, and the record says by which door.
func TestAHookThatWaitsIsAllowed(t *testing.T) {
	hooktest.Long(t) // TestAPersonUsesThePage walks the main way in a browser
	home := newHome(t, nil)
	hooktest.Must(t, os.WriteFile(filepath.Join(home, "hookd.yaml"), []byte("reload:\n  mode: ask\n"), 0o600))
	s := open(t, home, ui.Options{Act: true}, "#hooks?hook=command-guard")
	s.until("the difference", `/What changed[^]*run.sh[^]*rm -rf/.test(document.querySelector(".side")?.textContent)`)
	s.press("a", `[...document.querySelectorAll(".side .fact dd")].some((d) => /allowed by .*door page/.test(d.textContent))`)
	s.goTo("#hooks?hook=test-at-stop")
	s.until("another one still waits", `document.querySelector(".side [data-act=allow]")`)
}
