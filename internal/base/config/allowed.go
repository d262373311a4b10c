package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
)

// With reload.mode: ask the settings of hookd.yaml that change which programs run, or
// whether they run, have their allowed values until `hookd allow --settings`;
// reload.mode is such a setting. A flag or a variable is typed by a person and does not
// wait.

// Allowed is hookd.yaml as a person has allowed it.
type Allowed struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Text []byte    `json:"text"` // nil = there was none
}

// AllowedFile is the file of the settings that are allowed.
func (c Config) AllowedFile() string { return filepath.Join(c.Home, "hookd", "allowed-settings.json") }

// asks reports whether a change of the key must be allowed: all keys but the keys of
// the log and of the history.
func (k key) asks() bool {
	return !strings.HasPrefix(k.name, "log.") && !strings.HasPrefix(k.name, "history.")
}

// LoadAllowed returns the settings that were allowed; false = none were.
func LoadAllowed(home string) (a Allowed, known bool, err error) {
	path := Config{Home: home}.AllowedFile()
	text, err := readfile.Read(path, 2*readfile.Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return Allowed{}, false, nil
	}
	if err == nil {
		err = trust.New().Check(path)
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return Allowed{}, false, fmt.Errorf("read which settings are allowed: %w: "+
			"type rm %s, look at hookd.yaml, then hookd allow --settings", err, escape.Quote(path))
	}
	return a, true, nil
}

// Allow stores the allowed settings, wholly or not at all.
func (a Allowed) Allow(home string) error {
	path := Config{Home: home}.AllowedFile()
	text, err := json.MarshalIndent(a, "", " ")
	if err == nil {
		err = replacefile.MkdirAll(filepath.Dir(path))
	}
	if err == nil {
		err = replacefile.Write(path, text)
	}
	if err != nil {
		return fmt.Errorf("store which settings are allowed: %w", err)
	}
	return nil
}

// hold returns the nodes that come into force. If the allowed settings ask, a key that
// asks has its allowed value, and c.Held lists the keys whose change waits.
func (c *Config) hold(file map[string]*yaml.Node, mode string) (map[string]*yaml.Node, error) {
	a, known, err := LoadAllowed(c.Home)
	if err != nil || !known {
		return file, err
	}
	old, err := parseSettings("hookd.yaml as it was allowed", a.Text)
	if err != nil {
		return nil, fmt.Errorf("%w: look at hookd.yaml, then type rm %s", err, escape.Quote(c.AllowedFile()))
	}
	if mode == "" {
		mode = effect(c.Home, "reload.mode", old["reload.mode"]).ReloadMode
	}
	if mode != "ask" {
		return file, nil
	}
	c.Asks, c.AllowedText = true, a.Text
	inForce := map[string]*yaml.Node{}
	for _, k := range keys {
		inForce[k.name] = file[k.name]
		if k.asks() {
			if !reflect.DeepEqual(effect(c.Home, k.name, old[k.name]), effect(c.Home, k.name, file[k.name])) {
				c.Held = append(c.Held, k.name)
			}
			inForce[k.name] = old[k.name]
		}
	}
	return inForce, nil
}

// effect returns the defaults with one key set.
func effect(home, name string, n *yaml.Node) Config {
	c := Default(home)
	if n != nil {
		_ = find(name).set(&c, n) // one that is wrong is an error of the file as a whole
	}
	return c
}
