package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/hooks/schema"
	"github.com/hookd/hookd/sdk"
	"github.com/hookd/hookd/wire"
)

//go:embed templates
var templates embed.FS

// language is one choice of --lang: its files, from templates/, by the name
// that they get.
type language struct {
	command string // the executable, as HOOK.yaml names it
	files   map[string]string
	keeps   bool              // files can be kept running
	kept    map[string]string // with --persistent, instead of those in files; nil = those, if keeps
	sdk     map[string]string // what the hook imports, by name: content
	build   []string          // makes command; nil when that is one of the files
}

var languages = map[string]language{
	"sh":   {command: "run.sh", files: map[string]string{"run.sh": "hook.sh"}},
	"bash": {command: "run.sh", files: map[string]string{"run.sh": "hook.bash"}},
	"python": {command: "run.py", files: map[string]string{"run.py": "hook.py"}, keeps: true,
		sdk: map[string]string{"hookd.py": sdk.Python, "hookd.pyi": sdk.PythonTypes}},
	"node": {command: "run.mjs", files: map[string]string{"run.mjs": "hook.ts"}, keeps: true,
		sdk: map[string]string{"hookd.mjs": sdk.JavaScript}},
	"typescript": {command: "run.ts", files: map[string]string{"run.ts": "hook.ts"}, keeps: true,
		sdk: map[string]string{"hookd.ts": sdk.TypeScript}},
	"go": {command: "hook", files: map[string]string{"main.go": "main.go.txt", "go.mod": "go.mod.txt"},
		keeps: true, kept: map[string]string{"main.go": "keep.go.txt"},
		build: []string{"go", "build", "-o", "hook", "."}},
}

// languageNames is the order in which they are listed.
var languageNames = []string{"sh", "bash", "python", "node", "typescript", "go"}

func newCommand(a *app) *cobra.Command {
	var lang, dir string
	var patterns []string
	var persistent bool
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a working hook as a start",
		Long: `new writes a folder with a HOOK.yaml and a program that works. A running daemon
sees it at once. It never overwrites anything and needs no daemon.

With python, node and typescript the SDK file stands beside the hook: it has no
dependencies, and the same hook can be spawned and kept.`,
		Example: `  hookd new hello --lang sh
  hookd new guard --lang python --event pre_tool_use
  hookd new audit --lang go --persistent --event '*'`,
		Args: one("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := newHook{name: args[0], lang: lang, patterns: patterns, dir: dir, persistent: persistent}
			return n.run(a, cmd)
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "sh", strings.Join(languageNames, ", "))
	cmd.Flags().StringSliceVar(&patterns, "event", []string{"agent:end"}, "event or glob that triggers it; repeatable")
	cmd.Flags().BoolVar(&persistent, "persistent", false, "a process that is kept and gets a line for each event")
	cmd.Flags().StringVar(&dir, "dir", "", "folder to put the hook's folder into (default: the hooks directory)")
	settingFlags(cmd, "hooks_dir")
	_ = cmd.RegisterFlagCompletionFunc("lang", words(languageNames...))
	_ = cmd.RegisterFlagCompletionFunc("event", eventNames(a))
	return cmd
}

type newHook struct {
	name, lang, dir string
	patterns        []string
	persistent      bool
}

// made is the answer of `hookd new`.
type made struct {
	Name  string   `json:"name"`
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	Built bool     `json:"built"` // the command is there
	Next  string   `json:"next"`
}

// hookName keeps names that are plain folders in any shell. Folders with some suffixes are refused
// as well: the daemon skips them.
var hookName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (n newHook) check() error {
	if !hookName.MatchString(n.name) || slices.Contains([]string{".swp", ".bak", ".tmp", ".disabled"},
		filepath.Ext(n.name)) {
		return fail(exitUsage, "type a name such as `hookd new notify-on-end --lang sh`", "%q cannot be the folder of a hook: letters, digits, - _ and . are fine, but not the endings .swp, .bak, .tmp and .disabled", n.name)
	}
	if _, ok := languages[n.lang]; !ok {
		return fail(exitUsage, "type e.g. `hookd new "+n.name+" --lang sh`", "unknown language %q; there are %s",
			n.lang, strings.Join(languageNames, ", "))
	}
	if n.persistent && !languages[n.lang].keeps {
		return fail(exitUsage, "type e.g. `hookd new "+n.name+" --persistent --lang python`",
			"a hook that is kept reads and writes lines of JSON, which %s alone cannot do; "+
				"choose python, node, typescript or go", n.lang)
	}
	return nil
}

func (n newHook) run(a *app, cmd *cobra.Command) error {
	if err := n.check(); err != nil {
		return err
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	parent, err := filepath.Abs(cmp.Or(n.dir, cfg.HooksDir))
	if err != nil {
		return err
	}
	target := filepath.Join(parent, n.name)
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, "choose another name, or check the existing folder with `hookd validate "+target+"`", "%s exists already; nothing was changed", target)
	}
	if err := replacefile.MkdirAll(parent); err != nil {
		return fail(exitFailed, "choose another place with `hookd new "+n.name+" --dir DIR`", "%w", err)
	}
	m, err := n.write(cfg, parent, target)
	if err != nil {
		return err
	}
	return a.print(m, func(p *printer) {
		printNewHook(p, m)
		for _, pattern := range n.patterns {
			printMisspelled(p, pattern)
		}
	})
}

// write makes the folder target in parent: first beside it under a name that
// the daemon skips, then, when it is complete and has been checked, in its place.
func (n newHook) write(cfg config.Config, parent, target string) (made, error) {
	draft, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return made{}, fail(exitFailed, "choose another place with `hookd new "+n.name+" --dir DIR`", "%w", err)
	}
	defer os.RemoveAll(draft)
	m, err := n.fill(draft, schemaFor(cfg, target))
	if err != nil {
		return m, fail(exitFailed, "type `hookd new "+n.name+"` again", "write the hook: %w", err)
	}
	if v, err := catalog.Validate(cfg, []string{draft}, true); err != nil || rejected(v) > 0 {
		return m, n.refuse(v, err)
	}
	if err := os.Rename(draft, target); err != nil {
		return m, fail(exitFailed, "choose another name, or check the existing folder with `hookd validate "+target+"`", "%w", err)
	}
	m.Name, m.Dir, m.Next = n.name, target, n.next(target, m.Built)
	return m, nil
}

// schemaFor writes the schema of HOOK.yaml into the home and returns its path, as
// seen from a hook's folder where that is in the home, too.
func schemaFor(cfg config.Config, target string) string {
	path := filepath.Join(cfg.Home, "hookd", "schema", "hook.json")
	text, _ := schema.Of("hook")
	if have, err := os.ReadFile(path); err != nil || string(have) != string(text) {
		// An editor that does not find it checks nothing; the hook is the same.
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = os.WriteFile(path, text, 0o600)
	}
	if rel, err := filepath.Rel(target, path); err == nil && strings.HasPrefix(target, cfg.Home+"/") {
		return rel
	}
	return path
}

// refuse tells the problem that the daemon would report of the draft.
func (n newHook) refuse(v wire.Validation, err error) error {
	if err != nil {
		return fail(exitFailed, "type `hookd validate`", "check the hook: %w", err)
	}
	problems := v.Hooks[0].Problems
	i := max(slices.IndexFunc(problems, func(pr client.Problem) bool { return !pr.Warning }), 0)
	return fail(exitUsage, "see the events with `hookd events`", "the hook would be rejected: %s", problems[i].Message)
}

// fill writes the files into dir, and builds the program that needs a build when the
// compiler is there.
func (n newHook) fill(dir, schemaFile string) (m made, err error) {
	lang := languages[n.lang]
	data := map[string]any{"Name": n.name, "EventsText": strings.Join(n.patterns, ", "), "Events": quoted(n.patterns),
		"Command": lang.command, "Persistent": n.persistent, "SDK": lang.sdk != nil,
		"Schema": schemaFile, "Module": "./hookd.mjs",
		"Tests": n.tests(),
	}
	if n.lang == "typescript" {
		data["Module"] = "./hookd.ts"
		if data["Runtime"], err = typesRuntime(); err != nil {
			return m, err
		}
	}
	files := map[string]string{"HOOK.yaml": "HOOK.yaml"}
	for name, from := range lang.files {
		files[name] = from
	}
	if n.persistent {
		maps.Copy(files, lang.kept)
	}
	t, err := template.ParseFS(templates, "templates/*")
	if err != nil {
		return m, err
	}
	for name, from := range files {
		var text strings.Builder
		if err := t.ExecuteTemplate(&text, from, data); err != nil {
			return m, err
		}
		mode := fs.FileMode(0o644)
		if name == lang.command {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), mode); err != nil {
			return m, err
		}
		m.Files = append(m.Files, name)
	}
	for name, text := range lang.sdk {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return m, err
		}
		m.Files = append(m.Files, name)
	}
	slices.Sort(m.Files)
	m.Built = lang.build == nil || compiles(dir, lang.build)
	return m, os.Chmod(dir, 0o755) // MkdirTemp's is 0700: others may read hooks as they may read scripts
}

// tests are those of HOOK.yaml, which the hook passes as it is written.
func (n newHook) tests() []string {
	c := events.For("", n.patterns[0])
	switch {
	case c.Explicit:
		return nil // without an answer it fails
	case match.InputField(c) == "":
		return []string{"{name: it has no opinion, expect: none}"}
	}
	tests := []string{"{name: ls passes, data: {command: ls}, expect: none}"}
	if languages[n.lang].sdk != nil && c.Decidable && (c.CanBlock || c.Decision != "") {
		tests = append(tests, "{name: sudo is denied, data: {command: sudo ls}, expect: deny, reason: no sudo}")
	}
	return tests
}

// typesRuntime returns the interpreter line of a TypeScript hook: of the programs here
// that take types the first of bun, node and deno.
func typesRuntime() (string, error) {
	if _, err := exec.LookPath("bun"); err == nil {
		return "bun", nil
	}
	text, err := exec.Command("node", "-p", "process.features.typescript").Output()
	if err == nil && strings.TrimSpace(string(text)) == "strip" {
		return "node", nil
	}
	if _, err := exec.LookPath("deno"); err == nil {
		return "-S deno run --quiet --no-lock --allow-all", nil
	}
	return "", errors.New("nothing here runs TypeScript: install bun, deno or node 22.18 or newer, or take --lang node")
}

// quoted makes globs plain text for YAML, where * and [ mean something else.
func quoted(patterns []string) []string {
	var list []string
	for _, p := range patterns {
		text, _ := json.Marshal(p) // JSON is YAML
		list = append(list, string(text))
	}
	return list
}

// compiles reports whether the command could be built here and now.
func compiles(dir string, argv []string) bool {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	return cmd.Run() == nil
}

// next is the command to type after `hookd new`.
func (n newHook) next(target string, built bool) string {
	test := "hookd test " + n.name + " --local"
	if n.dir != "" {
		test = "hookd test " + target + " --local"
	}
	if !built {
		return fmt.Sprintf("cd %s && %s && %s", target, strings.Join(languages[n.lang].build, " "), test)
	}
	return test
}

func printNewHook(p *printer, m made) {
	p.linef("made %s: %s", m.Dir, strings.Join(m.Files, ", "))
	p.linef("next: %s", m.Next)
}
