package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/system"
)

// settingFlags adds the flags of the settings in want, all if none are named,
// but --socket, which every command has. Defaults stay with package config: a
// flag that is not given says nothing.
func settingFlags(cmd *cobra.Command, want ...string) {
	for _, k := range config.Keys() {
		if k.Name == "socket" || len(want) > 0 && !slices.Contains(want, k.Name) {
			continue
		}
		cmd.Flags().String(k.Flag, "", plainDocs()[k.Name])
		flag := cmd.Flags().Lookup(k.Flag)
		flag.Annotations = map[string][]string{settingFlag: {k.Name}}
		if k.Name == "fire_startup" {
			flag.NoOptDefVal = "true"
		}
	}
}

// links are those of the documents to each other.
var links = lazyregexp.New(`\[[^]]+\]\(([^)]+)\)`)

// plainDoc is the meaning of a setting, for a terminal. Flags would take text in backquotes for
// the name of their value.
func plainDoc(doc string) string {
	return links.ReplaceAllString(strings.ReplaceAll(doc, "`", "'"), "docs/reference/$1")
}

// plainDocs are the meanings of all settings: several commands have a flag for each.
var plainDocs = sync.OnceValue(func() map[string]string {
	docs := map[string]string{}
	for _, k := range config.Keys() {
		docs[k.Name] = plainDoc(k.Doc)
	}
	return docs
})

// settingFlag marks the flags of settings: a command may have one of its own that
// has the name of a setting, such as --path.
const settingFlag = "setting"

// given returns the settings that stand on the command line.
func given(cmd *cobra.Command) map[string]string {
	values := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, k := range config.Keys() {
			if k.Flag == f.Name && (k.Name == "socket" || f.Annotations[settingFlag] != nil) {
				values[k.Name] = absolute(k.Name, f.Value.String())
			}
		}
	})
	return values
}

// absolute makes a path on the command line one from where it was typed, as a
// shell user means it; in hookd.yaml paths are relative to the home.
func absolute(key, value string) string {
	if (key != "socket" && key != "hooks_dir") || value == "" || strings.HasPrefix(value, "~/") {
		return value
	}
	if abs, err := filepath.Abs(value); err == nil {
		return abs
	}
	return value
}

// loadConfig reads the settings as the daemon does.
func loadConfig(cmd *cobra.Command) (config.Config, error) {
	home, err := config.Home()
	if err != nil && !ofSystem(cmd) {
		return config.Config{}, fail(exitRejected, "type `export LIBREFANG_HOME=/some/folder`", "%w", err)
	}
	load := func() (config.Config, error) { return config.Load(home, given(cmd), os.Environ()) }
	if place := system.Here(); ofSystem(cmd) {
		home = place.Folder
		load = func() (config.Config, error) { return config.LoadSystem(place, given(cmd)) }
	}
	c, err := readSettings(home, load)
	switch {
	case err == nil:
		return c, nil
	case strings.HasPrefix(err.Error(), "flag "):
		return c, fail(exitUsage, "see `"+cmd.CommandPath()+" --help`", "%w", err)
	}
	return c, fail(exitRejected, "correct it, then type `hookd validate`", "%w", err)
}

// withConfig is a command that reads the settings first.
func withConfig(run func(*cobra.Command, []string, config.Config) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := loadConfig(cmd)
		if err != nil {
			return err
		}
		return run(cmd, args, cfg)
	}
}

// settingsFiles is the patience with the file system of the settings.
var settingsFiles = readfile.NewPatience(5*time.Second, nil)

// readSettings is load, unless the file system of the home does not answer.
func readSettings(home string, load func() (config.Config, error)) (config.Config, error) {
	type settings struct {
		config config.Config
		err    error
	}
	read := make(chan settings, 1)
	if !settingsFiles.Try(home, func() {
		c, err := load()
		read <- settings{c, err}
	}) {
		return config.Config{}, fmt.Errorf("read the settings in %s: the file system does not answer, see `df`", home)
	}
	s := <-read
	return s.config, s.err
}

// socketOf returns the socket to dial. Settings that cannot be read do not
// hide a daemon that runs with its last good ones: "" is then the default.
func socketOf(cmd *cobra.Command) string {
	if path, ok := given(cmd)["socket"]; ok {
		return path
	}
	if ofSystem(cmd) {
		return system.Here().Socket
	}
	c, err := loadConfig(cmd)
	if err != nil {
		return client.DefaultSocket()
	}
	return c.Socket
}
