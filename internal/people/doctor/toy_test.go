package doctor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/testdata/toy"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/people/doctor"
)

// One folder and one line make an agent: its events reach hooks of other agents'
// names with the payload in their words, its answer is in its own, connect writes
// its settings, and doctor follows the way.
func TestAnAgentIsOneFolderAndOneLine(t *testing.T) {
	t.Cleanup(dialect.Add(toy.System()))
	home, err := os.MkdirTemp("/tmp", "toy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	write(t, filepath.Join(home, "hooks", "guard", "HOOK.yaml"), 0o644,
		"name: guard\nevents: [pre_tool_use]\nmatcher: Bash\ncommand: ./guard.sh\n")
	write(t, filepath.Join(home, "hooks", "guard", "guard.sh"), 0o755,
		"#!/bin/sh\ngrep -q '\"cmd\":\"rm -rf /\"' || exit 0\necho \"no rm: $HOOK_EVENT\" >&2\nexit 2\n")
	c, err := config.Load(home, map[string]string{"fire_startup": "false"}, nil)
	hooktest.Must(t, err)
	d, err := daemon.New(daemon.Options{Config: c, Version: "test"}) // in this process, which knows the toy
	hooktest.Must(t, err)
	hooktest.Run(t, d.Run)
	socket := c.Socket
	cl := client.New(client.Options{Socket: socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return cl.Ready(t.Context()) == nil })

	for payload, want := range map[string]string{
		`{"event":"toy_call","what":"wind_up","with":{"line":"rm -rf /"}}`: `{"stop":"no rm: pre_tool_use"}`,
		`{"event":"toy_call","what":"wind_up","with":{"line":"ls"}}`:       `{}`,
	} {
		var stdout, stderr bytes.Buffer
		exit := bridge.Run(t.Context(), bridge.Options{
			Agent: "toy", Stdin: strings.NewReader(payload), Stdout: &stdout, Stderr: &stderr, Socket: socket, State: t.TempDir(),
		})
		if got := strings.TrimSpace(stdout.String()); got != want || exit != 0 {
			t.Errorf("%s: got %s, exit %d, %s, want %s", payload, got, exit, &stderr, want)
		}
	}

	o := connect.Options{Agent: "toy", Home: home, Bridge: "/opt/hookd-bridge", Getenv: func(string) string { return "" }}
	if !slices.Contains(connect.Names(), "toy") {
		t.Errorf("connect knows %q", connect.Names())
	}
	plan, err := connect.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(); err != nil {
		t.Fatal(err)
	}
	settings, _ := os.ReadFile(filepath.Join(home, ".toy", "hooks.json"))
	if !bytes.Contains(settings, []byte(`"command": "/opt/hookd-bridge toy"`)) || !bytes.Contains(settings, []byte(`"toy_call"`)) {
		t.Errorf("connect wrote %s", settings)
	}

	report := doctor.LookAgent(t.Context(), doctor.AgentOptions{
		Options: doctor.Options{Config: config.Config{Home: home, Socket: socket}, Client: client.New(client.Options{Socket: socket})}, Connect: o, NoProbe: true,
	})
	if report.Agent != "toy" || len(report.Findings) == 0 {
		t.Errorf("doctor: %+v", report)
	}
	cannot := func(name string) bool {
		return slices.ContainsFunc(report.Cannot, func(l doctor.Lack) bool { return l.Ability == name })
	}
	if cannot("deny a tool call") || !cannot("rewrite it") {
		t.Errorf("doctor says that it cannot %+v", report.Cannot)
	}
}

func write(t *testing.T, file string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
