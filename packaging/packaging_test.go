package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"howett.net/plist"
)

// settings reads a unit: section.key to values, in order.
func settings(t *testing.T, unit string) map[string][]string {
	t.Helper()
	section, found := "", map[string][]string{}
	for line := range strings.Lines(unit) {
		line = strings.TrimSuffix(line, "\n")
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case !ok:
			t.Errorf("line %q has no value", line)
		default:
			found[section+"."+key] = append(found[section+"."+key], value)
		}
	}
	return found
}

// The promises of the units, each by its line.
func TestSystemdUnits(t *testing.T) {
	for unit, want := range map[string]map[string]string{
		SystemdUnit: {
			"Unit.Requires":              "hookd.socket",
			"Unit.StartLimitIntervalSec": "0",
			"Service.Type":               "notify",
			"Service.NotifyAccess":       "main",
			"Service.ExecStart":          "%h/.local/bin/hookd serve",
			"Service.ExecReload":         "/bin/kill -HUP $MAINPID",
			"Service.WatchdogSec":        "120",
			"Service.KillMode":           "mixed",
			"Service.TimeoutStopSec":     "15",
			"Service.Delegate":           "yes",
			"Service.OOMPolicy":          "continue",
			"Service.Restart":            "on-failure",
			"Install.WantedBy":           "default.target",
			"Install.Also":               "hookd.socket",
		},
		SystemdSocket: {
			"Socket.ListenStream":  "%h/.librefang/hookd.sock",
			"Socket.SocketMode":    "0600",
			"Socket.DirectoryMode": "0700",
			"Install.WantedBy":     "sockets.target",
		},
		SystemdHardened: {
			"Service.NoNewPrivileges":         "yes",
			"Service.RestrictSUIDSGID":        "yes",
			"Service.SystemCallArchitectures": "native",
		},
	} {
		found := settings(t, unit)
		for key, value := range want {
			if got := strings.Join(found[key], "|"); got != value {
				t.Errorf("%s is %q, want %q", key, got, value)
			}
		}
	}
}

// No unit has a setting that would keep hooks from their files, programs or network:
// hooks are arbitrary programs of the user.
func TestUnitsLeaveHooksAlone(t *testing.T) {
	harmful := regexp.MustCompile(`^Service\.(Protect(Home|System)|Private.*|ReadOnlyPaths|InaccessiblePaths|TemporaryFileSystem|MemoryDenyWriteExecute|RestrictNamespaces|UMask|Memory(Max|High)|TasksMax|Limit.*|IPAddressDeny|DynamicUser|RootDirectory)$`)
	for _, unit := range []string{SystemdUnit, SystemdHardened} {
		for key := range settings(t, unit) {
			if harmful.MatchString(key) {
				t.Errorf("%s breaks hooks", key)
			}
		}
	}
	for key := range settings(t, SystemdUnit) {
		if strings.HasPrefix(key, "Service.Restrict") || strings.HasPrefix(key, "Service.SystemCall") || strings.HasPrefix(key, "Service.Lock") {
			t.Errorf("%s implies NoNewPrivileges: it belongs in the drop-in", key)
		}
	}
}

// odd has the characters that the formats have a meaning for.
var odd = Service{
	Program: `/opt/a b/50%h/x$y;z/hookd`,
	Socket:  `/home/u & <v>/50%h "q"/hookd.sock`,
	Log:     "/home/u & <v>/log",
	Variables: []Variable{
		{"PATH", `/usr/bin:/a b:/50%h:/"q":/b\c:$HOME:/'s':/é`},
		{"LIBREFANG_HOME", "/home/u & <v>"},
	},
	Hardened: true,
}

func TestSystemdQuotes(t *testing.T) {
	files, err := odd.Systemd()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if !strings.Contains(f.Text, Mark) {
			t.Errorf("%s does not say who wrote it", f.Name)
		}
	}
	if !reflect.DeepEqual(names, SystemdFiles) {
		t.Errorf("got %q, want %q", names, SystemdFiles)
	}
	service, socket := settings(t, files[0].Text), settings(t, files[1].Text)
	if got, want := service["Service.ExecStart"], []string{`"/opt/a b/50%%h/x$y;z/hookd" serve`}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := []string{`"PATH=/usr/bin:/a b:/50%%h:/\"q\":/b\\c:$HOME:/'s':/é"`, `"LIBREFANG_HOME=/home/u & <v>"`}
	if got := service["Service.Environment"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := socket["Socket.ListenStream"], []string{`/home/u & <v>/50%%h "q"/hookd.sock`}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatNoFileCanHoldIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Service){
		"newline in PATH":   func(s *Service) { s.Variables = []Variable{{"PATH", "/a\nExecStartPre=/bin/evil"}} },
		"escape in program": func(s *Service) { s.Program = "/a\x1b[2J/hookd" },
		"no UTF-8":          func(s *Service) { s.Socket = "/a\xff/s" },
	} {
		s := odd
		change(&s)
		if _, err := s.Systemd(); err == nil {
			t.Errorf("%s: systemd took it", name)
		}
		if _, err := s.Launchd(); err == nil {
			t.Errorf("%s: launchd took it", name)
		}
	}
	for _, s := range []Service{{Program: `/a"b/hookd`}, {Program: `/a\b/hookd`}, {Program: "/a'b/hookd"}, {Program: "/hookd", Socket: `/s\`}} {
		if _, err := s.Systemd(); err == nil {
			t.Errorf("%+v: systemd took it", s)
		}
	}
}

// systemd itself reads the units as we mean them, odd paths included. It looks
// for the program, so a wrong quote would show.
func TestSystemdVerifiesTheUnits(t *testing.T) {
	dir := unitFolder(t)
	out, err := analyze(t, dir, "verify", "--man=no", filepath.Join(dir, "hookd.service"), filepath.Join(dir, "hookd.socket"))
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("got %v and\n%s", err, out)
	}
	program := filepath.Join(dir, "a b", "50%h", "x$y;z", "hookd")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if out, err := analyze(t, dir, "verify", "--man=no", filepath.Join(dir, "hookd.service")); err == nil || !bytes.Contains(out, []byte(program)) {
		t.Errorf("got %v and %s without the program: this test shows nothing", err, out)
	}
}

// The drop-in lowers the figure that systemd calls exposure: systemd 252 says 9.6
// without and 7.6 with it. Hooks need most of the rest.
func TestSystemdSecurity(t *testing.T) {
	dir := unitFolder(t)
	exposure := func() float64 {
		out, err := analyze(t, dir, "security", "--offline=true", "--no-pager", filepath.Join(dir, "hookd.service"))
		m := regexp.MustCompile(`Overall exposure level for hookd\.service: ([0-9.]+)`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("got %v and\n%s", err, out)
		}
		level, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return level
	}
	hardened := exposure()
	if err := os.RemoveAll(filepath.Join(dir, "hookd.service.d")); err != nil {
		t.Fatal(err)
	}
	plain := exposure()
	t.Logf("exposure %.1f, with the drop-in %.1f", plain, hardened)
	if hardened > plain-1.5 {
		t.Errorf("exposure is %.1f with the drop-in, %.1f without", hardened, plain)
	}
}

// unitFolder has the units for a program whose path has odd characters.
func unitFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := odd
	s.Program = filepath.Join(dir, "a b", "50%h", "x$y;z", "hookd")
	files, err := s.Systemd()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, File{filepath.Join("a b", "50%h", "x$y;z", "hookd"), "#!/bin/sh\n"}) {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(s.Program, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func analyze(t *testing.T, dir string, args ...string) ([]byte, error) {
	t.Helper()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIP-TOOL systemd-analyze: nothing else knows how systemd reads units")
	}
	if args[0] == "verify" {
		args = append([]string{"--user"}, args...)
	}
	cmd := exec.Command(tool, args...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_UNIT_PATH="+dir+":")
	return cmd.CombinedOutput()
}

// A plist library reads the agent as launchd does: every key, no other.
func TestLaunchdAgent(t *testing.T) {
	file, err := odd.Launchd()
	if err != nil {
		t.Fatal(err)
	}
	if file.Name != "io.github.hookd.plist" || !strings.Contains(file.Text, Mark) {
		t.Errorf("got %s, or it does not say who wrote it", file.Name)
	}
	var got map[string]any
	format, err := plist.Unmarshal([]byte(file.Text), &got)
	if err != nil || format != plist.XMLFormat {
		t.Fatalf("got format %d, %v", format, err)
	}
	want := map[string]any{
		"Label":            Label,
		"ProgramArguments": []any{odd.Program, "serve"},
		"EnvironmentVariables": map[string]any{
			"PATH":           odd.Variables[0].Value,
			"LIBREFANG_HOME": odd.Variables[1].Value,
		},
		"RunAtLoad":         true,
		"KeepAlive":         map[string]any{"SuccessfulExit": false},
		"ProcessType":       "Interactive",
		"ThrottleInterval":  uint64(5),
		"ExitTimeOut":       uint64(15),
		"StandardErrorPath": odd.Log,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%#v\nwant\n%#v", got, want)
	}
}

// systemd reads the units of the system daemon, and calls it well confined.
func TestSystemUnits(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "a b", "hookd")
	files, err := Service{Program: program}.SystemSystemd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, File{"a b/hookd", "#!/bin/sh\n"}) {
		if f.Name != "a b/hookd" && !strings.Contains(f.Text, Mark) {
			t.Errorf("%s has no mark", f.Name)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, err := analyze(t, dir, "security", "--offline=true", "--no-pager", filepath.Join(dir, "hookd.service"))
	m := regexp.MustCompile(`Overall exposure level for hookd\.service: ([0-9.]+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("got %v and\n%s", err, out)
	}
	if level, err := strconv.ParseFloat(string(m[1]), 64); err != nil || level > 4 {
		t.Errorf("the exposure is %s, %v", m[1], err)
	}
}

func TestSystemLaunchd(t *testing.T) {
	f, err := Service{Program: "/opt/a&b/hookd"}.SystemLaunchd()
	if err != nil || !strings.Contains(f.Text, "<string>/opt/a&amp;b/hookd</string>") || !strings.Contains(f.Text, "serve --system") {
		t.Errorf("got %v, %s", err, f.Text)
	}
}
