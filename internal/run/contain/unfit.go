package contain

import (
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/run/box"
)

// outside are commands that a box breaks for certain, and why. A model whose call fails so goes
// looking for a way around the box.
var outside = []struct {
	words []string // the program, and what follows it
	why   string
}{
	{[]string{"sudo"}, "a box has no way to more rights"},
	{[]string{"doas"}, "a box has no way to more rights"},
	{[]string{"su"}, "a box has no way to more rights"},
	{[]string{"docker"}, "it works for docker's own daemon, outside of any box"},
	{[]string{"podman"}, "it needs namespaces of its own"},
	{[]string{"nix"}, "it works for nix's own daemon, outside of any box"},
	{[]string{"bazel"}, "it leaves a server running and makes boxes of its own"},
	{[]string{"snap"}, "it works for a daemon, outside of any box"},
	{[]string{"flatpak"}, "it makes boxes of its own"},
	{[]string{"systemctl"}, "it talks to a daemon, outside of any box"},
	{[]string{"ssh"}, "it needs your keys and the network"},
	{[]string{"scp"}, "it needs your keys and the network"},
	{[]string{"gh"}, "it needs your token and the network"},
	{[]string{"husky"}, "it installs what git runs later"},
	{[]string{"git", "push"}, "it needs your credentials and the network"},
	{[]string{"git", "config"}, "a box protects the settings of the repository"},
	{[]string{"git", "remote"}, "a box protects the settings of the repository"},
	{[]string{"pre-commit", "install"}, "it installs what git runs later"},
}

// network are commands that need the network: a box without one only fails.
var network = [][]string{
	{"git", "fetch"}, {"git", "pull"}, {"git", "clone"}, {"curl"}, {"wget"}, {"npm", "install"}, {"npm", "ci"},
	{"npm", "i"}, {"pnpm", "install"}, {"yarn", "install"}, {"pip", "install"}, {"pip3", "install"}, {"cargo", "install"},
	{"go", "get"}, {"go", "install"},
}

// unfit says why a line cannot be contained as a profile has it; "" = it may be.
func (k *Keeper) unfit(line, cwd string, p box.Profile) string {
	f := k.opts.Facts.Line(line, cwd)
	for i := range f.Commands {
		c := &f.Commands[i]
		for _, o := range outside {
			if begins(c, o.words) {
				return strings.Join(o.words, " ") + ": " + o.why
			}
		}
		for _, words := range network {
			if p.Base != box.ProjectNet && begins(c, words) {
				return strings.Join(words, " ") + " needs the network, and the box " + p.Name + " has none"
			}
		}
	}
	if backgrounds(line) {
		return "what it leaves running ends with the box"
	}
	return ""
}

// begins reports whether a command is a program with words right behind it, options left out.
func begins(c *facts.Command, words []string) bool {
	at := 0
	for i, w := range c.Words {
		text := w.Text
		if i == 0 {
			text = filepath.Base(text)
		} else if strings.HasPrefix(text, "-") {
			continue
		}
		if text != words[at] {
			return false
		}
		if at++; at == len(words) {
			return true
		}
	}
	return false
}

// backgrounds reports whether a line ends with something that goes on after it.
func backgrounds(line string) bool {
	line = strings.TrimRight(line, " \t\n")
	return strings.HasSuffix(line, "&") && !strings.HasSuffix(line, "&&")
}

// ownRule says which of the agent's own rules about a line would not be looked at any more: the
// agent judges the line that it is given, and one in a box begins with another word.
func (k *Keeper) ownRule(d events.Dialect, cwd, line string) string {
	agent := dialect.Agent(d)
	if agent == nil || agent.OwnRule == nil {
		return ""
	}
	read := func(file string) ([]byte, error) { return readfile.Read(file, readfile.Limit) }
	if rule := agent.OwnRule(k.opts.Home, cwd, line, read); rule != "" {
		return "the agent's own rule " + rule + " is about it, and would not see it in a box"
	}
	return ""
}
