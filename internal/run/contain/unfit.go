package contain

import (
	"os"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/run/box"
)

// outside are commands that a box breaks for certain, and why. A model whose call fails so goes
// looking for a way around the box.
var outside = []struct{ command, why string }{
	{"sudo", "a box has no way to more rights"},
	{"doas", "a box has no way to more rights"},
	{"su", "a box has no way to more rights"},
	{"docker", "it works for docker's own daemon, outside of any box"},
	{"podman", "it needs namespaces of its own"},
	{"nix", "it works for nix's own daemon, outside of any box"},
	{"bazel", "it leaves a server running and makes boxes of its own"},
	{"snap", "it works for a daemon, outside of any box"},
	{"flatpak", "it makes boxes of its own"},
	{"systemctl", "it talks to a daemon, outside of any box"},
	{"ssh", "it needs your keys and the network"},
	{"scp", "it needs your keys and the network"},
	{"gh", "it needs your token and the network"},
	{"husky", "it installs what git runs later"},
	{"git push", "it needs your credentials and the network"},
	{"git config", "a box protects the settings of the repository"},
	{"git remote", "a box protects the settings of the repository"},
	{"pre-commit install", "it installs what git runs later"},
}

// servers are clients of something outside of any box: inside they only fail, and what they do there no box takes back.
var servers = []string{
	"psql", "pgcli", "mysql", "mariadb", "redis-cli", "mongo", "mongosh", "sqlcmd", "clickhouse-client", "cqlsh", "kubectl",
	"helm", "oc", "terraform", "tofu", "pulumi", "ansible", "ansible-playbook", "aws", "gcloud", "az", "doctl", "heroku",
	"flyctl", "vercel", "wrangler", "rsync", "sftp", "tmux", "screen", "shutdown", "reboot", "poweroff", "halt", "crontab", "at",
	"launchctl", "loginctl", "npm publish", "cargo publish", "twine",
}

// secretFiles are files of a project whose content a box gives to its line, and so to the model.
var secretFiles = lazyregexp.New(`(?:^|[\s'"` + "`" + `/=<>(,:@])\.env(?:\.[\w.-]+)?(?:$|[\s'"` + "`" + `),;|&<>\]])`)

// harmlessFiles look like them, and have no secrets.
var harmlessFiles = lazyregexp.New(`\.env\.(?:example|sample|template|dist|test|defaults?)\b`)

// network are commands that need the network: a box without one only fails.
var network = []string{
	"git fetch", "git pull", "git clone", "curl", "wget", "npm install", "npm ci", "npm i", "pnpm install", "yarn install",
	"yarn add", "pip install", "pip3 install", "cargo install", "go get", "go install",
}

// patterns are those of commands, made when something is contained first.
var patterns = sync.OnceValue(func() map[string]facts.CommandPattern {
	made := map[string]facts.CommandPattern{}
	add := func(text string) {
		if p, err := facts.ParsePattern(text); err == nil { // a test sees to it
			made[text] = p
		}
	}
	for _, o := range outside {
		add(o.command)
	}
	for _, text := range append(network[:len(network):len(network)], servers...) {
		add(text)
	}
	return made
})

// is reports whether a command is one of a pattern.
func is(c *facts.Command, command string) bool {
	p, ok := patterns()[command]
	return ok && p.Fit(c) == facts.Sure
}

// unfit says why a line cannot be contained as a profile has it; "" = it may be.
func (k *Boxer) unfit(line, cwd string, p box.Profile) string {
	f := k.opts.Facts.Line(line, cwd)
	for i := range f.Commands {
		c := &f.Commands[i]
		for _, o := range outside {
			if is(c, o.command) {
				return o.command + ": " + o.why
			}
		}
		for _, command := range servers {
			if is(c, command) {
				return command + " works for something outside of any box"
			}
		}
		for _, command := range network {
			if p.Base != box.ProjectNet && is(c, command) {
				return command + " needs the network, and the box " + p.Name + " has none"
			}
		}
	}
	if secretFiles.MatchString(harmlessFiles.ReplaceAllString(line, "")) {
		return "it names .env, and a box would show its content to the model"
	}
	if backgrounds(line) {
		return "what it leaves running ends with the box"
	}
	return ""
}

// backgrounds reports whether a line ends with something that goes on after it.
func backgrounds(line string) bool {
	line = strings.TrimRight(line, " \t\n")
	return strings.HasSuffix(line, "&") && !strings.HasSuffix(line, "&&")
}

// ownRule says which of the agent's own rules about a line would not be looked at any more: the
// agent judges the line that it is given, and one in a box begins with another word.
func (k *Boxer) ownRule(d events.Dialect, cwd, line string) string {
	agent := dialect.Agent(d)
	if agent == nil || agent.OwnRule == nil {
		return ""
	}
	look := neutral.Looks{
		Read: func(file string) ([]byte, error) { return readfile.Read(file, readfile.Limit) },
		Names: func(dir string) (names []string) {
			list, _ := os.ReadDir(dir) // mostly it is not there
			for _, e := range list {
				names = append(names, e.Name())
			}
			return names
		},
	}
	if rule := agent.OwnRule(k.opts.Home, cwd, line, look); rule != "" {
		return "the agent's own rule " + rule + " is about it, and would not see it in a box"
	}
	return ""
}
