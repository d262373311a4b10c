package events

// DecisionUse says how an event uses permission_decision.
type DecisionUse string

const (
	// DecisionNone ignores permission_decision.
	DecisionNone DecisionUse = ""
	// DecisionVerdict folds it: deny > ask > contain > allow > none.
	DecisionVerdict DecisionUse = "verdict"
	// DecisionPermission takes it as a short-cut of the agent's prompt:
	// allow grants, deny rejects, ask does nothing.
	DecisionPermission DecisionUse = "permission"
)

// Rewrite names the one part of an event that hooks may replace.
type Rewrite string

const (
	RewriteNone     Rewrite = ""
	RewriteInput    Rewrite = "updated_input"
	RewriteResponse Rewrite = "updated_tool_response"
	RewriteMessages Rewrite = "updated_messages"
)

// Type is the JSON type that a documented payload field has.
type Type string

const (
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Object  Type = "object"
	Array   Type = "array"
	Any     Type = "any"
)

// Field is one documented field of an event's payload.
type Field struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Nullable bool   `json:"nullable,omitempty"` // null is a documented value
	Doc      string `json:"doc,omitempty"`
}

// Field returns a documented field of that type.
func (t Type) Field(name, doc string) Field { return Field{Name: name, Type: t, Doc: doc} }

// Nullable returns a documented field of that type, or null.
func (t Type) Nullable(name, doc string) Field {
	return Field{Name: name, Type: t, Nullable: true, Doc: doc}
}

// Contract is one row of the table: the facts that one event of one dialect carries and
// the answers that hooks may give to it. The zero value of a capability means "no": an
// event that no row describes only observes.
type Contract struct {
	Dialect Dialect `json:"dialect"`
	Name    string  `json:"name"`
	Kind    Kind    `json:"kind"`
	Also    Kind    `json:"also,omitempty"` // hooks of this kind get the event too; its name stands for Kind alone
	When    string  `json:"when,omitempty"`

	// A row may be about a part of its kind. Hooks that ask for its name get the
	// events of that part, whatever they are called where they come from.
	Tools  string `json:"tools,omitempty"`  // calls of these tools, by canonical names separated by blanks; mcp__* is every MCP tool; "" = all
	Failed bool   `json:"failed,omitempty"` // calls that failed

	Fields []Field `json:"fields,omitempty"`

	Decidable   bool        `json:"decidable"`             // with wait, the verdict means something
	CanBlock    bool        `json:"can_deny,omitempty"`    // exit 2, decision: deny and continue: false count
	FailClosed  bool        `json:"fail_closed,omitempty"` // a guard that fails denies, whatever on_error says
	Sequence    bool        `json:"sequence,omitempty"`    // one hook after another, each seeing the previous rewrite
	ToolMatched bool        `json:"tool_matched,omitempty"`
	Context     bool        `json:"context,omitempty"` // additional_context and plain stdout reach the agent
	PlainText   Plain       `json:"plain_text,omitempty"`
	Decision    DecisionUse `json:"decision,omitempty"`
	Rewrite     Rewrite     `json:"rewrite,omitempty"`
	Target      string      `json:"target,omitempty"`     // top-level payload field that Rewrite replaces
	TextOnly    bool        `json:"-"`                    // Rewrite replaces text alone: another value stays as it is
	FirstWins   bool        `json:"first_wins,omitempty"` // the first replacement ends the chain (transform_tool_result)
	Summary     bool        `json:"summary,omitempty"`
	Metadata    bool        `json:"metadata,omitempty"`
	Takes       []Field     `json:"takes,omitempty"`    // further keys of hook_specific_output, of Takeable
	Explicit    bool        `json:"explicit,omitempty"` // every hook must say yes or no; silence is a failure
	OnlyReading bool        `json:"-"`                  // safer_shell lets only what reads pass, as the system documents

	// Judge is the judge that denied the call that the event is about: the agent's own
	// judge, in words for people. "" = the event tells of no such denial.
	Judge string `json:"judge,omitempty"`

	// Streaming: it comes many times in a turn, with the whole conversation
	// each time, or by the clock. Agents are connected without it unless asked.
	Streaming bool `json:"streaming,omitempty"`
}

// Plain says how text on stdout that is not protocol is understood.
type Plain string

const (
	PlainIgnored Plain = ""
	PlainContext Plain = "context"
	// PlainReplaces: the bytes of stdout are the new tool result.
	PlainReplaces Plain = "replaces"
)

// Preempt returns the contract of the preempt lane: the same event, with
// hooks side by side, rewrites ignored and metadata kept.
func (c Contract) Preempt() Contract {
	c.Sequence, c.Rewrite, c.Target, c.Metadata = false, RewriteNone, "", true
	return c
}
