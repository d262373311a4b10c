package card_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/card/cardtest"
	"github.com/hookd/hookd/wire"
)

// text is the card in one text, without the additions of a drawing.
func text(c *wire.Card) string {
	var b strings.Builder
	for _, row := range c.What {
		for _, p := range row.Parts {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// stripped is drawn text without numbers, signs and breaks of a drawing.
func stripped(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		runes := []rune(line)
		b.WriteString(string(runes[min(len(runes), 6):]))
	}
	return b.String()
}

// Of sixty asks the terminal draws the whole card, and the three hooks of the gallery print
// the card's text for their place. Allow is only where all of the input is.
func TestSixtyAsksOnTerminalDesktopPhoneAndChat(t *testing.T) {
	list := cardtest.Asks()
	if len(list) != 60 {
		t.Fatalf("%d asks", len(list))
	}
	var given []map[string]any
	var short []*wire.Card
	for _, one := range list {
		a := &wire.Ask{ID: "A", Tool: one.Tool, Input: one.JSON(), Cwd: "/p", SessionID: "s", Agent: "codex", Hook: "guard"}
		o := card.Options{Agent: "codex", Asking: []card.Asking{{Hook: "guard", Reason: "why"}}}
		whole := card.Make(a, "d", o)
		o.Short = true
		c := card.Make(a, "d", o)
		short = append(short, c)
		given = append(given, map[string]any{"agent": "codex", "hook": "guard", "card": c})
		if !whole.Whole || whole.Digest != "d" {
			t.Errorf("%s: the whole card is %v", one.Name, whole.Whole)
		}
		for _, width := range []int{40, 80, 200} {
			lines, _ := card.Draw(whole.What, width)
			if got := stripped(lines); got != text(whole) {
				t.Errorf("%s: %d columns show %.200q, the card has %.200q", one.Name, width, got, text(whole))
			}
		}
		for _, k := range []*wire.Card{c, whole} {
			if all := text(k); strings.ContainsFunc(all, escape.Hidden) || len(escape.Odd(all)) > 0 {
				t.Errorf("%s: hidden text in %.200q", one.Name, all)
			}
		}
		for name, small := range map[string]wire.CardSmall{"phone": c.Small.Phone, "desktop": c.Small.Desktop, "chat": c.Small.Chat} {
			all := strings.Join(small.Lines, "\n")
			if small.Allow && strings.Contains(all, "left out]") || !small.Allow && !strings.Contains(all, "cannot be allowed here") {
				t.Errorf("%s on a %s: allow %v of\n%s", one.Name, name, small.Allow, all)
			}
		}
	}
	hooktest.NeedTool(t, "python3")
	gallery, err := filepath.Abs("../../../docs/gallery")
	hooktest.Must(t, err)
	stdin, err := json.Marshal(given)
	hooktest.Must(t, err)
	cmd := exec.Command("python3", "-c", `import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import asks
json.dump([{place: {"lines": asks.asked(e, place)[1], "buttons": list(asks.buttons(e, place))} for place in ("phone", "desktop", "chat")}
           for e in json.load(sys.stdin)], sys.stdout)`, gallery)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(stdin)), os.Stderr
	out, err := cmd.Output()
	hooktest.Must(t, err)
	var shown []map[string]struct{ Lines, Buttons []string }
	hooktest.Must(t, json.Unmarshal(out, &shown))
	for i, c := range short {
		for place, small := range map[string]wire.CardSmall{"phone": c.Small.Phone, "desktop": c.Small.Desktop, "chat": c.Small.Chat} {
			want := append([]string{}, small.Lines...)
			for _, s := range c.Says {
				want = append(want, s.Name+": "+s.Text)
			}
			if got := shown[i][place]; strings.Join(got.Lines, "\n") != strings.Join(want, "\n") || (len(got.Buttons) == 2) != small.Allow {
				t.Errorf("%s on a %s: %q, %v", list[i].Name, place, got.Lines, got.Buttons)
			}
		}
	}
}
