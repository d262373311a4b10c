package daemon

import (
	"encoding/json"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/system/systemtest"
)

// A guard of the system daemon decides before the user's own daemon, and learns who asks.
func TestSystemDaemon(t *testing.T) {
	p := systemtest.Place(t, "required: true\n")
	hooktest.Hook(t, p.Folder, "guard", "events: [PreToolUse]\n",
		`case "$HOOK_EVENT_DATA" in *forbidden*) echo "uid $HOOKD_PEER_UID of ${HOOKD_PEER_PROGRAM##*/}" >&2; exit 2;; esac`)
	hooktest.Hook(t, p.Folder, "told", "events: [PostToolUse]\nblocking: true\n", `sed 's/.*"hookd_peer":{\([^}]*\)}.*/\1/' >&2; exit 2`)
	c, err := config.LoadSystem(p, nil)
	hooktest.Must(t, err)
	leaveSocket(t, p.Socket)
	h := startWith(t, p.Folder, func(o *Options) { o.Config = c })
	if info, err := os.Stat(p.Socket); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(p.Folder, "hookd.db")); err == nil {
		t.Error("the daemon has written to root's folder")
	}

	own := newHome(t)
	writeHook(t, own, "loose", "events: [PreToolUse]\n", `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`)
	users := start(t, own, nil)
	decide := func(event, data string) client.Verdict {
		t.Helper()
		v, err := users.client.Decide(t.Context(), client.Event{Event: event, Dialect: "claude-code", Data: json.RawMessage(data)})
		hooktest.Must(t, err)
		return v
	}
	v := decide("PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"forbidden"}}`)
	if v.Allowed || !strings.HasPrefix(v.Message, "uid ") || !strings.HasSuffix(v.Message, ".test") {
		t.Errorf("got %+v", v)
	}
	if v := decide("PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`); !v.Allowed || v.PermissionDecision != "allow" {
		t.Errorf("got %+v", v)
	}
	v = decide("PostToolUse", `{"tool_name":"Bash","hookd_peer":{"uid":0,"pid":1}}`) // what a sender says of itself
	if !strings.Contains(v.Message, `"pid":`) || strings.Contains(v.Message, `"pid":1,`) || strings.Contains(v.Message, `"pid":1}`) {
		t.Errorf("hooks got %s", v.Message)
	}
	h.stop()
	begin := time.Now()
	if v := decide("PreToolUse", `{"tool_name":"Bash"}`); v.Allowed || !strings.Contains(v.Message, "required: true") {
		t.Errorf("stopped, after %s: %+v", time.Since(begin), v)
	}
}

// leaveSocket leaves a socket as a system daemon that was killed does.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	hooktest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	hooktest.Must(t, err)
	l.SetUnlinkOnClose(false)
	hooktest.Must(t, l.Close())
	hooktest.Must(t, os.Chmod(path, 0o666))
}

// The settings and hooks of the system daemon are root's alone.
func TestSystemFolderIsRootsAlone(t *testing.T) {
	for what, path := range map[string]string{"folder": "", "settings": "hookd.yaml", "hooks": "hooks"} {
		t.Run(what, func(t *testing.T) {
			p := systemtest.Place(t, "")
			hooktest.Must(t, os.Chmod(filepath.Join(p.Folder, path), 0o777))
			c, err := config.LoadSystem(p, nil)
			hooktest.Must(t, err)
			if _, err = New(Options{Config: c}); err == nil || !strings.Contains(err.Error(), "is writable by every user") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A hook of root's runs as the user that it names; one of a user's own daemon does not.
func TestRunAs(t *testing.T) {
	hooktest.NeedRoot(t)
	other, err := user.LookupId(strconv.Itoa(hooktest.OtherUser))
	if err != nil {
		t.Skip("SKIP-TOOL user: there is none without rights")
	}
	p := systemtest.Place(t, "")
	yaml := "events: [PreToolUse]\nrun_as: " + other.Username + "\n"
	hooktest.Hook(t, p.Folder, "who", yaml, "echo \"$(id -un) $(id -G) $USER\" >&2; exit 2\n")
	for _, dir := range []string{filepath.Dir(p.Folder), p.Folder, filepath.Join(p.Folder, "hooks"), filepath.Join(p.Folder, "hooks", "who")} {
		hooktest.Must(t, os.Chmod(dir, 0o755))
	}
	c, err := config.LoadSystem(p, nil)
	hooktest.Must(t, err)
	h := startWith(t, p.Folder, func(o *Options) { o.Config = c })
	v, err := h.client.Decide(t.Context(), client.Event{Event: "PreToolUse", Dialect: "claude-code"})
	hooktest.Must(t, err)
	name := other.Username
	if v.Allowed || !strings.HasPrefix(v.Message, name+" ") || !strings.HasSuffix(v.Message, " "+name) ||
		strings.Contains(v.Message, " 0 ") {
		t.Errorf("it ran as %+v", v)
	}

	own := newHome(t)
	writeHook(t, own, "who", yaml, "exit 0\n")
	users := start(t, own, nil)
	got, err := users.client.Hook(t.Context(), "who")
	hooktest.Must(t, err)
	if got.State != "rejected" {
		t.Errorf("in a user's own home it is %s", got.State)
	}
}
