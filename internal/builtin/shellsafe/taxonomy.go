package shellsafe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// taxonomy.json is all that is known about commands; its first member says how
// to read it.
//
//go:embed taxonomy.json
var taxonomyJSON []byte

type taxonomy struct {
	About       string             `json:"about"`
	Aliases     map[string]string  `json:"aliases"`
	Programs    map[string]program `json:"programs"`
	Wrappers    map[string]wrapper `json:"wrappers"`
	Carriers    map[string]wrapper `json:"carriers"`
	Destructive []*entry           `json:"destructive"`
	Shells      []string           `json:"shells"`
	Dangerous   string             `json:"dangerous_variables"`
	Harmless    string             `json:"harmless_variables"` // may be set for a command
	Pagers      string             `json:"pager_variables"`    // and these, with these values

	destructive map[string][]*entry // by program
	prefixes    []*entry            // those whose program ends in *
	dangerous   *regexp.Regexp
	harmless    *regexp.Regexp
	pagers      *regexp.Regexp
}

// program is how the flags before a program's subcommand stand.
type program struct {
	Valued []string `json:"valued"` // flags that take the next word
}

// wrapper is a command that runs another one.
type wrapper struct {
	Valued   []string `json:"valued"`   // flags that take the next word
	Flags    string   `json:"flags"`    // flags that change nothing, as in reads.json
	Skip     int      `json:"skip"`     // words before the inner command
	Sub      []string `json:"sub"`      // it only is one with one of these words first
	Text     []string `json:"text"`     // flags whose value is a command line
	Lookup   []string `json:"lookup"`   // flags with which it only looks up
	Joined   bool     `json:"joined"`   // all words are one command line
	Assigns  bool     `json:"assigns"`  // NAME=value may stand before the command
	Feeds    bool     `json:"feeds"`    // adds words that the line does not show
	Stop     string   `json:"stop"`     // ends the inner command
	Opaque   bool     `json:"opaque"`   // the inner command cannot be told: it may begin at any word
	Changes  string   `json:"changes"`  // why it asks whatever it runs; "" = it adds nothing
	Category string   `json:"category"` // of what it deletes; "" = the inner command's

	harmless *grammar // of Flags
}

func (w *wrapper) prepare() {
	w.harmless = newGrammar(w.Flags, nil)
	w.harmless.stops = true
}

// entry is one known command.
type entry struct {
	Command  string   `json:"command"`
	Flags    []string `json:"flags"`
	All      []string `json:"all"`
	Words    string   `json:"words"`
	Text     string   `json:"text"`
	Deny     []string `json:"deny"`
	Category string   `json:"category"`
	Radius   Radius   `json:"radius"`
	Reason   string   `json:"reason"`

	path        []string // of the subcommand
	words, text *regexp.Regexp
}

// known reads the embedded table once. A broken one is a mistake in the
// program, found by any test.
var known = sync.OnceValue(func() *taxonomy {
	t := &taxonomy{destructive: map[string][]*entry{}}
	dec := json.NewDecoder(strings.NewReader(string(taxonomyJSON)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(t); err != nil {
		panic(fmt.Sprintf("read taxonomy.json: %v", err))
	}
	for _, e := range t.Destructive {
		name := e.prepare()
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			e.Command = prefix
			t.prefixes = append(t.prefixes, e)
			continue
		}
		t.destructive[name] = append(t.destructive[name], e)
	}
	for name, w := range t.Wrappers {
		w.prepare()
		t.Wrappers[name] = w
	}
	for name, w := range t.Carriers {
		w.prepare()
		t.Carriers[name] = w
	}
	t.dangerous = regexp.MustCompile(t.Dangerous)
	t.harmless = regexp.MustCompile(t.Harmless)
	t.pagers = regexp.MustCompile(t.Pagers)
	return t
})

func (e *entry) prepare() (name string) {
	fields := strings.Fields(e.Command)
	e.path = fields[1:]
	if e.Words != "" {
		e.words = regexp.MustCompile(e.Words)
	}
	if e.Text != "" {
		e.text = regexp.MustCompile(`(?is)` + e.Text)
	}
	return fields[0]
}

// destructiveFor returns the entries that may fit the program.
func (t *taxonomy) destructiveFor(name string) []*entry {
	entries := t.destructive[name]
	for _, e := range t.prefixes {
		if strings.HasPrefix(name, e.Command) {
			entries = append(slices.Clip(entries), e)
		}
	}
	return entries
}

// isDangerous reports whether a variable changes what programs or the shell do.
func (t *taxonomy) isDangerous(name string) bool { return t.dangerous.MatchString(name) }

// systemDirs are where the programs that the table knows live: a program of
// the same name elsewhere is another one.
var systemDirs = []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/run/current-system/sw/bin"}

// programName returns the name that the table has for a command word, and
// whether it really is that program and not a namesake.
func (t *taxonomy) programName(word string) (name []string, genuine bool) {
	base := strings.TrimSuffix(strings.ToLower(path.Base(word)), ".exe")
	genuine = !strings.Contains(word, "/") || slices.Contains(systemDirs, path.Dir(path.Clean(word)))
	if alias := t.Aliases[base]; alias != "" {
		return strings.Fields(alias), genuine
	}
	return []string{base}, genuine
}
