package ui_test

import (
	"os"
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
