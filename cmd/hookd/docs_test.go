package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/schema"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

var update = flag.Bool("update", false, "write the generated parts of the documents")

const root = "../.."

// inDocs is a document as help names it.
var inDocs = regexp.MustCompile(`\bdocs/((?:reference/)?([a-z-]+[.]md))`)

// TestDocs keeps the generated parts of the documents equal to the code.
func TestDocs(t *testing.T) {
	sameFile(t, "docs/reference/events.md", eventsDoc())
	sameFile(t, "docs/reference/commands.md", commandsDoc())
	for _, name := range schema.Names {
		text, _ := schema.Of(name)
		sameFile(t, "docs/reference/schema/"+name+".json", string(text))
	}
	for _, part := range []struct{ file, name, text string }{
		{"README.md", "agents", agentsDoc()},
		{"docs/reference/hook-yaml.md", "fields", fieldsDoc()},
		{"docs/reference/settings.md", "settings", settingsDoc()},
	} {
		have := read(t, part.file)
		want, err := replacePart(have, part.name, part.text)
		if err != nil {
			t.Fatalf("%s: %v", part.file, err)
		}
		sameFile(t, part.file, want)
	}
}

func sameFile(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(root, name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the code says (%v): type go test ./cmd/hookd -run TestDocs -update", name, err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replacePart puts text between the comments that mark a generated part.
func replacePart(doc, name, text string) (string, error) {
	head, rest, ok := strings.Cut(doc, "<!-- generated: "+name+" -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ok2 {
		return "", fmt.Errorf("no generated part %q", name)
	}
	return head + "<!-- generated: " + name + " -->\n" + text + "<!-- end -->\n" + tail, nil
}

// row writes one row of a Markdown table.
func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

func fieldsDoc() string {
	var b strings.Builder
	row(&b, "field", "type", "default", "meaning")
	b.WriteString("| --- | --- | --- | --- |\n")
	for _, f := range hookdir.Fields() {
		typ, def := f.Type, f.Default
		if f.Values != nil {
			typ = "`" + strings.Join(f.Values, "`, `") + "`"
		}
		if f.Required {
			def = "required"
			if len(f.For) > 0 {
				def = "required for type `" + string(f.For[0]) + "`"
			}
		}
		row(&b, "`"+f.Key+"`", typ, def, f.Doc)
	}
	return b.String()
}

// agentsDoc answers the first questions of people about each agent; docs/reference/agents.md has all answers.
func agentsDoc() string {
	asked := []string{"deny a tool call", "ask a person about it", "rewrite it", "replace a tool's result", "add context at the start",
		"keep the agent working at its stop"}
	var b strings.Builder
	row(&b, "agent", "deny", "ask", "rewrite", "replace a result", "context", "keep at work")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, name := range connect.Names() {
		can := map[string]bool{}
		for _, a := range dialect.Abilities(events.Dialect(name)) {
			can[a.Name] = a.Can
		}
		cells := []string{name}
		for _, ability := range asked {
			if can[ability] {
				cells = append(cells, "yes")
			} else {
				cells = append(cells, "–")
			}
		}
		row(&b, cells...)
	}
	return b.String()
}

func settingsDoc() string {
	var b strings.Builder
	row(&b, "key", "flag of `serve`", "meaning", "default")
	b.WriteString("| --- | --- | --- | --- |\n")
	defaults := config.Default("~/.librefang")
	for _, k := range config.Keys() {
		row(&b, "`"+k.Name+"`", "`--"+k.Flag+"`", k.Doc, defaultOf(defaults, k.Name))
	}
	return b.String()
}

// defaultOf returns the value of a setting that is not set.
func defaultOf(c config.Config, key string) string {
	mib := func(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
	span := func(d time.Duration) string {
		if days := d / (24 * time.Hour); days > 0 {
			return fmt.Sprintf("%dd", days)
		}
		return strings.Replace(strings.Replace(d.String(), "m0s", "m", 1), "h0m", "h", 1)
	}
	known := map[string]string{
		"hooks_dir":            "`" + c.HooksDir + "`",
		"sources":              "none",
		"socket":               "`" + c.Socket + "`",
		"slots.observers":      "8, or twice the CPUs if that is more",
		"slots.decidable":      "the same",
		"queue.max_events":     fmt.Sprint(c.QueueMaxEvents),
		"queue.max_bytes":      mib(c.QueueMaxBytes),
		"queue.max_disk_bytes": mib(c.QueueMaxDisk),
		"store.path":           "`" + c.StorePath + "`",
		"store.durable":        c.StoreDurable,
		"history.max_age":      span(c.HistoryMaxAge),
		"history.max_bytes":    mib(c.HistoryMaxBytes),
		"history.max_runs":     fmt.Sprint(c.HistoryMaxRuns),
		"history.payload":      c.HistoryPayload,
		"asks.hold":            c.AskHold,
		"fleet.servers":        "none",
		"fleet.creds":          "none",
		"fleet.ca":             "none",
		"fleet.name":           "its host name",
		"fleet.tenant":         c.Fleet.Tenant,
		"fleet.embedded":       fmt.Sprint(c.Fleet.Embedded),
		"fleet.approvers":      "none",
		"asks.timeout":         span(c.AskTimeout),
		"watch_programs":       fmt.Sprint(c.WatchPrograms),
		"redact_history":       fmt.Sprint(c.RedactHistory),
		"replay_max_age":       span(c.ReplayMaxAge),
		"max_event_bytes":      mib(c.MaxEventBytes),
		"timeouts.command":     span(c.TimeoutCommand),
		"timeouts.script":      span(c.TimeoutScript),
		"timeouts.builtin":     span(c.TimeoutBuiltin),
		"timeouts.model":       span(c.TimeoutModel),
		"timeouts.agent":       span(c.TimeoutAgent),
		"undo.keep":            fmt.Sprint(c.Undo.Keep),
		"undo.wait":            span(c.Undo.Wait),
		"undo.late":            c.Undo.Late,
		"undo.max_bytes":       mib(c.Undo.MaxBytes),
		"undo.max_age":         span(c.Undo.MaxAge),
		"undo.never":           "none",
		"snapshot":             fmt.Sprint(c.Snapshot),
		"providers":            "none",
		"http.listen":          "none",
		"metrics.listen":       "none",
		"cgroup":               fmt.Sprint(c.Cgroup),
		"env":                  "none",
		"agents":               "none",
		"path":                 "the daemon's own",
		"forward":              "none",
		"policy.interval":      span(c.PolicyInterval),
		"reload.mode":          c.ReloadMode,
		"log.level":            c.LogLevel,
		"log.format":           "console on a terminal, else json",
		"fire_startup":         fmt.Sprint(c.FireStartup),
		"required":             fmt.Sprint(c.Required),
	}
	text, ok := known[key]
	if !ok {
		panic("no default is written down for " + key)
	}
	return text
}

func eventsDoc() string {
	var b strings.Builder
	b.WriteString(`# Events

What hookd knows of each agent's events: the contract table of ` + "`internal/events`" + `, which also ` + "`hookd events`" + ` prints. This file is
generated from it. A name that no table has is a custom event: it observes.

**Kinds.** Events of one kind mean the same in every dialect. A hook runs when one of its patterns matches any name of the
event's kind, once. It is given the emitted name if a pattern matches that, else the name that it asked for.

**Parts of a kind.** Some names stand for a part of their kind: ` + "`PostToolUseFailure`" + ` for calls that failed, ` + "`beforeShellExecution`" + `,
` + "`pre_read_code`" + ` and the like for some tools. A hook that asks for such a name runs for that part of the kind, whatever the event is called
where it comes from: ` + "`PostToolUseFailure`" + ` for docker-agent's ` + "`post_tool_use`" + ` with ` + "`tool_error`" + `, ` + "`beforeShellExecution`" + ` for Claude Code's
` + "`PreToolUse`" + ` of ` + "`Bash`" + `. A tool without a canonical name is of no such part; ask for ` + "`pre_tool_use`" + ` or ` + "`PreToolUse`" + ` to get every call.

**What hooks can do** comes from the row of the name that was emitted, and needs a sender that waits. "Deny by failing" means
fail-closed: a guard that fails, denies.
`)
	var dialect events.Dialect
	for _, c := range events.All() {
		if c.Dialect != dialect {
			dialect = c.Dialect
			fmt.Fprintf(&b, "\n## %s\n\n", dialect)
			row(&b, "event", "kind", "when", "hooks can", "fields")
			b.WriteString("| --- | --- | --- | --- | --- |\n")
		}
		var fields []string
		for _, f := range c.Fields {
			fields = append(fields, "`"+f.Name+"` "+fieldType(f))
		}
		row(&b, "`"+c.Name+"`", string(c.Kind), c.When, strings.Join(powers(c), ", "), strings.Join(fields, ", "))
	}
	return b.String()
}

func commandsDoc() string {
	top := newRoot(newApp(os.Stdin, os.Stdout, os.Stderr))
	sayPaths(top)
	var b strings.Builder
	b.WriteString("# Commands\n\nThis file is generated from the commands themselves; `hookd COMMAND --help` says the same.\n")
	b.WriteString("\nFlags of every command:\n\n")
	flagTable(&b, top.PersistentFlags())
	b.WriteString(`
[Exit codes](../README.md#exit-codes) stand in one table. Errors go to stderr and end with the command to
type next; with ` + "`-o json`" + ` they are one JSON object, as on the socket. Colours appear on a
terminal only, and not with ` + "`NO_COLOR`" + `.
`)
	for _, cmd := range top.Commands() {
		if cmd.Hidden {
			continue
		}
		commandDoc(&b, cmd)
	}
	return b.String()
}

// commandDoc writes a command, and its own commands one level below it.
func commandDoc(b *strings.Builder, cmd *cobra.Command) {
	level := strings.Repeat("#", 1+strings.Count(cmd.CommandPath(), " "))
	fmt.Fprintf(b, "\n%s %s%s\n\n%s.\n", level, strings.TrimSuffix(cmd.CommandPath(), cmd.Name()), cmd.Use, cmd.Short)
	if cmd.Long != "" {
		b.WriteString("\n" + cmd.Long + "\n")
	}
	if cmd.Example != "" {
		b.WriteString("\n```\n")
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			b.WriteString(strings.TrimPrefix(line, "  ") + "\n")
		}
		b.WriteString("```\n")
	}
	if cmd.LocalNonPersistentFlags().HasAvailableFlags() {
		b.WriteString("\n")
		flagTable(b, cmd.LocalNonPersistentFlags())
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			commandDoc(b, sub)
		}
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	row(b, "flag", "meaning", "default")
	b.WriteString("| --- | --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		def := f.DefValue
		if slices.Contains([]string{"false", "0s", "0", "[]"}, def) {
			def = ""
		}
		row(b, name, inDocs.ReplaceAllStringFunc(f.Usage, inReference), def)
	})
}

// inReference is a document that help names as a link of a page in docs/reference.
func inReference(named string) string {
	m := inDocs.FindStringSubmatch(named)
	return "[" + m[2] + "](../" + strings.TrimPrefix(m[1], "/") + ")"
}

// documents are the files whose paths and links must hold.
func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"docs/*.md", "docs/reference/*.md", "docs/design/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, files...)
	}
	return append(list, filepath.Join(root, "README.md"), filepath.Join(root, "ARCHITECTURE.md"))
}

var (
	codePath = regexp.MustCompile("`([A-Za-z_.][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]+)+)`")
	linked   = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
)

// Every path of the tree that a document names is there, and so is every file
// that it links to.
func TestPathsInDocuments(t *testing.T) {
	checked := 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codePath.FindAllSubmatch(text, -1) {
			path, _, _ := strings.Cut(string(m[1]), "/NAME") // one of many
			first, _, _ := strings.Cut(path, "/")
			if _, err := os.Stat(filepath.Join(root, first)); err != nil || first == ".." || first == ".git" {
				continue // not of this tree: a media type, a model, a file of a pack
			}
			if strings.HasPrefix(path, ".github/hooks") {
				continue // Copilot's, in a user's project
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s names %s: %v", doc, path, err)
			}
		}
		for _, m := range linked.FindAllSubmatch(text, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), target)); err != nil {
				t.Errorf("%s links to %s: %v", doc, target, err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d paths were found, the search is broken", checked)
	}
}

// typedLine is a command line of hookd in a document: a line of a block, or a text between backticks.
var typedLine = regexp.MustCompile("(?m)(?:^ *|`|\\$ |sudo |&& )hookd ([^`\n#|>&;]+)")

// quotedText is an argument that may hold flags of another program.
var quotedText = regexp.MustCompile(`'[^']*'`)

// Each flag of a command line in the documents is one of its command.
func TestFlagsInDocuments(t *testing.T) {
	top, checked := newRoot(&app{}), 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range typedLine.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			line, _, _ := strings.Cut(m[1], " -- ") // another program's
			words := strings.Fields(quotedText.ReplaceAllString(line, "TEXT"))
			cmd, _, err := top.Find(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") }))
			if err != nil || cmd == top {
				continue // a sentence
			}
			cmd.InitDefaultHelpFlag()
			for _, word := range words {
				name, long := strings.CutPrefix(strings.Trim(word, "[](),.:'\""), "--")
				name, _, _ = strings.Cut(name, "=")
				if !long || name == "" || strings.ContainsAny(name, "'\"`…*$/") {
					continue
				}
				checked++
				if cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%s: hookd %s: %s has no --%s", doc, m[1], cmd.CommandPath(), name)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d flags were found, the search is broken", checked)
	}
}

// The pages for people are few. Each title names a wish of a person, and each sentence names its subject.
func TestPagesForPeople(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, file := range files {
		if filepath.Base(file) == "README.md" {
			continue
		}
		pages++
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") || strings.Contains(string(text), "of which") {
			t.Errorf("%s has no title, or says %q", file, "of which")
		}
	}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range sentences(string(text)) {
			if words := strings.Fields(sentence); len(words) > mostWords {
				t.Errorf("%s: %d words, at most %d are wanted: %s", filepath.Base(file), len(words), mostWords, sentence)
			}
		}
	}
	if pages > 16 {
		t.Errorf("there are %d pages for people, at most 16 are wanted: what is looked up is in docs/reference", pages)
	}
}

// mostWords is how many words a sentence for people has at most; code, a link or a number counts as one.
const mostWords = 20

var (
	codeBlock   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeWord    = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	noWord      = regexp.MustCompile(`(^|\s)[^\sA-Za-z0-9]+`)
	blockBegins = regexp.MustCompile(`^\s*([*-]|\d+\.)\s+|^[#|<!]`)
	sentenceEnd = regexp.MustCompile(`[.!?:;]["”)*]*\s`)
)

// sentences returns the sentences of a document: of its paragraphs, items and cells.
func sentences(text string) (list []string) {
	text = codeWord.ReplaceAllString(codeBlock.ReplaceAllString(text, "\n"), "X")
	text = linkTarget.ReplaceAllString(text, "]")
	var blocks []string
	begins := true
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "|"):
			blocks = append(blocks, strings.Split(line, "|")...)
			begins = true
		case strings.TrimSpace(line) == "":
			begins = true
		case begins || blockBegins.MatchString(line):
			blocks = append(blocks, line)
			begins = strings.HasPrefix(line, "#")
		default:
			blocks[len(blocks)-1] += " " + line
		}
	}
	for _, block := range blocks {
		for _, s := range strings.Split(sentenceEnd.ReplaceAllString(block+" ", ".\n"), "\n") {
			if s = strings.TrimSpace(noWord.ReplaceAllString(s, " ")); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// The start page names each command, and neither it nor the README another.
func TestStartPageNamesEveryCommand(t *testing.T) {
	table := []byte(read(t, "docs/README.md"))
	known := map[string]bool{}
	for _, cmd := range newRoot(newApp(os.Stdin, os.Stdout, os.Stderr)).Commands() {
		known[cmd.Name()] = true
		if !cmd.Hidden && !regexp.MustCompile("`hookd "+cmd.Name()+"[` ]").Match(table) {
			t.Errorf("docs/README.md does not name hookd %s in its table", cmd.Name())
		}
	}
	for _, doc := range []string{"README.md", "docs/README.md"} {
		for _, m := range regexp.MustCompile("(?m)(?:^|`)hookd ([a-z]+(?:-[a-z]+)*)").FindAllStringSubmatch(read(t, doc), -1) {
			if name := m[1]; !known[name] && name != "runs" && name != "sees" && name != "guards" {
				t.Errorf("%s tells of hookd %s, which is no command", doc, name)
			}
		}
	}
}
