package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Setting is one setting as it is in force.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // as hookd.yaml would have it on one line; "" = empty or none
	From  string `json:"from"`  // FILE:LINE, the variable, the flag, or default
	Doc   string `json:"doc"`
	// Running is the value that the daemon runs with; nil = Value, or it is not known.
	Running *string `json:"running,omitempty"`
	Restart bool    `json:"-"`              // only a restart puts it into force
	Held    bool    `json:"held,omitempty"` // hookd.yaml has another value, which waits for `hookd allow --settings`
}

// Effective returns every setting of c with its value and the source of that value.
// Load was given the same flags and environ. Values of env whose names speak of secrets
// are hidden.
func (c Config) Effective(flags map[string]string, environ []string) ([]Setting, error) {
	file, err := c.inForce()
	if err != nil {
		return nil, err
	}
	list := make([]Setting, len(keys))
	for i, k := range keys {
		s := Setting{
			Name:  k.name,
			Value: display(k.get(&c)),
			From:  "default",
			Doc:   k.doc,
			Held:  slices.Contains(c.Held, k.name),

			Restart: k.needsRestart(),
		}
		if n := file.nodes[k.name]; n != nil {
			s.From = fmt.Sprintf("%s:%d", file.path, n.Line)
		}
		if _, ok := lookup(environ, k.envName()); ok {
			s.From = "$" + k.envName()
		}
		if _, ok := flags[k.name]; ok {
			s.From = "--" + FlagName(k.name)
		}
		list[i] = s
	}
	return list, nil
}

// Values returns every setting of c with its value, as Setting has it.
func (c Config) Values() map[string]string {
	values := make(map[string]string, len(keys))
	for _, k := range keys {
		values[k.name] = display(k.get(&c))
	}
	return values
}

// inForce returns the values that hookd.yaml sets. Values that wait are as they were
// allowed.
func (c Config) inForce() (settingsFile, error) {
	file := settingsFile{path: c.SettingsFile()}
	var err error
	if file.nodes, err = parseSettings(file.path, c.File); err != nil || !c.Asks {
		return file, err
	}
	allowed, err := parseSettings(c.AllowedFile(), c.AllowedText)
	for _, k := range keys {
		if k.asks() {
			file.nodes[k.name] = allowed[k.name]
		}
	}
	return file, err
}

// display writes a value on one line, as hookd.yaml takes it.
func display(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case time.Duration:
		return durationText(v)
	case int64:
		return sizeText(v)
	case map[string]string:
		value = hidden(v)
	}
	var n yaml.Node
	if err := n.Encode(value); err != nil {
		return ""
	}
	if len(n.Content) == 0 && n.Kind != yaml.ScalarNode {
		return ""
	}
	n.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&n)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// durationText writes days as days.
func durationText(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	for _, zero := range []string{"0s", "0m"} { // 5m0s is 5m, 1h0m is 1h
		if unit := text[:len(text)-len(zero)]; strings.HasSuffix(text, zero) && unit != "" &&
			strings.ContainsAny(unit[len(unit)-1:], "mh") {
			text = unit
		}
	}
	return text
}

func sizeText(n int64) string {
	for _, unit := range []struct {
		name string
		n    int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.n && n%unit.n == 0 {
			return fmt.Sprintf("%d%s", n/unit.n, unit.name)
		}
	}
	return fmt.Sprint(n)
}

// hidden replaces the values of variables that hold secrets by their names.
func hidden(env map[string]string) map[string]string {
	env = maps.Clone(env)
	for name := range env {
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL"} {
			if strings.Contains(strings.ToUpper(name), word) {
				env[name] = "(hidden)"
			}
		}
	}
	return env
}
