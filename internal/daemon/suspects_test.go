package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A guard whose program cannot work is degraded after one run, with the line that says
// why; a guard that works, whatever it prints, is not.
func TestGuardsThatCannotWork(t *testing.T) {
	home := newHome(t)
	want := map[string]string{}
	guard := func(name, script, why string) {
		dir := writeHook(t, home, name, "events: [PreToolUse]\nmatcher: Bash\ntimeout: 60s\n", "")
		if shebang, _, _ := strings.Cut(script, "\n"); strings.HasPrefix(shebang, "#!/usr/bin/env ") {
			if _, err := exec.LookPath(strings.TrimPrefix(shebang, "#!/usr/bin/env ")); err != nil {
				t.Logf("SKIP-TOOL %s: not installed", shebang)
				script = "#!/bin/sh\nexit 0\n"
				why = ""
			}
		}
		hooktest.Write(t, dir+"/run.sh", script, 0o700)
		want[name] = why
	}
	guard("jq", "#!/bin/sh\nx=$(no-such-jq -r .)\necho looked >&2\n", "it let a call pass while its program failed: ")
	guard("usage", "#!/bin/sh\ngrep --no-such-option x\nexit 0\n", "it let a call pass while its program failed: ")
	guard("sh", "#!/bin/sh\nif true; then\n", "its interpreter cannot read it: ")
	guard("python", "#!/usr/bin/env python3\nprint 'x'\n", "its interpreter cannot read it: ")
	guard("module", "#!/usr/bin/env python3\nimport no_such_module\n", "its interpreter cannot read it: ModuleNotFoundError")
	guard("node", "#!/usr/bin/env node\nconst x = ;\n", "its interpreter cannot read it: SyntaxError")
	guard("require", "#!/usr/bin/env node\nrequire('no-such-module')\n", "its interpreter cannot read it: ")
	guard("perl", "#!/usr/bin/env perl\nmy $x = ;;{\n", "its interpreter cannot read it: syntax error")
	guard("ruby", "#!/usr/bin/env ruby\ndef x(\n", "its interpreter cannot read it: ")
	guard("denies", "#!/bin/sh\necho 'a SyntaxError in x.py' >&2\necho 'mend it first' >&2\nexit 2\n", "")
	guard("logs", "#!/bin/sh\necho 'no rule was found for ls' >&2\necho 'looked at 1 call' >&2\n", "")
	guard("fails", "#!/bin/sh\necho 'no network' >&2\nexit 1\n", "")
	h := start(t, home, nil)
	h.emit(`{"event":"PreToolUse","wait":true,"timeout_ms":300000,"data":{"tool_name":"Bash","tool_input":{"command":"ls"}}}`)
	for name, why := range want {
		hk, err := h.client.Hook(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case why == "" && (hk.State != "active" || len(hk.Problems) > 0):
			t.Errorf("%s: %s, %+v, want it active", name, hk.State, hk.Problems)
		case why != "" && (hk.State != "degraded" || len(hk.Problems) != 1 || !strings.HasPrefix(hk.Problems[0].Message, why)):
			t.Errorf("%s: %s, %+v, want it degraded: %s", name, hk.State, hk.Problems, why)
		}
	}
	broken := 0
	for _, why := range want {
		if why != "" {
			broken++
		}
	}
	st, err := h.client.Status(t.Context())
	if err != nil || st.Hooks["degraded"] != broken || st.Hooks["active"] != len(want)-broken {
		t.Errorf("status counts %v, %v, want %d of %d degraded", st.Hooks, err, broken, len(want))
	}
}

// A guard whose program is installed later is active again after the next call of the tool, and no sooner.
func TestAGuardThatWorksAgain(t *testing.T) {
	home := newHome(t)
	dir := writeHook(t, home, "guard", "events: [PreToolUse]\ntimeout: 60s\n", "")
	program := filepath.Join(home, "later")
	hooktest.Write(t, dir+"/run.sh", "#!/bin/sh\ngrep -q Write && exit 0\n"+program+"\nexit 0\n", 0o700)
	h := start(t, home, nil)
	call := func(tool, want string) {
		t.Helper()
		h.emit(`{"event":"PreToolUse","wait":true,"timeout_ms":300000,"data":{"tool_name":"` + tool + `","tool_input":{}}}`)
		if hk, err := h.client.Hook(t.Context(), "guard"); err != nil || hk.State != want {
			t.Errorf("after %s: %s, %+v, %v, want it %s", tool, hk.State, hk.Problems, err, want)
		}
	}
	call("Bash", "degraded")
	hooktest.Write(t, program, "#!/bin/sh\n", 0o700)
	call("Write", "degraded")
	call("Bash", "active")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	call("Bash", "degraded")
}
