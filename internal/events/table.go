package events

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// Column is one dialect's part of the table.
type Column struct {
	Dialect Dialect
	Rows    func() []Contract // called once, when the rows are first asked for
	// Captured: the output of a hook counts only where the hook's definition says so.
	// Otherwise plain text is context at the start of a session and with a prompt.
	Captured bool
}

// contracts is the table: its columns, and the index of all of them.
type contracts struct {
	columns []column
	once    sync.Once
	index   *index // see all
}

// column is a Column with its rows, which are made when something first asks for them: a
// bridge that is started for one event needs the rows of one dialect.
type column struct {
	Column
	once sync.Once
	made []Contract
}

func (c *column) rows() []Contract {
	c.once.Do(func() {
		c.made = c.Rows()
		for i := range c.made {
			c.made[i].complete(c.Column)
		}
	})
	return c.made
}

var installed atomic.Pointer[contracts]

// SetTable makes columns the table; where two dialects know a name, the first
// wins when the sender does not say which it speaks. Package dialect calls it when
// the program starts: a program that looks up rows must import that package.
func SetTable(columns ...Column) {
	t := &contracts{columns: make([]column, len(columns))}
	for i, c := range columns {
		t.columns[i].Column = c
	}
	installed.Store(t)
}

// table returns the contract table. Without one every event would merely
// observe, guards too: that is a fault of the program.
func table() *contracts {
	t := installed.Load()
	if t == nil {
		panic("events: the program has no contract table: import github.com/hookd/hookd/internal/contract/dialect")
	}
	return t
}

func (c *Contract) complete(column Column) {
	c.Dialect = column.Dialect
	if c.Kind == "" {
		c.Kind = Kind(c.Name)
	}
	c.Decidable = c.Decidable || c.CanBlock || c.Context || c.Summary || len(c.Takes) > 0 ||
		c.Decision != DecisionNone || c.Rewrite != RewriteNone
	if c.Context && !column.Captured && (c.Kind == KindSessionStart || c.Kind == KindPromptSubmit) {
		// Agents differ here (Gemini CLI shows it to the user), and a hook that just prints the
		// facts that the model has to know is to work with all of them.
		c.PlainText = PlainContext
	}
}

// index holds the rows that are looked up in all columns. It is built once, at the
// first lookup.
type index struct {
	all    []*Contract
	byName map[string]*Contract // the first dialect that has the name
	byKind map[Kind][]*Contract
	part   map[string]bool // names that only rows about a part of their kind have
}

// all returns the index of the rows in all columns.
func (t *contracts) all() *index {
	t.once.Do(func() { t.index = t.newIndex() })
	return t.index
}

func (t *contracts) newIndex() *index {
	ix := &index{
		byName: map[string]*Contract{},
		byKind: map[Kind][]*Contract{},
		part:   map[string]bool{},
	}
	for i := range t.columns {
		rows := t.columns[i].rows()
		for i := range rows {
			ix.add(&rows[i])
		}
	}
	return ix
}

func (ix *index) add(c *Contract) {
	part := c.Tools != "" || c.Failed
	if others, known := ix.part[c.Name]; known {
		part = part && others
	}
	ix.part[c.Name] = part
	ix.all = append(ix.all, c)
	ix.byKind[c.Kind] = append(ix.byKind[c.Kind], c)
	if ix.byName[c.Name] == nil {
		ix.byName[c.Name] = c
	}
}

// Lookup returns the row of name in the first dialect, in the order of the columns,
// that has it; nil if none has. Rows are shared: do not change them.
func Lookup(name string) *Contract { return table().all().byName[name] }

// LookupIn returns the row of name in d, or nil.
func LookupIn(d Dialect, name string) *Contract {
	columns := table().columns
	for i := range columns {
		if columns[i].Dialect != d {
			continue
		}
		rows := columns[i].rows()
		for i := range rows {
			if rows[i].Name == name {
				return &rows[i]
			}
		}
	}
	return nil
}

// Special reports whether name stands for a part of its kind only, see
// Contract.Tools and Contract.Failed.
func Special(name string) bool { return table().all().part[name] }

// For returns the row that rules an event called name from a sender that speaks d. A
// name that d does not have is looked up in all dialects, so that a sender cannot shed
// the meaning of a well-known name by calling its dialect something else. It is never
// nil: an unknown name observes, and is a kind of its own.
func For(d Dialect, name string) *Contract {
	if c := LookupIn(d, name); c != nil {
		return c
	}
	if c := Lookup(name); c != nil {
		return c
	}
	return &Contract{Dialect: d, Name: name, Kind: ownKind(name)}
}

// ownKind is the kind of a name that no row has: the name itself, unless a kind of the
// table is spelled so. A sender's own event "error" is not the event that
// onError means; the blank keeps it apart, since no name has one.
func ownKind(name string) Kind {
	if _, taken := table().all().byKind[Kind(name)]; taken {
		return Kind("own " + name)
	}
	return Kind(name)
}

// OfKind returns the rows whose names stand for k, in the order of the columns. Rows
// that merely are Also of the kind are not among them: StopFailure reaches
// hooks on Stop, but Stop does not reach hooks on StopFailure.
func OfKind(k Kind) []*Contract { return slices.Clone(table().all().byKind[k]) }

// All returns every row, dialects in the order of the columns.
func All() []*Contract { return slices.Clone(table().all().all) }

// Rows goes through the rows that All returns, and copies nothing.
func Rows() iter.Seq[*Contract] { return slices.Values(table().all().all) }

// Dialects returns all dialects in the order of the columns.
func Dialects() []Dialect {
	columns := table().columns
	names := make([]Dialect, len(columns))
	for i := range columns {
		names[i] = columns[i].Dialect
	}
	return names
}

// Aliases returns the rows whose names c's event goes by, in the order of the columns:
// the rows of its kind, then the rows of the kind it is Also. A hook that asks for any
// of them gets the event. An event that no row describes goes by its own name alone.
func (c *Contract) Aliases() []*Contract {
	byKind := table().all().byKind
	if len(byKind[c.Kind]) == 0 {
		return []*Contract{c}
	}
	return slices.Concat(byKind[c.Kind], byKind[c.Also])
}

// Fields joins a dialect's common fields and an event's own. Inlined into each row
// it would make the bridge 65 KB larger, and no faster.
//
//go:noinline
func Fields(common []Field, own ...Field) []Field {
	return slices.Concat(common, own)
}
