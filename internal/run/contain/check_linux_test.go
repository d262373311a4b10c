package contain

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/run/box"
)

// The test program stands for hookd-bridge with the word box, and for `hookd box` with the word check.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "box" {
		os.Exit(bridge.Box(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "check" {
		list, err := CheckMachine(context.Background(), os.Args[0], os.Args[2])
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(list)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The boxes of a machine hold, also of one without user namespaces. Each attack that works without a box is tried.
func TestCheckMachine(t *testing.T) {
	hooktest.Outside(t)
	self, err := os.Executable()
	hooktest.Must(t, err)
	home := hooktest.HomeDir(t)
	for name, text := range map[string]string{".librefang/token": "a token", ".ssh/id_ed25519": "a key"} {
		hooktest.Write(t, filepath.Join(home, name), text+"\n", 0o600)
	}
	for _, machine := range []struct{ name, setup string }{
		{"as it is", "true"},
		{"without namespaces", "echo 0 > /proc/sys/user/max_user_namespaces"},
	} {
		t.Run(machine.name, func(t *testing.T) {
			argv := []string{"sh", "-c", machine.setup + ` && exec "$0" check "$HOME"`, self}
			if machine.setup != "true" {
				argv = append([]string{"unshare", "-Ur"}, argv...)
				if out, err := exec.Command("unshare", "-Ur", "sh", "-c", machine.setup).CombinedOutput(); err != nil {
					t.Skipf("this machine makes no such machine: %s", out)
				}
			}
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env = append(os.Environ(), "HOME="+home)
			text, err := cmd.Output()
			if err != nil {
				t.Fatal(err, string(err.(*exec.ExitError).Stderr))
			}
			var list []Check
			hooktest.Must(t, json.Unmarshal(text, &list))
			kept := map[string]int{}
			for _, c := range list {
				switch c.Result {
				case Reached, Broken:
					t.Errorf("%s: %s is %s: %s", c.Profile, c.Try, c.Result, c.Detail)
				case NoBox:
					if machine.setup == "true" || c.Profile != box.ProjectNet {
						t.Skipf("there is no box %s: %s", c.Profile, c.Detail)
					}
					if !strings.Contains(c.Detail, "namespaces") {
						t.Errorf("the reason is %q", c.Detail)
					}
				case Kept:
					kept[c.Profile]++
				case Skipped:
					if c.Try != "make namespaces of its own" {
						t.Errorf("%s: %s was not tried: %s", c.Profile, c.Try, c.Detail)
					}
				}
			}
			for _, profile := range []string{box.Read, box.Project} {
				if kept[profile] < len(tries)-1 {
					t.Errorf("%d attacks were kept by %s", kept[profile], profile)
				}
			}
		})
	}
}
