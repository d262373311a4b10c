package ui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/card/cardtest"
	"github.com/hookd/hookd/internal/people/ui"
)

// rowsOf are the rows of a card in plain text.
func rowsOf(c *client.Card) (rows []string) {
	for _, row := range c.What {
		text := ""
		for _, p := range row.Parts {
			text += p.Text
		}
		rows = append(rows, text)
	}
	return rows
}

// shownRows are the rows that the page shows.
const shownRows = `[...document.querySelectorAll(".askbox .cmd .r")].map((r) => [...r.childNodes].filter((n) => n.nodeName !== "BUTTON").map((n) => n.textContent).join("").trimEnd())`

// The page shows of sixty asks the text of hookd's card, short and whole. Each spelled-out
// part has ink on the screen, no line goes out of sight sideways, and Allow is shut until
// all was on the screen.
func TestSixtyAsksOnThePage(t *testing.T) {
	hooktest.Long(t)
	home := hooktest.ShortDir(t)
	hooktest.Must(t, os.Chmod(home, 0o700))
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "asks: {hold: 10m, timeout: 10m}\n", 0o600)
	hooktest.Hook(t, home, "asks-all", "events: PreToolUse\ntimeout: 60s\n", `cat >/dev/null
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}}'
`)
	s := open(t, home, ui.Options{Act: true}, "#now")
	list := cardtest.Asks()
	for i, one := range list {
		data, err := json.Marshal(map[string]any{
			"hook_event_name": "PreToolUse", "session_id": fmt.Sprint("s", i), "cwd": "/p", "tool_name": one.Tool, "tool_input": one.JSON(),
		})
		hooktest.Must(t, err)
		line, err := json.Marshal(map[string]any{"event": "PreToolUse", "dialect": "codex", "wait": true, "data": json.RawMessage(data)})
		hooktest.Must(t, err)
		hooktest.Send(t, s.client.Socket(), string(line))
	}
	held := map[string]client.Ask{}
	hooktest.Until(t, "all are held", func() bool {
		asks, err := s.client.Asks(t.Context())
		for _, a := range asks.Asks {
			held[a.ID] = a
		}
		return err == nil && len(held) == len(list)
	})
	t.Logf("%d asks are held", len(held))
	for id, a := range held {
		whole, err := s.client.Ask(t.Context(), id)
		hooktest.Must(t, err)
		s.goTo("#now?ask=" + id)
		s.until("the card", fmt.Sprintf(`document.querySelector(".askbox").dataset.ask === %q && document.querySelector(".cmd .r")`, id))
		if got, want := js[[]string](s, shownRows), trimmed(rowsOf(a.Card)); !slices.Equal(got, want) {
			t.Errorf("%.60s: the page shows %.300q, the card has %.300q", a.Subject, got, want)
		}
		s.inked(a.Subject)
		if a.Card.Whole {
			continue
		}
		if js[bool](s, `document.querySelector(".askbox [data-act=allow]:enabled") !== null`) {
			t.Errorf("%.60s: Allow is open before all was shown", a.Subject)
		}
		s.until("all of it is fetched", `document.querySelector(".askbox .left p code")`)
		js[chromedp.Void](s, `void document.querySelector(".askbox .r-left button, .askbox").click()`)
		s.keys("\r")
		s.until("all of it", fmt.Sprintf(`document.querySelectorAll(".cmd .r").length === %d`, len(whole.Card.What)))
		if got, want := js[[]string](s, shownRows), trimmed(rowsOf(whole.Card)); !slices.Equal(got, want) {
			t.Errorf("%.60s: all of it is %.300q, the card has %.300q", a.Subject, got, want)
		}
		if js[bool](s, `document.querySelector(".cmd").scrollHeight > document.querySelector(".cmd").clientHeight + 4 && document.querySelector(".askbox [data-act=allow]:enabled") !== null`) {
			t.Errorf("%.60s: Allow is open before all was on the screen", a.Subject)
		}
		s.inked(a.Subject)
	}
	s.opensWhenSeen(held)
}

// On a narrow screen, which has no last line, Allow opens when all was on the screen above the bar of the answers.
func TestAllowOpensOnANarrowScreen(t *testing.T) {
	hooktest.Long(t)
	s := open(t, newHome(t, nil), ui.Options{Act: true}, "#now")
	s.look(390, 900, "light")
	first := s.asks("git push one")
	s.until("the first card", `document.querySelector(".askbox .cmd")?.textContent.includes("one")`)
	s.until("Allow opens", `document.querySelector(".askbox [data-act=allow]:enabled")`)
	half := js[float64](s, `document.querySelector(".cmd").getBoundingClientRect().bottom - 12 + document.querySelector(".askbox .row").offsetHeight`)
	s.press("d", `!document.querySelector(".askbox")`)
	if told := <-first; !strings.Contains(told, "allowed=false") {
		t.Errorf("it was told %s", told)
	}
	s.until("the first is gone", `!document.querySelector(".item")`)
	s.look(390, int64(half), "light")
	second := s.asks("git push two")
	s.until("a part was seen", `Number(document.querySelector(".askbox .cmd")?.dataset.seen) > 0.2`)
	if js[bool](s, `document.querySelector(".askbox .row").getBoundingClientRect().top >= document.querySelector(".cmd").getBoundingClientRect().bottom`) {
		t.Error("the bar of the answers is not in sight")
	}
	if js[bool](s, `document.querySelector(".askbox [data-act=allow]:enabled") !== null`) {
		t.Error("Allow is open though its bar lies over the command")
	}
	s.look(390, 900, "light")
	s.until("Allow opens", `document.querySelector(".askbox [data-act=allow]:enabled")`)
	s.press("a", `!document.querySelector(".askbox")`)
	if told := <-second; !strings.Contains(told, "allowed=true") {
		t.Errorf("it was told %s", told)
	}
}

func trimmed(rows []string) []string {
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// opensWhenSeen scrolls through a long ask: Allow opens at its end alone, and a double
// click answers one ask.
func (s *site) opensWhenSeen(held map[string]client.Ask) {
	s.t.Helper()
	for id, a := range held {
		if !strings.HasPrefix(a.Subject, "cat > f") {
			continue
		}
		s.goTo("#now?ask=" + id)
		s.until("the card is fetched", fmt.Sprintf(`document.querySelector(".askbox").dataset.ask === %q && document.querySelector(".askbox .left p code")`, id))
		s.keys("\r")
		s.until("all of it", `document.querySelectorAll(".cmd .r").length > 200`)
		s.until("what is on the screen was seen", `Number(document.querySelector(".cmd").dataset.seen) > 0`)
		js[chromedp.Void](s, `void (document.querySelector(".cmd").scrollTop = 1e6)`)
		s.until("the end was seen", `Number(document.querySelector(".cmd").dataset.seen) > 0.1`)
		if js[bool](s, `document.querySelector(".askbox [data-act=allow]:enabled") !== null`) {
			s.t.Error("Allow is open though the middle was not on the screen")
		}
		js[chromedp.Void](s, `void (document.querySelector(".cmd").scrollTop = 0)`)
		const allow = `document.querySelector(".askbox [data-act=allow]:enabled") !== null`
		for page := 0; page < 200 && !js[bool](s, allow); page++ {
			js[chromedp.Void](s, fmt.Sprintf(`void ((c) => { c.scrollTop = %d * (c.clientHeight - 48) %% c.scrollHeight; })(document.querySelector(".cmd"))`, page))
			now := js[float64](s, "performance.now()")
			s.until("the page was seen", fmt.Sprintf(`performance.now() > %f || %s`, now+700, allow))
		}
		s.until("Allow opens, and is clicked twice", allow+
			` && ([1, 2].forEach(() => document.querySelector(".askbox [data-act=allow]")?.click()), true)`)
		hooktest.Until(s.t, "it is answered, and no other", func() bool {
			asks, err := s.client.Asks(s.t.Context())
			return err == nil && len(asks.Asks) == len(held)-1
		})
		js[chromedp.Void](s, `void document.querySelector(".askbox [data-act=deny]").click()`) // in the place of the first
		s.until("the page has stood still", fmt.Sprintf("performance.now() > %f", js[float64](s, "performance.now()")+700))
		if asks, err := s.client.Asks(s.t.Context()); err != nil || len(asks.Asks) != len(held)-1 {
			s.t.Errorf("a second click answered another ask: %d of %d are left, %v", len(asks.Asks), len(held), err)
		}
		return
	}
	s.t.Error("no ask has a heredoc")
}

// inked checks in a picture of the window that each spelled-out part in sight has ink,
// and that no row is wider than its box.
func (s *site) inked(subject string) {
	s.t.Helper()
	type place struct{ X, Y, W, H float64 }
	if js[bool](s, `document.querySelector(".cmd").scrollWidth > document.querySelector(".cmd").clientWidth`) {
		s.t.Errorf("%.60s: a line goes on out of sight", subject)
	}
	places := js[[]place](s, `(() => { const b = document.querySelector(".cmd").getBoundingClientRect(); return [...document.querySelectorAll(".cmd .p-hidden, .cmd .p-odd, .cmd .p-blank, .cmd .mark")]
		.flatMap((e) => [...e.getClientRects()]).filter((r) => r.top >= b.top && r.bottom <= Math.min(b.bottom, innerHeight - 40) && r.width > 12).slice(0, 20).map((r) => ({ X: r.left, Y: r.top, W: r.width, H: r.height })); })()`)
	if len(places) == 0 {
		return
	}
	shot, err := chromedp.Run(s.ctx, chromedp.CaptureScreenshot())
	hooktest.Must(s.t, err)
	full, err := png.Decode(bytes.NewReader(shot))
	hooktest.Must(s.t, err)
	for _, p := range places {
		if ink := inkIn(full, image.Rect(int(p.X)+2, int(p.Y)+2, int(p.X+p.W)-2, int(p.Y+p.H)-2)); ink < 0.03 {
			s.t.Errorf("%.60s: a mark at %.0f,%.0f has ink on %.3f of it", subject, p.X, p.Y, ink)
		}
	}
}

// inkIn is the share of pixels in r that differ from the most frequent one.
func inkIn(full image.Image, r image.Rectangle) float64 {
	count, most, all := map[[3]uint32]int{}, 0, 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			red, green, blue, _ := full.At(x, y).RGBA()
			k := [3]uint32{red >> 11, green >> 11, blue >> 11}
			count[k]++
			most = max(most, count[k])
			all++
		}
	}
	return 1 - float64(most)/float64(max(1, all))
}
