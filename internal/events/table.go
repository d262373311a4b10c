package events

import (
	"slices"
	"sync"
)

// dialects is the table in SPEC column order; each dialect's rows stand in a
// file of their own. They are made when somebody first asks for them: a bridge
// that is started for one event needs those of one dialect.
var dialects = []struct {
	name Dialect
	rows func() []Contract
}{
	{LibreFang, rowsOf(LibreFang, libreFangRows)},
	{DockerAgent, rowsOf(DockerAgent, dockerAgentRows)},
	{Familiar, rowsOf(Familiar, familiarRows)},
	{ClaudeCode, rowsOf(ClaudeCode, claudeCodeRows)},
	{Codex, rowsOf(Codex, codexRows)},
	{GeminiCLI, rowsOf(GeminiCLI, geminiRows)},
	{Cursor, rowsOf(Cursor, cursorRows)},
	{Copilot, rowsOf(Copilot, copilotRows)},
	{Kimi, rowsOf(Kimi, kimiRows)},
	{Windsurf, rowsOf(Windsurf, windsurfRows)},
	{Cline, rowsOf(Cline, clineRows)},
	{Antigravity, rowsOf(Antigravity, antigravityRows)},
	{Hermes, rowsOf(Hermes, hermesRows)},
	{OpenCode, rowsOf(OpenCode, openCodeRows)},
	{OpenClaw, rowsOf(OpenClaw, openClawRows)},
	{Hookd, rowsOf(Hookd, hookdRows)},
}

// rowsOf completes the rows of d, once, with what follows from what they say.
func rowsOf(d Dialect, rows func() []Contract) func() []Contract {
	return sync.OnceValue(func() []Contract {
		list := rows()
		for i := range list {
			list[i].complete(d)
		}
		return list
	})
}

func (c *Contract) complete(d Dialect) {
	c.Dialect = d
	if c.Kind == "" {
		c.Kind = Kind(c.Name)
	}
	// docker-agent folds the answers to all its events: where nothing else
	// counts, a system_message does.
	c.Decidable = d == DockerAgent || c.CanBlock || c.Context || c.Decision != DecisionNone || c.Rewrite != RewriteNone || c.Summary
	if c.Context && c.Dialect != Familiar && (c.Kind == KindSessionStart || c.Kind == KindPromptSubmit) {
		// Agents differ here (Gemini CLI shows it to the user), and a hook that
		// just prints what the model shall know is to work with all of them.
		c.PlainText = PlainContext
	}
}

// index is the whole table, built once when somebody first asks.
type index struct {
	all    []*Contract
	byName map[string]*Contract // the first dialect that has the name
	byKind map[Kind][]*Contract
	part   map[string]bool // names that only rows about a part of their kind have
}

var table = sync.OnceValue(func() *index {
	ix := &index{
		byName: map[string]*Contract{},
		byKind: map[Kind][]*Contract{},
		part:   map[string]bool{},
	}
	for _, d := range dialects {
		rows := d.rows()
		for i := range rows {
			ix.add(&rows[i])
		}
	}
	return ix
})

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

// Lookup returns the row of name in the first dialect, in SPEC column order,
// that has it; nil if none has. Rows are shared: do not change them.
func Lookup(name string) *Contract { return table().byName[name] }

// LookupIn returns the row of name in d, or nil.
func LookupIn(d Dialect, name string) *Contract {
	for _, known := range dialects {
		if known.name != d {
			continue
		}
		rows := known.rows()
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
func Special(name string) bool { return table().part[name] }

// For returns the row that rules an event called name from a sender that
// speaks d. A name that d does not have is looked up in all dialects, so that
// a sender cannot shed what a well-known name means by calling its dialect
// something else. It is never nil: a name that nobody has observes, and is a
// kind of its own.
func For(d Dialect, name string) *Contract {
	if c := LookupIn(d, name); c != nil {
		return c
	}
	if c := Lookup(name); c != nil {
		return c
	}
	return &Contract{Dialect: d, Name: name, Kind: ownKind(name)}
}

// ownKind is the kind of a name that no row has: the name itself, unless a
// kind of the table is spelled so. An event that somebody calls "error" is not
// what onError means; the blank keeps it apart, since no name has one.
func ownKind(name string) Kind {
	if _, taken := table().byKind[Kind(name)]; taken {
		return Kind("own " + name)
	}
	return Kind(name)
}

// OfKind returns the rows whose names stand for k, in SPEC column order. Rows
// that merely are Also of the kind are not among them: StopFailure reaches
// hooks on Stop, but Stop does not reach hooks on StopFailure.
func OfKind(k Kind) []*Contract { return slices.Clone(table().byKind[k]) }

// All returns every row, dialects in SPEC column order.
func All() []*Contract { return slices.Clone(table().all) }

// Dialects returns all dialects in SPEC column order.
func Dialects() []Dialect {
	names := make([]Dialect, len(dialects))
	for i, d := range dialects {
		names[i] = d.name
	}
	return names
}

// Aliases returns the rows whose names c's event goes by, in SPEC column
// order: those of its kind, then those of the kind it is Also. A hook that
// asks for any of them gets the event. An event that no row describes goes by
// its own name alone.
func (c *Contract) Aliases() []*Contract {
	byKind := table().byKind
	if len(byKind[c.Kind]) == 0 {
		return []*Contract{c}
	}
	return slices.Concat(byKind[c.Kind], byKind[c.Also])
}

// fields joins a dialect's common fields and an event's own.
func fields(common []Field, own ...Field) []Field {
	return append(slices.Clone(common), own...)
}
