package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

func load(t *testing.T, yaml string, flags map[string]string, environ ...string) (Config, error) {
	t.Helper()
	home := t.TempDir()
	if yaml != "" {
		if err := os.WriteFile(filepath.Join(home, "hookd.yaml"), []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(home, flags, environ)
}

func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	yaml := "log:\n  level: debug\nslots: {observers: 3, decidable: 4}\nqueue:\n  max_bytes: 2MiB\n"
	c, err := load(t, yaml, map[string]string{"log.level": "error"}, "HOOKD_LOG_LEVEL=warn", "HOOKD_SLOTS_OBSERVERS=7")
	if err != nil {
		t.Fatal(err)
	}
	if c.LogLevel != "error" || c.SlotsObservers != 7 || c.SlotsDecidable != 4 || c.QueueMaxBytes != 2<<20 || c.QueueMaxEvents != 10_000 {
		t.Errorf("got %+v", c)
	}
}

func TestPathsAreAbsolute(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	c, err := load(t, "hooks_dir: my/hooks\nsocket: /run/../tmp/s\nsources: [{type: docker-agent, path: ~/a/*.yaml}, {type: docker-agent, path: ./b.yaml}]\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Source{{"docker-agent", "/home/u/a/*.yaml"}, {"docker-agent", filepath.Join(c.Home, "b.yaml")}}
	if c.HooksDir != filepath.Join(c.Home, "my/hooks") || c.Socket != "/tmp/s" || !reflect.DeepEqual(c.Sources, want) {
		t.Errorf("got %s %s %v", c.HooksDir, c.Socket, c.Sources)
	}
}

func TestValuesOfEveryKind(t *testing.T) {
	c, err := load(t, "timeouts: {command: 2.5, script: 750ms}\ncgroup: false\nenv: {A: b, C: 1}\nfire_startup: false\nreload: {mode: manual}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.TimeoutCommand != 2500*time.Millisecond || c.TimeoutScript != 750*time.Millisecond || c.Env["C"] != "1" || c.Cgroup || c.FireStartup || c.ReloadMode != "manual" {
		t.Errorf("got %+v", c)
	}
}

func TestBadSettingsSayWhereAndWhat(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		{"unknown", "a: 1\nhook_dir: x\n", `hookd.yaml:1:1: unknown key "a"`},
		{"near", "hook_dir: x\n", "did you mean `hooks_dir`?"},
		{"nested", "log:\n  levle: debug\n", "hookd.yaml:2:3: unknown key \"log.levle\", did you mean `log.level`?"},
		{"value", "log:\n  level: loud\n", `hookd.yaml:2:10: log.level: want debug or info or warn or error, got "loud"`},
		{"number", "slots: {observers: 0}\n", "want a whole number from 1 to 1024"},
		{"size", "queue: {max_bytes: many}\n", "want bytes such as"},
		{"duration", "timeouts: {command: 1h}\n", "want a duration from 50ms to 10m"},
		{"list", "- a\n", "a mapping of settings is wanted here"},
		{"scalar", "socket: [a]\n", "want one value"},
		{"syntax", "a: [\n", "hookd.yaml: "},
		{"source-type", "sources: [{type: docker, path: x}]\n", `type "docker", want docker-agent or familiar`},
		{"source-key", "sources: [{type: docker-agent, file: x}]\n", `unknown key "file"`},
		{"agent-command", "agents: {a: {prompt: arg}}\n", `agent "a" has no command`},
		{"agent-prompt", "agents: {a: {command: [x], prompt: file}}\n", "want stdin or arg"},
		{"provider-type", "providers: {a: {type: other}}\n", "want openai or anthropic"},
		{"provider-url", "providers: {a: {base_url: example.org}}\n", "want http:// or https://"},
		{"http-public", "http: {listen: '0.0.0.0:7780'}\n", "want a loopback address such as 127.0.0.1:7780"},
		{"http-name", "http: {listen: 'example.org:7780'}\n", "want a loopback address"},
		{"http-port", "http: {listen: 127.0.0.1}\n", "want HOST:PORT"},
		{"http-port-0", "http: {listen: '127.0.0.1:0'}\n", "want HOST:PORT"},
		{"repeated", "path: /a\nlog: {level: debug}\npath: /b\n", "hookd.yaml:3:1: path is set twice, first in line 1"},
		{"repeated-dotted", "log: {level: debug}\nlog.level: info\n", "hookd.yaml:2:1: log.level is set twice"},
		{"repeated-group", "log: {level: debug}\nlog: {format: json}\n", "hookd.yaml:2:1: log is set twice"},
		{"repeated-nested", "log: {level: debug, level: info}\n", "log.level is set twice"},
		{"repeated-env", "env: {A: b, A: c}\n", "want a mapping"},
		{"repeated-source", "sources: [{type: docker-agent, type: familiar, path: x}]\n", "want {type: …, path: …}"},
		{"repeated-agent", "agents: {a: {command: [x]}, a: {command: [y]}}\n", "want a mapping"},
		{"repeated-provider", "providers: {a: {type: openai}, a: {type: openai}}\n", "want a mapping"},
		{"second", "path: /a\n---\npath: /b\n", "hookd.yaml:2:1: a second YAML document"},
		{"second-empty", "path: /a\n---\n", "a second YAML document"},
		{"second-after-nothing", "---\n---\nreload: {mode: ask}\n", "a second YAML document"},
		{"second-broken", "path: /a\n---\na: [\n", "hookd.yaml: "},
		{"null", "path: null\n", "hookd.yaml:1:7: path: there is no value"},
		{"null-tilde", "reload: {mode: ~}\n", "reload.mode: there is no value"},
		{"null-nothing", "hooks_dir:\n", "hooks_dir: there is no value"},
		{"null-list", "sources: [{type: docker-agent, path: null}]\n", "sources: there is no value"},
		{"null-env", "env: {A: }\n", "env: there is no value"},
		{"null-sources", "sources:\n", "sources: there is no value"},
		{"null-group", "log:\n", "a mapping of settings is wanted here"},
		{"env-name", "env: {'a=b': c}\n", "cannot be the name of a variable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := load(t, tt.yaml, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := load(t, "", nil, "HOOKD_FIRE_STARTUP=perhaps"); err == nil || !strings.Contains(err.Error(), "HOOKD_FIRE_STARTUP") {
		t.Errorf("bad variable: %v", err)
	}
	for _, v := range []string{"HOOKD_ENV={A: b, A: c}", "HOOKD_SOURCES=[]\n---\n[]", "HOOKD_ENV=null", "HOOKD_ENV={A: null}"} {
		if _, err := load(t, "", nil, v); err == nil {
			t.Errorf("%s is taken", v)
		}
	}
	if _, err := load(t, "", map[string]string{"reload.mode": "never"}); err == nil || !strings.Contains(err.Error(), "--reload-mode") {
		t.Errorf("bad flag: %v", err)
	}
}

func TestNeedsRestartNamesWhatAReloadCannotChange(t *testing.T) {
	a := Default("/h")
	b := a
	b.LogLevel, b.HooksDir = "debug", "/elsewhere"
	if got := a.NeedsRestart(b); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	b.Socket, b.SlotsObservers, b.WatchPrograms = "/s", 1, true
	want := map[string]string{
		"socket": a.Socket, "slots.observers": fmt.Sprint(a.SlotsObservers), "watch_programs": "false",
	}
	if got := a.NeedsRestart(b); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if got := a.UntilRestart(b); got.LogLevel != "debug" || got.HooksDir != "/elsewhere" {
		t.Errorf("until a restart, settings that need none are %s, %s", got.LogLevel, got.HooksDir)
	}
}

// Whatever changes of the settings that need a restart, the old value is in force until then, and no other is.
func TestUntilRestart(t *testing.T) {
	a := Default("/h")
	for _, k := range keys {
		b := a
		text := map[string]string{
			FormText: "x", FormPath: "/x", FormCount: "3", FormSize: "4096", FormDuration: "3s", FormAge: "3h", FormHold: "3s",
			FormServers: "[nats://127.0.0.1:5]", FormGlobs: "[x]", FormApprovers: "{}", FormSources: "[]", FormProviders: "{}",
			FormAgents: "{}", FormForward: "[]", FormVariables: "{X: y}", FormBool: fmt.Sprint(display(k.get(&a)) != "true"),
		}[k.form.Type]
		switch {
		case k.form.Type == FormWord:
			text = k.form.Values[0]
			if display(k.get(&a)) == text {
				text = k.form.Values[1]
			}
		case strings.HasSuffix(k.name, ".listen"):
			text = "127.0.0.1:5"
		}
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		if err := k.set(&b, n.Content[0]); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		waits := strings.Contains(k.doc, "needs a restart")
		if waits && len(a.NeedsRestart(b)) != 1 {
			t.Errorf("%s: %q is no change", k.name, text)
		}
		want := b
		if waits {
			want = a
		}
		if got := a.UntilRestart(b); !reflect.DeepEqual(k.get(&got), k.get(&want)) {
			t.Errorf("%s is %v, want %v", k.name, k.get(&got), k.get(&want))
		}
	}
}

func TestHomeFollowsTheVariable(t *testing.T) {
	t.Setenv("LIBREFANG_HOME", "/srv/fang")
	if got, err := Home(); got != "/srv/fang" || err != nil {
		t.Errorf("Home() = %q, %v", got, err)
	}
	t.Setenv("LIBREFANG_HOME", "")
	t.Setenv("HOME", "/home/u")
	if got, err := Home(); got != "/home/u/.librefang" || err != nil {
		t.Errorf("Home() = %q, %v", got, err)
	}
}

func TestEveryKeyIsDocumentedAndSettable(t *testing.T) {
	for _, k := range Keys() {
		if k.Doc == "" || !strings.HasPrefix(k.Env, "HOOKD_") {
			t.Errorf("key %+v lacks a doc or a variable", k)
		}
	}
}

// A pipe, a device or a huge file where hookd.yaml should be is an error at once.
func TestSettingsAreARegularFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"not a regular file": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"larger than": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 10<<30))
		},
	} {
		home := t.TempDir()
		if err := make(filepath.Join(home, "hookd.yaml")); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(home, nil, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
