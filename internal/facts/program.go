package facts

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gopkg.in/yaml.v3"
)

// The tables of programs. programs/README.md says how they are written.
//
//go:embed programs/*.yaml
var programFiles embed.FS

//go:embed places.yaml variables.yaml code.yaml words.yaml
var otherFiles embed.FS

// list is a text, or a list of texts.
type list []string

func (l *list) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = list{n.Value}
		return nil
	}
	return n.Decode((*[]string)(l))
}

// table is the description of a program, or of a subcommand, as a file of tables has it.
type table struct {
	Also      list              `yaml:"also"`       // other names
	Options   string            `yaml:"options"`    // the options that are known
	Style     string            `yaml:"style"`      // how options are written: styleGNU, …
	Words     string            `yaml:"words"`      // the roles of the operands
	After     string            `yaml:"after"`      // the roles of the words behind --
	Target    string            `yaml:"target"`     // options that name the folder in place of the last word
	Effects   list              `yaml:"effects"`    // what it does each time
	With      map[string]list   `yaml:"with"`       // effects by a condition
	WordsWith map[string]list   `yaml:"words_with"` // effects by globs that an operand fits
	Without   string            `yaml:"without"`    // the condition of a dry run
	Modes     []mode            `yaml:"modes"`      // the first that fits is laid over the entry
	Sub       map[string]*entry `yaml:"sub"`        // subcommands, by names and globs
	Bare      *entry            `yaml:"bare"`       // without a subcommand
	Lookups   string            `yaml:"lookups"`    // options and subcommands that only show help or a version
	Env       map[string]string `yaml:"env"`        // variables that it obeys, with the role of their value
	Runs      string            `yaml:"runs"`       // what its operands are: command, shell, none, itself
	As        string            `yaml:"as"`         // the user that it runs the command as
	Skip      int               `yaml:"skip"`       // how many operands stand before the command
	Elsewhere string            `yaml:"elsewhere"`  // where the command runs; "" = on this machine
	Feeds     bool              `yaml:"feeds"`      // it makes commands of its standard input
	Open      bool              `yaml:"open"`       // without a script it reads commands from its standard input
	Reads     string            `yaml:"reads"`      // the language of its standard input
	Stop      bool              `yaml:"stop"`       // options end at the first operand
	// Abbreviates says that the program takes the beginning of a subcommand's name.
	Abbreviates bool `yaml:"abbreviates"`

	Catches map[string]string `yaml:"catches"` // lines, and effects that each has; see tables_test.go
	Passes  []string          `yaml:"passes"`  // lines that no guard need see
}

// entry is a table that is read.
type entry struct {
	table `yaml:",inline"`

	prepare  sync.Once
	options  *optionSet
	words    []role
	after    []role
	with     []conditional
	wordWith []conditional
	effects  []template
	subs     []subName
}

// mode is laid over an entry where its condition holds.
type mode struct {
	If    string `yaml:"if"`
	table `yaml:",inline"`
}

// subName is one name or glob of a subcommand.
type subName struct {
	name string
	glob bool
	to   *entry
}

// role is the use of a word: NAME, an argument after a colon, whether it repeats, and
// the options with which it is not there.
type role struct {
	name, arg string
	repeats   bool
	unless    []string
	more      bool // `command;`
}

func parseRole(text string) role {
	var r role
	if at := strings.Index(text, "!-"); at > 0 {
		text, r.unless = text[:at], strings.Split(text[at+1:], ",")
	}
	text, r.repeats = strings.CutSuffix(text, "...")
	text, r.more = strings.CutSuffix(text, ";")
	r.name, r.arg, _ = strings.Cut(text, ":")
	return r
}

func parseRoles(text string) (roles []role) {
	for word := range strings.FieldsSeq(text) {
		roles = append(roles, parseRole(word))
	}
	return roles
}

// conditional is effects under a condition.
type conditional struct {
	when    condition
	effects []template
}

// template is an effect with placeholders, or a doubt.
type template struct {
	kind   string // of an effect; "doubt" for one
	target string
}

func templates(lines list) (all []template) {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ";") {
			kind, target, _ := strings.Cut(strings.TrimSpace(part), " ")
			if kind != "" {
				all = append(all, template{kind, strings.TrimSpace(target)})
			}
		}
	}
	return all
}

// ready compiles the entry once.
func (e *entry) ready(t *tables) *entry {
	e.prepare.Do(func() {
		e.options = t.optionSet(e.Options, e.Style)
		e.words, e.after = parseRoles(e.Words), parseRoles(e.After)
		e.effects = templates(e.Effects)
		for _, when := range sorted(e.With) {
			e.with = append(e.with, conditional{parseCondition(when), templates(e.With[when])})
		}
		for _, when := range sorted(e.WordsWith) {
			e.wordWith = append(e.wordWith, conditional{e.operandCondition(when), templates(e.WordsWith[when])})
		}
		for _, names := range sorted(e.Sub) {
			for name := range strings.FieldsSeq(names) {
				e.subs = append(e.subs, subName{name, strings.ContainsAny(name, "*?[{"), e.Sub[names]})
			}
		}
		slices.SortStableFunc(e.subs, func(a, b subName) int {
			if a.glob != b.glob {
				if a.glob {
					return 1
				}
				return -1
			}
			if n := len(b.name) - len(a.name); a.glob && n != 0 {
				return n // the longer glob says more
			}
			return strings.Compare(a.name, b.name)
		})
	})
	return e
}

// operandCondition is alternatives of globs, each of an operand.
func (e *entry) operandCondition(text string) (c condition) {
	if e.Style == styleAssign {
		return parseCondition(text)
	}
	for glob := range strings.FieldsSeq(text) {
		c = append(c, []atom{{text: glob}})
	}
	return c
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// sub returns the entry of a subcommand; nil = there is none.
func (e *entry) sub(name string) *entry {
	for _, s := range e.subs {
		if s.name == name || s.glob && globMatch(s.name, name) {
			return s.to
		}
	}
	return nil
}

// derived are entries that are made of two: of an entry and a mode, or of a subcommand and the entry above it.
var derived sync.Map // of [2]any to *entry

func derive(from, by any, make func() table) *entry {
	key := [2]any{from, by}
	found, ok := derived.Load(key)
	if !ok {
		found, _ = derived.LoadOrStore(key, &entry{table: make()})
	}
	return found.(*entry)
}

// over lays a mode over the entry: each field that the mode has replaces the entry's. Options are added.
func (e *entry) over(m *mode) *entry {
	return derive(e, m, func() table {
		n := e.table
		to, from := reflect.ValueOf(&n).Elem(), reflect.ValueOf(m.table)
		for i := range from.NumField() {
			if field := from.Field(i); !field.IsZero() {
				to.Field(i).Set(field)
			}
		}
		n.Options, n.Modes = e.Options+" "+m.Options, nil
		return n
	})
}

// under returns the entry of a subcommand with the options of the entry above it, too.
func (e *entry) under(above *entry) *entry {
	return derive(e, above, func() table {
		n := e.table
		n.Options, n.Style = above.Options+" "+n.Options, cmp.Or(n.Style, above.Style)
		n.Abbreviates = n.Abbreviates || above.Abbreviates
		return n
	})
}

// tables are all tables: texts until a program or a set of options is asked for, since a line names few
// of them and YAML is slow to parse.
type tables struct {
	programs map[string]*block // by any name, in lower case
	sets     map[string]*block // of options, with their @
	globs    sync.Map          // compiled globs
	kept     atomic.Int32      // how many they are
}

// block is one entry of a file of tables: a key at the beginning of a line, and all up to the next one.
type block struct {
	file, key, text string

	once  sync.Once
	entry *entry // of a program
	set   string // of a set of options
}

// programs returns the tables of programs. A broken table is a mistake in the program, found by any test.
var programs = sync.OnceValue(loadTables)

func loadTables() *tables {
	t := &tables{programs: map[string]*block{}, sets: map[string]*block{}}
	names, err := fs.Glob(programFiles, "programs/*.yaml")
	if err != nil {
		panic(err)
	}
	var blocks []*block
	for _, name := range names {
		text, err := programFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		blocks = append(blocks, split(name, string(text))...)
	}
	for _, b := range blocks {
		if strings.HasPrefix(b.key, "@") {
			t.sets[b.key] = b
		} else {
			t.programs[strings.ToLower(b.key)] = b
		}
	}
	for _, b := range blocks {
		for _, name := range b.also() {
			if t.programs[name] == nil {
				t.programs[name] = b
			}
		}
	}
	return t
}

// split returns the blocks of a file, without its head.
func split(file, text string) (blocks []*block) {
	begin, end := 0, 0 // of the last block
	for line := range strings.Lines(text) {
		if key := keyOf(line); key != "" {
			if len(blocks) > 0 {
				blocks[len(blocks)-1].text = text[begin:end]
			}
			blocks, begin = append(blocks, &block{file: file, key: key}), end
		}
		end += len(line)
	}
	if len(blocks) > 0 {
		blocks[len(blocks)-1].text = text[begin:]
	}
	return blocks
}

// keyOf returns the key at the beginning of a line; "" = none is there.
func keyOf(line string) string {
	switch line[0] {
	case ' ', '\t', '\n', '\r', '#':
		return ""
	case '\'', '"':
		key, _, _ := strings.Cut(line[1:], line[:1]+":")
		return key
	}
	key, _, found := strings.Cut(line, ": ")
	if !found {
		key, _, _ = strings.Cut(line, ":\n")
	}
	return key
}

// also returns the program's other names, in lower case, without parsing the block.
func (b *block) also() (names []string) {
	_, list, found := strings.Cut(b.text, "also:")
	if !found {
		return nil
	}
	list = strings.TrimLeft(list, " \n")
	if rest, many := strings.CutPrefix(list, "["); many {
		list, _, _ = strings.Cut(rest, "]")
	} else {
		list = list[:strings.IndexAny(list, " ,}\n")]
	}
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, strings.ToLower(strings.Trim(strings.TrimSpace(name), `'"`)))
	}
	return names
}

// parse reads the block once.
func (b *block) parse() *block {
	b.once.Do(func() {
		var err error
		if strings.HasPrefix(b.key, "@") {
			var set map[string]string
			err = yaml.Unmarshal([]byte(b.text), &set)
			b.set = set[b.key]
		} else {
			var program map[string]*entry
			err = yaml.Unmarshal([]byte(b.text), &program)
			b.entry = program[b.key]
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %s: %v", b.file, b.key, err))
		}
	})
	return b
}

// program returns the entry of a program; nil = it is not in the tables.
func (t *tables) program(name string) *entry {
	b := t.programs[strings.ToLower(name)]
	if b == nil {
		return nil
	}
	return b.parse().entry.ready(t)
}

// set returns the options of a set, "" if there is no such set.
func (t *tables) set(name string) string {
	if b := t.sets[name]; b != nil {
		return b.parse().set
	}
	return ""
}

// systemFolders are where known programs live: a program of the same name elsewhere is
// another one.
var systemFolders = []string{
	"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin",
	"/run/current-system/sw/bin",
	"/usr/libexec", "/usr/lib/git-core", "/snap/bin", "/opt/local/bin", "/busybox",
}

// programName is the name that the tables have for a command word.
func programName(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// genuine reports whether a word calls the program that the tables know by its name.
func genuine(word string) bool {
	return !strings.Contains(word, "/") || slices.Contains(systemFolders, path.Dir(path.Clean(word)))
}
