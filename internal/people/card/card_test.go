package card

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/wire"
)

func ask(tool, input string) *wire.Ask {
	return &wire.Ask{ID: "A", Tool: tool, Input: json.RawMessage(input), Cwd: "/p", SessionID: "s"}
}

func options(short bool) Options {
	return Options{Short: short, Agent: "Codex", Asking: []Asking{{"guard", "why"}}}
}

// drawn is the text that a terminal shows for a card.
func drawn(c *wire.Card) string {
	lines, _ := Draw(c.What, 80)
	return strings.Join(lines, "\n")
}

func command(text string) *wire.Ask {
	quoted, _ := json.Marshal(text)
	return ask("Bash", `{"command":`+string(quoted)+`}`)
}

func TestCards(t *testing.T) {
	tests := []struct {
		name string
		ask  *wire.Ask
		want string // of the short card
	}{
		{"a line", command("git push -f"), `   1  git push -f`},
		{"what a tool also says stands behind the command",
			ask("Bash", `{"description":"push it","command":"git push","timeout":5}`), `
   1  git push
   2 =description: push it
   3 =timeout: 5`},
		{"hidden", command("git \u202epush\u202c\x00 \u200b\u200b\u200bx"), `
   1  git [U+202E]push[U+202C][U+0000] [U+200B ×3]x`},
		{"two alphabets", command("curl gіthub.com"), `   1  curl g[U+0456]thub.com`},
		{"blanks", command("a" + strings.Repeat(" ", 3000) + "b\t\tc    d   e"), `
   1  a[3,000 spaces]b[2 tabs]c[4 spaces]d   e`},
		{"indented", command("if x\n\ty\n        z\n" + strings.Repeat(" ", 100) + "w"), `
   1  if x
   2      y
   3          z
   4  [100 spaces]w`},
		{"empty lines", command("a" + strings.Repeat("\n", 61) + "b\n\nc\n"), `
   1  a
 ╱╱╱  60 empty lines
  62  b
  63  
  64  c
  65  `},
		{"carriage return", command("echo a\r\nrm -rf ~"), `
   1  echo a[U+000D]
   2  rm -rf ~`},
		{"many lines", command("first\n" + strings.Repeat("x\n", 300) + "last"), `
   1  first
   2  x
   3  x
 ╱╱╱  297 lines, 594 bytes left out
 301  x
 302  last`},
		{"a long line", command(strings.Repeat("a", 100_000)), `
   1  ` + strings.Repeat("a", 74) + `
     ↳` + strings.Repeat("a", 74) + `
     ↳` + strings.Repeat("a", 74) + `
     ↳` + strings.Repeat("a", 18) + `[99,680 characters left out]` + strings.Repeat("a", 28) + `
     ↳` + strings.Repeat("a", 52)},
		{"an edit", ask("Edit", `{"file_path":"/a.sql","old_string":"a\nb\nc","new_string":"a\nB\nc","replace_all":true}`), `
   1 =file_path: /a.sql
   2 =replace_all: true
   3  a
   4 -b
   5 +B
   6  c`},
		{"a file", ask("Write", `{"file_path":"/a.sh","content":"one\ntwo"}`), `
   1 =file_path: /a.sh
 ───  content
   2  one
   3  two`},
		{"a patch", ask("apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n-old\n+new\n*** End Patch"}`), `
   1  *** Begin Patch
   2  *** Update File: a
   3 -old
   4 +new
   5  *** End Patch`},
		{"an object", ask("mcp__db__run", `{"z":{"b":[1,null,{"c":"x\ny"}],"e":{}},"a":[],"n":1e400}`), `
   1 =a: []
   2 =n: 1e400
   3 =z: {"b": [1, null, {"c": "x\ny" } ], "e": {} }`},
		{"the same argument twice", ask("Bash", `{"command":"ls","command":"rm -rf /"}`), `
   1 =command: ls
   2 =command: rm -rf /`},
		{"no object", ask("x", `"text\nlines"`), "   1  text\n   2  lines"},
		{"a name that breaks the line", ask("x", `{"a\nb":"1","c":2}`), "   1 =a[U+000A]b: 1\n   2 =c: 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.TrimPrefix(tt.want, "\n")
			if got := drawn(Make(tt.ask, "d", options(true))); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A mark is drawn, and is never left out.
func TestMarks(t *testing.T) {
	text := "git push\n" + strings.Repeat("x\n", 200) + "rm -rf /srv/data # and so on"
	at := strings.Index(text, "rm ")
	o := options(true)
	o.Spans = []wire.CardSpan{{Hook: "guard", Argument: "command", From: at, To: at + len("rm -rf /srv/data")}}
	c := Make(command(text), "d", o)
	want := `   1  git push
   2  x
   3  x
 ╱╱╱  197 lines, 394 bytes left out: nothing in them made a guard ask
 201  x
 202 ▌rm -rf /srv/data # and so on
      ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔`
	if got := drawn(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if phone := strings.Join(c.Small.Phone.Lines, "\n"); c.Small.Phone.Allow || !strings.Contains(phone, "rm -rf /srv/data") ||
		!strings.Contains(phone, "of 202 lines are here: it cannot be allowed here") || len(c.Small.Phone.Lines) > 6 {
		t.Errorf("a phone shows\n%s", phone)
	}
}

// A card that has not all of the input has no digest and offers no allow.
func TestWholeOrNoDigest(t *testing.T) {
	long := command(strings.Repeat("line\n", 100))
	masked := options(true)
	masked.Masked = true
	huge := command(strings.Repeat("a\u200bb\u200c", 200_000))
	for _, tt := range []struct {
		name          string
		card          *wire.Card
		whole, digest bool
	}{
		{"a line", Make(command("ls"), "d", options(true)), true, true},
		{"short of many lines", Make(long, "d", options(true)), false, false},
		{"all of many lines", Make(long, "d", options(false)), true, true},
		{"secrets are masked", Make(command("ls"), "d", masked), false, false},
		{"no input", Make(&wire.Ask{Subject: "x"}, "d", options(false)), false, false},
		{"more than a card has", Make(huge, "d", options(false)), false, false},
		{"a screen of a chat", Make(command(strings.Repeat("line\n", 20)), "d", options(true)), false, true},
	} {
		c := tt.card
		if c.Whole != tt.whole || (c.Digest == "d") != tt.digest || c.Digest == "" && (c.Small.Chat.Allow || c.Small.Phone.Allow) {
			t.Errorf("%s: whole %v, digest %q, small %+v", tt.name, c.Whole, c.Digest, c.Small)
		}
	}
}

func TestSays(t *testing.T) {
	a := command("git \u202e gіthub\ufe0f")
	a.Rewrote, a.Cwd = true, "/p\u200b"
	o := options(true)
	o.Prompt, o.OwnWay = "clean\nup", true
	o.Asking[0].Reason = "\x1b[31mno"
	var got strings.Builder
	for _, s := range Make(a, "d", o).Says {
		fmt.Fprintf(&got, "%s: %s\n", s.Name, s.Text)
	}
	want := `asks: guard: [U+001B][31mno
look: 2 invisible characters, spelled out above: U+202E (turns the direction of writing), U+FE0F (variation selector)
look: 1 letter of another alphabet within a word: U+0456 is Cyrillic
look: hooks have changed the input: this is what will run
where: /p[U+200B]
who: Codex, session s, after “clean ⏎ up”
if allowed: Codex runs it.
undo: it destroys no file, as far as hookd knows
if denied: Codex does not run it and reads: “denied by you: [U+001B][31mno”
no answer: Codex asks in its own way.
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	said := func(o Options, name string) (texts string) {
		for _, s := range Make(a, "d", o).Says {
			if s.Name == name {
				texts += s.Text
			}
		}
		return texts
	}
	a.Cwd = "/p"
	for want, repo := range map[string]*Repo{
		"/p": nil, "/p, in no repository": {}, "p · /p": {Name: "p"}, "p on f[U+200B]x · /p": {Name: "p", Branch: "f\u200bx"},
	} {
		o.Repo = repo
		if got := said(o, "where"); got != want {
			t.Errorf("where: %s, want %s", got, want)
		}
	}
	o.Effects = []string{"deletes /p/\u202ea", "connects to x"}
	if got, want := said(o, "if allowed"), "Codex runs it: deletes /p/[U+202E]a · connects to x."; got != want {
		t.Errorf("if allowed: %s, want %s", got, want)
	}
	boxed := o
	boxed.Box, boxed.Opens = true, []string{"/home/me/notes"}
	const opened = "Codex runs it in its box, which lets it reach /home/me/notes: deletes /p/[U+202E]a · connects to x." +
		" Allowed in this session, its later boxes reach that, too."
	if got := said(boxed, "if allowed"); got != opened {
		t.Errorf("if allowed in a box: %s, want %s", got, opened)
	}
	o.Tried, o.Agent = true, "hookd emit"
	if got := said(o, "if allowed") + said(o, "who"); !strings.HasPrefix(got, "nothing runs.no agent: a person tries hooks with hookd emit") {
		t.Errorf("a trial says %s", got)
	}
}

// The digest is of all that is asked about.
func TestDigest(t *testing.T) {
	base := wire.Ask{ID: "1", EventID: "2", Hook: "h", Hooks: []string{"h", "i"}, Reason: "r", Cwd: "/", Input: json.RawMessage(`{}`)}
	seen := map[string]bool{Digest(&base): true}
	for i, change := range []func(*wire.Ask){
		func(a *wire.Ask) { a.ID = "x" }, func(a *wire.Ask) { a.Hook = "x" }, func(a *wire.Ask) { a.Reason = "x" },
		func(a *wire.Ask) { a.Cwd = "x" }, func(a *wire.Ask) { a.Tool = "x" }, func(a *wire.Ask) { a.SessionID = "x" },
		func(a *wire.Ask) { a.Input = json.RawMessage(`{ }`) }, func(a *wire.Ask) { a.Hooks = nil },
		func(a *wire.Ask) { a.Agent = "x" },
	} {
		a := base
		change(&a)
		if d := Digest(&a); seen[d] {
			t.Errorf("change %d has the digest of another ask", i)
		} else {
			seen[d] = true
		}
	}
}

// Whatever the input is, nothing hidden is drawn, each character is counted, and it
// takes little time.
func FuzzCard(f *testing.F) {
	for _, seed := range []string{`{"command":"ls"}`, `{"a":{"b":["\u0000"]}}`, `[1,"\ud800"]`, `{"old_string":"a","new_string":"b"}`, `"x"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if !json.Valid([]byte(input)) {
			input = string(must(json.Marshal(input)))
		}
		for _, short := range []bool{false, true} {
			c := Make(ask("Bash", input), "d", options(short))
			for _, row := range c.What {
				for _, p := range row.Parts {
					if strings.ContainsFunc(p.Text, escape.Hidden) || len(escape.Odd(p.Text)) > 0 {
						t.Errorf("%q is drawn", p.Text)
					}
				}
			}
			if !short && !c.Whole {
				t.Error("it is not whole")
			}
			lines := 0
			for _, row := range c.What {
				lines += min(1, row.Line) + row.Lines
			}
			if lines != c.Lines {
				t.Errorf("%d of %d lines are counted", lines, c.Lines)
			}
			if all, _ := Draw(c.What, 80); strings.ContainsFunc(strings.Join(all, ""), escape.Hidden) {
				t.Errorf("drawn: %q", all)
			}
		}
	})
}

func must(text []byte, _ error) []byte { return text }

// A megabyte of anything makes a card in little time.
func TestLargeInputs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mixed := func() string {
		var b strings.Builder
		for b.Len() < 1<<20 {
			b.WriteRune([]rune{'a', ' ', '\n', '\t', '\u202e', 'б', '\u200b', '😀', '[', ']'}[random.IntN(10)])
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"one letter": strings.Repeat("a", 1<<20), "blanks": strings.Repeat(" ", 1<<20), "lines": strings.Repeat("\n", 1<<20),
		"hidden": strings.Repeat("\u200b", 1<<18), "mixed": mixed(), "two alphabets": strings.Repeat("aб", 1<<18),
	} {
		began := time.Now()
		c := Make(command(text), "d", options(false))
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %s", name, took)
		}
		if c.Bytes < len(text) {
			t.Errorf("%s: %d bytes", name, c.Bytes)
		}
	}
	deep := ask("x", `{"a":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`)
	if c := Make(deep, "d", options(false)); !c.Whole {
		t.Error("a deep value is not whole")
	}
}
