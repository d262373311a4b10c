// Package shipped compares the rows of an agent's dialect with the names of events that the
// agent itself ships, in its program or beside it, for `hookd events --check`.
//
// It only reads: no agent is started, no network is used. A program is read in pieces, so
// that its size costs time and no memory. A file that cannot be read is an error that names the
// file; an agent that ships no names that can be read is ErrNone.
package shipped

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

var (
	// ErrNone is the error for an agent that ships no names that can be read.
	ErrNone = errors.New("ships no names of its events that can be read")
	// ErrNotFound is the error for an agent that is not on this machine.
	ErrNotFound = errors.New("is not on PATH")
)

// Report is how the rows of a dialect and an installed agent differ.
type Report struct {
	Agent   string   `json:"agent"`
	Program string   `json:"program"`           // path, symbolic links followed
	Version string   `json:"version,omitempty"` // as its package says; "" = not known
	Files   []string `json:"files"`             // that the names stand in
	Names   []string `json:"names"`             // that it ships, as rows are called
	NoRow   []string `json:"no_row"`            // of these, events that the table lacks
	Left    []Left   `json:"left_out"`          // of these, events that are left out on purpose
	NotIn   []string `json:"not_in"`            // rows that it does not ship
	Tools   []string `json:"tools"`             // that it ships; none = it has no list that can be read
	Unknown []string `json:"unknown_tools"`     // of these, tools that hookd does not know
	Reach   []Reach  `json:"reach"`             // of these, tools that reach something under a name of their own
	Unseen  []Reach  `json:"unseen"`            // tools that hookd is not asked about, whether it ships a list or not
}

// Reach groups tools with the same reach.
type Reach struct {
	Tools []string `json:"tools"`
	What  string   `json:"what"`
	Why   string   `json:"why,omitempty"` // hookd is not asked about them
}

// Left are names that are left out for one reason.
type Left struct {
	Names []string `json:"names"`
	Why   string   `json:"why"`
}

// Differs reports whether there is anything to do.
func (r Report) Differs() bool { return len(r.NoRow)+len(r.NotIn)+len(r.Unknown) > 0 }

// Compare looks at an agent. program is its path; "" = it is looked for on PATH.
func Compare(agent events.Dialect, program string) (Report, error) {
	r := Report{Agent: string(agent), Left: []Left{}, Reach: []Reach{}, Unseen: []Reach{}}
	for _, list := range []*[]string{&r.Files, &r.Names, &r.NoRow, &r.NotIn, &r.Tools, &r.Unknown} {
		*list = []string{}
	}
	s := dialect.Settings(agent)
	if s == nil || s.Ships == nil {
		return r, ErrNone
	}
	var err error
	if r.Program, err = find(program, s.Programs); err != nil {
		return r, err
	}
	root, version := packageOf(r.Program)
	r.Version = version
	if err := r.read(root, s.Ships); err != nil {
		return r, err
	}
	if len(r.Names) == 0 {
		return r, fmt.Errorf("%s: this release %w: they are looked for in %s", r.Program, ErrNone,
			strings.Join(s.Ships.Files, ", "))
	}
	r.compare(agent, s.Ships)
	r.compareTools(agent)
	return r, nil
}

// find returns the agent's program, symbolic links followed.
func find(program, names string) (string, error) {
	if program != "" {
		return real(program)
	}
	for _, name := range strings.Fields(names) {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			return real(path)
		}
	}
	return "", ErrNotFound
}

func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// highest is how many folders above a program its package may be.
const highest = 6

// packageOf returns the folder of the package that a program is in, and its version: the
// nearest package.json above it, else its own folder and "".
func packageOf(program string) (root, version string) {
	dir := filepath.Dir(program)
	for range highest {
		text, err := readfile.Read(filepath.Join(dir, "package.json"), readfile.Limit)
		var p struct{ Version string }
		if err == nil && json.Unmarshal(text, &p) == nil && p.Version != "" {
			return dir, p.Version
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Dir(program), ""
}

// A file is read in pieces of this size. A passage is shorter than the overlap of two.
const (
	pieceSize = 4 << 20
	overlap   = 64 << 10
)

var quoted = regexp.MustCompile(`"([A-Za-z0-9_.:-]+)"`)

// read collects the names.
func (r *Report) read(root string, s *neutral.Shipped) error {
	passage, err := regexp.Compile(s.Passage)
	if err != nil {
		return fmt.Errorf("the passage of %s: %w", r.Agent, err)
	}
	tools, err := regexp.Compile(cmp.Or(s.Tools, `$.`)) // which is nowhere
	if err != nil {
		return fmt.Errorf("the tools of %s: %w", r.Agent, err)
	}
	for _, path := range files(r.Program, root, s.Files) {
		found := len(r.Names) + len(r.Tools)
		err := readfile.Pieces(path, pieceSize, overlap, func(piece []byte) {
			for _, p := range passage.FindAll(piece, -1) {
				r.Names = add(r.Names, p, s.Row)
			}
			for _, p := range tools.FindAll(piece, -1) {
				r.Tools = add(r.Tools, p, nil)
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(r.Names)+len(r.Tools) > found {
			r.Files = append(r.Files, path)
		}
	}
	slices.Sort(r.Names)
	slices.Sort(r.Tools)
	return nil
}

// files are the regular files that globs name.
func files(program, root string, globs []string) (list []string) {
	for _, glob := range globs {
		if glob == "." {
			list = append(list, program)
			continue
		}
		found, _ := filepath.Glob(filepath.Join(root, glob)) // a pattern of the table is well-formed
		list = append(list, found...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// add adds the names in a passage to a list; row is that of neutral.Shipped.
func add(list []string, passage []byte, row func(string) string) []string {
	for _, m := range quoted.FindAllSubmatch(passage, -1) {
		name := string(m[1])
		if row != nil {
			name = row(name)
		}
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// compare compares the names with the rows.
func (r *Report) compare(agent events.Dialect, s *neutral.Shipped) {
	var rows []string
	for _, c := range events.All() {
		if c.Dialect == agent {
			rows = append(rows, c.Name)
		}
	}
	for _, name := range r.Names {
		if !slices.Contains(rows, name) {
			r.NoRow = append(r.NoRow, name)
		}
	}
	for _, left := range s.Left {
		r.leave(left)
	}
	elsewhere := strings.Fields(s.Elsewhere)
	for _, row := range rows {
		if !slices.Contains(r.Names, row) && !slices.Contains(elsewhere, row) {
			r.NotIn = append(r.NotIn, row)
		}
	}
}

// compareTools compares the tools with the tools that hookd knows.
func (r *Report) compareTools(agent events.Dialect) {
	known := dialect.Tools(agent)
	for _, tool := range r.Tools {
		if !slices.Contains(known, tool) && dialect.CanonicalToolOf(agent, tool) == tool && !dialect.IsCanonical(tool) {
			r.Unknown = append(r.Unknown, tool)
		}
	}
	for _, reach := range dialect.Reach(agent) {
		here := slices.DeleteFunc(strings.Fields(reach.Tools), func(tool string) bool {
			return reach.Unseen == "" && !slices.Contains(r.Tools, tool)
		})
		switch one := (Reach{here, reach.What, reach.Unseen}); {
		case reach.Unseen != "":
			r.Unseen = append(r.Unseen, one)
		case len(here) > 0:
			r.Reach = append(r.Reach, one)
		}
	}
}

// leave moves the names that are left out away from the names that have no row.
func (r *Report) leave(left neutral.LeftOut) {
	l := Left{Why: left.Why}
	for name := range strings.FieldsSeq(left.Names) {
		if i := slices.Index(r.NoRow, name); i >= 0 {
			l.Names, r.NoRow = append(l.Names, name), slices.Delete(r.NoRow, i, i+1)
		}
	}
	if len(l.Names) > 0 {
		r.Left = append(r.Left, l)
	}
}
