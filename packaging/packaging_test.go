package packaging

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// The promises of the unit, each by its line.
func TestSystemdUnit(t *testing.T) {
	section, settings := "", map[string]string{}
	for line := range strings.Lines(SystemdUnit) {
		line = strings.TrimSpace(line)
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case !ok:
			t.Errorf("line %q has no value", line)
		default:
			settings[section+"."+key] = value
		}
	}
	want := map[string]string{
		"Service.Type":         "notify",
		"Service.ExecStart":    "%h/.local/bin/hookd serve",
		"Service.ExecReload":   "/bin/kill -HUP $MAINPID",
		"Service.KillMode":     "mixed",
		"Service.Delegate":     "yes",
		"Service.Restart":      "on-failure",
		"Install.WantedBy":     "default.target",
		"Service.NotifyAccess": "main",
	}
	for key, value := range want {
		if settings[key] != value {
			t.Errorf("%s is %q, want %q", key, settings[key], value)
		}
	}
}

// The agent is a property list whose keys and values pair up, and it runs
// `hookd serve`.
func TestLaunchdAgent(t *testing.T) {
	var texts []string
	for dec := xml.NewDecoder(strings.NewReader(LaunchdAgent)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, string(text))
		}
	}
	for _, want := range []string{"Label", "io.github.hookd", "ProgramArguments", "RunAtLoad", "KeepAlive"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %s among %q", want, texts)
		}
	}
	if i := slices.IndexFunc(texts, func(s string) bool { return strings.HasPrefix(s, `exec "$HOME/.local/bin/hookd" serve `) }); i < 0 {
		t.Errorf("nothing runs hookd serve in %q", texts)
	}
}
