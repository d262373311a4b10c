// Package rules judges an event by the rules of one hook: deny, ask, contain, rewrite,
// context or allow, for commands and facts of a call. It is pure: it reads no file, starts
// nothing and does not block. The same event and the same Before give the same verdict.
// History makes the Before of each event of a machine, from the earlier events.
//
// The rules of a hook are all judged. A deny ends it, then an ask. Otherwise rewrites apply
// in their order and the result is judged once more; it is contained if a rule says so, and
// allowed if the rules cover every command and nothing is in doubt. A rule that fits only
// perhaps (a target that is computed, code in another language) never denies, rewrites or
// allows: a deny becomes an ask.
package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/facts"
)

// Action is the answer of a rule to the events that it fits.
type Action string

// The decisions, the strictest first.
const (
	Deny    Action = "deny"
	Ask     Action = "ask"
	Contain Action = "contain"
	Rewrite Action = "rewrite"
	Context Action = "context"
	Allow   Action = "allow"
)

// Actions are the words of a rule, the strictest first.
var Actions = []Action{Deny, Ask, Contain, Rewrite, Context, Allow}

// Rule is one rule, ready to be judged. It is immutable.
type Rule struct {
	Name    string   // unique in its Set; where the file gives none, the rule's text
	Action  Action   //
	What    Matcher  // of the events that it is about
	Unless  *Matcher // of those that it leaves alone; nil = none
	Past    []Needed // of what happened before; all must hold
	Why     string   // for the person and the model; of Context the text for the model
	Instead string   // for the model: what to do in place of it; "" = nothing is suggested
	To      string   // of Rewrite: the new command
	Profile string   // of Contain: the box; "" = the default
	Catches []Example
	Passes  []Example
	File    string // that has it
	Line    int    // in File, 1-based
	Column  int
}

// Example is a call that a rule must fit, or must leave alone.
type Example struct {
	Tool string          // canonical; "Bash" for a command
	Data json.RawMessage // its arguments
	Text string          // as it is written, for people
}

// Set is the rules of one hook in their order.
type Set struct {
	Rules   []*Rule
	Files   []File   // that they were read from, beside the hook's own
	Folders []string // in which each file that ends in .yaml has rules
	Absent  []string // folders that would have rules if they were there
}

// File is a file that rules were read from.
type File struct {
	Path string // absolute
	Sum  string // SHA-256 of the bytes that were read, in hexadecimal
}

// Rule returns the rule of that name; nil = there is none.
func (s *Set) Rule(name string) *Rule {
	for _, r := range s.Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Looks reports whether a rule looks back to earlier events.
func (s *Set) Looks() bool {
	return s != nil && slices.ContainsFunc(s.Rules, func(r *Rule) bool { return len(r.Past) > 0 })
}

// Subject is an event as rules see it.
type Subject struct {
	Facts   *facts.Facts    // of its tool call; nil = it has none
	Tools   []string        // names of its tool, the agent's own and the canonical one
	Prompt  *string         // what a person typed; nil = nothing
	Said    *string         // what the agent said at the end of its turn; nil = nothing
	Data    json.RawMessage // of the event
	Cwd     string
	Project string        // root of the repository that Cwd is in, else Cwd
	Home    string        // of the agent's user
	Branch  func() string // that the working tree is on, "" = none; nil = not known
	Before  *Before       // what happened before; nil = not known

	// Given returns Data in the words that rules may be written in: of Claude Code, and of the event's name that the
	// hook asks for; nil = Data alone.
	Given func() []json.RawMessage

	// Undoable reports whether an effect can be taken back; nil = none can, as far as is known.
	Undoable func(*facts.Effect) bool

	// Read returns the facts of a changed shell line of the same call. It is only called
	// for rewrites.
	Read func(line string) *facts.Facts
}

// Opinion is the answer of one hook's rules to an event. The zero Opinion is no opinion.
type Opinion struct {
	Action  Action        // "" = no opinion; Context stands in Context alone
	Rule    *Rule         // that decided; of several rewrites the last
	Span    facts.Span    // of the line, for Rule
	What    string        // the part of the call that Rule fitted
	Effect  *facts.Effect // that Rule fitted; nil = Rule is about none
	Perhaps bool          // Rule fits only perhaps
	Line    string        // of Rewrite: the new line
	Context []string      // for the model
	Earlier []string      // ids of earlier events that Rule counted, the oldest first
	Missing *Missing      // no earlier event fitted an `unless` of Rule; nil = it has none about them, or one did perhaps
	After   string        // the part of the newest of these calls that Rule counted
}

// maxWhat is how much of a call a reason repeats, in bytes.
const maxWhat = 120

// Reason is the text of a denial or an ask: why, then the alternative. A model reads the text,
// so it never holds a command that weakens a guard.
func (v Opinion) Reason() string {
	r := v.Rule
	if r == nil {
		return ""
	}
	var b strings.Builder
	if v.Perhaps {
		b.WriteString("perhaps ")
	}
	b.WriteString(r.Why)
	b.WriteString(" (rule " + r.Name)
	if v.What != "" {
		b.WriteString(": " + v.What)
	}
	if v.After != "" && v.After != v.What {
		b.WriteString("; before it: " + v.After)
	}
	b.WriteString(")")
	switch {
	case v.Action == Deny && v.Line != "": // of a rewrite that the agent does not take
		b.WriteString(". Instead: " + v.Line)
	case r.Instead != "":
		b.WriteString(". Instead: " + strings.TrimRight(r.Instead, "."))
	}
	if v.Action == Deny {
		b.WriteString(". Do not look for another way to do it.")
	}
	return b.String()
}

func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxWhat {
		return text
	}
	return escape.Head(text, maxWhat-3) + "..."
}
