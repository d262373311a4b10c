package ui_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// The page shows a contained call of a real Claude Code: its plain line, its box, and the kept file.
func TestAContainedCallOnThePage(t *testing.T) {
	browser(t) // or skip before anything is built
	program := agentProgram(t, "claude")
	home := newHome(t, nil)
	hooktest.Hook(t, home, "box", "events: PreToolUse\nmatcher: Bash\n",
		"grep -q 4711 && echo '{\"decision\":\"contain\",\"profile\":\"project\",\"reason\":\"it is not known\"}'\nexit 0\n")
	hooktest.Serve(t, home)
	c := client.New(client.Options{Socket: settings(t, home).Socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return c.Ready(t.Context()) == nil })
	s := openWith(t, home, c, ui.Options{Act: true}, "#now")
	const line = "echo 4711 > .mcp.json; echo x > /etc/hookd-4711; ls -A"
	_, ended := s.claudeCode(program, &messages{commands: []string{line}})
	t.Log(ended())
	s.goTo("#stream")
	s.click(line)
	for what, want := range map[string]string{
		`document.querySelector("#stream tbody").textContent`: line + " in the box project",
		`document.querySelector("#stream").textContent`:       "1 kept out",
		`document.querySelector(".told").textContent`:         "to Claude Code: allow, “it is not known”, in the box project",
	} {
		if has := s.text(what); !strings.Contains(has, want) || strings.Contains(has, "hookd-bridge") {
			t.Errorf("%s is %q, want %q", what, has, want)
		}
	}
	s.until("the file that was kept", `[...document.querySelectorAll("#stream code")].some((c) => c.textContent.endsWith("/kept-by-hookd-1-mcp.json"))`)
	if path := os.Getenv("PICTURE"); path != "" {
		s.look(1440, 900, "light")
		s.picture(path)
	}
}

// A real Claude Code asks for a way out of its box, and the page answers: yes for the session, no, and yes to a run
// without a box. Page and `hookd why` then say the plain line, the box that there was, and the way that was open.
func TestAWayOutOnThePage(t *testing.T) {
	browser(t) // or skip before anything is built
	program := agentProgram(t, "claude")
	home := newHome(t, nil)
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "asks: {hold: 5m, timeout: 5m}\n", 0o600)
	hooktest.Hook(t, home, "box", "events: PreToolUse\nmatcher: Bash\n",
		"grep -q 4711 && echo '{\"decision\":\"contain\",\"profile\":\"project\",\"reason\":\"it is not known\"}'\nexit 0\n")
	hooktest.Serve(t, home)
	c := client.New(client.Options{Socket: settings(t, home).Socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return c.Ready(t.Context()) == nil })
	dir := hooktest.HomeDir(t)
	for _, name := range []string{"open", "shut"} {
		hooktest.Write(t, filepath.Join(dir, name, "first"), "before", 0o644)
	}
	line := func(file string) string { return "echo 4711 > " + filepath.Join(dir, file) }
	const unknown = "echo 4711; echo x > bare; false"
	s := openWith(t, home, c, ui.Options{Act: true}, "#now")
	_, ended := s.claudeCode(program, &messages{commands: []string{
		line("open/second"), line("open/second"), line("open/first"), line("shut/second"), line("shut/second"), unknown, unknown,
	}})
	card := func(name, line string, says ...string) {
		t.Helper()
		s.until("the card of "+name, fmt.Sprintf(`document.querySelector(".askbox .cmd")?.textContent.includes(%q)`, line))
		if path := os.Getenv("PICTURES"); path != "" {
			for _, look := range []string{"light", "dark"} {
				for _, width := range []int64{390, 1440} {
					s.look(width, 900, look)
					s.until("Allow opens", `document.querySelector(".askbox [data-act=allow]:enabled")`)
					s.picture(filepath.Join(path, fmt.Sprintf("%s-%d-%s.png", name, width, look)))
				}
			}
		}
		for _, want := range says {
			if has := s.text(`document.querySelector(".askbox").textContent`); !strings.Contains(has, want) || strings.Contains(has, "hookd-bridge") {
				t.Errorf("the card of %s says %q, want %q", name, has, want)
			}
		}
	}
	card("session", line("open/second"), "it is not known; its box kept it from "+dir+"/open", "runs it in its box, which lets it reach "+dir+"/open",
		"Allowed in this session, its later boxes reach that, too")
	s.press("s", `!document.querySelector(".askbox .cmd")?.textContent.includes("open/second")`)
	card("no", line("shut/second"), "its box kept it from "+dir+"/shut")
	s.press("m", `document.querySelector(".askbox .message input")`)
	s.typed("not there")
	s.press("\r", `!document.querySelector(".askbox .cmd")?.textContent.includes("shut/second")`)
	card("bare", unknown, "a person decides whether it runs outside of one")
	s.press("a", `!document.querySelector(".askbox")`)
	t.Log(ended())

	for file, want := range map[string]string{"open/first": "4711\n", "open/second": "4711\n", "shut/first": "before", "shut/second": ""} {
		if text, _ := os.ReadFile(filepath.Join(dir, file)); string(text) != want {
			t.Errorf("%s has %q, want %q", file, text, want)
		}
	}
	hookd := func(args ...string) string {
		cmd := exec.Command(filepath.Join(hooktest.Programs(t), "hookd"), append(args, "--socket", c.Socket(), "-o", "wide")...)
		cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("hookd %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	list, err := c.Decisions(t.Context(), client.DecisionQuery{})
	hooktest.Must(t, err)
	newest := func(line string) string {
		t.Helper()
		for _, d := range list {
			if d.Subject == line {
				return d.EventID
			}
		}
		t.Fatalf("%s is not on record", line)
		return ""
	}
	for _, tt := range []struct{ name, line, page, why string }{
		{"session", line("open/second"), "in the box project|Box project|by namespaces, exit 0|way open|" + dir + "/open",
			"contained|allow by root (page) for session|in the box project with a way to " + dir + "/open|by namespaces, exit 0"},
		{"granted", line("open/first"), "Box project|way open|" + dir + "/open", "in the box project with a way to " + dir + "/open"},
		{"no", line("shut/second"), "to Claude Code: deny, “denied by root: not there”|it did not run", "denied|deny by root (page)|it did not run"},
		{"bare", unknown, "it ran, and failed", "allowed|allow by root (page)|it ran, and failed"},
	} {
		id := newest(tt.line)
		s.goTo("#call?id=" + id)
		s.until("the story of "+tt.name, fmt.Sprintf(`document.querySelector("#call .told") && document.querySelector("#call .crumb").textContent.includes(%q)`, id[len(id)-8:]))
		page, why := s.text(`document.querySelector("#call").textContent`), hookd("why", id)
		for text, wants := range map[string]string{page: tt.page, why: tt.why} {
			for want := range strings.SplitSeq(wants, "|") {
				if !strings.Contains(text, want) || strings.Contains(text, "hookd-bridge") {
					t.Errorf("%s says %q, want %q", tt.name, text, want)
				}
			}
			if boxed := strings.Contains(tt.page, "Box"); !boxed && strings.Contains(text, "namespaces") {
				t.Errorf("%s had no box: %q", tt.name, text)
			}
		}
		if path := os.Getenv("PICTURES"); path != "" {
			s.look(1440, 900, "dark")
			s.drawn()
			s.picture(filepath.Join(path, tt.name+"-after.png"))
		}
	}
	if grants := hookd("grants"); !strings.Contains(grants, "boxes may reach "+dir+"/open; ") {
		t.Errorf("the grants are %s", grants)
	}
	hookd("undo", newest(line("open/first")), "--yes")
	if text, err := os.ReadFile(filepath.Join(dir, "open/first")); string(text) != "before" {
		t.Errorf("the file out of the box has %q after undo (%v)", text, err)
	}
}
