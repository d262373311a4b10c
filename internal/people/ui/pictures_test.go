package ui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/people/ui"
)

// pictures of each view, in the order in which docs/page.md shows them.
var pictures = []struct {
	name, hash, scheme string
	width, height      int64
	click              string // on what has this text, before the picture; "" = nothing
}{
	{"now-light", "#now", "light", 1440, 900, ""},
	{"now-dark", "#now", "dark", 1440, 900, ""},
	{"now-narrow", "#now", "light", 380, 800, ""},
	{"stream-light", "recent", "light", 1440, 900, "envs/staging/queue.tf"},
	{"stream-1024", "#stream", "light", 1024, 768, ""},
	{"session-light", "#session?id=7f3c01d2-5b0e-4a7e-9d55-2c1f0a9be811", "light", 1440, 900, "git push -u origin idempotent-charge"},
	{"hooks-dark", "#hooks?hook=no-prod-db", "dark", 1440, 900, ""},
	{"hooks-light", "#hooks", "light", 1440, 900, ""},
	{"guard-light", "#guard?name=house-rules", "light", 1440, 900, ""},
	{"guard-dark", "#guard?name=house-rules&sel=ask%20pushes&open=ask%20rewrites%20a%20branch", "dark", 1440, 900, ""},
	{"guard-1024", "#guard?name=house-rules", "light", 1024, 768, ""},
	{"guard-narrow", "#guard?name=house-rules", "light", 380, 800, ""},
	{"run-light", "", "light", 1440, 900, ""},
	{"whatif-light", "rehearsed", "light", 1440, 900, "rm -rf ./var/queue"},
}

// denied is the address of the newest run in which a hook denied.
func (s *site) denied(hook string) string {
	s.t.Helper()
	runs, err := s.client.Runs(s.t.Context(), client.RunQuery{Hook: hook, Result: client.ResultDeny, Limit: 1})
	hooktest.Must(s.t, err)
	if len(runs) != 1 {
		s.t.Fatalf("%s has denied nothing", hook)
	}
	return "#run?id=" + runs[0].ID
}

// click clicks on the first row that has a text, and waits until the view that it opens is read.
func (s *site) click(text string) {
	s.t.Helper()
	row := fmt.Sprintf(`[...document.querySelectorAll("main tr[data-id]")].find((r) => r.textContent.includes(%q))`, text)
	s.until("a row with "+text, row)
	js[chromedp.Void](s, "void "+row+".click()")
	s.until("what is open is read", `document.querySelector("tr.open") && (document.querySelector("tr.open .wf, tr.open .kv a"))`)
	s.drawn()
}

// changedGuard adds a guard whose new version waits to be allowed; the version before it, and
// all other hooks, are in force.
func changedGuard(t *testing.T, home string) {
	t.Helper()
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "reload: {mode: ask}\n", 0o600)
	const before = `name: no-prod-db
description: Denies database clients on production.
events: PreToolUse
matcher: Bash
type: script
script: |
  case "$(cat)" in
  *psql*prod*) echo 'no psql on production' >&2; exit 2;;
  esac
tests:
  - {name: a client on production is denied, data: {command: psql -h db-eu-1.prod.internal}, expect: deny}
  - {name: a replica may be read, data: {command: psql -h replica.prod.internal}, expect: none}
`
	after := strings.NewReplacer(
		"  *psql*prod*) echo 'no psql on production' >&2; exit 2;;\n",
		"  *replica.prod*) ;;\n  *psql*prod*|*mysql*prod*)\n    echo 'production: use a replica' >&2\n    exit 2;;\n",
	).Replace(before)
	file := filepath.Join(home, "hooks", "no-prod-db", "HOOK.yaml")
	hooktest.Write(t, file, before, 0o644)
	cfg, err := config.Load(home, nil, nil)
	hooktest.Must(t, err)
	for _, w := range catalog.Waiting(cfg) {
		hooktest.Must(t, catalog.Allow(cfg, w))
	}
	hooktest.Write(t, file, after, 0o644)
}

// TestPictures writes them to $HOOKD_PICTURES, which `make test-ui` sets.
func TestPictures(t *testing.T) {
	dir := os.Getenv("HOOKD_PICTURES")
	if dir == "" {
		t.Skip("SKIP-TOOL pictures: HOOKD_PICTURES names no folder")
	}
	home := newHome(t, func(s *seeder) { s.month(time.Now()); s.day(time.Now()); s.hour(time.Now()) })
	houseRules(t, home)
	changedGuard(t, home)
	s := open(t, home, ui.Options{Act: true}, "#now")
	told := s.asks("git push --force-with-lease origin release/2.4")
	s.until("the ask", `document.querySelector(".askbox")?.textContent.includes("after “")`)
	defer func() {
		s.goTo("#now")
		s.press("d", `!document.querySelector(".askbox")`)
		t.Log(<-told)
	}()
	for _, p := range pictures {
		if !strings.Contains(p.name, os.Getenv("HOOKD_PICTURE")) {
			continue
		}
		s.look(p.width, p.height, p.scheme)
		switch p.hash {
		case "":
			p.hash = s.denied("command-guard")
		case "rehearsed":
			p.hash = s.rehearsed()
		case "recent":
			p.hash = "#stream?q=since:" + time.Now().Add(-32*time.Minute).Format("15:04")
		}
		s.goTo(p.hash)
		s.drawn()
		if p.click != "" {
			s.click(p.click)
			if strings.HasPrefix(p.name, "stream") {
				for _, command := range []string{"git status --short", "go vet ./...", "make seed"} {
					s.decide(command) // they wait to be followed
				}
			}
			js[chromedp.Void](s, `void (document.activeElement.blur(), document.getElementById("main").scrollTop = 0)`)
			s.drawn()
		}
		if e := os.Getenv("HOOKD_EVAL"); e != "" {
			t.Log(s.text(e))
		}
		s.picture(filepath.Join(dir, p.name+".png"))
	}
}
